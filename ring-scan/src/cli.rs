//! The command line (ring-scan(1)).

use crate::board::Board;
use crate::context::warn;
use crate::format::Form;
use crate::select::{Filter, Sort, Status};
use clap::{Args, Parser, Subcommand};
use ring_hook::agent;
use ring_session::command_line::{self, Color, Place, Shell};
use ring_session::settings::Value;
use ring_session::settings::keys::{self, Kind};
use ring_session::time::Ms;
use ring_session::{Code, Refusal};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ring-scan                                    the board
  ring-scan watch                              the board, again at each change
  ring-scan --status waiting --exit-status     does anybody wait for me?
  ring-scan --format tsv | head -1 | ring-scan explain -

";

/// Lists the agent sessions of this machine: what each does and which one waits for you.
#[derive(Debug, Parser)]
#[command(
    name = "ring-scan",
    version,
    before_help = EXAMPLES.trim_end(),
    help_template = command_line::HELP,
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    pub place: Place,
    /// human, json, jsonl, tsv, oneline, waybar or tmux
    #[arg(long, global = true, value_enum, value_name = "FORM", default_value = "human")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub format: Form,
    /// auto, always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: Color,
    #[command(flatten)]
    pub board: BoardArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands; without one, the board.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the board
    Board(BoardArgs),
    /// Print the board again at each change
    Watch(WatchArgs),
    /// One session: fields, all requests, children, files
    Show(IdArgs),
    /// Why a session has its status: facts and rules
    Explain(IdArgs),
    /// Check sources, hooks, settings and files; changes nothing
    Doctor,
    /// Settings: list them, `get KEY`, `set KEY VALUE`
    Config(ConfigArgs),
    /// Completions for bash, zsh or fish
    Completions {
        /// bash, zsh or fish
        #[arg(value_enum, hide_possible_values = true)]
        shell: Shell,
    },
}

/// What one session means: one of its names, what the table shows of it, or a unique beginning.
#[derive(Args, Debug)]
pub struct IdArgs {
    /// Key, session id, record, what the table shows as SESSION or WHERE if it is unique, or a unique beginning of 4
    /// characters or more; `-` reads it from stdin
    pub id: String,
}

/// What is done with the settings.
#[derive(Args, Debug)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

/// One key of the settings.
#[derive(Debug, Subcommand)]
#[allow(missing_docs, reason = "the doc comments are the help")]
pub enum ConfigAction {
    /// Print what is in force for a key
    Get {
        /// Name of a setting as `ring-scan config` lists it: interval, colors.waiting
        key: String,
    },
    /// Write a value into the settings file
    #[command(allow_negative_numbers = true)]
    Set {
        /// Name of a setting as `ring-scan config` lists it: interval, colors.waiting
        key: String,
        /// A text or number; spans as 90 or 5m, lists with commas or as [] in TOML
        value: String,
    },
}

/// Which rows, in which order.
#[derive(Args, Clone, Debug, Default)]
pub struct FilterArgs {
    /// Only waiting, working, idle or ended
    #[arg(
        long,
        value_enum,
        value_name = "S,..",
        value_delimiter = ',',
        hide_possible_values = true,
        ignore_case = true
    )]
    pub status: Vec<Status>,
    /// Only these agents
    #[arg(long, value_name = "A,..", value_delimiter = ',')]
    pub agent: Vec<String>,
    /// Only sessions in this folder or below
    #[arg(long, value_name = "DIR")]
    pub cwd: Vec<PathBuf>,
    /// Only these projects
    #[arg(long, value_name = "P,..", value_delimiter = ',')]
    pub project: Vec<String>,
    /// Only sessions of these machines
    #[arg(long, value_name = "H,..", value_delimiter = ',', allow_hyphen_values = true)]
    pub host: Vec<String>,
    /// Ended sessions too
    #[arg(long)]
    pub all: bool,
    /// At most N rows
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// status, age, agent, project, cwd or seen
    #[arg(long, value_enum, value_name = "BY", hide_possible_values = true)]
    pub sort: Option<Sort>,
    /// tsv: names of the columns first
    #[arg(long)]
    pub header: bool,
}

/// How often a watch prints.
#[derive(Args, Clone, Debug, Default)]
pub struct RepeatArgs {
    /// watch: look at what gives no sign by itself every SPAN [2s]
    #[arg(long, value_name = "SPAN", value_parser = interval, allow_negative_numbers = true)]
    pub interval: Option<Ms>,
    /// watch: end after printing N times, the first board included
    #[arg(long, value_name = "N", value_parser = times, allow_negative_numbers = true)]
    pub count: Option<u64>,
}

/// Options of the board.
#[derive(Args, Clone, Debug, Default)]
pub struct BoardArgs {
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Exit status 1 if no session is listed
    #[arg(long)]
    pub exit_status: bool,
    /// Print again at each change
    #[arg(long)]
    pub watch: bool,
    #[command(flatten)]
    pub repeat: RepeatArgs,
}

