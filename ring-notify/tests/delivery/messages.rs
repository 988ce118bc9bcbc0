//! Messages of one's own, test messages, and what is said of outlets.

use crate::harness::{Home, SECOND, str_of};
use crate::server::{Reply, Server, dead_port};
use serde_json::{Value, json};

fn dead(name: &str) -> String {
    format!(
        "[[notify.outlet]]\nname = \"{name}\"\ntype = \"webhook\"\nurl = \"http://127.0.0.1:{}/x\"\n",
        dead_port()
    )
}

#[test]
fn n71_a_message_that_one_outlet_took_is_sent_and_one_that_none_took_is_tried_again() {
    let home = Home::bare();
    home.outlets(&[&home.probe("probe", ""), &dead("dead")]);
    let sent = home.json(&["ring-notify", "send", "--title", "Deployed", "--body", "to staging"]);
    assert_eq!(
        (&sent["repeated"], &sent["to"]["probe"]["state"]),
        (&json!(false), &json!("sent"))
    );
    assert_eq!(sent["to"]["dead"], json!({"state": "retry", "error": "connect"}));
    let message = home.taken().remove(0);
    assert_eq!(message["id"], format!("msg:{}", str_of(&sent["id"])));
    assert_eq!(
        (&message["title"], &message["body"]),
        (&json!("Deployed"), &json!("to staging"))
    );

    home.outlets(&[&dead("probe")]);
    let error = home.refused("DELIVERY_FAILED", &["ring-notify", "send", "--title", "x"]);
    assert_eq!(error["retriable"], true);
    home.outlets(&[&home.probe("probe", "")]);
    home.after(9 * SECOND).deliver();
    assert!(home.taken().is_empty());
    home.after(10 * SECOND).deliver();
    // the first message has ended: its outlet is gone
    assert_eq!(home.titles(), ["x"]);
    home.after(100 * SECOND).deliver();
    assert!(home.taken().is_empty(), "messages never repeat");

    home.says(&["ring-notify", "quiet", "on"]);
    let held = home.json(&["ring-notify", "send", "--title", "later"]);
    assert_eq!(held["to"]["probe"]["state"], "held");
    home.says(&["ring-notify", "quiet", "off"]);
    assert_eq!(home.titles(), ["later"]);
}

#[test]
fn n71_a_refusal_of_the_only_outlet_is_not_retriable() {
    let server = Server::start(&[Reply::Status(404, "")]);
    let home = Home::bare();
    home.config(&server.webhook("probe", ""));
    let error = home.refused("DELIVERY_FAILED", &["ring-notify", "send", "--title", "x"]);
    assert_eq!(
        (&error["retriable"], &error["details"]["to"]["probe"]["error"]),
        (&json!(false), &json!("http 404"))
    );
    home.config("[notify]\noutlet = []\n");
    let error = home.refused("DELIVERY_FAILED", &["ring-notify", "send", "--title", "x"]);
    assert_eq!(error["retriable"], false);
}

#[test]
fn n71_strict_says_that_an_outlet_did_not_take_something() {
    let home = Home::bare();
    home.outlets(&[&home.probe("probe", ""), &dead("dead")]);
    home.says(&["ring-notify", "deliver", "--strict"]);
    home.asks("s1", "git push");
    let error = home.refused("DELIVERY_FAILED", &["ring-notify", "deliver", "--strict"]);
    assert!(str_of(&error["message"]).contains("dead: connect"), "{error}");
    assert_eq!(home.taken().len(), 1);
}

#[test]
fn n72_a_test_message_passes_quiet_and_the_ledger() {
    let home = Home::bare();
    let missing = "[[notify.outlet]]\nname = \"missing\"\ntype = \"command\"\nargv = [\"/nowhere/x\"]\n";
    home.outlets(&[&home.probe("probe", ""), missing]);
    home.asks("s1", "git push");
    home.says(&["ring-notify", "quiet", "on"]);
    home.deliver();
    let before = home.ledger();
    let sent = home.json(&["ring-notify", "test", "probe"]);
    assert_eq!(sent["to"]["probe"]["state"], "sent");
    assert_eq!(home.titles(), ["ring: test"]);
    let sent = home.json(&["ring-notify", "test"]);
    assert_eq!(sent["to"].as_object().unwrap().len(), 1, "each usable outlet");
    assert_eq!(home.ledger(), before);
    let error = home.refused("DELIVERY_FAILED", &["ring-notify", "test", "missing"]);
    assert!(str_of(&error["message"]).contains("/nowhere/x"), "{error}");
    let error = home.refused("NOT_FOUND", &["ring-notify", "test", "nobody"]);
    assert!(str_of(&error["message"]).contains("probe, missing"), "{error}");
    assert_eq!(home.ledger(), before);
}

#[test]
fn n73_outlets_says_why_one_is_not_usable() {
    let home = Home::bare();
    let table = |kind: &str| format!("[[notify.outlet]]\nname = \"{kind}\"\ntype = \"{kind}\"\n");
    let types = ["notify-send", "tmux", "osascript", "terminal-notifier", "auto"].map(table);
    let secret =
        "[[notify.outlet]]\nname = \"ntfy\"\ntype = \"ntfy\"\nurl = \"https://ntfy.sh/t\"\ntoken_env = \"NO_SUCH\"\n";
    home.config(&format!(
        "{}{secret}{}",
        types.concat(),
        home.probe("probe", "quiet_hours = {start = \"00:00\", end = \"00:00\"}")
    ));
    let found = home.json(&["ring-notify", "outlets"]);
    let of = |name: &str| -> Value {
        let outlets = found["outlets"].as_array().unwrap();
        outlets.iter().find(|o| o["name"] == name).unwrap().clone()
    };
    for name in ["notify-send", "tmux", "osascript", "terminal-notifier", "ntfy"] {
        assert_eq!(of(name)["usable"], false, "{name}: {found}");
        assert!(!str_of(&of(name)["why"]).is_empty(), "{name}");
    }
    assert_eq!(
        (&of("probe")["usable"], &of("probe")["in_hours"]),
        (&json!(true), &json!(true))
    );
    let said = home.says(&["ring-notify", "outlets"]);
    assert_eq!(said.lines().count(), 7, "{said}");
    assert!(
        said.contains("osascript is not installed") && said.contains("quiet now (00:00-00:00)"),
        "{said}"
    );
    home.config("[notify]\noutlet = []\n");
    assert!(home.says(&["ring-notify", "outlets"]).starts_with("no outlet"));
    assert_eq!(home.json(&["ring-notify", "outlets"])["outlets"], json!([]));
}

#[test]
fn n73_outlets_tells_the_last_result_and_what_is_to_be_tried_again() {
    let home = Home::bare();
    home.config(&dead("probe"));
    home.asks("s1", "git push");
    home.deliver();
    let found = home.json(&["ring-notify", "outlets"])["outlets"][0].clone();
    assert_eq!((&found["last"], &found["retries"]), (&json!("connect"), &json!(1)));
    assert!(home.says(&["ring-notify", "outlets"]).contains("1 to retry"));
}
