use super::facts::Record;
use super::*;
use proptest::prelude::*;
use ring_hook::row::{Last, Pending, Row, Turn, Wait};
use ring_hook::tail::Tail;
use ring_hook::view::View;

const NOW: Ms = 1_796_040_000_000;

/// A row of Claude Code whose last event is `ago` old; working without waits.
fn row(ago: Ms) -> Row {
    Row {
        key: "claude-code:s".into(),
        agent: "claude-code".into(),
        session_id: "s".into(),
        since_ms: NOW - ago,
        turn: Turn {
            state: "working".into(),
            started_ms: NOW - ago,
            ..Turn::default()
        },
        last: Last {
            event: "PreToolUse".into(),
            ..Last::default()
        },
        event_ms: NOW - ago,
        foreground_ms: NOW - ago,
        seen_ms: NOW - ago,
        ..Row::default()
    }
}

fn idle_row(ago: Ms) -> Row {
    let mut row = row(ago);
    row.turn.state = "idle".into();
    row.last.event = "Stop".into();
    row
}

fn wait(owner: &str, kind: &str, event: &str, ago: Ms) -> Wait {
    Wait {
        id: format!("w-{owner}"),
        owner: owner.into(),
        kind: kind.into(),
        detail: "Bash: cargo test".into(),
        since_ms: NOW - ago,
        event: event.into(),
        ..Wait::default()
    }
}

fn asking(ago: Ms) -> Row {
    let mut row = row(ago);
    row.waits = vec![wait("foreground", "permission", "Notification", ago)];
    row
}

fn question(ago: Ms) -> Row {
    let mut row = idle_row(ago);
    row.waits = vec![wait("foreground", "question", "Stop", ago)];
    row
}

fn tail(kind: Kind, ago: Ms) -> Tail {
    Tail {
        kind,
        ms: NOW - ago,
        turn_started_ms: NOW - ago,
        ..Tail::default()
    }
}

fn live(word: Word, ago: Ms) -> Live {
    Live {
        word,
        ms: NOW - ago,
        since_ms: NOW - ago,
        source: "registry",
    }
}

fn words(text: &str) -> Word {
    Word::Waiting(text.into())
}

/// Facts that a test puts together; everything else is absent and the process alive.
struct Scene {
    row: Option<Row>,
    live: Option<Live>,
    tail: Option<Tail>,
    record: Option<Record>,
    children: Vec<ChildRecord>,
    verdict: Verdict,
    server: bool,
    background: bool,
    terminal: Option<Terminal>,
    next_turn_ms: Option<Ms>,
    agent: &'static str,
    settings: Settings,
}

fn scene() -> Scene {
    Scene {
        row: None,
        live: None,
        tail: None,
        record: None,
        children: Vec::new(),
        verdict: Verdict::Alive,
        server: false,
        background: false,
        terminal: None,
        next_turn_ms: None,
        agent: "claude-code",
        settings: Settings::default(),
    }
}

impl Scene {
    fn row(mut self, row: Row) -> Scene {
        self.row = Some(row);
        self
    }
    fn live(mut self, word: Word, ago: Ms) -> Scene {
        self.live = Some(live(word, ago));
        self
    }
    fn tail(mut self, kind: Kind, ago: Ms) -> Scene {
        self.tail = Some(tail(kind, ago));
        self
    }
    fn with_tail(mut self, tail: Tail) -> Scene {
        self.tail = Some(tail);
        self
    }
    fn verdict(mut self, verdict: Verdict) -> Scene {
        self.verdict = verdict;
        self
    }
    fn agent(mut self, agent: &'static str) -> Scene {
        self.agent = agent;
        self
    }
    fn child(mut self, id: &str, kind: Kind, ago: Ms) -> Scene {
        self.children.push(ChildRecord {
            id: id.into(),
            kind,
            ms: NOW - ago,
        });
        self
    }
    fn outcome(&self) -> Option<Outcome> {
        let view = self.row.as_ref().map(|row| View {
            status: ring_hook::row::status(&row.waits, &row.turn, row.background),
            since_ms: row.since_ms,
            waits: row.waits.clone(),
            note: row.note.clone(),
            rule: "V4",
        });
        merge(&Facts {
            now: NOW,
            settings: &self.settings,
            agent: self.agent,
            hook: self
                .row
                .as_ref()
                .zip(view.as_ref())
                .map(|(row, view)| Hook { row, view }),
            live: self.live.as_ref(),
            tail: self.tail.as_ref(),
            record: self.record.as_ref(),
            children: &self.children,
            verdict: self.verdict,
            server: self.server,
            terminal: self.terminal,
            next_turn_ms: self.next_turn_ms,
            background: self.background,
        })
    }
    #[track_caller]
    fn is(&self, status: &str, rule: &str) -> Outcome {
        let outcome = self.outcome().expect("a row");
        let tried: Vec<String> = outcome
            .tried
            .iter()
            .map(|t| format!("{} {}: {}", t.rule, t.applies, t.why))
            .collect();
        assert_eq!((outcome.status, outcome.rule), (status, rule), "{tried:#?}");
        outcome
    }
}

