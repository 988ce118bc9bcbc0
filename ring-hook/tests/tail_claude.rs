//! Claude Code's transcripts: what their last turn marks say. The lines have the shape that 2.1.197 and 2.1.332 write.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use ring_hook::question::question;
use ring_hook::tail::{Kind, Tail, claude};
use serde_json::{Value, json};

/// The clock of the first line: 2026-11-30T12:00:00Z.
const T0: i64 = 1_796_040_000_000;

/// A transcript that is written line by line, one second apart.
#[derive(Default)]
struct Record {
    text: String,
    seconds: i64,
}

impl Record {
    fn new() -> Record {
        let mut record = Record::default();
        record.raw(json!({"type": "mode", "mode": "normal", "sessionId": "s1"}));
        record.raw(json!({"type": "file-history-snapshot", "messageId": "x", "isSnapshotUpdate": false}));
        record
    }

    fn raw(&mut self, line: Value) -> &mut Self {
        self.text += &format!("{line}\n");
        self
    }

    fn line(&mut self, mut line: Value, more: Value) -> &mut Self {
        self.seconds += 1;
        let common = json!({"isSidechain": false, "cwd": "/w/app", "sessionId": "s1", "version": "2.1.332",
            "timestamp": format!("2026-11-30T12:{:02}:{:02}.000Z", self.seconds / 60, self.seconds % 60)});
        for part in [common, more] {
            line.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        }
        self.raw(line)
    }

    fn user(&mut self, content: Value, more: Value) -> &mut Self {
        self.line(
            json!({"type": "user", "message": {"role": "user", "content": content}}),
            more,
        )
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.user(json!(text), json!({"origin": {"kind": "human"}}))
    }

    fn said(&mut self, id: &str, stop: Value, content: Value) -> &mut Self {
        let message = json!({"id": id, "model": "claude-opus-5-5", "role": "assistant", "stop_reason": stop,
            "content": content});
        self.line(json!({"type": "assistant", "message": message}), json!({}))
    }

    fn text(&mut self, stop: &str, text: &str) -> &mut Self {
        let id = format!("msg_{}", self.seconds);
        self.said(&id, json!(stop), json!([{"type": "text", "text": text}]))
    }

    fn call(&mut self, id: &str, name: &str, input: Value) -> &mut Self {
        let message = format!("msg_{id}");
        self.said(
            &message,
            json!("tool_use"),
            json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        )
    }

    fn result(&mut self, id: &str, text: &str) -> &mut Self {
        self.user(
            json!([{"type": "tool_result", "tool_use_id": id, "content": text}]),
            json!({"toolUseResult": text}),
        )
    }

    fn system(&mut self, subtype: &str) -> &mut Self {
        self.line(
            json!({"type": "system", "subtype": subtype, "durationMs": 5}),
            json!({}),
        )
    }

    fn tail(&self) -> Tail {
        claude::tail(self.text.as_bytes(), true)
    }

    fn kind(&self) -> Kind {
        self.tail().kind
    }
}

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "Run a command"})
}

#[test]
fn c101_each_kind_has_its_record() {
    let of = |write: &dyn Fn(&mut Record)| {
        let mut record = Record::new();
        write(&mut record);
        record.kind()
    };
    for (want, got) in [
        (Kind::None, of(&|_| ())),
        (
            Kind::Start,
            of(&|r| {
                r.prompt("go");
            }),
        ),
        (
            Kind::Tool,
            of(&|r| {
                r.prompt("go").call("t1", "Bash", bash("ls"));
            }),
        ),
        (
            Kind::Busy,
            of(&|r| {
                r.prompt("go").call("t1", "Bash", bash("ls")).result("t1", "ok");
            }),
        ),
        (
            Kind::End,
            of(&|r| {
                r.prompt("go").text("end_turn", "Done.");
            }),
        ),
        (
            Kind::Failed,
            of(&|r| {
                r.prompt("go");
                failed(r, "rate_limit");
            }),
        ),
        (
            Kind::Interrupted,
            of(&|r| {
                r.prompt("go");
                interrupted(r);
            }),
        ),
        (
            Kind::Denied,
            of(&|r| {
                r.prompt("go").call("t1", "Bash", bash("ls"));
                denied(r, "t1");
            }),
        ),
        (Kind::Unknown, claude::tail(b"{\"type\":\"of tomorrow\"}\n", true).kind),
    ] {
        assert_eq!(got, want);
    }
}

