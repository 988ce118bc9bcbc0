//! Codex's rollouts: what their last turn marks say, in every form of history. The lines have the shape that 0.171.0
//! and older versions write.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use ring_hook::tail::{Kind, Tail, codex};
use serde_json::{Value, json};

/// The clock of the first line: 2026-11-30T12:00:00Z.
const T0: i64 = 1_796_040_000_000;

/// The same turn in each form that a rollout may have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Up to 0.146: events and response items.
    Events,
    /// Response items between the events of turns.
    Responses,
    /// Completed items between the events of turns.
    Items,
    /// 0.171: all of them.
    Both,
}

const FORMS: [Form; 4] = [Form::Events, Form::Responses, Form::Items, Form::Both];

/// A rollout that is written line by line, one second apart.
struct Record {
    text: String,
    lines: i64,
    form: Form,
    turn: &'static str,
}

impl Record {
    fn new(form: Form) -> Record {
        let mut record = Record {
            text: String::new(),
            lines: -1,
            form,
            turn: "",
        };
        record.meta(
            json!({"id": "id-1", "session_id": "id-1", "cwd": "/w/first", "originator": "codex-tui",
            "cli_version": "0.171.0", "source": "cli", "thread_source": "user"}),
        );
        record
    }

    fn meta(&mut self, mut meta: Value) -> &mut Self {
        meta.as_object_mut()
            .unwrap()
            .insert("base_instructions".into(), json!({"text": ".".repeat(26_000)}));
        self.line("session_meta", meta)
    }

    fn line(&mut self, kind: &str, payload: Value) -> &mut Self {
        self.lines += 1;
        let stamp = format!("2026-11-30T12:{:02}:{:02}.000Z", self.lines / 60, self.lines % 60);
        let line = json!({"timestamp": stamp, "ordinal": self.lines, "type": kind, "payload": payload});
        self.text += &format!("{line}\n");
        self
    }

    fn event(&mut self, kind: &str, more: Value) -> &mut Self {
        let mut payload = json!({"type": kind, "turn_id": self.turn});
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.line("event_msg", payload)
    }

    fn item(&mut self, item: Value) -> &mut Self {
        self.event("item_completed", json!({"thread_id": "id-1", "item": item}))
    }

    fn response(&mut self, mut payload: Value) -> &mut Self {
        let turn = json!({"turn_id": self.turn});
        payload
            .as_object_mut()
            .unwrap()
            .insert("internal_chat_message_metadata_passthrough".into(), turn);
        self.line("response_item", payload)
    }

    fn has(&self, forms: &[Form]) -> bool {
        forms.contains(&self.form)
    }