const MIN: Ms = 60_000;
const HOUR: Ms = 60 * MIN;

#[test]
fn c2_a_hook_row_alone_is_shown_as_it_is() {
    scene().row(row(1000)).is("working", "hook");
    scene().row(idle_row(1000)).is("idle", "hook");
    let shown = scene().row(asking(1000)).is("waiting", "hook_wait");
    assert_eq!(shown.evidence, ["hook:Notification"]);
    assert_eq!(shown.waits[0].detail, "Bash: cargo test");
}

#[test]
fn c3_without_hooks_marks_and_process_decide() {
    scene().tail(Kind::End, MIN).is("idle", "record_over");
    scene().tail(Kind::Tool, HOUR).is("working", "record_open");
    scene().tail(Kind::Tool, MIN).verdict(Verdict::Gone).is("ended", "gone");
    let near = |ago| scene().tail(Kind::End, ago).verdict(Verdict::Near);
    near(21_600_000).is("idle", "record_over");
    near(21_600_001).is("ended", "aged");
}

#[test]
fn c3_without_a_known_process_an_open_turn_works_for_90_seconds() {
    let open = |ago| scene().tail(Kind::Busy, ago).verdict(Verdict::Unknown);
    open(90_000).is("working", "record_open");
    open(90_001).is("idle", "record_open");
    let plain = |ago| scene().tail(Kind::Plain, ago);
    plain(90_000).is("working", "record_plain");
    plain(90_001).is("idle", "record_plain");
}

#[test]
fn a_turn_that_is_older_than_the_process_does_not_run_in_it() {
    let mut resumed = scene().tail(Kind::Tool, MIN);
    resumed.terminal = Some(Terminal {
        start_ms: NOW - 10_000,
        tty: true,
        opened: false,
    });
    resumed.is("idle", "record_open");
}

#[test]
fn c4_no_record_alone_says_that_somebody_waits() {
    let mut asks = tail(Kind::Tool, 5 * HOUR);
    asks.asks = true;
    let shown = scene().with_tail(asks).is("working", "record_open");
    assert!(shown.note.starts_with("asks"), "{}", shown.note);
    for kind in [Kind::Start, Kind::Tool, Kind::Busy] {
        scene().tail(kind, 5 * HOUR).is("working", "record_open");
    }
}

#[test]
fn c5_a_live_record_that_waits_is_believed_in_its_own_words() {
    for (text, kind) in [
        ("permission prompt", "permission"),
        ("input needed", "input"),
        ("dialog open", "input"),
        ("worker request", "permission"),
    ] {
        let shown = scene().live(words(text), 5000).is("waiting", "live_waiting");
        assert_eq!(
            (shown.waits[0].kind.as_str(), shown.waits[0].detail.as_str()),
            (kind, text)
        );
        assert_eq!(shown.since_ms, NOW - 5000);
    }
}

#[test]
fn c8_what_the_transcript_ended_is_over_although_no_hook_said_so() {
    for kind in [Kind::Interrupted, Kind::End, Kind::Failed] {
        scene().row(row(MIN)).tail(kind, 10_000).is("idle", "tail_over");
        scene().row(row(MIN)).tail(kind, 2 * MIN).is("working", "hook");
        scene().row(row(MIN)).tail(kind, 1_999).is("working", "hook");
    }
    scene().row(row(MIN)).live(Word::Idle, 10_000).is("idle", "live_idle");
}

