//! The commands themselves, without processes: many rounds of races, and random sequences beside a model.

mod model;
mod parsers;
mod races;

use crate::cli::Context;
use crate::command::{decide, enter, execution, lists, show, submit};
use ring_session::command_line::{Format, Place};
use ring_session::lifecycle::{Begin, Closing};
use ring_session::process::{Look, Stamp};
use ring_session::proposal::Submission;
use ring_session::record::{Artifact, Mode, Outcome, Proposal, ProposalKind, Record};
use ring_session::time::{self, Ms};
use ring_session::work::{Behind, Here};
use ring_session::{Refusal, Settings, StateDir, Store, id};
use std::fs;
use std::path::{Path, PathBuf};

/// How long a proposal waits.
pub const WAIT: Ms = 1_800_000;

/// A home with a project, on the fastest file system there is.
pub struct World {
    _dir: tempfile::TempDir,
    root: PathBuf,
    /// The machine's boot: a number.
    pub boot: u32,
    /// The clock.
    pub now: Ms,
}

/// What a command that succeeded has printed, or its refusal.
pub type Said = Result<String, Refusal>;

impl World {
    /// An empty one.
    pub fn new() -> World {
        let memory = Path::new("/dev/shm");
        let dir = match memory.is_dir() {
            true => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()),
            false => tempfile::tempdir(),
        }
        .unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("proj")).unwrap();
        World {
            _dir: dir,
            root,
            boot: 0,
            // the real one: the age of a dot file is told by it
            now: time::now_ms(),
        }
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.root.join("proj")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Sessions as they are seen some time after now.
    pub fn store(&self, later: Ms) -> Store {
        let stamp = Stamp {
            boot: format!("boot{:04}", self.boot),
            ..Stamp::nobody()
        };
        let here = Here {
            now: self.now + later,
            stamp,
            look: |_| Look::Gone,
        };
        Store::new(StateDir::at(self.root.join("state")), here)
    }

    /// A new session in a mode.
    pub fn session(&self, mode: Mode) -> String {
        let record = Record {
            id: id::mint(self.now),
            project: Some(self.project().to_string_lossy().into_owned()),
            mode,
            ..Record::default()
        };
        self.store(0).create(record, &[]).unwrap().id
    }

    /// Runs a command line of ring-plan some time after now.
    pub fn plan(&self, words: &[&str], later: Ms) -> Said {
        let mut out = Vec::new();
        let mut context = Context {
            store: self.store(later),
            settings: Settings::default(),
            place: Place::default(),
            format: Format::Json,
            out: &mut out,
        };
        let context = &mut context;
        match words[0] {
            "enter" => enter::run(args(words), context)?,
            "approve" => decide::approve(args(words), context)?,
            "reject" => decide::reject(args(words), context)?,
            "claim" => execution::claim(args(words), context)?,
            "finish" => execution::finish(args(words), context)?,
            "show" => show::run(&args(words), context)?,
            "expire" => lists::expire(context)?,
            other => panic!("no command {other}"),
        }
        Ok(String::from_utf8(out).unwrap())
    }

    /// Submits a text.
    pub fn submit(
        &self,
        session: &str,
        kind: ProposalKind,
        (turn, call): (&str, &str),
        markdown: &str,
    ) -> Result<Proposal, Refusal> {
        let submission = Submission {
            kind,
            via: "cli".into(),
            turn: turn.into(),
            call: call.into(),
            title: "Build API v2".into(),
            question: "Go ahead?".into(),
            markdown: markdown.into(),
            artifact: Artifact::default(),
            wait_ms: Some(WAIT),
        };
        submit::store(&self.store(0), session, submission, |_, _| Ok(())).map(|(proposal, _, _)| proposal)
    }

    /// Begins a turn.
    pub fn begin(&self, session: &str) -> Result<String, Refusal> {
        let store = self.store(0);
        let begun = store.update(session, |work, _| {
            work.busy(true).map_or(Ok(()), Err)?;
            let owner = work.here.stamp.clone();
            Ok(work
                .begin(Begin {
                    owner,
                    ..Begin::default()
                })
                .0)
        });
        begun.map(|(turn, _)| turn)
    }

    /// Ends one; with a code it has failed.
    pub fn end(&self, session: &str, turn: &str, code: Option<&str>) {
        let closing = Closing {
            outcome: if code.is_some() {
                Outcome::Error
            } else {
                Outcome::Completed
            },
            code: code.map(str::to_owned),
            ..Closing::default()
        };
        let ended = self.store(0).update(session, |work, _| {
            let live = work.find_turn(turn, false)?;
            Ok(work.end(turn, live, closing, None))
        });
        ended.unwrap();
    }

    /// Aborts what is open.
    pub fn abort(&self, session: &str) -> bool {
        let behind = Behind {
            answered: true,
            ..Behind::default()
        };
        let aborted = self.store(0).update(session, |work, _| Ok(work.abort(&behind)));
        aborted.unwrap().0.ok
    }

    /// Every file and folder, with the bytes of the files.
    pub fn tree(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        walk(&self.root, &mut found);
        found.sort();
        found
    }

    /// Artifacts, and whatever else is in their folder.
    pub fn artifacts(&self, kind: ProposalKind) -> Vec<String> {
        let entries = fs::read_dir(self.project().join(".pi").join(kind.as_str()));
        let names = entries.into_iter().flatten().flatten();
        names.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Lines of the events of a kind that name a proposal or an execution.
    pub fn told(&self, kind: &str, id: &str) -> usize {
        let lines = fs::read_to_string(self.file("state/events.jsonl")).unwrap_or_default();
        let kind = format!("\"kind\":\"{kind}\"");
        lines.lines().filter(|l| l.contains(&kind) && l.contains(id)).count()
    }
}

/// The arguments of one command: the whole command line takes longer than the command.
fn args<T: clap::Args>(words: &[&str]) -> T {
    let command = T::augment_args(clap::Command::new("one"));
    T::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
}

fn walk(dir: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
            found.push((path, Vec::new()));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
}
