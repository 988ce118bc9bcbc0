//! A small world for tests of the decision: items, a ledger, a clock, and what leaves.

use crate::admit::admit;
use crate::due::{Decision, Due, Facts, decide};
use crate::hours::Hours;
use crate::item::{Kind, Live, sign};
use crate::ledger::Ledger;
use crate::outlet::{Outlet, Projects, Rules, Way};
use crate::send::Fate;
use crate::settle::{Result, Told, settle};
use crate::sources::Sources;
use ring_session::Settings;
use ring_session::process::Stamp;
use ring_session::time::Ms;
use std::collections::BTreeSet;

/// Noon of a Monday.
pub const NOON: Ms = 1_796_040_000_000;

/// Everything that a run sees, and the ledger that it leaves.
pub struct World {
    pub now: Ms,
    pub sources: Sources,
    pub ledger: Ledger,
    pub rules: Rules,
    pub quiet: bool,
    pub in_hours: bool,
    pub looking: BTreeSet<String>,
    pub dead: BTreeSet<u32>,
    pub first: String,
    minted: std::cell::Cell<u32>,
}

/// A process that runs a pass.
pub fn process(pid: u32) -> Stamp {
    Stamp {
        host: "box".into(),
        boot: "b".into(),
        pid,
        ..Stamp::default()
    }
}

/// An outlet that takes everything.
pub fn outlet(name: &str) -> Outlet {
    Outlet {
        name: name.into(),
        way: Way::Tmux,
        kinds: Vec::new(),
        agents: Vec::new(),
        projects: Projects::default(),
        repeat: true,
        skip_when_looking: false,
        retry_unconfirmed: false,
        brief: false,
        hours: None,
    }
}

/// A wait for a permission.
pub fn wait(session: &str, id: &str, opened_ms: Ms) -> Live {
    Live {
        id: format!("wait:{session}:{id}"),
        kind: Kind::Permission,
        session: session.into(),
        sign: sign(session, "foreground", "permission", id, ""),
        opened_ms,
        agent: "codex".into(),
        session_id: session.into(),
        project: "/w/app".into(),
        detail: format!("Bash: {id}"),
        ..Live::default()
    }
}

/// A proposal.
pub fn plan(session: &str, id: &str, opened_ms: Ms) -> Live {
    Live {
        id: format!("plan:{id}"),
        kind: Kind::Proposal,
        record: "rec".into(),
        sign: String::new(),
        proposal: id.into(),
        detail: "Build it".into(),
        question: "Approve this plan?".into(),
        ..wait(session, id, opened_ms)
    }
}

/// An ended turn of a minute.
pub fn turn(session: &str, id: &str, kind: Kind, opened_ms: Ms) -> Live {
    Live {
        id: format!("turn:{id}"),
        kind,
        record: "rec".into(),
        sign: String::new(),
        duration_ms: 60_000,
        detail: String::new(),
        ..wait(session, id, opened_ms)
    }
}

impl World {
    pub fn new(names: &[&str]) -> World {
        let sources = Sources {
            rows: BTreeSet::from(["s".to_owned()]),
            records: BTreeSet::from(["rec".to_owned()]),
            ..Sources::default()
        };
        World {
            now: NOON,
            sources,
            ledger: Ledger::default(),
            rules: Rules {
                notify: Settings::default().notify,
                outlets: names.iter().map(|n| outlet(n)).collect(),
            },
            quiet: false,
            in_hours: false,
            looking: BTreeSet::new(),
            dead: BTreeSet::new(),
            first: String::new(),
            minted: std::cell::Cell::new(0),
        }
    }

    pub fn open(&mut self, live: Live) {
        self.sources.live.push(live);
    }

    pub fn close(&mut self, id: &str) {
        self.sources.live.retain(|l| l.id != id);
    }

    pub fn later(&mut self, ms: Ms) {
        self.now += ms;
    }

    /// Decides and claims as process `pid`.
    pub fn decide(&mut self, pid: u32) -> Decision {
        let me = process(pid);
        let open = admit(&mut self.ledger, &self.sources, &self.rules, self.now);
        let facts = Facts {
            now: self.now,
            quiet: self.quiet,
            hours: &|_: &Hours| self.in_hours,
            looking: &self.looking,
            is_dead: &|s: &Stamp| self.dead.contains(&s.pid),
            me: &me,
            mint: &|| {
                self.minted.set(self.minted.get() + 1);
                format!("batch-{}", self.minted.get())
            },
            first: &self.first,
        };
        decide(&mut self.ledger, &open, &self.rules, &facts)
    }

    /// Settles a message of process `pid`.
    pub fn settle(&mut self, due: &Due, fate: &Fate, pid: u32) -> Vec<Told> {
        let open: BTreeSet<&str> = self.sources.live.iter().map(|l| l.id.as_str()).collect();
        let results: Vec<Result> = due
            .parts
            .iter()
            .map(|(item, _)| {
                let is_message = item.starts_with("msg:");
                match is_message || open.contains(item.as_str()) {
                    true => Result::Sent(fate.clone()),
                    false => Result::Closed("answered"),
                }
            })
            .collect();
        settle(&mut self.ledger, due, &results, &process(pid), &self.rules, self.now)
    }

    /// A whole run of process 1, in which every outlet says `fate`: what has left, one text a message: `outlet item/ring ..`.
    pub fn run_with(&mut self, fate: &Fate) -> Vec<String> {
        let decision = self.decide(1);
        let mut left = Vec::new();
        for due in &decision.due {
            self.settle(due, fate, 1);
            let parts: Vec<String> = due.parts.iter().map(|(item, ring)| format!("{item}/{ring}")).collect();
            left.push(format!("{} {}", due.outlet, parts.join(" ")));
        }
        left
    }

    /// As [`World::run_with`], all sent.
    pub fn run(&mut self) -> Vec<String> {
        self.run_with(&Fate::Sent)
    }

    /// Where an item stands on an outlet, and why.
    pub fn stands(&self, item: &str, outlet: &str) -> String {
        let entry = &self.ledger.items[item];
        let Some(to) = entry.to.get(outlet) else {
            return "nothing".into();
        };
        let hold = to.hold.map(|h| format!(" {h:?}").to_lowercase()).unwrap_or_default();
        format!("{}{hold}", to.state.as_str())
    }
}

/// A failure that may pass.
pub fn busy() -> Fate {
    Fate::Retry {
        error: "http 503".into(),
        after_ms: None,
    }
}