#[test]
fn c9_newer_evidence_ends_a_permission_wait() {
    scene()
        .row(asking(MIN))
        .live(Word::Busy, 10_000)
        .is("working", "live_busy");
    scene()
        .row(asking(MIN))
        .live(Word::Idle, 10_000)
        .is("idle", "live_idle");
    let mut answered = tail(Kind::Busy, 5000);
    answered.answered_ms = NOW - 5000;
    scene()
        .row(asking(MIN))
        .with_tail(answered)
        .is("working", "record_open");
    scene()
        .row(asking(MIN))
        .tail(Kind::Denied, 5000)
        .is("idle", "record_over");
    scene()
        .row(asking(MIN))
        .tail(Kind::Interrupted, 5000)
        .is("idle", "tail_over");
}

#[test]
fn c10_what_is_no_evidence_ends_no_wait() {
    scene()
        .row(asking(MIN))
        .tail(Kind::None, 5000)
        .is("waiting", "hook_wait");
    scene()
        .row(asking(MIN))
        .tail(Kind::Unknown, 5000)
        .is("waiting", "hook_wait");
    scene()
        .row(asking(MIN))
        .tail(Kind::Tool, 5000)
        .is("waiting", "hook_wait");
    let mut parallel = tail(Kind::Busy, 5000);
    parallel.answered_ms = NOW - 5000;
    parallel.open_tools = 1;
    scene().row(asking(MIN)).with_tail(parallel).is("waiting", "hook_wait");
    let mut elicitation = row(MIN);
    elicitation.waits = vec![wait("foreground", "question", "Elicitation", MIN)];
    let shown = scene()
        .row(elicitation)
        .live(Word::Busy, 2 * MIN)
        .is("waiting", "hook_wait");
    assert_eq!(shown.waits[0].kind, "question");
}

#[test]
fn c11_a_question_of_stop_ends_with_the_next_turn_only() {
    for kind in [Kind::End, Kind::Failed, Kind::Busy, Kind::None] {
        scene().row(question(MIN)).tail(kind, 5000).is("waiting", "hook_wait");
    }
    scene()
        .row(question(MIN))
        .live(Word::Idle, 10_000)
        .is("waiting", "hook_wait");
    scene()
        .row(question(MIN))
        .live(Word::Busy, 10_000)
        .is("working", "live_busy");
    scene()
        .row(question(MIN))
        .tail(Kind::Start, 10_000)
        .is("working", "record_open");
    scene()
        .row(question(MIN))
        .tail(Kind::Start, 2 * MIN)
        .is("waiting", "hook_wait");
}

#[test]
fn c12_a_childs_wait_ends_by_the_childs_own_record() {
    let child = || {
        let mut row = row(MIN);
        row.waits = vec![wait("agent:a1", "permission", "Notification", MIN)];
        row
    };
    scene().row(child()).tail(Kind::Start, 5000).is("waiting", "hook_wait");
    scene().row(child()).tail(Kind::End, 5000).is("waiting", "hook_wait");
    scene().row(child()).child("a1", Kind::Busy, 5000).is("working", "hook");
    scene()
        .row(child())
        .child("a2", Kind::Busy, 5000)
        .is("waiting", "hook_wait");
    scene()
        .row(child())
        .child("a1", Kind::Busy, 2 * MIN)
        .is("waiting", "hook_wait");
    scene().row(child()).live(Word::Busy, 5000).is("working", "live_busy");
    // of an agent whose live record does not show what its children ask
    scene()
        .row(child())
        .agent("codex")
        .live(Word::Busy, 5000)
        .is("waiting", "hook_wait");
}

#[test]
fn an_unknown_owners_wait_ends_by_a_start_an_interrupt_or_an_end() {
    let unknown = || {
        let mut row = row(MIN);
        row.waits = vec![wait("unknown", "permission", "Notification", MIN)];
        row
    };
    scene().row(unknown()).tail(Kind::Busy, 5000).is("waiting", "hook_wait");
    scene().row(unknown()).live(Word::Idle, 5000).is("waiting", "hook_wait");
    scene()
        .row(unknown())
        .tail(Kind::Start, 5000)
        .is("working", "record_open");
    scene().row(unknown()).tail(Kind::End, 5000).is("idle", "tail_over");
}

