use super::*;
use proptest::prelude::*;

fn read(text: &str) -> (Vec<Outlet>, Vec<String>) {
    let (outlets, problems) = tables("c.toml", text);
    let told = problems.iter().map(ToString::to_string).collect();
    (outlets.unwrap_or_default(), told)
}

#[test]
fn n41_a_bad_outlet_is_named_by_file_line_and_key_and_the_others_work() {
    let text = r#"
[[notify.outlet]]
name = "desk"
type = "notify-send"

[[notify.outlet]]
name = "x"
type = "pigeon"

[[notify.outlet]]
name = "desk"
type = "bell"

[[notify.outlet]]
name = "glob"
type = "bell"
projects = ["/a/[b"]

[[notify.outlet]]
name = "no name"
type = "bell"

[[notify.outlet]]
name = "last"
type = "command"
argv = ["true"]
colour = "red"
"#;
    let (outlets, problems) = read(text);
    let names: Vec<&str> = outlets.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["desk", "last"]);
    assert_eq!(problems.len(), 5, "{problems:#?}");
    for (problem, (line, key)) in problems.iter().zip([
        (8, "notify.outlet.type"),
        (11, "notify.outlet.name"),
        (17, "notify.outlet.projects"),
        (20, "notify.outlet.name"),
        (27, "notify.outlet.colour"),
    ]) {
        assert!(problem.starts_with(&format!("c.toml:{line}: {key}: ")), "{problem}");
    }
}

#[test]
fn every_key_of_an_outlet_is_read() {
    let text = r#"
[[notify.outlet]]
name = "phone"
type = "ntfy"
url = "https://ntfy.example/base"
topic = "me"
token_env = "TOKEN"
priority = 4
tags = ["bell"]
click = "https://example.org"
kinds = ["wait", "task.failed"]
agents = ["codex"]
projects = ["/w/**", "!/w/private/**"]
repeat = false
skip_when_looking = true
retry_unconfirmed = true
content = "brief"
quiet_hours = { start = "22:00", end = "07:00", days = ["mon"], urgent_bypass = false }
[[notify.outlet]]
name = "hook"
type = "webhook"
url_file = "/k/url"
preset = "slack"
headers = { A = "b" }
headers_env = { Authorization = "AUTH" }
[[notify.outlet]]
name = "off"
type = "bell"
enabled = false
"#;
    let (outlets, problems) = read(text);
    assert_eq!(problems, [""; 0]);
    let [phone, hook] = &outlets[..] else {
        panic!("{outlets:?}")
    };
    let Way::Ntfy(ntfy) = &phone.way else {
        panic!("{phone:?}")
    };
    assert_eq!(
        (&ntfy.token, ntfy.priority, ntfy.topic.as_str()),
        (&Secret::Env("TOKEN".into()), Some(4), "me")
    );
    assert!(phone.brief && phone.skip_when_looking && phone.retry_unconfirmed && !phone.repeat);
    let hours = phone.hours.as_ref().unwrap();
    assert_eq!((hours.days.len(), hours.urgent_bypass), (1, false));
    let Way::Webhook(webhook) = &hook.way else {
        panic!("{hook:?}")
    };
    assert_eq!(
        (webhook.preset, webhook.headers.len(), &webhook.url),
        (Preset::Slack, 2, &Secret::File("/k/url".into()))
    );
}

#[test]
fn what_is_wrong_in_an_outlet_leaves_it_out() {
    for (line, key) in [
        ("type = 7", "type"),
        ("type = \"command\"", "argv"),
        ("type = \"command\"\nargv = \"true\"", "argv"),
        ("type = \"ntfy\"", "url"),
        ("type = \"ntfy\"\nurl = \"x\"\npriority = 9", "priority"),
        ("type = \"webhook\"\nurl = \"x\"\npreset = \"teams\"", "preset"),
        ("type = \"bell\"\nquiet_hours = \"22:00\"", "quiet_hours"),
        (
            "type = \"bell\"\nquiet_hours = {start = \"22\", end = \"07:00\"}",
            "quiet_hours",
        ),
        (
            "type = \"bell\"\nquiet_hours = {start = \"22:00\", end = \"07:00\", days = [\"monday\"]}",
            "quiet_hours",
        ),
        ("type = \"bell\"\nkinds = [\"waits\"]", "kinds"),
        ("type = \"bell\"\nrepeat = 1", "repeat"),
        ("type = \"bell\"\nenabled = \"no\"", "enabled"),
        ("type = \"bell\"\ncontent = \"short\"", "content"),
    ] {
        let (outlets, problems) = read(&format!("[[notify.outlet]]\nname = \"a\"\n{line}\n"));
        assert!(outlets.is_empty(), "{line}");
        assert!(
            problems.len() == 1 && problems[0].contains(&format!("notify.outlet.{key}: ")),
            "{line}: {problems:?}"
        );
    }
}

#[test]
fn n42_flat_names_alone_work_and_none_is_no_outlet() {
    let ways = |change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        let names: Vec<String> = flat(&settings).into_iter().map(|o| o.name).collect();
        names.join(" ")
    };
    assert_eq!(ways(&|_| ()), "auto");
    assert_eq!(ways(&|s| s.notify.backend = "none".into()), "");
    assert_eq!(ways(&|s| s.notify.backend = "osc".into()), "osc9");
    assert_eq!(
        ways(&|s| {
            s.notify.backend = "ntfy".into();
            s.notify.ntfy_url = "https://ntfy.example/me".into();
            s.notify.also = vec!["bell".into(), "bell".into()];
        }),
        "ntfy bell"
    );
    assert_eq!(ways(&|s| s.notify.webhook_url = "https://x".into()), "auto webhook");
}

#[test]
fn an_empty_list_is_no_outlet_and_no_list_is_the_flat_names() {
    assert_eq!(tables("c", "[notify]\noutlet = []\n").0.map(|o| o.len()), Some(0));
    assert!(tables("c", "[notify]\nwaits = true\n").0.is_none());
    assert_eq!(tables("c", "[notify]\noutlet = 7\n").1.len(), 1);
    let many: String = (0..40)
        .map(|n| format!("[[notify.outlet]]\nname = \"o{n}\"\ntype = \"bell\"\n"))
        .collect();
    let (outlets, problems) = read(&many);
    assert_eq!((outlets.len(), problems.len()), (OUTLETS, 1));
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "(\\[\\[notify.outlet\\]\\]\n|name = |type = |\"bell\"\n|\"[a-z]{0,3}\"\n|quiet_hours = |\\{|\\}|start = |[\\PC\n]{0,4}){0,20}") {
        tables("c", &text);
    }
}