fn failed(record: &mut Record, name: &str) {
    let message = json!({"id": "e1", "model": "<synthetic>", "role": "assistant", "stop_reason": "stop_sequence",
        "content": [{"type": "text", "text": "API Error: 429 too many\nsecond line"}]});
    record.line(
        json!({"type": "assistant", "message": message}),
        json!({"error": name, "isApiErrorMessage": true}),
    );
}

fn interrupted(record: &mut Record) {
    record.user(
        json!([{"type": "text", "text": "[Request interrupted by user]"}]),
        json!({}),
    );
}

fn denied(record: &mut Record, id: &str) {
    let text = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let content = json!([{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text}]);
    record.user(content, json!({"toolDenialKind": "user-rejected"}));
}

#[test]
fn c32_stop_reasons_that_end_a_turn_and_those_that_do_not() {
    for stop in ["end_turn", "stop_sequence", "refusal"] {
        assert_eq!(Record::new().prompt("go").text(stop, "So.").kind(), Kind::End, "{stop}");
    }
    for stop in ["tool_use", "pause_turn", "max_tokens"] {
        assert_eq!(
            Record::new().prompt("go").text(stop, "So.").kind(),
            Kind::Busy,
            "{stop}"
        );
    }
    let mut open = Record::new();
    open.prompt("go")
        .said("m", Value::Null, json!([{"type": "thinking", "thinking": "hm"}]));
    assert_eq!(open.kind(), Kind::Busy);
    let mut closed = Record::new();
    closed
        .prompt("go")
        .text("max_tokens", "So.")
        .system("stop_hook_summary")
        .system("turn_duration");
    assert_eq!(closed.kind(), Kind::End);
}

#[test]
fn c32_the_lines_of_one_message_are_one_and_the_last_counts() {
    let mut record = Record::new();
    record.prompt("go");
    record.said("m1", json!("end_turn"), json!([{"type": "thinking", "thinking": "hm"}]));
    record.said("m1", Value::Null, json!([{"type": "text", "text": "I begin."}]));
    assert_eq!(record.kind(), Kind::Busy);
    record.said("m1", json!("end_turn"), json!([{"type": "text", "text": "I am done."}]));
    assert_eq!((record.kind(), record.tail().text.as_str()), (Kind::End, "I am done."));
}

#[test]
fn c33_a_tool_call_of_the_synthetic_model_is_open_and_an_error_of_it_is_a_failure() {
    let synthetic = |content: Value, more: Value| {
        let mut record = Record::new();
        let message = json!({"id": "m", "model": "<synthetic>", "stop_reason": "stop_sequence", "content": content});
        record
            .prompt("go")
            .line(json!({"type": "assistant", "message": message}), more);
        record.tail()
    };
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]);
    let text = json!([{"type": "text", "text": "API Error: x"}]);
    assert_eq!(synthetic(call, json!({})).kind, Kind::Tool);
    assert_eq!(
        synthetic(text.clone(), json!({"isApiErrorMessage": true})).kind,
        Kind::Failed
    );
    assert_eq!(
        synthetic(text.clone(), json!({"error": "overloaded"})).kind,
        Kind::Failed
    );
    let aborted = synthetic(text, json!({"isApiErrorMessage": false}));
    assert_eq!((aborted.kind, aborted.model.as_str()), (Kind::End, ""));
}

#[test]
fn c33_a_failed_turn_keeps_its_error_behind_the_line_that_closes_it() {
    let mut record = Record::new();
    record.prompt("go");
    failed(&mut record, "rate_limit");
    record.system("turn_duration");
    assert_eq!(
        (record.kind(), record.tail().error.as_str()),
        (Kind::Failed, "rate_limit")
    );
    let mut unknown = Record::new();
    unknown.prompt("go");
    failed(&mut unknown, "unknown");
    assert_eq!(unknown.tail().error, "API Error: 429 too many");
    unknown.prompt("again").text("end_turn", "Fine.");
    assert_eq!((unknown.kind(), unknown.tail().error.as_str()), (Kind::End, ""));
}

