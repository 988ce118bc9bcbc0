//! `ring-hook status`: what is installed, stale or missing. No agent is run and no file opened for writing.

use crate::cli::Context;
use crate::install::entry::{Programs, sh_word, started};
use crate::install::errors::HookErrors;
use crate::install::hooks_view::Hooks;
use crate::install::installed::{self, Ask};
use crate::install::report::{self, with_hooks};
use crate::install::settings_file::SettingsFile;
use crate::install::standing::{self, Standing, standing};
use crate::install::version::Version;
use crate::install::writers::{self, Target};
use crate::install::{findings, hooks_view, json_span, seen};
use ring_session::text::for_terminal;
use ring_session::time::{Ms, human_span, now_ms};
use ring_session::{Refusal, StateDir, exit, sister};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// A record this much newer than the last event means that hooks are silent. Less is the end of a turn.
const SILENT_MS: Ms = 60_000;

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this agent; may be repeated [default: all here]
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
}

/// What is told of one agent (ring-hook(1), COMMANDS).
#[derive(Debug, Serialize)]
struct Told {
    agent: String,
    file: String,
    version: String,
    state: &'static str,
    with: Vec<&'static str>,
    plan_wait: String,
    stale: Vec<String>,
    missing: Vec<String>,
    unknown: Vec<String>,
    foreign: Vec<String>,
    doubled: Vec<String>,
    last_event_ms: Ms,
    hints: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Document {
    schema: u64,
    agents: Vec<Told>,
    /// What belongs to none of the agents.
    hints: Vec<String>,
}

/// Runs the command and gives the exit status.
///
/// # Errors
/// `INVALID_ARGUMENT`, `INSTALL_MANUAL` for an agent whose settings are not known; `IO` if stdout is closed. A settings file that cannot be read is told of, and the others are shown.
pub fn run(args: &Args, context: &Context) -> Result<u8, Refusal> {
    let path = std::env::var_os("PATH");
    let manual = |command: &str| format!("whether its hooks run `{command}` is not known here");
    let targets = writers::chosen(&args.agents, &|agent| Programs::bare().hook_command(agent), &manual)?;
    let errors = HookErrors::read(&context.state);
    let told: Vec<Told> = targets
        .iter()
        .map(|target| {
            let version = installed::version(target, path.as_deref(), Ask::Nobody);
            tell(target, version, &context.state, &errors)
        })
        .collect();
    let hints: Vec<String> = if args.agents.is_empty() {
        let since = |agent: &str| seen::last_event(&context.state, agent);
        errors.of_others(told.iter().map(|t| t.agent.as_str()), since)
    } else {
        Vec::new()
    };
    if context.json() {
        context.print(&report::document(&Document {
            schema: 1,
            agents: told,
            hints,
        }))?;
    } else {
        let hints = hints.iter().map(|h| format!("hint: {}\n", for_terminal(h)));
        context.print(&(human(&told, now_ms()) + &hints.collect::<String>()))?;
    }
    Ok(exit::DONE)
}

fn tell(target: &Target, version: Option<Version>, state: &StateDir, errors: &HookErrors) -> Told {
    let writer = target.writer;
    let mut hints = Vec::new();
    hints.extend((!target.exists()).then(|| target.without_home()));
    let read = SettingsFile::read(&target.file).map(|file| file.text().to_owned());
    let text = read.unwrap_or_else(|refusal| {
        hints.push(refusal.message);
        String::new()
    });
    let text = if text.trim_matches(['\u{FEFF}', ' ', '\t', '\r', '\n']).is_empty() {
        "{}"
    } else {
        &text
    };
    let told = with_hooks(text, |hooks| {
        let stands = standing(text, hooks, writer, version, standing::runs);
        let installed = stands.state != "none";
        (
            stands,
            findings::unknown(hooks, writer, version),
            findings::foreign(hooks),
            findings::doubled(hooks),
            if installed {
                let mut hints = (writer.hints)(target, hooks);
                hints.extend(unable(hooks));
                hints
            } else {
                Vec::new()
            },
        )
    });
    if told.is_none() {
        let root = json_span::parse(text);
        let fault = root.and_then(|root| hooks_view::read(text, &root).map(|_| ()));
        hints.extend(fault.err().map(|f| format!("{}: {f}", target.file.display())));
    }
    let (stands, unknown, foreign, doubled, more) = told.unwrap_or_default();
    hints.extend(more);
    let last_event_ms = seen::last_event(state, writer.agent);
    hints.extend(silent(target, &stands, last_event_ms));
    hints.extend(errors.of(writer.agent, last_event_ms));
    Told {
        agent: writer.agent.to_owned(),
        file: target.file.to_string_lossy().into_owned(),
        version: version.map(|v| v.to_string()).unwrap_or_default(),
        state: if stands.state.is_empty() { "none" } else { stands.state },
        with: stands.with,
        plan_wait: stands.plan_wait,
        stale: stands.stale,
        missing: stands.missing,
        unknown,
        foreign,
        doubled,
        last_event_ms,
        hints,
    }
}

/// Programs of ours in the entries that do not know what the entries ask of them: they fail on each event.
fn unable(hooks: &Hooks) -> Vec<String> {
    let handlers = hooks.events.iter().flat_map(|e| e.handlers());
    let commands = handlers.filter(|(.., h)| h.role.is_some());
    let commands = commands.filter_map(|(.., h)| h.command);
    let programs: BTreeSet<_> = commands.flat_map(started).collect();
    let asked = programs.iter().filter_map(|(role, path)| Some((path, role.command()?)));
    asked
        .filter(|(path, _)| standing::runs(path) && path.contains('/'))
        .filter(|(path, command)| !sister::knows(Path::new(path), command))
        .map(|(path, command)| {
            format!(
                "{path} has no command `{command}` yet, so its entries fail on every event; install again without it"
            )
        })
        .collect()
}

/// A hint if a session did something and no event came of it. Without any event only what happened after the entries
/// were written counts.
fn silent(target: &Target, stands: &Standing, last_event_ms: Ms) -> Option<String> {
    if !matches!(stands.state, "complete" | "partial") {
        return None;
    }
    let worked = (target.writer.newest_record)(&target.home)?;
    let heard = if last_event_ms > 0 {
        last_event_ms.saturating_add(SILENT_MS)
    } else {
        seen::written_ms(&target.file).unwrap_or(Ms::MAX)
    };
    let silent = target.writer.silent;
    (worked > heard).then(|| format!("a session worked and no event came of it; {silent}"))
}

fn human(told: &[Told], now: Ms) -> String {
    if told.is_empty() {
        return "no agent has a folder here: neither ~/.claude nor ~/.codex exists\n".to_owned();
    }
    told.iter().flat_map(|t| t.lines(now)).map(|l| l + "\n").collect()
}

impl Told {
    /// The command that puts right what stands here, and takes nothing away.
    fn order(&self) -> String {
        let mut order = format!("ring-hook install --agent {}", self.agent);
        if !self.with.is_empty() {
            order += &format!(" --with {}", self.with.join(","));
        }
        if !self.plan_wait.is_empty() {
            order += &format!(" --plan-wait {}", sh_word(&self.plan_wait));
        }
        order
    }

