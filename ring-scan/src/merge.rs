//! What a session does: one pure function over what its sources say (ring-scan(1), STATUS).
//!
//! The hard idea of the board is here and nowhere else. Five witnesses speak of one session, and none is always right:
//! the hook row *H* is exact and silent about what fires no hook (Esc, "No", a crash); the agent's live record *L* says
//! what is on the screen now, a little late, and only of Claude Code and of Codex's server; the tail *T* of the
//! transcript knows how turns end and never that somebody is asked; the verdict *P* knows whether a process is there;
//! the record *S* of ring-session knows proposals. [`RULES`] is asked from the top, the first that applies decides.
//!
//! What if L lags behind H? Then it does not count for two seconds, and after them it is right. What if H missed the
//! end of a wait? [`crate::waits`] ends it by newer evidence. What is never done: to take silence, age or the shape of
//! a transcript for WAITING. A wait stands only where H, L or S says so in words.

use crate::board::{Fact, Tried, Waiting};
use crate::liveness::Verdict;
use crate::waits;
use ring_hook::row::{Row, Wait};
use ring_hook::tail::{Kind, Tail};
use ring_hook::view::View;
use ring_session::Settings;
use ring_session::time::{Ms, human_span};

/// An idle of the live record is believed when it is this old: a queued or notified turn may follow within 140 ms.
pub const IDLE_BELIEVED_MS: Ms = 300;
/// How long a hook event of the foreground outweighs an older live record.
const HOOK_JUST_NOW_MS: Ms = 2_000;
/// A dialog that a hook answers is on the screen for at most this long.
const FLASH_MS: Ms = 1_000;
/// Marks of the transcript this close to a hook event belong to the same moment.
const SAME_MOMENT_MS: Ms = 2_000;
/// An open turn of a child counts as running for this long after its last mark.
const CHILD_RUNS_MS: Ms = 30 * 60_000;
/// A process without a record becomes a row after this time.
const PROCESS_ROW_MS: Ms = 5_000;
/// The transcript this far ahead of the hooks: they are silent.
const HOOKS_SILENT_MS: Ms = 60_000;

/// H: a status row, and what readers show of it now.
#[derive(Clone, Copy, Debug)]
pub struct Hook<'a> {
    /// The row.
    pub row: &'a Row,
    /// Its view.
    pub view: &'a View,
}

/// What an agent's live record says, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A turn runs.
    Busy,
    /// No turn runs.
    Idle,
    /// The person is asked; what for, in the record's words.
    Waiting(String),
    /// The turn is over, a background command runs.
    Shell,
}

/// L: the agent's own statement about now. Only of a process that is proven alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// What it says.
    pub word: Word,
    /// When it said so.
    pub ms: Ms,
    /// Since when that holds; a registry says so at the change, a server when it is asked.
    pub since_ms: Ms,
    /// registry, or server.
    pub source: &'static str,
}

/// A child agent's own record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildRecord {
    /// Its id.
    pub id: String,
    /// Its last turn mark.
    pub kind: Kind,
    /// Time of that mark.
    pub ms: Ms,
}

/// S: what ring-session's record of this session says to readers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// An open proposal or request that counts (not of origin hook, its turn's epoch not dead).
    pub open: Option<Waiting>,
    /// What its turn does: working or idle.
    pub board: String,
    /// Last change.
    pub updated_ms: Ms,
    /// It exists only because a hook entry wrote it.
    pub of_hook: bool,
}

/// The session's process, as far as rule 19 needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Start of the process.
    pub start_ms: Ms,
    /// It has a controlling terminal and is a session's process, no helper and no spare.
    pub tty: bool,
    /// It has opened a session that has no record yet.
    pub opened: bool,
}