#[test]
fn c33_bookkeeping_changes_nothing() {
    let mut record = Record::new();
    record.prompt("go").text("end_turn", "Done.");
    let before = record.tail();
    for kind in [
        "attachment",
        "progress",
        "queue-operation",
        "last-prompt",
        "mode",
        "permission-mode",
        "file-history-delta",
        "tools-used",
        "api-request",
        "cost-state",
        "agent-name",
        "atis-latch",
        "of-tomorrow",
    ] {
        record.line(json!({"type": kind, "content": "x"}), json!({}));
    }
    for subtype in [
        "stop_hook_summary",
        "away_summary",
        "compact_boundary",
        "informational",
        "local_command",
    ] {
        record.system(subtype);
    }
    record.user(
        json!("This session is being continued"),
        json!({"isCompactSummary": true}),
    );
    record.user(json!("Caveat"), json!({"isMeta": true}));
    record.user(
        json!("<task-notification>x"),
        json!({"origin": {"kind": "task-notification"}}),
    );
    for text in [
        "<command-name>/compact</command-name>",
        "<command-message>x",
        "<local-command-stdout>x",
        "<bash-input>ls",
        "<bash-stdout>x",
        "<task-notification>x",
        "<system-reminder>x",
    ] {
        record.user(json!(text), json!({}));
    }
    assert_eq!(record.tail(), before);
}

#[test]
fn c33_sidechain_lines_count_in_a_childs_record_only() {
    let mut record = Record::new();
    record.prompt("go").text("end_turn", "Done.");
    record.user(json!("CHILD TASK"), json!({"isSidechain": true}));
    assert_eq!(record.kind(), Kind::End);
    let mut child = Record::default();
    child.user(json!("CHILD TASK"), json!({"isSidechain": true, "agentId": "a1"}));
    assert_eq!(claude::tail_of_child(child.text.as_bytes(), true).kind, Kind::Start);
    assert!(claude::head(child.text.as_bytes()).child && !claude::head(record.text.as_bytes()).child);
}

#[test]
fn retries_after_an_api_error_are_work() {
    let mut record = Record::new();
    record.prompt("go").line(
        json!({"type": "system", "subtype": "api_error"}),
        json!({"retryAttempt": 1}),
    );
    assert_eq!(record.kind(), Kind::Busy);
}

#[test]
fn c108_denied_until_the_turn_goes_on_and_a_call_under_a_dialog_is_a_call() {
    let mut record = Record::new();
    record.prompt("go").call("t1", "Bash", bash("git push"));
    assert_eq!(
        (record.kind(), record.tail().open_tools, record.tail().asks),
        (Kind::Tool, 1, false)
    );
    denied(&mut record, "t1");
    assert_eq!(record.kind(), Kind::Denied);
    record.said(
        "m9",
        Value::Null,
        json!([{"type": "text", "text": "I will think again."}]),
    );
    assert_eq!(record.kind(), Kind::Busy);
    // 2.1.197 has no toolDenialKind
    let mut old = Record::new();
    old.prompt("go").call("t1", "Bash", bash("ls"));
    old.result("t1", "The user doesn't want to proceed with this tool use.");
    assert_eq!(old.kind(), Kind::Denied);
    // a hook's or a rule's denial is a result like others
    let mut rule = Record::new();
    rule.prompt("go").call("t1", "Bash", bash("ls"));
    rule.user(
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "Not today."}]),
        json!({"toolDenialKind": "permission-rule"}),
    );
    assert_eq!(rule.kind(), Kind::Busy);
}

#[test]
fn an_escape_in_a_dialog_is_an_interrupt() {
    let mut record = Record::new();
    record.prompt("go").call("t1", "Bash", bash("ls"));
    denied(&mut record, "t1");
    record.user(
        json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        json!({}),
    );
    let tail = record.tail();
    assert_eq!(
        (tail.kind, tail.open_tools, tail.turn_started_ms),
        (Kind::Interrupted, 0, T0 + 1000)
    );
}

#[test]
fn of_parallel_calls_one_stays_open() {
    let mut record = Record::new();
    record.prompt("go");
    record.said(
        "m1",
        json!("tool_use"),
        json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": bash("a")}]),
    );
    record.said(
        "m1",
        json!("tool_use"),
        json!([{"type": "tool_use", "id": "t2", "name": "Bash", "input": bash("b")}]),
    );
    assert_eq!(record.tail().open_tools, 2);
    record.result("t2", "two");
    let tail = record.tail();
    assert_eq!(
        (tail.kind, tail.open_tools, tail.answered_ms),
        (Kind::Tool, 1, T0 + 4000)
    );
    record.result("t1", "one");
    assert_eq!((record.kind(), record.tail().open_tools), (Kind::Busy, 0));
    assert_eq!(record.tail().action, "Bash: b");
}