    fn lines(&self, now: Ms) -> Vec<String> {
        let version = if self.version.is_empty() {
            "version unknown"
        } else {
            &self.version
        };
        let with = if self.with.is_empty() {
            String::new()
        } else {
            format!(" with {}", self.with.join(", "))
        };
        let waits = match self.plan_wait.as_str() {
            "" => String::new(),
            span => format!(" (a plan waits {span})"),
        };
        let heard = match self.last_event_ms {
            0 => "no event yet".to_owned(),
            at => format!("last event {} ago", human_span(now.saturating_sub(at))),
        };
        let head = format!(
            "{} {version}: {}{with}{waits} in {}; {heard}",
            self.agent, self.state, self.file
        );
        let listed =
            |what: &str, events: &[String]| (!events.is_empty()).then(|| format!("{what}: {}", events.join(", ")));
        let missing = if self.state == "none" { &[][..] } else { &self.missing };
        let mut lines = vec![for_terminal(&head)];
        let more = [
            listed("stale", &self.stale),
            listed("missing", missing),
            listed("not known to this version", &self.unknown),
            listed("twice", &self.doubled),
        ];
        let more = more.into_iter().flatten();
        let foreign = self.foreign.iter().map(|f| format!("another program on {f}"));
        let hints = self.hints.iter().map(|h| format!("hint: {h}"));
        lines.extend(
            more.chain(foreign)
                .chain(hints)
                .map(|l| format!("  {}", for_terminal(&l))),
        );
        let install = self.state == "none" || !self.stale.is_empty() || !self.missing.is_empty();
        lines.extend(install.then(|| format!("  run: {}", for_terminal(&self.order()))));
        lines
    }
}