/// All that is known of one session.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The clock.
    pub now: Ms,
    /// Limits.
    pub settings: &'a Settings,
    /// Canonical id of the agent.
    pub agent: &'a str,
    /// H.
    pub hook: Option<Hook<'a>>,
    /// L.
    pub live: Option<&'a Live>,
    /// T; none: there is no record, or it was not read because H is newer.
    pub tail: Option<&'a Tail>,
    /// S.
    pub record: Option<&'a Record>,
    /// Records of its children.
    pub children: &'a [ChildRecord],
    /// P.
    pub verdict: Verdict,
    /// Its process is a server with many sessions.
    pub server: bool,
    /// Its process.
    pub terminal: Option<Terminal>,
    /// Turn start of the newest other session of the same process, if that process holds one session at a time.
    pub next_turn_ms: Option<Ms>,
    /// A background agent: no terminal, by design.
    pub background: bool,
}

/// What the board shows of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// waiting, working, idle, ended.
    pub status: &'static str,
    /// Since when.
    pub since_ms: Ms,
    /// The rule that decided.
    pub rule: &'static str,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// All open requests, the shown one first.
    pub waits: Vec<Waiting>,
    /// For people.
    pub note: String,
    /// Hooks are silent while the transcript moves.
    pub hook_stale: bool,
    /// Last sign of life.
    pub seen_ms: Ms,
    /// What each source says.
    pub facts: Vec<Fact>,
    /// Every rule that was tried, the last one decided.
    pub tried: Vec<Tried>,
    /// When this outcome may change although nothing happens.
    pub wake_ms: Option<Ms>,
}

/// Facts, and what follows from them before any rule.
pub(crate) struct Case<'a> {
    pub(crate) facts: &'a Facts<'a>,
    /// L, if it counts.
    pub(crate) live: Option<&'a Live>,
    /// Waits of H that no newer evidence has ended.
    left: Vec<&'a Wait>,
    /// H had waits and none is left.
    pruned: bool,
    seen_ms: Ms,
}

/// The answer of one rule.
enum Answer {
    No(String),
    Yes(Decided),
}
use Answer::{No, Yes};

struct Decided {
    status: &'static str,
    since_ms: Ms,
    why: String,
    evidence: Vec<String>,
    waits: Vec<Waiting>,
    note: String,
}

type Rule = fn(&Case) -> Answer;

/// The decision. Each rule answers for itself; the first yes is the status.
const RULES: [(&str, Rule); 20] = [
    ("session_wait", session_wait),
    ("gone", gone),
    ("next_session", next_session),
    ("aged", aged),
    ("live_waiting", live_waiting),
    ("hook_wait", hook_wait),
    ("live_busy", live_busy),
    ("live_shell", live_shell),
    ("live_idle", live_idle),
    ("children_run", children_run),
    ("tail_over", tail_over),
    ("tail_turn", tail_turn),
    ("hook", hook),
    ("format", format),
    ("record_over", record_over),
    ("record_open", record_open),
    ("record_plain", record_plain),
    ("hook", hook_turn),
    ("session", session),
    ("process_only", process_only),
];

/// Decides. None: these facts make no row.
pub fn merge(facts: &Facts) -> Option<Outcome> {
    let case = Case::of(facts);
    let mut tried = Vec::new();
    for (name, rule) in RULES {
        match rule(&case) {
            No(why) => tried.push(Tried {
                rule: name.into(),
                applies: false,
                why,
            }),
            Yes(decided) => {
                tried.push(Tried {
                    rule: name.into(),
                    applies: true,
                    why: decided.why.clone(),
                });
                return Some(case.outcome(name, decided, tried));
            }
        }
    }
    None
}

// ---- the rules, in the order of the table ----

fn session_wait(case: &Case) -> Answer {
    let Some(open) = case.facts.record.and_then(|r| r.open.as_ref()) else {
        return no("no open proposal or request in a record");
    };
    Yes(Decided {
        waits: vec![open.clone()],
        ..decided(
            "waiting",
            open.since_ms,
            format!("the record holds an open {}", open.kind),
            &["session"],
        )
    })
}

