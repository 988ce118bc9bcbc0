//! Payloads as each agent documents or sends them, and what they become.
#![allow(clippy::unwrap_used, missing_docs)]

use ring_hook::decide::decide;
use ring_hook::event::{Event, Intent, Owner};
use ring_hook::normalise::{self, Given};
use ring_session::Settings;
use serde_json::{Value, json};

fn read(agent: Option<&str>, event: Option<&str>, payload: &Value) -> Event {
    let given = Given {
        agent,
        event,
        ..Given::default()
    };
    normalise::event(payload.to_string().as_bytes(), &given).unwrap()
}

/// Payload of an agent -> canonical event and intent.
fn expect(agent: &str, event: Option<&str>, payload: Value, name: &str, intent: Intent) -> Event {
    let read = read(Some(agent), event, &payload);
    let decision = decide(&read, &Settings::default());
    assert_eq!(
        (read.agent.as_str(), read.name.as_str(), decision.intent),
        (agent, name, intent),
        "{payload}"
    );
    read
}

use Intent::{Ended, Idle, None as Nothing, Waiting, Working};

#[test]
fn h101_gemini() {
    let payload = |name: &str, more: Value| {
        let mut p = json!({"session_id": "g1", "transcript_path": "/h/.gemini/tmp/p/chats/session-1.jsonl", "cwd": "/w",
            "timestamp": "2026-08-21T10:00:00.000Z", "hook_event_name": name});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        p
    };
    let of = |name: &str, more: Value, canonical: &str, intent| {
        expect("gemini", None, payload(name, more), canonical, intent)
    };
    of("SessionStart", json!({"source": "startup"}), "SessionStart", Working);
    of(
        "BeforeAgent",
        json!({"prompt": "list files"}),
        "UserPromptSubmit",
        Working,
    );
    let tool = of(
        "BeforeTool",
        json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}),
        "PreToolUse",
        Working,
    );
    assert_eq!(tool.tool.summary, "run_shell_command: ls");
    assert_eq!(tool.agent_ms, Some(1_787_306_400_000));
    of(
        "AfterTool",
        json!({"tool_name": "run_shell_command"}),
        "PostToolUse",
        Working,
    );
    // H109
    let asks = of(
        "Notification",
        json!({"notification_type": "ToolPermission", "message": "Tool wants to run"}),
        "Notification",
        Waiting,
    );
    assert_eq!(asks.notification_type, "permissionprompt");
    of(
        "AfterAgent",
        json!({"prompt": "x", "prompt_response": "done"}),
        "Stop",
        Idle,
    );
    of(
        "AfterAgent",
        json!({"prompt": "x", "prompt_response": "Shall I go on?"}),
        "Stop",
        Waiting,
    );
    of("PreCompress", json!({}), "PreCompact", Nothing);
    of("SessionEnd", json!({"reason": "exit"}), "SessionEnd", Ended);
}

#[test]
fn h101_antigravity() {
    let payload = |more: Value| {
        let mut p = json!({"conversationId": "c1", "workspacePaths": ["/w/app", "/w/b"]});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        p
    };
    let of = |event, more, name: &str, intent| expect("antigravity", Some(event), payload(more), name, intent);
    let tool = of(
        "PreToolUse",
        json!({"toolCall": {"name": "run_command", "args": {"command": "ls"}}}),
        "PreToolUse",
        Working,
    );
    assert_eq!((tool.session_id.as_str(), tool.cwd.as_str()), ("c1", "/w/app"));
    assert_eq!(tool.tool.summary, "run_command: ls");
    of("PreInvocation", json!({"invocationNum": 1}), "TurnStart", Working);
    of("Stop", json!({}), "Stop", Idle);
}

