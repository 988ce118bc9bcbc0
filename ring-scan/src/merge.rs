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

mod case;
pub mod facts;

use crate::board::{Tried, Waiting};
use crate::liveness::Verdict;
use crate::waits;
use case::Case;
use ring_hook::live::IDLE_BELIEVED_MS;
use ring_hook::tail::Kind;
use ring_session::Settings;
use ring_session::time::{Ms, human_span};

pub use ring_hook::live::{Live, Word};

pub use facts::{ChildRecord, Facts, Hook, Outcome, Terminal, mark_name, open_turn, turn_started_ms};

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
    let Some(record) = case.facts.record.filter(|r| !r.open.is_empty()) else {
        return no("no open proposal or request in a record");
    };
    // Esc in the agent's own prompt fires no hook, so the record learns of it with the next prompt only.
    let left = |w: &Waiting| record.prompted.as_ref() == Some(&w.id) && waits::has_left(w, case.live, case.facts.now);
    let all: Vec<Waiting> = record.open.iter().filter(|w| !left(w)).cloned().collect();
    let Some(open) = all.first() else {
        return no("the agent has left its prompt");
    };
    Yes(Decided {
        waits: all.clone(),
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
            if live.word == Word::Idle
                && case.facts.now.saturating_sub(live.ms) < IDLE_BELIEVED_MS
                && !case.facts.background =>
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
                .map(|h| live.ms.saturating_sub(h.row.event_ms))
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
        .filter(|c| open_turn(c.kind) && facts.now.saturating_sub(c.ms) <= CHILD_RUNS_MS)
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
        return no(format!("last turn mark: {}", mark_name(t.kind)));
    }
    if t.ms <= h.row.event_ms || case.facts.now.saturating_sub(t.ms) < SAME_MOMENT_MS {
        return no("its end mark is not newer than the last hook event, or from just now");
    }
    yes(
        "idle",
        t.ms,
        format!("the transcript ended the turn {}", case.ago(t.ms)),
        &[&format!("transcript:{}", mark_name(t.kind))],
    )
}

fn tail_turn(case: &Case) -> Answer {
    let (Some(h), Some(t)) = (case.facts.hook, case.facts.tail) else {
        return no("needs a hook row and a transcript newer than it");
    };
    if case.hook_status() != Some("idle") {
        return no("the hook row does not say idle");
    }
    if !matches!(t.kind, Kind::Busy | Kind::Tool) || t.turn_started_ms <= h.row.event_ms.saturating_add(SAME_MOMENT_MS)
    {
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
            format!("last turn mark: {}, {}", mark_name(t.kind), case.ago(t.ms)),
            &[&format!("transcript:{}", mark_name(t.kind))],
        ),
        _ => no(case.tail_says()),
    }
}

fn record_open(case: &Case) -> Answer {
    let Some(t) = case.facts.tail.filter(|t| open_turn(t.kind)) else {
        return no(case.tail_says());
    };
    let evidence = format!("transcript:{}", mark_name(t.kind));
    let started = if t.turn_started_ms > 0 { t.turn_started_ms } else { t.ms };
    if t.ms > 0 && case.facts.terminal.is_some_and(|p| t.ms < p.start_ms) {
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
        Some(t) if t.tty && (t.opened || case.facts.now.saturating_sub(t.start_ms) >= PROCESS_ROW_MS) => Yes(Decided {
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

/// Whether a background task of this type keeps a finished turn working.
fn counts(settings: &Settings, kind: &str) -> bool {
    settings.background_task_types.iter().any(|t| t == "*" || t == kind)
}

/// The turn is over.
fn over(kind: Kind) -> bool {
    matches!(kind, Kind::End | Kind::Failed | Kind::Interrupted | Kind::Denied)
}

#[cfg(test)]
mod tests;