fn gone(case: &Case) -> Answer {
    match case.facts.verdict {
        Verdict::Gone => yes("ended", case.seen_ms, "its process is gone", &["process:gone"]),
        p => no(format!("process {}", p.name())),
    }
}

fn next_session(case: &Case) -> Answer {
    let facts = case.facts;
    if facts.server {
        return no("its process holds many sessions");
    }
    if facts.live.is_some() {
        return no("its process names it as its own");
    }
    match facts.next_turn_ms {
        Some(next) if next > case.turn_started_ms() => yes(
            "ended",
            next,
            "another session of its process has a later turn",
            &["process:next"],
        ),
        Some(_) => no("no other session of its process has a later turn"),
        None => no("no other session of its process"),
    }
}

fn aged(case: &Case) -> Answer {
    let facts = case.facts;
    let may_age = match facts.verdict {
        Verdict::Unknown | Verdict::Foreign => true,
        Verdict::Near => facts.hook.is_none() || facts.server,
        Verdict::Alive | Verdict::Gone => false,
    };
    if !may_age {
        return no(format!("process {}: never aged", facts.verdict.name()));
    }
    let age = facts.now.saturating_sub(case.seen_ms);
    if case.seen_ms > 0 && age > facts.settings.active_window_ms {
        return yes(
            "ended",
            case.seen_ms,
            format!("nothing seen for {}", human_span(age)),
            &["age"],
        );
    }
    no(format!("seen {} ago", human_span(age)))
}

fn live_waiting(case: &Case) -> Answer {
    let Some((live, words)) = case.live.and_then(|l| match &l.word {
        Word::Waiting(words) => Some((l, words)),
        _ => None,
    }) else {
        return no(case.live_says());
    };
    let asked = waits::asked(case.facts, live, words, case.left_waits());
    let mut evidence = vec![live.source.to_owned()];
    evidence.extend(asked.event.filter(|e| !e.is_empty()).map(|e| format!("hook:{e}")));
    Yes(Decided {
        status: "waiting",
        since_ms: asked.waits.first().map_or(live.since_ms, |w| w.since_ms),
        why: format!("the {} says waiting, {words}", live.source),
        evidence,
        waits: asked.waits,
        note: String::new(),
    })
}

fn hook_wait(case: &Case) -> Answer {
    let Some(shown) = case.left.first() else {
        return match case.facts.hook {
            None => no("no hook row"),
            Some(_) if case.pruned => no("newer evidence has ended its waits"),
            Some(_) => no("the hook row has no wait"),
        };
    };
    Yes(Decided {
        waits: case.left_waits(),
        ..decided(
            "waiting",
            shown.since_ms,
            format!("{} asked {}", shown.event, case.ago(shown.since_ms)),
            &[&format!("hook:{}", shown.event)],
        )
    })
}

fn live_busy(case: &Case) -> Answer {
    match case.live {
        Some(live) if live.word == Word::Busy => yes(
            "working",
            live.ms,
            format!("the {} says busy, since {}", live.source, case.ago(live.ms)),
            &[live.source],
        ),
        Some(live)
            if live.word == Word::Idle && case.facts.now - live.ms < IDLE_BELIEVED_MS && !case.facts.background =>
        {
            yes(
                "working",
                case.turn_started_ms().min(live.ms),
                "idle for less than 0.3 s: a queued turn may follow",
                &[live.source],
            )
        }
        _ => no(case.live_says()),
    }
}

fn live_shell(case: &Case) -> Answer {
    let Some(live) = case.live.filter(|_| !case.facts.background) else {
        return no(case.live_says());
    };
    let tasks = case.facts.hook.map_or(0, |h| h.row.background);
    match live.word {
        Word::Shell if !counts(case.facts.settings, "shell") && tasks == 0 => yes(
            "idle",
            live.ms,
            "a background command runs, and its type does not count",
            &[live.source],
        ),
        Word::Shell => background(live, tasks.max(1), "a background command runs"),
        Word::Idle if tasks > 0 => background(live, tasks, "background tasks run"),
        _ => no(case.live_says()),
    }
}