    fn begin(&mut self, turn: &'static str) -> &mut Self {
        self.turn = turn;
        self.event(
            "task_started",
            json!({"started_at": 1, "model_context_window": 475_000}),
        );
        self.response(json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>\n  <cwd>/w</cwd>"}]}));
        self.line(
            "turn_context",
            json!({"turn_id": turn, "cwd": "/w/app", "model": "gpt-6.2-sol",
            "approval_policy": "on-request", "approvals_reviewer": "user"}),
        )
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        if self.has(&[Form::Responses, Form::Both, Form::Events]) {
            self.response(
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
            );
        }
        if self.has(&[Form::Events]) {
            self.event("user_message", json!({"message": text, "kind": "plain"}));
        }
        if self.has(&[Form::Items, Form::Both]) {
            self.item(json!({"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": text}]}));
        }
        self
    }

    fn said(&mut self, text: &str) -> &mut Self {
        if self.has(&[Form::Events]) {
            self.event("agent_message", json!({"message": text}));
        }
        if self.has(&[Form::Items, Form::Both]) {
            self.item(json!({"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": text}]}));
        }
        if self.has(&[Form::Responses, Form::Both, Form::Events]) {
            self.response(json!({"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": text}]}));
        }
        self
    }

    fn call(&mut self, id: &str, command: &str) -> &mut Self {
        match self.form {
            Form::Items => self,
            Form::Both => self.response(json!({"type": "custom_tool_call", "call_id": id, "name": "exec",
                "input": format!("await tools.exec_command({{\"cmd\": {command:?}}})")})),
            _ => self.response(json!({"type": "function_call", "call_id": id, "name": "shell",
                "arguments": json!({"command": command}).to_string()})),
        }
    }

    fn result(&mut self, id: &str, command: &str) -> &mut Self {
        if self.has(&[Form::Items, Form::Both]) {
            self.item(json!({"type": "CommandExecution", "id": "e", "status": "completed",
                "command": ["/bin/bash", "-lc", command]}));
        }
        match self.form {
            Form::Items => self,
            Form::Both => self.response(json!({"type": "custom_tool_call_output", "call_id": id, "output": "ok"})),
            _ => self.response(json!({"type": "function_call_output", "call_id": id, "output": "ok"})),
        }
    }

    fn end(&mut self, text: Option<&str>) -> &mut Self {
        self.event("token_count", json!({"info": null}));
        self.event("task_complete", json!({"last_agent_message": text, "error": null}))
    }

    fn tail(&self) -> Tail {
        codex::tail(self.text.as_bytes(), true)
    }

    fn kind(&self) -> Kind {
        self.tail().kind
    }
}

#[test]
fn c101_c103_each_kind_has_its_record_in_each_form_of_history() {
    for form in FORMS {
        let of = |write: &dyn Fn(&mut Record)| {
            let mut record = Record::new(form);
            write(&mut record);
            record.kind()
        };
        let error = json!({"error": {"message": "bad request", "codex_error_info": "other"}});
        for (want, got) in [
            (Kind::None, of(&|_| ())),
            (
                Kind::Start,
                of(&|r| {
                    r.begin("a").prompt("go");
                }),
            ),
            (
                Kind::Busy,
                of(&|r| {
                    r.begin("a").prompt("go").said("I look around.");
                }),
            ),
            (
                Kind::Busy,
                of(&|r| {
                    r.begin("a").prompt("go").call("c1", "ls").result("c1", "ls");
                }),
            ),
            (
                Kind::End,
                of(&|r| {
                    r.begin("a").prompt("go").said("Done.").end(Some("Done."));
                }),
            ),
            (
                Kind::Failed,
                of(&|r| {
                    r.begin("a").prompt("go").event("task_complete", error.clone());
                }),
            ),
            (
                Kind::Interrupted,
                of(&|r| {
                    r.begin("a")
                        .prompt("go")
                        .event("turn_aborted", json!({"reason": "interrupted"}));
                }),
            ),
        ] {
            assert_eq!(got, want, "{form:?}");
        }
        if form != Form::Items {
            assert_eq!(
                of(&|r| {
                    r.begin("a").prompt("go").call("c1", "ls");
                }),
                Kind::Tool,
                "{form:?}"
            );
        }
        assert_eq!(
            of(&|r| {
                r.begin("a");
            }),
            Kind::Busy,
            "{form:?}"
        );
    }
    assert_eq!(
        codex::tail(b"{\"kind\":\"of tomorrow\",\"type\":7}\n{\"a\":[]}x\n", false).kind,
        Kind::Unknown
    );
}

#[test]
fn c103_bare_lines_of_2025_are_response_items_and_their_answers_are_plain() {
    let lines = [
        json!({"id": "id-0", "timestamp": "2025-05-07T17:24:21.123Z", "instructions": null}),
        json!({"record_type": "state"}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<user_instructions>"}]}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}),
        json!({"type": "reasoning", "summary": []}),
        json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{\"command\":[\"ls\",\"-l\"]}"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "x"}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}),
    ];
    let tail = |n: usize| {
        let text: String = lines[..n].iter().map(|l| format!("{l}\n")).collect();
        codex::tail(text.as_bytes(), true)
    };
    let kinds: Vec<Kind> = (1..=lines.len()).map(|n| tail(n).kind).collect();
    use Kind::{Busy, None, Plain, Start, Tool};
    assert_eq!(kinds, [None, None, None, Start, Busy, Tool, Busy, Plain]);
    assert_eq!(
        (tail(8).text.as_str(), tail(8).action.as_str()),
        ("Done.", "shell: ls -l")
    );
    assert_eq!(tail(8).first_prompt, "go");
    let first = format!("{}\n", lines[0]);
    assert_eq!(codex::head(first.as_bytes()).session_id, "id-0");
}