#[test]
fn c13_a_live_record_that_goes_on_wakes_an_idle_row() {
    scene()
        .row(idle_row(MIN))
        .live(Word::Busy, 5000)
        .is("working", "live_busy");
    // busy from before Stop: a Stop hook sent the turn on; believed two seconds after the Stop
    scene()
        .row(idle_row(2001))
        .live(Word::Busy, MIN)
        .is("working", "live_busy");
    scene().row(idle_row(2000)).live(Word::Busy, MIN).is("idle", "hook");
    scene()
        .row(idle_row(MIN))
        .live(words("permission prompt"), 5000)
        .is("waiting", "live_waiting");
}

#[test]
fn c14_a_turn_that_began_in_the_transcript_wakes_an_idle_row() {
    scene()
        .row(idle_row(MIN))
        .tail(Kind::Busy, 10_000)
        .is("working", "tail_turn");
    scene().row(idle_row(MIN)).tail(Kind::Start, 10_000).is("idle", "hook");
    scene().row(idle_row(10_000)).tail(Kind::Busy, 9_000).is("idle", "hook");
}

#[test]
fn c15_long_work_stays_work_and_says_how_long_it_is_quiet() {
    let shown = scene().live(Word::Busy, 3 * HOUR).is("working", "live_busy");
    assert_eq!(shown.note, "quiet 180 min");
    let shown = scene().tail(Kind::Tool, 20 * MIN).is("working", "record_open");
    assert_eq!(shown.note, "quiet 20 min");
    assert_eq!(scene().tail(Kind::Tool, MIN).is("working", "record_open").note, "");
}

#[test]
fn c16_background_tasks_keep_a_finished_turn_working() {
    let shown = scene()
        .row(idle_row(MIN))
        .live(Word::Shell, 10_000)
        .is("working", "live_shell");
    assert_eq!(shown.note, "background 1");
    let mut two = idle_row(MIN);
    two.background = 2;
    let shown = scene().row(two).live(Word::Idle, 10_000).is("working", "live_shell");
    assert_eq!(shown.note, "background 2");
    let mut without = scene().row(idle_row(MIN)).live(Word::Shell, 10_000);
    without.settings.background_task_types = vec!["subagent".into()];
    without.is("idle", "live_shell");
    scene()
        .row(idle_row(MIN))
        .live(Word::Idle, 10_000)
        .is("idle", "live_idle");
}

#[test]
fn c17_an_error_is_idle_with_its_name() {
    let mut failed = idle_row(MIN);
    failed.turn.outcome = "failed".into();
    failed.turn.error = "rate_limit".into();
    assert_eq!(scene().row(failed.clone()).is("idle", "hook").note, "error: rate_limit");
    assert_eq!(
        scene()
            .row(failed.clone())
            .live(Word::Idle, 10_000)
            .is("idle", "live_idle")
            .note,
        "error: rate_limit"
    );
    // a later turn that ended well
    assert_eq!(scene().row(failed).tail(Kind::End, 1000).is("idle", "hook").note, "");
    let mut of_record = tail(Kind::Failed, 5000);
    of_record.error = "server_error".into();
    assert_eq!(
        scene().with_tail(of_record).is("idle", "record_over").note,
        "error: server_error"
    );
}

#[test]
fn c18_hooks_that_are_silent_while_the_transcript_moves_are_named() {
    let shown = scene()
        .row(row(5 * MIN))
        .tail(Kind::Tool, 3 * MIN)
        .is("working", "hook");
    assert!(shown.hook_stale);
    assert_eq!(shown.note, "hooks silent");
    let shown = scene()
        .row(row(5 * MIN))
        .tail(Kind::Tool, 5 * MIN - 60_000)
        .is("working", "hook");
    assert!(!shown.hook_stale);
}

#[test]
fn c19_a_live_process_is_never_aged_and_a_dead_one_ends_the_session() {
    scene().row(row(7 * HOUR)).is("working", "hook");
    scene().row(asking(1000)).verdict(Verdict::Gone).is("ended", "gone");
    scene().row(row(HOUR)).verdict(Verdict::Unknown).is("working", "hook");
}

#[test]
fn c20_what_lives_elsewhere_ends_by_age_only() {
    scene()
        .row(asking(HOUR))
        .verdict(Verdict::Foreign)
        .is("waiting", "hook_wait");
    scene()
        .row(asking(7 * HOUR))
        .verdict(Verdict::Foreign)
        .is("ended", "aged");
}

#[test]
fn a_row_near_a_process_is_aged_only_without_hooks_or_in_a_server() {
    scene().row(row(7 * HOUR)).verdict(Verdict::Near).is("working", "hook");
    let mut served = scene().row(row(7 * HOUR)).verdict(Verdict::Near);
    served.server = true;
    served.is("ended", "aged");
}

