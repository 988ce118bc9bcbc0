//! What readers make of silence.

use super::notation::{Session, after, codex};
use ring_hook::row::Term;

#[test]
fn h8_a_silent_request_of_codex_is_read_as_a_wait() {
    let asked = codex("Prompt#1 Perm(Bash git push)#1 +10").views("working");
    let silent = asked.then("+1").views("waiting");
    let seen = silent.view();
    assert_eq!((seen.rule, seen.waits[0].kind.as_str()), ("V1", "permission"));
    assert_eq!(seen.waits[0].detail, "Bash: git push");
    assert_eq!(seen.waits[0].id, format!("silence-{}", silent.row().seq));
    assert_eq!(seen.since_ms, silent.row().event_ms);
    assert_eq!(silent.row().status, "working", "the file is not written");
    for event in [
        "Post(Bash git push)#1",
        "FileChanged",
        "Tomorrow",
        "Pre(Bash y)#1",
        "Pre(Bash y)^a",
    ] {
        codex(&format!("Prompt#1 Perm(Bash git push)#1 +11 {event} +60")).views("working");
    }
    after("Prompt Perm(Bash git push) +60").views("working");
    Session::of("codex")
        .with(|s| s.codex_permission_wait_ms = 0)
        .then("Prompt#1 Perm(Bash x)#1 +600")
        .views("working");
}

#[test]
fn h8_a_silent_request_of_a_child_is_the_childs() {
    let silent = codex("Prompt#1 Perm(Bash rm)#c1^a +11");
    assert_eq!(silent.view().waits[0].owner, "agent:a");
}

#[test]
fn h68_a_bare_request_of_codex_rings_after_silence_only() {
    let due = |s: Session| s.outcomes.last().unwrap().ring_in_ms;
    assert_eq!(due(codex("Prompt#1 Perm(Bash x)#1")), Some(11_000));
    assert_eq!(due(after("Prompt Perm(Bash x)")), None);
    assert_eq!(due(codex("Prompt#1 Pre(request_user_input A?)#1")), Some(0));
    let off = Session::of("codex").with(|s| s.codex_permission_wait_ms = 0);
    assert_eq!(due(off.then("Prompt#1 Perm(Bash x)#1")), None);
}

#[test]
fn h53_a_session_that_only_started_is_idle_with_a_terminal_and_ended_without() {
    let started = after("Start +120").views("working").then("+1").views("ended");
    assert_eq!(started.view().rule, "V3");
    started.then("Prompt").views("working");
    for term in [
        Term {
            tty: "/dev/pts/3".into(),
            ..Term::default()
        },
        Term {
            tmux_pane: "%7".into(),
            ..Term::default()
        },
    ] {
        let seen = Session::of("claude-code")
            .facts(|f| f.term = term)
            .then("Start +121")
            .views("idle");
        assert_eq!(seen.view().note, "no prompt yet");
    }
    after("Start +110 SessionHeartbeat +20").views("working");
}

#[test]
fn a_clock_set_back_makes_no_silence() {
    after("Start +-1000").views("working");
    codex("Prompt#1 Perm(Bash x)#1 +-1000").views("working");
}