#[test]
fn c34_a_turn_from_its_start_to_its_end() {
    let mut record = Record::new(Form::Both);
    record.begin("a").prompt("Look around\nplease");
    let start = record.tail();
    assert_eq!(
        (start.kind, start.turn_started_ms, start.first_prompt.as_str()),
        (Kind::Start, T0 + 1000, "Look around")
    );
    record.call("c1", "ls").call("c2", "pwd");
    assert_eq!((record.kind(), record.tail().open_tools), (Kind::Tool, 2));
    record.result("c2", "pwd");
    let one = record.tail();
    assert_eq!(
        (one.kind, one.open_tools, one.action.as_str()),
        (Kind::Tool, 1, "Bash: pwd")
    );
    record.result("c1", "ls").said("Done.").end(Some("Done."));
    let end = record.tail();
    assert_eq!(
        (end.kind, end.open_tools, end.turn_started_ms),
        (Kind::End, 0, T0 + 1000)
    );
    assert_eq!(
        (end.text.as_str(), end.cwd.as_str(), end.model.as_str()),
        ("Done.", "/w/app", "gpt-6.2-sol")
    );
    assert!(end.note.is_empty() && !end.asks && end.answered_ms > start.ms);
}

#[test]
fn c34_errors_and_interrupts_of_every_reason() {
    for reason in ["interrupted", "replaced", "review_ended", "budget_limited"] {
        let mut record = Record::new(Form::Both);
        record.begin("a").prompt("go").call("c1", "ls");
        record.event("turn_aborted", json!({"reason": reason}));
        assert_eq!(
            (record.kind(), record.tail().open_tools),
            (Kind::Interrupted, 0),
            "{reason}"
        );
    }
    for (error, want) in [
        (
            json!({"message": "bad request", "codex_error_info": "other"}),
            "bad request",
        ),
        (
            json!({"message": "x", "codex_error_info": "usage_limit_exceeded"}),
            "usage_limit_exceeded",
        ),
        (json!({"message": "x", "codex_error_info": {"http": 500}}), "x"),
        (json!("down"), "down"),
    ] {
        let mut record = Record::new(Form::Both);
        record
            .begin("a")
            .prompt("go")
            .event("task_complete", json!({"error": error}));
        assert_eq!((record.kind(), record.tail().error.as_str()), (Kind::Failed, want));
        record.begin("b").prompt("again").said("Fine.").end(Some("Fine."));
        assert_eq!((record.kind(), record.tail().error.as_str()), (Kind::End, ""));
    }
}

#[test]
fn a_command_that_reports_behind_the_end_of_its_turn_wakes_nothing() {
    let mut record = Record::new(Form::Both);
    record.begin("a").prompt("go").call("c1", "sleep 20");
    record.event("turn_aborted", json!({"reason": "interrupted"}));
    let want = record.tail();
    record.item(json!({"type": "CommandExecution", "status": "failed", "command": ["/bin/bash", "-lc", "sleep 20"]}));
    let late = record.tail();
    assert_eq!(
        (late.kind, late.ms, late.turn_started_ms),
        (want.kind, want.ms, want.turn_started_ms)
    );
    record.response(json!({"type": "function_call_output", "call_id": "c1", "output": "late"}));
    assert_eq!(record.kind(), Kind::Interrupted);
    // of another turn it is work
    record.turn = "b";
    record.item(json!({"type": "Reasoning"}));
    assert_eq!(record.kind(), Kind::Busy);
}