fn background(live: &Live, tasks: u32, why: &str) -> Answer {
    Yes(Decided {
        note: format!("background {tasks}"),
        ..decided("working", live.ms, why, &[live.source])
    })
}

fn live_idle(case: &Case) -> Answer {
    match case.live {
        Some(live) if case.facts.background && matches!(live.word, Word::Idle | Word::Shell) => yes(
            "ended",
            live.ms,
            "a background agent that has nothing to do is over",
            &[live.source],
        ),
        Some(live) if live.word == Word::Idle => {
            let newer = case
                .facts
                .hook
                .map(|h| live.ms - h.row.event_ms)
                .filter(|newer| *newer >= 0);
            let why = match newer {
                Some(newer) => format!("{} newer than the last hook event", human_span(newer)),
                None => format!("the {} says idle, since {}", live.source, case.ago(live.ms)),
            };
            yes("idle", live.ms, why, &[live.source])
        }
        _ => no(case.live_says()),
    }
}

fn children_run(case: &Case) -> Answer {
    let facts = case.facts;
    if facts.hook.is_some() && facts.agent != ring_hook::agent::CODEX {
        return no("hooks tell of its children");
    }
    let idle = case.hook_status() == Some("idle") || (facts.hook.is_none() && case.tail_is(over));
    if !idle {
        return no("not idle by itself");
    }
    let running: Vec<Ms> = facts
        .children
        .iter()
        .filter(|c| open_turn(c.kind) && facts.now - c.ms <= CHILD_RUNS_MS)
        .map(|c| c.ms)
        .collect();
    let Some(since) = running.iter().min() else {
        return no("no child has an open turn");
    };
    Yes(Decided {
        note: format!("background {}", running.len()),
        ..decided("working", *since, "children have open turns", &["record"])
    })
}

fn tail_over(case: &Case) -> Answer {
    let (Some(h), Some(t)) = (case.facts.hook, case.facts.tail) else {
        return no("needs a hook row and a transcript newer than it");
    };
    if case.hook_status() != Some("working") || h.row.background > 0 {
        return no("the hook row does not say working");
    }
    if !matches!(t.kind, Kind::End | Kind::Failed | Kind::Interrupted) {
        return no(format!("last turn mark: {}", name(t.kind)));
    }
    if t.ms <= h.row.event_ms || case.facts.now - t.ms < SAME_MOMENT_MS {
        return no("its end mark is not newer than the last hook event, or from just now");
    }
    yes(
        "idle",
        t.ms,
        format!("the transcript ended the turn {}", case.ago(t.ms)),
        &[&format!("transcript:{}", name(t.kind))],
    )
}

fn tail_turn(case: &Case) -> Answer {
    let (Some(h), Some(t)) = (case.facts.hook, case.facts.tail) else {
        return no("needs a hook row and a transcript newer than it");
    };
    if case.hook_status() != Some("idle") {
        return no("the hook row does not say idle");
    }
    if !matches!(t.kind, Kind::Busy | Kind::Tool) || t.turn_started_ms <= h.row.event_ms + SAME_MOMENT_MS {
        return no("no turn in the transcript began after the last hook event");
    }
    yes(
        "working",
        t.turn_started_ms,
        "a turn began in the transcript without a hook",
        &["transcript:turn"],
    )
}

fn hook(case: &Case) -> Answer {
    let Some(h) = case.facts.hook else {
        return no("no hook row");
    };
    if case.pruned {
        return no("newer evidence has ended its waits");
    }
    Yes(Decided {
        note: if h.view.status == "working" && h.row.background > 0 {
            format!("background {}", h.row.background)
        } else {
            String::new()
        },
        ..decided(
            h.view.status,
            h.view.since_ms,
            format!("{} {}", h.row.last.event, case.ago(h.row.event_ms)),
            &[&format!("hook:{}", h.row.last.event)],
        )
    })
}