#[test]
fn h101_copilot() {
    // H107, H56
    let camel = json!({"sessionId": "p1", "timestamp": 1_786_316_307_940_u64, "cwd": "/w", "transcriptPath": "/h/.copilot/session-state/p1/events.jsonl"});
    let of = |event, more: Value, name: &str, intent| {
        let mut p = camel.clone();
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        expect("copilot", event, p, name, intent)
    };
    of(
        Some("sessionStart"),
        json!({"source": "new", "initialPrompt": "hi"}),
        "SessionStart",
        Working,
    );
    of(
        Some("userPromptSubmitted"),
        json!({"prompt": "hi"}),
        "UserPromptSubmit",
        Working,
    );
    let tool = of(
        Some("preToolUse"),
        json!({"toolName": "bash", "toolArgs": "{\"command\":\"ls\"}"}),
        "PreToolUse",
        Working,
    );
    assert_eq!(tool.tool.summary, "bash: ls");
    of(
        Some("permissionRequest"),
        json!({"toolName": "bash"}),
        "PermissionRequest",
        Working,
    );
    let note = json!({"hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "Fetch URL", "title": "Permission needed"});
    let asks = of(None, note, "Notification", Waiting);
    assert_eq!((asks.message.as_str(), asks.title.as_str()), ("Fetch URL", ""));
    of(Some("agentStop"), json!({"stopReason": "end_turn"}), "Stop", Idle);
    of(Some("errorOccurred"), json!({}), "StopFailure", Idle);
    of(Some("sessionEnd"), json!({"reason": "user_exit"}), "SessionEnd", Ended);
    let pascal = json!({"hook_event_name": "Stop", "session_id": "p1", "timestamp": "2026-08-09T22:57:36.167Z", "cwd": "/w",
        "transcript_path": "/h/.copilot/session-state/p1/events.jsonl"});
    assert_eq!(read(None, None, &pascal).agent, "copilot");
}

#[test]
fn h101_cursor() {
    let payload = |name: &str, more: Value| {
        let mut p = json!({"conversation_id": "c-1", "generation_id": "g-1", "model": "auto", "hook_event_name": name,
            "cursor_version": "2.6", "workspace_roots": ["/w/app"], "user_email": "a@b.c", "transcript_path": null});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        p
    };
    let of = |name: &str, more, canonical: &str, intent| expect("cursor", None, payload(name, more), canonical, intent);
    let prompt = of(
        "beforeSubmitPrompt",
        json!({"prompt": "hi", "session_id": "other"}),
        "UserPromptSubmit",
        Working,
    );
    assert_eq!(
        (prompt.session_id.as_str(), prompt.cwd.as_str(), prompt.turn_id.as_str()),
        ("c-1", "/w/app", "g-1")
    );
    // H108: never waiting
    let command = of(
        "beforeShellExecution",
        json!({"command": "npm test", "cwd": "/w/app"}),
        "PreToolUse",
        Working,
    );
    assert_eq!(command.tool.summary, "npm test");
    of("beforeReadFile", json!({"file_path": "/w/x"}), "PreToolUse", Working);
    of("afterFileEdit", json!({"file_path": "/w/x"}), "PostToolUse", Working);
    of("postToolUseFailure", json!({}), "PostToolUseFailure", Working);
    of("afterAgentResponse", json!({"text": "x"}), "TurnStart", Working);
    of("afterAgentThought", json!({}), "MessageDisplay", Nothing);
    of("stop", json!({"status": "completed", "loop_count": 0}), "Stop", Idle);
    of("stop", json!({"status": "aborted"}), "Interrupt", Idle);
    of("stop", json!({"status": "error"}), "StopFailure", Idle);
    of("sessionEnd", json!({}), "SessionEnd", Ended);
    // H56: files made for Claude are run by Cursor
    let run_by_cursor = read(
        Some("claude-code"),
        None,
        &payload("beforeSubmitPrompt", json!({"prompt": "hi"})),
    );
    assert_eq!(run_by_cursor.key, "cursor:c-1");
}

#[test]
fn h101_opencode() {
    // H106
    let of = |event: &str, more: Value, name: &str, intent| {
        let mut p = json!({"agent": "opencode", "event": event, "session_id": "o1", "cwd": "/w", "title": "fix"});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        expect("opencode", None, p, name, intent)
    };
    of("session.created", json!({}), "SessionStart", Working);
    of("session.status", json!({"status": "busy"}), "TurnStart", Working);
    of(
        "session.status",
        json!({"status": {"type": "retry"}}),
        "TurnStart",
        Working,
    );
    of("session.status", json!({"status": "idle"}), "Stop", Idle);
    of("session.idle", json!({}), "Stop", Idle);
    of("message.updated", json!({"role": "user"}), "UserPromptSubmit", Working);
    of("message.updated", json!({"role": "assistant"}), "", Nothing);
    of(
        "tool.execute.before",
        json!({"tool": "bash", "args": {"command": "ls"}}),
        "PreToolUse",
        Working,
    );
    of(
        "tool.execute.before",
        json!({"tool": "question", "args": {}}),
        "PreToolUse",
        Waiting,
    );
    of("tool.execute.after", json!({"tool": "bash"}), "PostToolUse", Working);
    for asked in [
        "permission.asked",
        "permission.updated",
        "permission.v2.asked",
        "session.permission.asked",
    ] {
        of(asked, json!({"tool": "bash"}), "PermissionAsked", Waiting);
    }
    of("permission.replied", json!({}), "PermissionAnswered", Working);
    of("permission.v2.replied", json!({}), "PermissionAnswered", Working);
    of("question.asked", json!({"question": "Which?"}), "Elicitation", Waiting);
    of("question.rejected", json!({}), "ElicitationResult", Working);
    of("session.error", json!({"error": "APIError"}), "StopFailure", Idle);
    of(
        "session.error",
        json!({"error": {"name": "MessageAbortedError"}}),
        "Interrupt",
        Idle,
    );
    of("session.compacted", json!({}), "PostCompact", Nothing);
    of("session.updated", json!({}), "CwdChanged", Nothing);
    of("session.deleted", json!({}), "SessionEnd", Ended);
    let child = of(
        "session.idle",
        json!({"session_id": "o2", "parent_id": "o1"}),
        "Stop",
        Idle,
    );
    assert_eq!(
        (child.key.as_str(), child.owner),
        ("opencode:o1", Owner::Agent("o2".into()))
    );
}

#[test]
fn h101_pi_amp_and_what_they_call_their_model() {
    let pi = |event: &str, name: &str, intent| {
        // H55, H103: its provider is the model's
        expect(
            "pi",
            None,
            json!({"agent": "pi", "provider": "anthropic", "event": event, "session_id": "p"}),
            name,
            intent,
        )
    };
    pi("session_start", "SessionStart", Working);
    pi("session_fork", "SessionStart", Working);
    pi("input", "UserPromptSubmit", Working);
    pi("agent_start", "TurnStart", Working);
    pi("tool_call", "PreToolUse", Working);
    pi("tool_result", "PostToolUse", Working);
    pi("agent_settled", "Stop", Idle);
    pi("agent_end", "", Nothing);
    pi("session_before_compact", "PreCompact", Nothing);
    pi("session_compact", "PostCompact", Nothing);
    pi("session_shutdown", "SessionEnd", Ended);
    for (event, name, intent) in [
        ("agent.start", "UserPromptSubmit", Working),
        ("tool.call", "PreToolUse", Working),
        ("tool.result", "PostToolUse", Working),
        ("agent.end", "Stop", Idle),
    ] {
        expect(
            "amp",
            None,
            json!({"agent": "amp", "event": event, "session_id": "a"}),
            name,
            intent,
        );
    }
}

#[test]
fn h105_kimi() {
    let of = |event: &str, more: Value, name: &str, intent| {
        let mut p = json!({"hook_event_name": event, "session_id": "k1", "session_title": "fix tests", "client_type": "cli", "cwd": "/w"});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        expect("kimi", None, p, name, intent)
    };
    let prompt = of("UserPromptSubmit", json!({"prompt": "hi"}), "UserPromptSubmit", Working);
    assert_eq!(prompt.title, "fix tests");
    of("TurnStarted", json!({}), "TurnStart", Working);
    of(
        "PermissionRequest",
        json!({"tool_name": "Bash"}),
        "PermissionAsked",
        Waiting,
    );
    of(
        "PermissionResult",
        json!({"tool_name": "Bash", "result": "approved"}),
        "PermissionAnswered",
        Working,
    );
    of("SessionHeartbeat", json!({}), "SessionHeartbeat", Nothing);
    of("Interrupt", json!({"reason": "user"}), "Interrupt", Idle);
    of("Stop", json!({}), "Stop", Idle);
    of("SessionEnd", json!({"reason": "exit"}), "SessionEnd", Ended);
}

#[test]
fn h109_qwen() {
    let of = |event: &str, more: Value, name: &str, intent| {
        let mut p = json!({"session_id": "q-1", "transcript_path": "/h/.qwen/projects/-w/chats/q-1.jsonl", "cwd": "/w", "hook_event_name": event});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        expect("qwen", None, p, name, intent)
    };
    assert!(
        !of(
            "UserPromptSubmit",
            json!({"prompt": "hi", "submitted_prompt": "hi"}),
            "UserPromptSubmit",
            Working
        )
        .continuation
    );
    assert!(
        of(
            "UserPromptSubmit",
            json!({"prompt": "[tool result]"}),
            "UserPromptSubmit",
            Working
        )
        .continuation
    );
    assert_eq!(
        of("StopFailure", json!({"error": "loop_detected"}), "StopFailure", Idle).error,
        "loop_detected"
    );
    of(
        "Notification",
        json!({"notification_type": "permission_prompt"}),
        "Notification",
        Waiting,
    );
    let deleted = of(
        "SessionDelete",
        json!({"deleted_session_id": "q-0"}),
        "SessionEnd",
        Ended,
    );
    assert_eq!(deleted.session_id, "q-0");
}

#[test]
fn h101_agents_with_few_events() {
    let droid = json!({"session_id": "d", "transcript_path": "/h/.factory/sessions/x/d.jsonl", "hook_event_name": "PermissionRequest", "tool_name": "ExitSpecMode"});
    assert_eq!(
        decide(
            &expect("droid", None, droid, "PermissionRequest", Waiting),
            &Settings::default()
        )
        .kind,
        "plan"
    );
    let goose = json!({"event": "PostToolUse", "session_id": "g", "matcher_context": "x", "tool_name": "developer__shell", "tool_input": {"command": "rg TODO"}, "working_dir": "/w"});
    assert_eq!(expect("goose", None, goose, "PostToolUse", Working).cwd, "/w");
    let prompt =
        json!({"event": "UserPromptSubmit", "session_id": "g", "matcher_context": "x", "message": "summarize"});
    assert_eq!(
        expect("goose", None, prompt, "UserPromptSubmit", Working).text,
        "summarize"
    );
    let denied = json!({"event": "PreToolUseResult", "session_id": "g", "matcher_context": "x", "decision": "deny"});
    expect("goose", None, denied, "PermissionAnswered", Working);
    // H110: no id; the caller may know the process
    let kiro = expect(
        "kiro",
        None,
        json!({"hook_event_name": "agentSpawn", "cwd": "/w"}),
        "SessionStart",
        Working,
    );
    assert_eq!((kiro.session_id.as_str(), kiro.key.as_str()), ("", ""));
    let stop = expect(
        "kiro",
        None,
        json!({"hook_event_name": "stop", "cwd": "/w", "assistant_response": "Done?"}),
        "Stop",
        Waiting,
    );
    assert_eq!(stop.text, "Done?");
    expect(
        "grok",
        None,
        json!({"session_id": "k", "hook_event_name": "StopCancelled"}),
        "Interrupt",
        Idle,
    );
    for (event, name, intent) in [
        ("pre_tool", "PreToolUse", Working),
        ("post_tool", "PostToolUse", Working),
        ("post_agent", "Stop", Idle),
    ] {
        expect("vibe", None, json!({"session_id": "v", "event": event}), name, intent);
    }
    for (event, name, intent) in [
        ("on_session_start", "SessionStart", Working),
        ("pre_approval_request", "PermissionAsked", Waiting),
        ("post_approval_response", "PermissionAnswered", Working),
        ("on_session_end", "Stop", Idle),
    ] {
        let hermes = expect(
            "hermes",
            None,
            json!({"event": event, "extra": {"session_key": "h1"}}),
            name,
            intent,
        );
        assert_eq!(hermes.session_id, "h1");
    }
    expect(
        "devin",
        None,
        json!({"session_id": "d", "hook_event_name": "Stop"}),
        "Stop",
        Idle,
    );
}

#[test]
fn h101_cline_and_windsurf() {
    let cline = |event: &str, more: Value, name: &str, intent| {
        let mut p = json!({"clineVersion": "4.0", "hookName": event, "taskId": "t1", "workspaceRoots": ["/w/app"]});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        expect("cline", None, p, name, intent)
    };
    cline("TaskStart", json!({}), "UserPromptSubmit", Working);
    cline("TaskResume", json!({}), "UserPromptSubmit", Working);
    let old = cline(
        "PreToolUse",
        json!({"preToolUse": {"toolName": "execute_command", "parameters": {"command": "ls"}}}),
        "PreToolUse",
        Working,
    );
    assert_eq!(
        (old.tool.summary.as_str(), old.key.as_str(), old.cwd.as_str()),
        ("execute_command: ls", "cline:t1", "/w/app")
    );
    let new = cline(
        "PostToolUse",
        json!({"tool_call": {"name": "read_file", "input": {"path": "/w/x"}}}),
        "PostToolUse",
        Working,
    );
    assert_eq!(new.tool.summary, "read_file: /w/x");
    cline("TaskComplete", json!({}), "Stop", Idle);
    cline("TaskCancel", json!({}), "Interrupt", Idle);
    cline("TaskError", json!({}), "StopFailure", Idle);
    cline("SessionShutdown", json!({}), "SessionEnd", Ended);
    let windsurf = |action: &str, name: &str, intent| {
        let p = json!({"agent_action_name": action, "trajectory_id": "w1", "tool_info": {"cwd": "/w", "user_prompt": "hi"}});
        expect("windsurf", None, p, name, intent)
    };
    assert_eq!(windsurf("pre_user_prompt", "UserPromptSubmit", Working).text, "hi");
    windsurf("pre_run_command", "PreToolUse", Working);
    windsurf("post_write_code", "PostToolUse", Working);
    assert_eq!(windsurf("post_cascade_response", "Stop", Idle).key, "windsurf:w1");
}

#[test]
fn h102_a_strong_mark_wins_and_a_weak_one_only_over_claude_or_none() {
    let agent = |given: Option<&str>, payload: Value| read(given, None, &payload).agent;
    let strong = json!({"cursor_version": "2.6", "conversation_id": "c", "hook_event_name": "stop"});
    let weak = json!({"session_id": "q", "hook_event_name": "Stop", "transcript_path": "/h/.qwen/projects/x/q.jsonl"});
    for given in [None, Some("claude-code"), Some("claude"), Some("gemini"), Some("acme")] {
        assert_eq!(agent(given, strong.clone()), "cursor");
    }
    for given in [None, Some("claude-code"), Some("Claude")] {
        assert_eq!(agent(given, weak.clone()), "qwen");
    }
    for given in ["gemini", "acme"] {
        assert_eq!(agent(Some(given), weak.clone()), given);
    }
}

#[test]
fn h103_a_payload_without_marks_keeps_the_given_agent() {
    let plain = json!({"session_id": "s", "hook_event_name": "Stop", "provider": "anthropic"});
    for given in ["qwen", "droid", "devin", "grok"] {
        assert_eq!(read(Some(given), None, &plain).agent, given);
    }
    assert_eq!(read(None, None, &plain).agent, "claude-code");
}

#[test]
fn h55_the_source_never_becomes_an_agent_and_provider_only_a_known_one() {
    for source in ["startup", "resume", "clear", "compact", "fork", "codex"] {
        let start = json!({"session_id": "s", "hook_event_name": "SessionStart", "source": source});
        assert_eq!(read(None, None, &start).agent, "claude-code");
    }
    let said = |value: Value| {
        read(
            None,
            None,
            &json!({"session_id": "s", "event": "Stop", "provider": value}),
        )
        .agent
    };
    assert_eq!(said(json!(" Codex ")), "codex");
    assert_eq!(said(json!("Claude_Code")), "claude-code");
    assert_eq!(said(json!("acme")), "acme");
    assert_eq!(said(json!(3)), "claude-code");
}

#[test]
fn h104_aliases_resolve() {
    for (name, id) in [
        ("claude", "claude-code"),
        ("gemini-cli", "gemini"),
        ("agy", "antigravity"),
        ("cursor-agent", "cursor"),
        ("kimi-code", "kimi"),
        ("factory", "droid"),
        ("cascade", "windsurf"),
        ("llama", "llama.cpp"),
        ("Claude_Code", "claude-code"),
        ("My Agent", "my-agent"),
        ("a/b", "generic"),
        ("ring", "generic"),
    ] {
        let plain = json!({"session_id": "s", "hook_event_name": "Stop"});
        assert_eq!(read(Some(name), None, &plain).agent, id);
    }
}

#[test]
fn h57_names_are_known_in_any_writing() {
    for (sent, name) in [
        ("BeforeTool", "PreToolUse"),
        ("AfterAgent", "Stop"),
        ("pre_tool_use", "PreToolUse"),
        ("post-tool-use", "PostToolUse"),
        ("stop", "Stop"),
        ("SESSIONSTART", "SessionStart"),
        ("user.prompt submit", "UserPromptSubmit"),
    ] {
        let read = read(None, None, &json!({"session_id": "s", "hook_event_name": sent}));
        assert_eq!((read.name.as_str(), read.native.as_str()), (name, sent));
    }
}

#[test]
fn h37_the_rollout_of_another_thread_is_a_childs() {
    let codex = |thread: &str| {
        let path = format!("/h/.codex/sessions/2026/11/30/rollout-2026-11-30T12-00-00-{thread}.jsonl");
        read(
            Some("codex"),
            None,
            &json!({"session_id": "s", "hook_event_name": "PostToolUse", "transcript_path": path}),
        )
        .owner
    };
    assert_eq!(codex("s"), Owner::Foreground);
    assert_eq!(codex("other"), Owner::Agent("other".into()));
}

#[test]
fn h112_codex_model_requests_and_notify_are_turn_marks() {
    let codex = |payload: Value, name: &str, intent| expect("codex", None, payload, name, intent);
    codex(
        json!({"session_id": "s", "hook_event_name": "PreModelRequest"}),
        "TurnStart",
        Working,
    );
    codex(
        json!({"session_id": "s", "hook_event_name": "PostModelRequest", "status": "completed"}),
        "TurnStart",
        Working,
    );
    codex(
        json!({"session_id": "s", "hook_event_name": "PostModelRequest", "status": "failed"}),
        "PostModelRequest",
        Nothing,
    );
    let notify =
        json!({"type": "agent-turn-complete", "thread-id": "t", "turn-id": "1", "last-assistant-message": "Done."});
    let read = codex(notify, "Stop", Idle);
    assert_eq!(
        (read.session_id.as_str(), read.turn_id.as_str(), read.text.as_str()),
        ("t", "1", "Done.")
    );
}