#[test]
fn c25_a_background_agent_that_is_idle_is_over() {
    let with = |word: Word| {
        let mut scene = scene().live(word, 10_000);
        scene.background = true;
        scene
    };
    with(Word::Busy).is("working", "live_busy");
    with(words("permission prompt")).is("waiting", "live_waiting");
    with(Word::Idle).is("ended", "live_idle");
    with(Word::Shell).is("ended", "live_idle");
}

#[test]
fn c27_a_process_without_a_record_is_a_row_after_5_seconds() {
    let process = |ago, tty| {
        let mut scene = scene();
        scene.terminal = Some(Terminal {
            start_ms: NOW - ago,
            tty,
            opened: false,
        });
        scene
    };
    let shown = process(5000, true).is("idle", "process_only");
    assert_eq!((shown.since_ms, shown.note.as_str()), (NOW - 5000, "no record yet"));
    assert_eq!(process(4999, true).outcome(), None);
    assert_eq!(process(HOUR, false).outcome(), None);
    let mut opened = process(1000, true);
    opened.terminal.as_mut().unwrap().opened = true;
    opened.is("idle", "process_only");
    let mut model = process(HOUR, true);
    model.agent = "ollama";
    assert_eq!(model.is("idle", "process_only").note, "");
}

#[test]
fn c28_a_session_whose_process_began_another_one_is_over() {
    let next = |later: Ms| {
        let mut scene = scene().row(row(MIN));
        scene.next_turn_ms = Some(NOW - later);
        scene
    };
    next(1000).is("ended", "next_session");
    next(2 * MIN).is("working", "hook");
    next(1000).live(Word::Busy, 10_000).is("working", "live_busy");
    let mut served = next(1000);
    served.server = true;
    served.is("working", "hook");
}

#[test]
fn c35_children_with_open_turns_keep_a_codex_parent_working() {
    let parent = || scene().agent("codex").row(idle_row(MIN));
    let shown = parent()
        .child("a", Kind::Busy, MIN)
        .child("b", Kind::Tool, 2 * MIN)
        .is("working", "children_run");
    assert_eq!(shown.note, "background 2");
    parent().child("a", Kind::End, MIN).is("idle", "hook");
    parent().child("a", Kind::Busy, 31 * MIN).is("idle", "hook");
    // Claude's hooks tell of children themselves
    scene()
        .row(idle_row(MIN))
        .child("a", Kind::Busy, MIN)
        .is("idle", "hook");
    scene()
        .tail(Kind::End, MIN)
        .child("a", Kind::Busy, MIN)
        .is("working", "children_run");
}

#[test]
fn c38_lines_that_nobody_knows_are_work_while_the_process_lives() {
    let shown = scene().tail(Kind::Unknown, MIN).is("working", "format");
    assert_eq!(shown.note, "unknown format");
    scene()
        .tail(Kind::Unknown, MIN)
        .verdict(Verdict::Gone)
        .is("ended", "gone");
}

#[test]
fn c41_a_mark_in_the_future_counts_as_now() {
    let shown = scene().tail(Kind::End, -MIN).is("idle", "record_over");
    assert_eq!((shown.since_ms, shown.seen_ms), (NOW, NOW));
    scene().row(row(-HOUR)).verdict(Verdict::Unknown).is("working", "hook");
}

#[test]
fn c67_an_open_proposal_waits_even_when_the_process_is_gone() {
    let mut scene = scene().row(row(MIN)).verdict(Verdict::Gone);
    scene.record = Some(Record {
        id: "r".into(),
        open: vec![Waiting {
            id: "p".into(),
            kind: "plan".into(),
            detail: "the title".into(),
            owner: "foreground".into(),
            since_ms: NOW - 5000,
            ..Waiting::default()
        }],
        prompted: None,
        board: "idle".into(),
        updated_ms: NOW - 5000,
        of_hook: true,
    });
    let shown = scene.is("waiting", "session_wait");
    assert_eq!((shown.waits[0].kind.as_str(), shown.since_ms), ("plan", NOW - 5000));
}