fn format(case: &Case) -> Answer {
    if case.tail_is(|k| k == Kind::Unknown) {
        return Yes(Decided {
            note: "unknown format".into(),
            ..decided("working", case.seen_ms, "no turn mark that is known", &["record"])
        });
    }
    no("no record, or its format is known")
}

fn record_over(case: &Case) -> Answer {
    match case.facts.tail {
        Some(t) if over(t.kind) => yes(
            "idle",
            t.ms,
            format!("last turn mark: {}, {}", name(t.kind), case.ago(t.ms)),
            &[&format!("transcript:{}", name(t.kind))],
        ),
        _ => no(case.tail_says()),
    }
}

fn record_open(case: &Case) -> Answer {
    let Some(t) = case.facts.tail.filter(|t| open_turn(t.kind)) else {
        return no(case.tail_says());
    };
    let evidence = format!("transcript:{}", name(t.kind));
    let started = if t.turn_started_ms > 0 { t.turn_started_ms } else { t.ms };
    if case.facts.terminal.is_some_and(|p| t.ms < p.start_ms) {
        let why = format!("an open turn, last mark {}, older than the process", case.ago(t.ms));
        return yes("idle", t.ms, why, &[&evidence, "process"]);
    }
    match case.facts.verdict {
        p @ (Verdict::Alive | Verdict::Near) => yes(
            "working",
            started,
            format!("an open turn, process {}", p.name()),
            &[&evidence],
        ),
        _ if case.age(t.ms) <= case.facts.settings.working_threshold_ms => yes(
            "working",
            started,
            format!("an open turn, last mark {}", case.ago(t.ms)),
            &[&evidence],
        ),
        _ => yes(
            "idle",
            t.ms,
            format!("an open turn without a process, last mark {}", case.ago(t.ms)),
            &[&evidence, "age"],
        ),
    }
}

fn record_plain(case: &Case) -> Answer {
    match case.facts.tail {
        Some(t) if t.kind == Kind::Plain => {
            let working = case.age(t.ms) <= case.facts.settings.working_threshold_ms;
            yes(
                if working { "working" } else { "idle" },
                t.ms,
                format!("an answer {}, in a format without end marks", case.ago(t.ms)),
                &["transcript:plain"],
            )
        }
        _ => no(case.tail_says()),
    }
}

fn hook_turn(case: &Case) -> Answer {
    match (case.facts.hook, case.hook_status()) {
        (Some(h), Some(status)) => yes(
            status,
            h.row.since_ms,
            "its wait has ended, nothing says more of its turn",
            &[&format!("hook:{}", h.row.last.event)],
        ),
        _ => no("no hook row"),
    }
}

fn session(case: &Case) -> Answer {
    match case.facts.record {
        Some(r) if !r.of_hook && r.board == "working" => {
            yes("working", r.updated_ms, "the record has a running turn", &["session"])
        }
        Some(r) if !r.of_hook => yes("idle", r.updated_ms, "the record has no running turn", &["session"]),
        Some(_) => no("the record is a hook entry's: no row of its own"),
        None => no("no record of ring-session"),
    }
}

fn process_only(case: &Case) -> Answer {
    match case.facts.terminal {
        Some(t) if t.tty && (t.opened || case.facts.now - t.start_ms >= PROCESS_ROW_MS) => Yes(Decided {
            note: if case.facts.agent_keeps_records() {
                "no record yet".into()
            } else {
                String::new()
            },
            ..decided("idle", t.start_ms, "a process with a terminal", &["process"])
        }),
        Some(t) if t.tty => no("its process is younger than 5 s"),
        _ => no("no process with a terminal"),
    }
}

// ---- what the rules share ----

fn no(why: impl Into<String>) -> Answer {
    No(why.into())
}