#[test]
fn c4_a_question_or_plan_that_is_open_asks() {
    for name in ["AskUserQuestion", "ExitPlanMode"] {
        let mut record = Record::new();
        record.prompt("go").call(
            "t1",
            name,
            json!({"questions": [{"question": "Which db?"}], "plan": "# Plan"}),
        );
        assert!(record.tail().asks, "{name}");
        record.result("t1", "answered");
        assert!(!record.tail().asks, "{name}");
    }
}

#[test]
fn the_walk_ends_at_the_prompt_of_its_turn() {
    let mut record = Record::new();
    record.prompt("one").call("t1", "Bash", bash("killed here"));
    record.prompt("two").text("tool_use", "Hm.");
    let tail = record.tail();
    // the open call of the turn before is not this turn's
    assert_eq!(
        (tail.kind, tail.open_tools, tail.turn_started_ms),
        (Kind::Busy, 0, T0 + 3000)
    );
    assert_eq!((tail.ms, tail.answered_ms), (T0 + 4000, T0 + 4000));
}

#[test]
fn a_turn_that_nobody_prompted_begins_behind_the_end_of_the_last_one() {
    let mut record = Record::new();
    record
        .prompt("one")
        .text("end_turn", "Running.")
        .system("turn_duration");
    record.user(
        json!("<task-notification>done"),
        json!({"origin": {"kind": "task-notification"}}),
    );
    record.call("t1", "Read", json!({"file_path": "/w/app/log"}));
    let tail = record.tail();
    assert_eq!((tail.kind, tail.turn_started_ms), (Kind::Tool, T0 + 5000));
}

#[test]
fn a_first_prompt_that_is_written_behind_its_answer_does_not_reopen_the_turn() {
    // 2.1.197 writes these lines in this order
    let mut record = Record::new();
    record.seconds = 10;
    failed(&mut record, "unknown");
    record.system("turn_duration");
    record.seconds = 8;
    record.prompt("say hello");
    let tail = record.tail();
    assert_eq!((tail.kind, tail.turn_started_ms), (Kind::Failed, T0 + 9000));
    assert_eq!(tail.first_prompt, "say hello");
    // a clock that was set back by an hour is no such thing: the order in the file counts
    let mut set_back = Record::new();
    set_back.seconds = 3600 - 60;
    set_back.prompt("one").text("end_turn", "Done.");
    set_back.seconds = 0;
    set_back.prompt("two");
    assert_eq!(set_back.kind(), Kind::Start);
}

#[test]
fn c42_cwd_is_the_last_one_that_a_line_has() {
    let mut record = Record::new();
    record.prompt("go").text("end_turn", "Done.");
    record.line(json!({"type": "attachment"}), json!({"cwd": "/w/my-app"}));
    record.raw(json!({"type": "last-prompt", "lastPrompt": "go"}));
    assert_eq!(record.tail().cwd, "/w/my-app");
    assert_eq!(claude::head(record.text.as_bytes()).cwd, "/w/app");
}

#[test]
fn c42_titles_a_persons_before_a_models_before_a_summary_before_the_prompt() {
    let mut record = Record::new();
    record.prompt("  fix the\ntest").text("end_turn", "Done.");
    assert_eq!(
        (record.tail().title.as_str(), record.tail().first_prompt.as_str()),
        ("", "fix the")
    );
    record.raw(json!({"type": "summary", "summary": "Summed up", "leafUuid": "x"}));
    assert_eq!(record.tail().title, "Summed up");
    record.raw(json!({"type": "ai-title", "aiTitle": "By a model", "sessionId": "s1"}));
    assert_eq!(
        (record.tail().title.as_str(), record.tail().custom_title.as_str()),
        ("By a model", "")
    );
    record.raw(json!({"type": "custom-title", "customTitle": "Old name", "sessionId": "s1"}));
    record.raw(json!({"type": "custom-title", "customTitle": "By\u{1b}[31m me", "sessionId": "s1"}));
    record.raw(json!({"type": "ai-title", "aiTitle": "By a model", "sessionId": "s1"}));
    assert_eq!(
        (record.tail().title.as_str(), record.tail().custom_title.as_str()),
        ("By me", "By me")
    );
}