/// Options of `watch`.
#[derive(Args, Clone, Debug, Default)]
pub struct WatchArgs {
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub repeat: RepeatArgs,
}

impl FilterArgs {
    /// As the filter that selects rows. `show_all` is the setting; relative folders are below `here`, the current one.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a host name that no machine has and that could be an option of another program.
    pub fn filter(&self, show_all: bool, here: Option<PathBuf>) -> Result<Filter, Refusal> {
        if let Some(bad) = self
            .host
            .iter()
            .find(|h| h.is_empty() || h.starts_with('-') || h.contains(char::is_whitespace))
        {
            return Err(Refusal::new(Code::InvalidArgument, format!("bad host name {bad:?}")));
        }
        let mut cwd = Vec::new();
        for folder in &self.cwd {
            let absolute = here.as_deref().map_or_else(|| folder.clone(), |h| h.join(folder));
            // agents tell the folder as they see it, with or without the links in it
            cwd.extend(std::fs::canonicalize(&absolute));
            cwd.push(without_dots(&absolute));
        }
        Ok(Filter {
            status: self.status.clone(),
            agent: self.agent.iter().map(|a| canonical(a)).collect(),
            cwd,
            project: self.project.clone(),
            host: self.host.clone(),
            all: self.all || show_all,
            limit: self.limit,
            sort: self.sort.unwrap_or_default(),
        })
    }

    /// Says which names after `--agent` nobody knows: no agent of ours, none on the board.
    pub fn hint(&self, board: &Board) {
        for name in self.agent.iter().map(|a| canonical(a)) {
            let known = name == agent::GENERIC
                || agent::find(&name).is_some()
                || board.sessions.iter().any(|s| s.agent.eq_ignore_ascii_case(&name));
            if !known {
                let names: Vec<_> = agent::AGENTS.iter().map(|a| a.id).collect();
                warn(&format!("no agent is called {name:?}; known are {}", names.join(", ")));
            }
        }
    }

    fn is_default(&self) -> bool {
        self.status.is_empty()
            && self.agent.is_empty()
            && self.cwd.is_empty()
            && self.project.is_empty()
            && self.host.is_empty()
            && self.limit.is_none()
            && self.sort.is_none()
            && !(self.all || self.header)
    }

    /// Options before the command's name and behind it count alike.
    fn with(mut self, more: FilterArgs) -> FilterArgs {
        self.status.extend(more.status);
        self.agent.extend(more.agent);
        self.cwd.extend(more.cwd);
        self.project.extend(more.project);
        self.host.extend(more.host);
        FilterArgs {
            all: self.all || more.all,
            limit: more.limit.or(self.limit),
            sort: more.sort.or(self.sort),
            header: self.header || more.header,
            ..self
        }
    }
}

fn rows(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "give the most rows to list, a whole number such as 10".to_owned())
}

fn times(text: &str) -> Result<u64, String> {
    let times = text.parse().ok().filter(|n| *n > 0);
    times.ok_or_else(|| "give how often to print, a whole number from 1".to_owned())
}

/// A span within the range of the setting `interval`.
fn interval(text: &str) -> Result<Ms, String> {
    let ms = command_line::span(text)?;
    match keys::find("interval").map(|k| &k.kind) {
        Some(Kind::Span { min, max, .. }) if !(min..=max).contains(&&ms) => {
            let seconds = |ms: &Ms| Value::Span(*ms);
            Err(format!("give {} to {} seconds", seconds(min), seconds(max)))
        }
        _ => Ok(ms),
    }
}

/// An agent's own name for what people call it: `claude` is `claude-code`.
fn canonical(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    agent::find(&name).map_or(name, |a| a.id.to_owned())
}

/// `a/./b/../c` is `a/c`, without looking at the disk.
fn without_dots(path: &std::path::Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

impl BoardArgs {
    /// Options before the command's name and behind it count alike.
    pub fn with(self, more: BoardArgs) -> BoardArgs {
        BoardArgs {
            filter: self.filter.with(more.filter),
            exit_status: self.exit_status || more.exit_status,
            watch: self.watch || more.watch,
            repeat: RepeatArgs {
                interval: more.repeat.interval.or(self.repeat.interval),
                count: more.repeat.count.or(self.repeat.count),
            },
        }
    }

    /// Whether none of the board's options is given.
    pub fn is_default(&self) -> bool {
        self.filter.is_default()
            && !(self.exit_status || self.watch)
            && self.repeat.interval.is_none()
            && self.repeat.count.is_none()
    }
}

impl From<WatchArgs> for BoardArgs {
    fn from(args: WatchArgs) -> BoardArgs {
        BoardArgs {
            filter: args.filter,
            exit_status: false,
            watch: true,
            repeat: args.repeat,
        }
    }
}
