//! The agents whose settings we write: one table entry an agent.

use super::hooks_view::Hooks;
use super::version::Version;
use super::{claude, codex};
use ring_hook::agent::{self, Tier};
use ring_session::time::Ms;
use ring_session::{Code, Refusal, state_dir};
use std::path::{Path, PathBuf};

/// How the entries of one agent are written.
pub struct Writer {
    /// Canonical id.
    pub agent: &'static str,
    /// The environment variable that names its home.
    variable: &'static str,
    /// Its home below the person's, without the variable.
    folder: &'static str,
    /// The settings file in its home.
    file: &'static str,
    /// Its program on `$PATH`.
    pub program: &'static str,
    /// What the name in the program's package.json begins with.
    pub package: &'static str,
    /// The events that get an entry.
    pub events: fn(Option<Version>) -> &'static [&'static str],
    /// Whether a version knows an event. An unknown one is told of; for most agents it does no harm.
    pub knows: fn(Option<Version>, &str) -> bool,
    /// Time-out of an entry, in the agent's own unit.
    pub timeout: fn(&str) -> u64,
    /// Its plans can be decided from another shell, so `ring-plan hook` may wait for that.
    pub plan_waits: bool,
    /// What may keep the entries silent, for people.
    pub hints: fn(&Target, &Hooks) -> Vec<String>,
    /// When a session of this agent last did something, by its records below a home.
    pub newest_record: fn(&Path) -> Option<Ms>,
    /// What to do if sessions run and no event comes.
    pub silent: &'static str,
}

/// All of them.
pub const WRITERS: &[Writer] = &[
    Writer {
        agent: agent::CLAUDE,
        variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        file: "settings.json",
        program: "claude",
        package: "@anthropic-ai/claude-code",
        events: claude::events,
        knows: claude::knows,
        timeout: |_| 5,
        plan_waits: true,
        hints: claude::hints,
        newest_record: claude::newest_record,
        silent: "hooks run in trusted folders only; open sessions take them up at once",
    },
    Writer {
        agent: agent::CODEX,
        variable: "CODEX_HOME",
        folder: ".codex",
        file: "hooks.json",
        program: "codex",
        package: "@openai/codex",
        events: codex::events,
        knows: |_, _| true,
        timeout: codex::timeout,
        plan_waits: false,
        hints: codex::hints,
        newest_record: codex::newest_record,
        silent: "approve the entries in codex with /hooks, then open its sessions anew",
    },
];

/// One settings file of one agent.
pub struct Target {
    /// How it is written.
    pub writer: &'static Writer,
    /// The agent's home; it may be missing.
    pub home: PathBuf,
    /// The file, as the agent names it.
    pub file: PathBuf,
}

impl Target {
    fn of(writer: &'static Writer) -> Option<Target> {
        let set = std::env::var_os(writer.variable)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from);
        let home = set.or_else(|| state_dir::home().map(|h| h.join(writer.folder)))?;
        let file = home.join(writer.file);
        Some(Target { writer, home, file })
    }

    /// Whether the agent has been here: its home exists. Without it nothing is created.
    pub fn exists(&self) -> bool {
        self.home.is_dir()
    }

    /// What to do if it has not.
    pub fn without_home(&self) -> String {
        let (home, writer) = (self.home.display(), self.writer);
        format!(
            "{home} is not there; start {} once, or set {} to its folder, then run this again",
            writer.program, writer.variable
        )
    }
}

/// What to say of an agent whose settings are not written here: it gets the entry, and gives a text for people.
pub type Manual<'a> = &'a dyn Fn(&str) -> String;

/// Every agent with a writer whose home exists.
pub fn present() -> Vec<Target> {
    WRITERS.iter().filter_map(Target::of).filter(Target::exists).collect()
}

/// The agents that were named, each once; without names those that are [`present`].
///
/// # Errors
/// `INVALID_ARGUMENT` for what has no hooks; `INSTALL_MANUAL`, with the entry to copy, for an agent without a writer.
pub fn chosen(names: &[String], command: &dyn Fn(&str) -> String, advice: Manual) -> Result<Vec<Target>, Refusal> {
    if names.is_empty() {
        return Ok(present());
    }
    let mut targets: Vec<Target> = Vec::new();
    for name in names {
        let id = agent::canonical(name);
        let Some(writer) = WRITERS.iter().find(|w| w.agent == id) else {
            return Err(no_writer(name, &id, &command(&id), advice));
        };
        if targets.iter().any(|t| t.writer.agent == id) {
            continue;
        }
        let no_home = || Refusal::new(Code::InvalidArgument, "there is no home folder: set HOME");
        targets.push(Target::of(writer).ok_or_else(no_home)?);
    }
    Ok(targets)
}

fn no_writer(name: &str, id: &str, command: &str, advice: Manual) -> Refusal {
    let process_only = agent::find(id).is_some_and(|a| a.tier == Tier::Process);
    if process_only || id == agent::GENERIC {
        return Refusal::new(
            Code::InvalidArgument,
            format!("{name} has no hooks that could be set up"),
        );
    }
    Refusal::new(
        Code::InstallManual,
        format!(
            "the settings of {id} are not written by this program: {}",
            advice(command)
        ),
    )
    .with("agent", id)
    .with("snippet", command)
}