#[test]
fn to_do_list_model_and_action_come_from_the_last_line_that_has_them() {
    let mut record = Record::new();
    let todos = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]});
    record.prompt("go").call("t1", "TodoWrite", todos).result("t1", "ok");
    record
        .call("t2", "Bash", bash("cargo test"))
        .result("t2", "ok")
        .text("end_turn", "Done.");
    record.prompt("more").text("end_turn", "First line.\nSecond.");
    let tail = record.tail();
    assert_eq!((tail.todo, tail.model.as_str()), (Some((1, 2)), "claude-opus-5-5"));
    assert_eq!(
        (tail.action.as_str(), tail.text.as_str()),
        ("Bash: cargo test", "First line.\nSecond.")
    );
    let mut without = Record::new();
    without.prompt("go").text("end_turn", "First line.\nSecond.");
    assert_eq!(without.tail().action, "First line.");
}

#[test]
fn c102_a_resumed_file_keeps_other_ids_in_its_lines() {
    let mut record = Record::default();
    record.line(
        json!({"type": "user", "message": {"content": "old"}}),
        json!({"sessionId": "parent"}),
    );
    record.prompt("new");
    assert_eq!(claude::head(record.text.as_bytes()).session_id, "parent");
    assert_eq!(record.kind(), Kind::Start);
}

#[test]
fn c103_a_text_of_3_mb_changes_no_kind() {
    let long = "x\n".repeat(1_000_000);
    let mut record = Record::new();
    record
        .prompt("go")
        .call("t1", "Write", json!({"file_path": "/w/a", "content": long}));
    let open = record.tail();
    assert_eq!((open.kind, open.action.as_str()), (Kind::Tool, "Write: /w/a"));
    let mut record = Record::new();
    record.prompt("go").text("end_turn", &long);
    let end = record.tail();
    assert_eq!((end.kind, end.text.len()), (Kind::End, 64 * 1024));
}

#[test]
fn c39_h67_damaged_lines_do_not_hide_the_others() {
    let mut good = Record::new();
    good.prompt("go").text("end_turn", "Shall I go on?");
    let want = good.tail();
    let lines: Vec<&str> = good.text.lines().collect();
    let glued = lines.join("");
    let nul = lines.join("\n\0\0\0\0");
    let crlf = lines.join("\r\n");
    let bom = format!("\u{feff}{}", good.text);
    for text in [
        glued,
        nul,
        crlf,
        bom,
        format!("{}[1,2]\n\"x\"\n", good.text),
        format!("{}{{\"type\":\"us", good.text),
    ] {
        assert_eq!(claude::tail(text.as_bytes(), true), want, "{text:?}");
        assert_eq!(
            claude::last_text(text.as_bytes(), true).as_deref(),
            Some("Shall I go on?"),
            "{text:?}"
        );
    }
    let mut bytes = good.text.clone().into_bytes();
    bytes.splice(0..0, *b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe\"}}\n");
    bytes.extend_from_slice(b"{\"type\":\"assistant\",\"message\":{\"id\":\"z\",\"content\":[{\"type\":\"text\",\"text\":\"\\ud800 \xc3?\"}],\
        \"stop_reason\":\"end_turn\"}}\n");
    assert_eq!(claude::tail(&bytes, true).kind, Kind::End);
    assert_eq!(claude::last_text(&bytes, true).as_deref(), Some("\u{fffd} \u{fffd}?"));
}