fn yes(status: &'static str, since_ms: Ms, why: impl Into<String>, evidence: &[&str]) -> Answer {
    Yes(decided(status, since_ms, why, evidence))
}

fn decided(status: &'static str, since_ms: Ms, why: impl Into<String>, evidence: &[&str]) -> Decided {
    Decided {
        status,
        since_ms,
        why: why.into(),
        evidence: evidence.iter().map(|e| (*e).to_owned()).collect(),
        waits: Vec::new(),
        note: String::new(),
    }
}

/// The turn is over.
fn over(kind: Kind) -> bool {
    matches!(kind, Kind::End | Kind::Failed | Kind::Interrupted | Kind::Denied)
}

/// The turn is open.
pub(crate) fn open_turn(kind: Kind) -> bool {
    matches!(kind, Kind::Start | Kind::Tool | Kind::Busy)
}

/// A mark's name, as evidence and facts give it.
pub(crate) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Start => "start",
        Kind::Tool => "tool",
        Kind::Busy => "busy",
        Kind::Plain => "plain",
        Kind::End => "end",
        Kind::Failed => "failed",
        Kind::Interrupted => "interrupted",
        Kind::Denied => "denied",
        Kind::None => "none",
        Kind::Unknown => "unknown",
    }
}

/// Whether a live record counts beside the hook row: unless the foreground spoke later and just now. Two things that a
/// hook says are no contradiction: that a session was opened, and that a permission is asked for where the record has
/// said so for a second (a hook that answers by itself makes the dialog flash for less).
fn counts_beside(live: &Live, hook: Option<Hook>, now: Ms) -> bool {
    let Some(row) = hook.map(|h| h.row) else {
        return true;
    };
    let just_now = row.foreground_ms > live.ms && now - row.foreground_ms <= HOOK_JUST_NOW_MS;
    let opened = row.last.event == "SessionStart";
    let asked =
        row.last.rule == "permission_bare" && matches!(live.word, Word::Waiting(_)) && now - live.ms >= FLASH_MS;
    !just_now || opened || asked
}

/// Whether a background task of this type keeps a finished turn working.
fn counts(settings: &Settings, kind: &str) -> bool {
    settings.background_task_types.iter().any(|t| t == "*" || t == kind)
}

impl Facts<'_> {
    /// Agents of which nothing but the process is known never write a record.
    fn agent_keeps_records(&self) -> bool {
        ring_hook::agent::find(self.agent).is_none_or(|a| a.tier != ring_hook::agent::Tier::Process)
    }
}