#[test]
fn c67_a_plan_in_the_agents_own_prompt_waits_until_the_agent_has_left_it() {
    let asked = |prompted: bool, word: Word, ago: Ms| {
        let mut scene = scene().row(row(MIN)).live(word, ago);
        scene.record = Some(Record {
            id: "r".into(),
            open: vec![Waiting {
                id: "p".into(),
                kind: "plan".into(),
                owner: "foreground".into(),
                since_ms: NOW - 5000,
                ..Waiting::default()
            }],
            prompted: prompted.then(|| "p".into()),
            board: "working".into(),
            updated_ms: NOW - 5000,
            of_hook: true,
        });
        scene
    };
    // on the screen; not yet on the screen; an idle that is not believed yet
    for (word, ago) in [
        (words("permission prompt"), 4000),
        (Word::Busy, 6000),
        (Word::Idle, 100),
    ] {
        asked(true, word, ago).is("waiting", "session_wait");
    }
    asked(true, Word::Idle, 4000).is("idle", "live_idle");
    asked(true, Word::Busy, 4000).is("working", "live_busy");
    // what a program proposed is decided in no prompt
    asked(false, Word::Idle, 4000).is("waiting", "session_wait");
}

#[test]
fn c67_c88_a_record_alone_shows_its_turn_unless_a_hook_entry_wrote_it() {
    let record = |board: &str, of_hook| Record {
        id: "r".into(),
        board: board.into(),
        updated_ms: NOW - 1000,
        of_hook,
        ..Record::default()
    };
    let mut alone = scene();
    alone.record = Some(record("working", false));
    alone.is("working", "session");
    alone.record = Some(record("idle", false));
    alone.is("idle", "session");
    alone.record = Some(record("working", true));
    assert_eq!(alone.outcome(), None);
}

#[test]
fn c71_the_pending_command_is_what_the_live_record_waits_for() {
    let pending = || {
        let mut row = row(5000);
        row.pending = vec![Pending {
            owner: "foreground".into(),
            tool: "Bash".into(),
            kind: "permission".into(),
            detail: "Bash: git push".into(),
            at_ms: NOW - 5000,
            ..Pending::default()
        }];
        row
    };
    let shown = scene()
        .row(pending())
        .live(words("permission prompt"), 5030)
        .is("waiting", "live_waiting");
    assert_eq!(shown.waits[0].detail, "Bash: git push");
    assert_eq!(shown.evidence, ["registry", "hook:PermissionRequest"]);
    // the hook of just now and a dialog that has been there for a second confirm each other
    let mut just_now = pending();
    (just_now.event_ms, just_now.foreground_ms) = (NOW - 990, NOW - 990);
    just_now.last.rule = "permission_bare".into();
    scene()
        .row(just_now.clone())
        .live(words("permission prompt"), 1000)
        .is("waiting", "live_waiting");
    scene()
        .row(just_now)
        .live(words("permission prompt"), 999)
        .is("working", "hook");
    // a menu that the person opened has nothing to do with it
    let shown = scene()
        .row(pending())
        .live(words("dialog open"), 4000)
        .is("waiting", "live_waiting");
    assert_eq!(shown.waits[0].detail, "dialog open");
}

#[test]
fn c77_an_idle_of_just_now_is_not_believed() {
    scene().live(Word::Idle, 200).is("working", "live_busy");
    let shown = scene().live(Word::Idle, 299).is("working", "live_busy");
    assert_eq!(shown.wake_ms, Some(NOW + 1));
    scene().live(Word::Idle, 300).is("idle", "live_idle");
    scene()
        .row(asking(MIN))
        .live(Word::Idle, 200)
        .is("waiting", "hook_wait");
    scene()
        .row(question(MIN))
        .live(Word::Idle, 200)
        .is("waiting", "hook_wait");
}

#[test]
fn c72_a_session_that_was_opened_is_idle_as_soon_as_its_record_says_so() {
    let mut opened = row(500);
    opened.last.event = "SessionStart".into();
    scene()
        .row(opened.clone())
        .live(Word::Idle, 600)
        .is("idle", "live_idle");
    scene().row(opened).live(Word::Idle, 200).is("working", "live_busy");
}

#[test]
fn c84_a_codex_call_that_is_open_is_work_without_hooks() {
    scene()
        .agent("codex")
        .tail(Kind::Tool, HOUR)
        .is("working", "record_open");
}

#[test]
fn c85_a_dialog_on_the_screen_waits_although_the_row_is_idle() {
    let shown = scene()
        .row(idle_row(MIN))
        .live(words("dialog open"), 10_000)
        .is("waiting", "live_waiting");
    assert_eq!(shown.waits[0].kind, "input");
}

