use super::*;
use crate::testing::{NOON, plan, turn, wait};
use proptest::prelude::*;

fn style(zone: &TimeZone) -> Style<'_> {
    Style {
        brief: false,
        now: NOON + 300_000,
        zone,
        home: "/home/me",
    }
}

fn made(live: &Live, ring: u32, brief: bool) -> Message {
    let zone = TimeZone::UTC;
    let style = Style { brief, ..style(&zone) };
    let part = Part {
        live,
        ring,
        urgent: false,
    };
    compose(&[part], "", "k", &style)
}

fn session() -> Live {
    Live {
        agent: "claude-code".into(),
        session_id: "3f2a9b1c-77".into(),
        session_title: "Build API".into(),
        project: "/home/me/api".into(),
        ..wait("claude-code:3f2a9b1c-77", "w", NOON)
    }
}

#[test]
fn each_kind_says_who_and_what_and_where() {
    let waits = |kind, detail: &str| Live {
        kind,
        detail: detail.into(),
        ..session()
    };
    let in_pane = |mut live: Live| {
        live.place.tmux_pane = "%7".into();
        live
    };
    for (live, ring, title, body) in [
        (
            waits(Kind::Permission, "Bash: git push"),
            0,
            "Build API: needs permission",
            "Bash: git push\n~/api",
        ),
        (
            in_pane(waits(Kind::Question, "Shall I?")),
            1,
            "Build API: asks",
            "Shall I?\npane %7\nsince 5m",
        ),
        (
            waits(Kind::Plan, "Plan"),
            0,
            "Build API: plan to approve",
            "Plan\n~/api",
        ),
        (waits(Kind::Input, ""), 0, "Build API: needs input", "~/api"),
        (
            Live {
                until_ms: Some(NOON + 7_200_000),
                session_title: "Build API".into(),
                ..plan("s", "0199a3c2", NOON)
            },
            0,
            "Build API: plan to approve",
            "Build it\nApprove this plan?\nuntil 14:00\nring-plan show 0199a3c2",
        ),
        (
            Live {
                is_goal: true,
                session_title: "Build API".into(),
                question: String::new(),
                ..plan("s", "0199a3c2", NOON)
            },
            0,
            "Build API: goal to approve",
            "Build it\nring-plan show 0199a3c2",
        ),
        (
            Live {
                error_code: Some("EXIT_3".into()),
                ..turn("s", "t", Kind::Failed, NOON)
            },
            0,
            "app: failed EXIT_3",
            "1m\n/w/app",
        ),
        (turn("s", "t", Kind::Completed, NOON), 0, "app: finished", "1m\n/w/app"),
    ] {
        let message = made(&live, ring, false);
        assert_eq!((message.title.as_str(), message.text().as_str()), (title, body));
        assert_eq!(
            (&message.facts.title, &message.facts.body),
            (&message.title, &message.text())
        );
    }
}

#[test]
fn a_name_is_the_boards_else_the_title_else_the_folder_else_the_beginning_of_the_id() {
    let title = |change: fn(&mut Live)| {
        let mut live = session();
        live.name = "api".into();
        change(&mut live);
        made(&live, 0, false).title
    };
    assert_eq!(title(|_| ()), "api: needs permission");
    assert_eq!(title(|l| l.name.clear()), "Build API: needs permission");
    let untitled = |l: &mut Live| {
        l.name.clear();
        l.session_title = " \u{1b}[31m ".into();
    };
    assert_eq!(title(untitled), "api: needs permission");
    assert_eq!(
        title(|l| {
            l.name.clear();
            l.session_title.clear();
            l.project = "/".into();
        }),
        "3f2a9b1c: needs permission"
    );
}

#[test]
fn n67_a_brief_message_has_no_detail_path_title_or_question() {
    let mut live = session();
    live.detail = "Bash: git push".into();
    let message = made(&live, 1, true);
    assert_eq!(
        (message.title.as_str(), message.text().as_str()),
        ("claude-code 3f2a9b1c: needs permission", "since 5m")
    );
    let proposal = Live {
        session_title: "Build API".into(),
        ..plan("s", "p", NOON)
    };
    let own = Live {
        kind: Kind::Message,
        title: "Dinner".into(),
        body: "at eight".into(),
        ..Live::default()
    };
    for live in [&live, &proposal, &own] {
        let text = serde_json::to_string(&made(live, 0, true).facts).unwrap();
        for secret in ["git push", "/home", "Build", "Approve", "/w/app", "Dinner", "eight"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

#[test]
fn n67_what_looks_like_a_secret_is_masked_in_every_member() {
    let mut live = session();
    live.detail = "curl -H 'Authorization: Bearer abc' sk-abc123".into();
    live.session_title = "token=hunter2".into();
    live.project = "/w/password=x".into();
    let text = serde_json::to_string(&made(&live, 0, false).facts).unwrap();
    for secret in ["abc", "hunter2", "=x"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("curl -H"));
}

#[test]
fn n52_a_summary_counts_and_names_five() {
    let zone = TimeZone::UTC;
    let mut lives: Vec<Live> = (0..6).map(|n| wait(&format!("s{n}"), "a", NOON)).collect();
    lives.push(turn("r", "t", Kind::Completed, NOON));
    lives.push(turn("r", "u", Kind::Failed, NOON));
    for live in &mut lives {
        live.session_title = live.session.clone();
    }
    let parts: Vec<Part<'_>> = lives
        .iter()
        .map(|live| Part {
            live,
            ring: 0,
            urgent: false,
        })
        .collect();
    let message = compose(&parts, "b1", "k", &style(&zone));
    assert_eq!(message.title, "6 need you, 1 failed, 1 finished");
    assert_eq!(message.body.len(), 6);
    assert_eq!(
        (message.body[0].as_str(), message.body[5].as_str()),
        ("s0: needs permission", "and 3 more")
    );
    assert_eq!((message.facts.kind.as_str(), message.facts.items.len()), ("summary", 8));
    let two = compose(&parts[..1], "b", "k", &style(&zone));
    assert_eq!(two.title, "s0: needs permission");
}

proptest! {
    #[test]
    fn n63_no_text_brings_a_control_in_and_no_message_is_over_its_limits(
        detail in "\\PC{0,40}|[\u{0}-\u{9f}\u{202a}-\u{202e}\u{2066}-\u{2069}a\u{1f600}]{0,2000}",
        title in "[\u{0}-\u{9f}\u{202e}ab\u{4e2d}]{0,400}",
        project in "(/[\u{0}-\u{9f}a-z]{0,20}){0,9}",
        count in 1..9usize,
    ) {
        let zone = TimeZone::UTC;
        let live = Live { detail, session_title: title, project, ..session() };
        let parts: Vec<Part<'_>> = (0..count).map(|_| Part { live: &live, ring: 1, urgent: true }).collect();
        let message = compose(&parts, "b", "k", &style(&zone));
        let bad = |c: char| (c.is_control() && c != '\n') || text::is_bidi(c);
        for text in [&message.title, &message.text(), &message.line(), &message.facts.detail, &message.facts.project] {
            prop_assert!(!text.contains(bad), "{:?}", text);
        }
        prop_assert!(message.title.chars().count() <= TITLE);
        prop_assert!(message.body.iter().map(|l| l.chars().count()).sum::<usize>() <= BODY);
        prop_assert!(message.title.len() + message.text().len() <= BYTES);
        prop_assert!(!message.title.contains('\n') && message.body.iter().all(|l| !l.contains('\n')));
    }
}