impl<'a> Case<'a> {
    fn of(facts: &'a Facts<'a>) -> Case<'a> {
        let live = facts.live.filter(|l| counts_beside(l, facts.hook, facts.now));
        let all: &[Wait] = facts.hook.map_or(&[], |h| &h.view.waits);
        let mut left: Vec<&Wait> = all
            .iter()
            .filter(|w| waits::ended_by(w, facts, live).is_none())
            .collect();
        // The foreground's wait is shown, else the oldest.
        left.sort_by_key(|w| (w.owner != "foreground", w.since_ms));
        let seen_ms = [
            facts.hook.map_or(0, |h| h.row.seen_ms),
            facts.tail.map_or(0, |t| t.ms.max(t.answered_ms)),
            facts.live.map_or(0, |l| l.ms),
            facts.record.map_or(0, |r| r.updated_ms),
            facts.children.iter().map(|c| c.ms).max().unwrap_or(0),
        ];
        let seen_ms = seen_ms.into_iter().max().unwrap_or(0);
        Case {
            live,
            pruned: !all.is_empty() && left.is_empty(),
            left,
            // A mark in the future counts as now.
            seen_ms: match (seen_ms, facts.terminal) {
                (0, Some(t)) => t.start_ms,
                (seen, _) => seen.min(facts.now),
            },
            facts,
        }
    }

    fn age(&self, ms: Ms) -> Ms {
        self.facts.now.saturating_sub(ms).max(0)
    }

    fn ago(&self, ms: Ms) -> String {
        format!("{} ago", human_span(self.age(ms)))
    }

    fn tail_is(&self, test: impl Fn(Kind) -> bool) -> bool {
        self.facts.tail.is_some_and(|t| test(t.kind))
    }

    /// H's status; the state of its turn once its waits have ended.
    fn hook_status(&self) -> Option<&'static str> {
        let h = self.facts.hook?;
        if !self.pruned {
            return Some(h.view.status);
        }
        Some(if h.row.turn.state == "working" || h.row.background > 0 {
            "working"
        } else {
            "idle"
        })
    }

    fn left_waits(&self) -> Vec<Waiting> {
        self.left.iter().map(|w| waits::shown(w)).collect()
    }

    /// Start of the newest turn that is known; 0: none.
    fn turn_started_ms(&self) -> Ms {
        turn_started_ms(self.facts.hook.map(|h| h.row), self.facts.tail)
    }

    fn live_says(&self) -> String {
        match (self.live, self.facts.live) {
            (Some(live), _) => format!("the {} says {}", live.source, said(&live.word)),
            (None, Some(live)) => format!("a hook event of just now is newer than the {}", live.source),
            (None, None) => "no live record".into(),
        }
    }

    fn tail_says(&self) -> String {
        match self.facts.tail {
            Some(t) => format!("last turn mark: {}", name(t.kind)),
            None => "no transcript was needed or found".into(),
        }
    }

    fn outcome(&self, rule: &'static str, decided: Decided, tried: Vec<Tried>) -> Outcome {
        let hook_stale = self.hooks_silent();
        Outcome {
            status: decided.status,
            since_ms: match decided.since_ms {
                0 => self.seen_ms,
                since => since.min(self.facts.now),
            },
            rule,
            evidence: decided.evidence,
            note: self.note(decided.status, decided.note, hook_stale),
            waits: decided.waits,
            hook_stale,
            seen_ms: self.seen_ms,
            facts: self.chain(),
            tried,
            wake_ms: self.wake_ms(),
        }
    }

    fn hooks_silent(&self) -> bool {
        match (self.facts.hook, self.facts.tail) {
            (Some(h), Some(t)) => {
                matches!(h.view.status, "working" | "waiting") && t.ms > h.row.seen_ms + HOOKS_SILENT_MS
            }
            _ => false,
        }
    }

    fn note(&self, status: &str, own: String, hook_stale: bool) -> String {
        let mut notes: Vec<String> = Vec::new();
        let mut add = |note: String| {
            if !note.is_empty() && !notes.contains(&note) {
                notes.push(note);
            }
        };
        let tail = self.facts.tail;
        match status {
            "idle" => {
                add(self.error());
                add(tail.map_or_else(String::new, |t| t.note.clone()));
            }
            "working" => {
                add(own.clone());
                if tail.is_some_and(|t| t.asks) {
                    add("asks".into());
                }
            }
            _ => {}
        }
        add(own);
        if status != "ended" {
            if let Some(h) = self.facts.hook.filter(|h| h.view.status == status) {
                add(h.view.note.clone());
            }
            if hook_stale {
                add("hooks silent".into());
            }
        }
        let quiet = self.age(self.seen_ms);
        if status == "working" && self.seen_ms > 0 && quiet >= self.facts.settings.quiet_after_ms {
            add(format!("quiet {} min", quiet / 60_000));
        }
        notes.join(", ")
    }

    /// `error: NAME` of the turn that ended last.
    fn error(&self) -> String {
        let of_hook = self
            .facts
            .hook
            .filter(|h| h.row.turn.outcome == "failed")
            .map(|h| &h.row.turn.error);
        let newer_tail = self
            .facts
            .tail
            .filter(|t| self.facts.hook.is_none_or(|h| t.ms > h.row.event_ms));
        let error = match newer_tail {
            Some(t) if t.kind == Kind::Failed => Some(&t.error),
            Some(_) => None,
            None => of_hook,
        };
        match error.map(String::as_str) {
            None => String::new(),
            Some("") => "error".into(),
            Some(text) => format!("error: {text}"),
        }
    }

    fn chain(&self) -> Vec<Fact> {
        let facts = self.facts;
        let fact = |source: &str, fact: String, at_ms: Ms| Fact {
            source: source.into(),
            fact,
            at_ms: (at_ms > 0).then_some(at_ms),
        };
        let mut chain = Vec::new();
        if let Some(h) = facts.hook {
            chain.push(fact(
                "hook",
                format!("{}, {}", h.view.status, h.row.last.event),
                h.row.event_ms,
            ));
            for wait in &h.view.waits {
                let end = waits::ended_by(wait, facts, self.live);
                let text = match end {
                    Some(by) => format!("wait of {} for {}, ended by {by}", wait.owner, wait.kind),
                    None => format!("wait of {} for {}", wait.owner, wait.kind),
                };
                chain.push(fact("hook", text, wait.since_ms));
            }
        }
        if let Some(live) = facts.live {
            let counts = if self.live.is_some() {
                ""
            } else {
                ", does not count yet"
            };
            chain.push(fact(live.source, format!("{}{counts}", said(&live.word)), live.ms));
        }
        if let Some(t) = facts.tail {
            let open = if t.open_tools > 0 {
                format!(", {} open tool calls", t.open_tools)
            } else {
                String::new()
            };
            chain.push(fact("transcript", format!("{}{open}", name(t.kind)), t.ms));
        }
        for child in facts.children {
            chain.push(fact(
                "record",
                format!("child {}: {}", child.id, name(child.kind)),
                child.ms,
            ));
        }
        if let Some(r) = facts.record {
            chain.push(fact("session", r.board.clone(), r.updated_ms));
        }
        let start = facts.terminal.map_or(0, |t| t.start_ms);
        chain.push(fact("process", facts.verdict.name().into(), start));
        chain
    }

    /// The next moment at which silence or age alone may change the row.
    fn wake_ms(&self) -> Option<Ms> {
        let facts = self.facts;
        let settings = facts.settings;
        let mut moments = vec![
            self.seen_ms + settings.quiet_after_ms,
            self.seen_ms + settings.active_window_ms + 1,
        ];
        if let Some(live) = facts.live {
            moments.push(live.ms + IDLE_BELIEVED_MS);
        }
        if let Some(h) = facts.hook {
            moments.extend([
                h.row.foreground_ms + HOOK_JUST_NOW_MS + 1,
                h.row.event_ms + settings.codex_permission_wait_ms + 1,
                h.row.event_ms + settings.start_only_ms + 1,
                h.row.event_ms + 10_001,
            ]);
        }
        if let Some(t) = facts.tail {
            moments.extend([t.ms + SAME_MOMENT_MS, t.ms + settings.working_threshold_ms + 1]);
        }
        moments.extend(facts.children.iter().map(|c| c.ms + CHILD_RUNS_MS + 1));
        moments.extend(facts.terminal.map(|t| t.start_ms + PROCESS_ROW_MS));
        moments.into_iter().filter(|ms| *ms > facts.now).min()
    }
}

fn said(word: &Word) -> String {
    match word {
        Word::Busy => "busy".into(),
        Word::Idle => "idle".into(),
        Word::Shell => "shell".into(),
        Word::Waiting(words) if words.is_empty() => "waiting".into(),
        Word::Waiting(words) => format!("waiting, {words}"),
    }
}

/// Start of the newest turn that hook row or transcript know; 0: none.
pub fn turn_started_ms(row: Option<&Row>, tail: Option<&Tail>) -> Ms {
    row.map_or(0, |r| r.turn.started_ms)
        .max(tail.map_or(0, |t| t.turn_started_ms))
}

#[cfg(test)]
mod tests;