#[test]
fn c87_a_server_that_says_so_waits() {
    for (text, kind) in [("approval", "permission"), ("question", "question")] {
        let mut asked = scene().agent("codex").tail(Kind::Tool, 5000);
        asked.live = Some(Live {
            source: "server",
            ms: NOW,
            ..live(words(text), 5000)
        });
        asked.server = true;
        let shown = asked.is("waiting", "live_waiting");
        assert_eq!((shown.waits[0].kind.as_str(), shown.since_ms), (kind, NOW - 5000));
        assert_eq!(shown.evidence, ["server"]);
    }
}

#[test]
fn c57_each_rule_that_was_tried_says_why() {
    let shown = scene().row(row(5 * MIN)).live(Word::Idle, 3000).is("idle", "live_idle");
    let last = shown.tried.last().unwrap();
    assert!(last.applies);
    assert_eq!(last.why, "4m newer than the last hook event");
    assert!(shown.tried.iter().all(|t| !t.why.is_empty()));
    assert!(shown.facts.iter().any(|f| f.source == "registry" && f.fact == "idle"));
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Start,
        Kind::Tool,
        Kind::Busy,
        Kind::Plain,
        Kind::End,
        Kind::Failed,
        Kind::Interrupted,
        Kind::Denied,
        Kind::None,
        Kind::Unknown,
    ])
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(vec![
        Verdict::Alive,
        Verdict::Near,
        Verdict::Gone,
        Verdict::Foreign,
        Verdict::Unknown,
    ])
}

fn any_row() -> impl Strategy<Value = Row> {
    let wait = (
        prop::sample::select(vec!["foreground", "agent:a1", "unknown"]),
        prop::sample::select(vec!["Stop", "Notification", "PreToolUse"]),
        -1000..HOUR,
    )
        .prop_map(|(owner, event, ago)| wait(owner, "permission", event, ago));
    (any::<bool>(), -1000..HOUR, prop::collection::vec(wait, 0..3), 0u32..3).prop_map(
        |(idle, ago, waits, background)| {
            let mut row = if idle { idle_row(ago) } else { row(ago) };
            row.waits = waits;
            row.background = background;
            row
        },
    )
}

fn any_live() -> impl Strategy<Value = Live> {
    let word = prop::sample::select(vec![
        Word::Busy,
        Word::Idle,
        Word::Shell,
        words("permission prompt"),
        words(""),
    ]);
    (word, -1000..HOUR).prop_map(|(word, ago)| live(word, ago))
}

fn any_tail() -> impl Strategy<Value = Tail> {
    (any_kind(), -1000..10 * HOUR, 0u32..3, any::<bool>()).prop_map(|(kind, ago, open_tools, asks)| Tail {
        open_tools,
        asks,
        answered_ms: NOW - ago,
        ..tail(kind, ago)
    })
}

proptest! {
    /// The law of the board: silence, age and the shape of a transcript never make a WAITING.
    #[test]
    fn waiting_stands_only_where_a_witness_says_so_in_words(
        row in prop::option::of(any_row()),
        live in prop::option::of(any_live()),
        tail in prop::option::of(any_tail()),
        verdict in any_verdict(),
        codex in any::<bool>(),
        children in prop::collection::vec((any_kind(), 0..HOUR), 0..3),
    ) {
        let mut s = scene().verdict(verdict).agent(if codex { "codex" } else { "claude-code" });
        for (kind, ago) in children {
            s = s.child("a1", kind, ago);
        }
        s.row = row;
        s.live = live;
        s.tail = tail;
        if let Some(outcome) = s.outcome() {
            let waiting = outcome.status == "waiting";
            prop_assert_eq!(waiting, !outcome.waits.is_empty());
            if waiting {
                let said = match outcome.rule {
                    "hook_wait" => s.row.as_ref().is_some_and(|r| r.waits.iter().any(|w| w.id == outcome.waits[0].id)),
                    "live_waiting" => s.live.as_ref().is_some_and(|l| matches!(l.word, Word::Waiting(_))),
                    _ => false,
                };
                prop_assert!(said, "{} {:?}", outcome.rule, outcome.evidence);
            }
            prop_assert!(!outcome.evidence.is_empty());
            prop_assert!(outcome.since_ms <= NOW);
        }
    }
}