#[test]
fn a_turn_that_is_steered_keeps_its_start() {
    let mut record = Record::new(Form::Both);
    record
        .begin("a")
        .prompt("go")
        .call("c1", "ls")
        .result("c1", "ls")
        .prompt("faster");
    let tail = record.tail();
    assert_eq!((tail.kind, tail.turn_started_ms), (Kind::Start, T0 + 1000));
}

#[test]
fn a_stop_hook_that_sends_the_turn_on_is_no_prompt() {
    let mut record = Record::new(Form::Both);
    record.begin("a").prompt("go").said("Done.");
    record.response(json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "<hook_prompt hook_run_id=\"stop:1\">go on"}]}));
    record.item(json!({"type": "HookPrompt", "fragments": []}));
    assert_eq!(record.kind(), Kind::Busy);
}

#[test]
fn c34_a_fork_keeps_its_own_id_and_a_child_passes_over_its_parents_lines() {
    let mut fork = Record::new(Form::Both);
    fork.meta(json!({"id": "parent", "cwd": "/w/parent", "source": "cli"}));
    fork.begin("p").prompt("of the parent").said("Done.").end(Some("Done."));
    let head = codex::head(fork.text.as_bytes());
    assert_eq!(
        (head.session_id.as_str(), head.cwd.as_str(), head.child),
        ("id-1", "/w/first", false)
    );
    assert_eq!(fork.kind(), Kind::End);

    let mut child = Record {
        text: String::new(),
        lines: -1,
        form: Form::Both,
        turn: "",
    };
    child.meta(
        json!({"id": "child", "cwd": "/w", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "id-1"}}},
        "subagent_history_start_ordinal": 9}),
    );
    child
        .begin("p")
        .prompt("of the parent")
        .said("Done.")
        .end(Some("Done."));
    assert_eq!(child.lines, 9);
    let head = codex::head(child.text.as_bytes());
    assert_eq!(
        (head.child, head.parent.as_str(), head.first_ordinal),
        (true, "id-1", 9)
    );
    assert_eq!(head.first_prompt, "");
    child.begin("c");
    assert_eq!(child.kind(), Kind::Busy);
    let end = codex::tail_of_child(&child.text.as_bytes()[27_000..], false, 10_000);
    assert_eq!(end.kind, Kind::Unknown);
}

#[test]
fn c102_whose_a_rollout_is() {
    let head = |meta: Value| {
        let mut record = Record {
            text: String::new(),
            lines: -1,
            form: Form::Both,
            turn: "",
        };
        record.meta(meta);
        codex::head(record.text.as_bytes())
    };
    let plain = head(
        json!({"id": "a", "session_id": "root", "cwd": "/w", "source": "vscode", "originator": "codex-tui",
        "cli_version": "0.171.0"}),
    );
    assert_eq!(
        (
            plain.session_id.as_str(),
            plain.source.as_str(),
            plain.cli_version.as_str()
        ),
        ("a", "vscode", "0.171.0")
    );
    assert_eq!(
        (plain.originator.as_str(), plain.child, plain.internal),
        ("codex-tui", false, false)
    );
    assert_eq!(head(json!({"session_id": "s"})).session_id, "s");
    assert!(head(json!({"id": "a", "thread_source": "subagent"})).child);
    assert!(head(json!({"id": "a", "parent_thread_id": "p"})).child);
    assert!(head(json!({"id": "a", "source": {"subagent": {"other": "guardian"}}})).child);
    assert!(head(json!({"id": "a", "source": {"internal": "memory"}})).internal);
    assert!(head(json!({"id": "a", "source": "internal"})).internal);
    // instructions longer than the head that was read
    let cut = br#"{"type":"session_meta","payload":{"id":"a","cwd":"/w","base_instructions":{"text":"............"#;
    assert_eq!(codex::head(cut).cwd, "/w");
}