#[test]
fn h66_the_last_text_counts_only_if_nothing_follows_it() {
    let last = |record: &Record| claude::last_text(record.text.as_bytes(), true);
    let asked = |record: &Record| last(record).and_then(|t| question(&t, &[]));
    let mut record = Record::new();
    record
        .prompt("go")
        .call("t1", "Bash", bash("ls"))
        .result("t1", "ok")
        .text("end_turn", "Done. Shall I go on?");
    record
        .system("stop_hook_summary")
        .raw(json!({"type": "last-prompt", "lastPrompt": "x"}));
    assert_eq!(asked(&record).as_deref(), Some("Shall I go on?"));
    let follow = |write: &dyn Fn(&mut Record)| {
        let mut next = Record {
            text: record.text.clone(),
            seconds: record.seconds,
        };
        write(&mut next);
        last(&next)
    };
    assert_eq!(
        follow(&|r| {
            r.prompt("yes");
        }),
        None
    );
    assert_eq!(
        follow(&|r| {
            r.call("t2", "Bash", bash("ls"));
        }),
        None
    );
    assert_eq!(
        follow(&|r| {
            r.result("t2", "ok");
        }),
        None
    );
    assert_eq!(follow(&interrupted), None);
    let sidechain = json!({"type": "assistant", "isSidechain": true,
        "message": {"id": "c", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Really?"}]}});
    assert_eq!(
        follow(&|r| {
            r.raw(sidechain.clone());
        })
        .as_deref(),
        Some("Done. Shall I go on?")
    );
}

#[test]
fn files_without_a_mark_are_new_or_not_understood() {
    for (bytes, whole, want) in [
        (&b""[..], true, Kind::None),
        (b"{\"type\":\"user\",\"mess", true, Kind::None),
        (b"{\"type\":\"mode\"}\n", true, Kind::None),
        (b"x\n{\"type\":\"mode\"}\n", false, Kind::Unknown),
        (b"{\"kind\":\"turn\"}\n{\"kind\":\"turn\"}\n", true, Kind::Unknown),
        (b"plain text\n", true, Kind::Unknown),
        (b"[]\n", true, Kind::Unknown),
    ] {
        assert_eq!(
            claude::tail(bytes, whole).kind,
            want,
            "{:?}",
            String::from_utf8_lossy(bytes)
        );
    }
}

fn any_line() -> impl Strategy<Value = String> {
    let member = prop_oneof![
        Just(r#""type":"user""#),
        Just(r#""type":"assistant""#),
        Just(r#""type":"system""#),
        Just(r#""subtype":"turn_duration""#),
        Just(r#""message":{"content":"hi"}"#),
        Just(r#""message":[1]"#),
        Just(r#""message":null"#),
        Just(r#""message":"x""#),
        Just(r#""message":{"id":7,"content":[{"type":"tool_use","id":"a","name":"Bash","input":[]},3,null]}"#),
        Just(r#""message":{"content":[{"type":"tool_result","tool_use_id":"a"}],"stop_reason":"end_turn"}"#),
        Just(r#""timestamp":"2026-11-30T12:00:00Z""#),
        Just(r#""timestamp":5"#),
        Just(r#""timestamp":null"#),
        Just(r#""cwd":7"#),
        Just(r#""type":null"#),
        Just(r#""isSidechain":"yes""#),
        Just(r#""origin":[]"#),
    ];
    prop_oneof![
        proptest::collection::vec(member, 0..6).prop_map(|m| format!("{{{}}}", m.join(","))),
        any::<String>(),
        Just("{".to_string()),
        Just("}{".to_string()),
        Just("\0\0".to_string()),
    ]
}

proptest! {
    #[test]
    fn any_lines_give_a_tail(lines in proptest::collection::vec(any_line(), 0..12), whole in any::<bool>(), cut in 0usize..40) {
        let bytes = lines.join("\n").into_bytes();
        let bytes = &bytes[cut.min(bytes.len())..];
        let tail = claude::tail(bytes, whole);
        prop_assert!(tail.open_tools == 0 || tail.kind == Kind::Tool);
        claude::tail_of_child(bytes, whole);
        claude::head(bytes);
        claude::last_text(bytes, whole);
    }

    #[test]
    fn any_bytes_give_a_tail(bytes in proptest::collection::vec(any::<u8>(), 0..300), whole in any::<bool>()) {
        claude::tail(&bytes, whole);
        claude::head(&bytes);
    }

    #[test]
    fn damage_in_front_of_a_turn_does_not_change_it(junk in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut record = Record::default();
        record.prompt("go").call("t1", "Bash", bash("ls"));
        let mut bytes = junk;
        bytes.push(b'\n');
        bytes.extend_from_slice(record.text.as_bytes());
        let tail = claude::tail(&bytes, true);
        prop_assert_eq!((tail.kind, tail.open_tools, tail.turn_started_ms), (Kind::Tool, 1, T0 + 1000));
    }
}