#[test]
fn the_first_prompt_is_found_behind_long_instructions() {
    let mut record = Record::new(Form::Both);
    for _ in 0..4 {
        let text = ".".repeat(26_000);
        record.response(json!({"type": "message", "role": "developer",
            "content": [{"type": "input_text", "text": text}]}));
    }
    record.begin("a").prompt("Look around");
    assert_eq!(record.tail().first_prompt, "Look around");
    // a head of 64 KiB does not reach it
    assert_eq!(codex::head(&record.text.as_bytes()[..64 * 1024]).first_prompt, "");
}

#[test]
fn a_plan_is_noted_when_its_turn_is_over() {
    let mut record = Record::new(Form::Both);
    record.begin("a").prompt("plan it");
    record
        .item(json!({"type": "Plan", "text": "# Plan\n1. Think"}))
        .said("Here is the plan.");
    assert_eq!(record.tail().note, "");
    record.end(Some("Here is the plan."));
    assert_eq!(
        (record.kind(), record.tail().note.as_str()),
        (Kind::End, "plan proposed")
    );
    record.begin("b").prompt("go").said("Done.").end(Some("Done."));
    assert_eq!(record.tail().note, "");
    let mut wrapped = Record::new(Form::Responses);
    wrapped
        .begin("a")
        .prompt("plan it")
        .said("So:\n<proposed_plan>\n1. Think")
        .end(None);
    assert_eq!(wrapped.tail().note, "plan proposed");
}

#[test]
fn c74_questions_ask_until_they_are_answered() {
    let ask = |record: &mut Record, name: &str| {
        record.response(
            json!({"type": "function_call", "call_id": "q", "name": name, "arguments": "{\"questions\":[]}"}),
        );
    };
    let mut waits = Record::new(Form::Both);
    waits.begin("a").prompt("go");
    ask(&mut waits, "request_user_input");
    assert!(waits.tail().asks && waits.kind() == Kind::Tool);
    waits.response(json!({"type": "function_call_output", "call_id": "q", "output": "{}"}));
    assert!(!waits.tail().asks);

    let mut later = Record::new(Form::Both);
    later.begin("a").prompt("go");
    ask(&mut later, "request_user_input_async");
    later.response(json!({"type": "function_call_output", "call_id": "q", "output": "{\"accepted\":true}"}));
    assert!(later.tail().asks && later.kind() == Kind::Busy);
    let mut answered = Record {
        text: later.text.clone(),
        ..later
    };
    answered.line("retained_context", json!({"type": "verified_answer", "call_id": "q"}));
    assert!(!answered.tail().asks);
    later.text = answered.text.lines().take(8).map(|l| format!("{l}\n")).collect();
    later.prompt("It shall be red");
    assert!(!later.tail().asks);
}

#[test]
fn to_do_list_of_the_last_plan() {
    let mut record = Record::new(Form::Events);
    record.begin("a").prompt("go");
    let plan = json!({"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}]});
    record.response(
        json!({"type": "function_call", "call_id": "p", "name": "update_plan", "arguments": plan.to_string()}),
    );
    record.response(json!({"type": "function_call_output", "call_id": "p", "output": "ok"}));
    record.begin("b").prompt("more").said("Done.").end(None);
    assert_eq!(record.tail().todo, Some((1, 2)));
}

#[test]
fn h88_reviewed_by_the_last_turn_context() {
    let mut record = Record::new(Form::Both);
    assert!(!codex::reviewed(record.text.as_bytes()));
    record.begin("a").prompt("go");
    assert!(!codex::reviewed(record.text.as_bytes()));
    record.line(
        "turn_context",
        json!({"cwd": "/w", "approvals_reviewer": "auto_review"}),
    );
    record.prompt("the text \"turn_context\" alone is none");
    assert!(codex::reviewed(record.text.as_bytes()));
    record.line("turn_context", json!({"cwd": "/w"}));
    assert!(!codex::reviewed(record.text.as_bytes()));
}

#[test]
fn h66_the_last_text_counts_only_if_nothing_follows_it() {
    for form in FORMS {
        let mut record = Record::new(form);
        record
            .begin("a")
            .prompt("go")
            .call("c1", "ls")
            .result("c1", "ls")
            .said("Shall I go on?");
        record.event("token_count", json!({"info": null}));
        let last = |r: &Record| codex::last_text(r.text.as_bytes(), true);
        assert_eq!(last(&record).as_deref(), Some("Shall I go on?"), "{form:?}");
        let text = record.text.clone();
        for write in [
            (|r| {
                r.prompt("yes");
            }) as fn(&mut Record),
            |r| {
                r.result("c9", "ls");
            },
            |r| {
                r.event("turn_aborted", json!({"reason": "interrupted"}));
            },
            |r| {
                r.begin("b");
            },
        ] {
            let mut next = Record {
                text: text.clone(),
                ..record
            };
            write(&mut next);
            assert_eq!(last(&next), None, "{form:?}");
        }
    }
}

#[test]
fn c39_c103_damage_and_long_texts_change_no_kind() {
    let mut record = Record::new(Form::Both);
    record.begin("a").prompt("go").said("Done.").end(Some("Done."));
    let want = record.tail();
    let lines: Vec<&str> = record.text.lines().collect();
    for text in [
        lines.join(""),
        lines.join("\n\0\0\0\n"),
        lines.join("\r\n"),
        format!("\u{feff}{}", record.text),
        format!("{}[{{\"type\":\"event_msg\"}}]\n{{\"timest", record.text),
    ] {
        assert_eq!(codex::tail(text.as_bytes(), true), want);
    }
    let mut long = Record::new(Form::Both);
    long.begin("a").prompt("go").said(&"word\n".repeat(600_000));
    assert_eq!((long.kind(), long.tail().text.len()), (Kind::Busy, 64 * 1024));
}

fn any_line() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(r#""type":"event_msg""#),
        Just(r#""type":"response_item""#),
        Just(r#""type":"session_meta""#),
        Just(r#""type":5"#),
        Just(r#""payload":{"type":"item_completed","item":{"type":"AgentMessage","content":7}}"#),
        Just(r#""payload":null"#),
        Just(r#""payload":{"type":"task_complete","error":[]}"#),
        Just(r#""payload":{"type":"function_call","call_id":4}"#),
        Just(r#""payload":{"type":"message","role":"user","content":"go"}"#),
        Just(r#""payload":{"type":"task_started"}"#),
        Just(r#""ordinal":-1"#),
        Just(r#""ordinal":"x""#),
        Just(r#""timestamp":"x""#),
        Just(r#""id":{}"#),
        Just(r#""source":[]"#),
    ];
    prop_oneof![
        proptest::collection::vec(part, 0..5).prop_map(|m| format!("{{{}}}", m.join(","))),
        any::<String>(),
        Just("{\"type\":".to_string()),
        Just("}{".to_string()),
    ]
}

proptest! {
    #[test]
    fn any_lines_give_a_tail(lines in proptest::collection::vec(any_line(), 0..12), whole in any::<bool>(), cut in 0usize..40) {
        let bytes = lines.join("\n").into_bytes();
        let bytes = &bytes[cut.min(bytes.len())..];
        let tail = codex::tail(bytes, whole);
        prop_assert!(tail.open_tools == 0 || tail.kind == Kind::Tool);
        codex::tail_of_child(bytes, whole, 3);
        codex::head(bytes);
        codex::reviewed(bytes);
        codex::last_text(bytes, whole);
    }

    #[test]
    fn any_bytes_give_a_tail(bytes in proptest::collection::vec(any::<u8>(), 0..300), whole in any::<bool>()) {
        codex::tail(&bytes, whole);
        codex::head(&bytes);
    }
}
