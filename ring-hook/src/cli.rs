//! The command line (ring-hook(1)).
//!
//! A hook entry is parsed by hand, in `entry.rs`: building clap's parser costs more than the whole event. Everything
//! else comes here. Both know the same options, which a test compares.

use crate::command::{install, normalize, remove, replay, show, status};
use crate::entry::Entry;
use clap::{Parser, Subcommand, ValueEnum};
use ring_session::command_line::{self, Place, Shell};
use ring_session::text::for_terminal;
use ring_session::{Code, Refusal, Settings, StateDir, exit};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ring-hook install --dry-run          what would change in your agents' settings
  ring-hook install                    let your agents tell what they do
  ring-hook status                     is every entry there?
  ring-hook --agent claude-code        a hook entry: takes one payload from stdin";

/// Turns an agent's hook payload into one status row
#[derive(Debug, Parser)]
#[command(name = crate::TOOL, version, before_help = EXAMPLES, help_template = command_line::HELP)]
pub struct Cli {
    #[command(flatten)]
    place: Place,
    /// Form of what is printed: human or json
    #[arg(
        long,
        global = true,
        value_name = "FORM",
        default_value = "human",
        hide_default_value = true,
        hide_possible_values = true
    )]
    format: Format,
    /// Agent that the payload comes from, unless the payload shows another
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Event, for payloads that do not name it
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Print the normalised event, for a pipe
    #[arg(long)]
    emit: bool,
    /// Print the row afterwards
    #[arg(long)]
    print: bool,
    /// Refuse aloud instead of ignoring; not for hooks
    #[arg(long)]
    strict: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Human or one JSON document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the parser would print them, and the help must fit a screen")]
pub enum Format {
    #[default]
    Human,
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Put our entries into the agents' settings
    Install(install::Args),
    /// Take our entries out again
    Remove(remove::Args),
    /// What is installed, stale or missing, agent by agent
    Status(status::Args),
    /// Print one row as hooks left it, and its view (ring-scan asks processes too)
    Show(show::Args),
    /// Print the normalised event of each payload line
    Normalize(normalize::Args),
    /// Take recorded payloads in, in order, without rings
    Replay(replay::Args),
    /// Print completions for a shell
    Completions {
        /// bash, zsh or fish
        #[arg(hide_possible_values = true)]
        shell: Shell,
    },
}

impl Cli {
    /// Runs the command, or takes a payload if there is none; gives the exit status.
    ///
    /// # Errors
    /// Those of the command.
    pub fn run(self, out: &mut dyn Write) -> Result<u8, Refusal> {
        let context = Context::new(&self.place, self.format);
        let Some(command) = &self.command else {
            return Ok(self.entry().run());
        };
        let takes_agent = matches!(command, Command::Normalize(_) | Command::Replay(_));
        let of_a_hook = self.event.is_some() || self.emit || self.print || self.strict;
        if of_a_hook || (self.agent.is_some() && !takes_agent) {
            let text =
                "--agent, --event, --emit, --print and --strict stand behind a command that knows them, or alone";
            return Err(Refusal::new(Code::InvalidArgument, text));
        }
        match command {
            Command::Install(args) => install::run(args, &context),
            Command::Remove(args) => remove::run(args, &context),
            Command::Status(args) => status::run(args, &context),
            Command::Show(args) => show::run(args, &context),
            Command::Normalize(args) => {
                normalize::run(args, self.agent.as_deref(), &context, &mut io::stdin().lock(), out)
            }
            Command::Replay(args) => replay::run(args, self.agent.as_deref(), &context, out),
            Command::Completions { shell } => {
                command_line::completions::<Cli>(*shell, out);
                Ok(exit::DONE)
            }
        }
    }

    /// The same command line as a hook entry.
    pub fn entry(self) -> Entry {
        Entry {
            agent: self.agent,
            event: self.event,
            emit: self.emit,
            strict: self.strict,
            print: self.print,
            state_dir: self.place.state_dir,
            config: self.place.config,
            json: self.format == Format::Json,
            payload: None,
        }
    }
}

/// What every command gets: where files are and how to write.
#[derive(Clone, Debug)]
pub struct Context {
    /// The state's root.
    pub state: StateDir,
    /// The settings file, whether it exists or not; none without a home.
    pub config: Option<PathBuf>,
    /// Human or JSON.
    pub format: Format,
}

impl Context {
    /// From the options, the environment and the home folder.
    pub fn new(place: &Place, format: Format) -> Context {
        Context {
            state: place.state(),
            config: place.config_file(),
            format,
        }
    }

    /// Whether one JSON document is wanted.
    pub fn json(&self) -> bool {
        self.format == Format::Json
    }

    /// Writes a command's whole answer to stdout. A reader that went away (`| head`) is no failure.
    ///
    /// # Errors
    /// `IO` for anything else, a closed stdout too.
    pub fn print(&self, text: &str) -> Result<(), Refusal> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Refusal::io("write to", Path::new("stdout"), &e)),
            _ => Ok(()),
        }
    }

    /// Tells a person on stderr what is no failure.
    pub fn warn(&self, texts: &[String]) {
        let mut err = io::stderr().lock();
        for text in texts {
            // a closed stderr leaves nobody to tell
            writeln!(err, "{}: warning: {}", crate::TOOL, for_terminal(text)).unwrap_or_default();
        }
    }

    /// The settings in force. What is wrong in the file is told on stderr: for commands that people run.
    pub fn settings(&self) -> Settings {
        let (settings, problems) = Settings::load(self.config.as_deref());
        let mut err = io::stderr().lock();
        for problem in problems {
            // a closed stderr leaves nobody to tell
            writeln!(err, "{}: {problem}", crate::TOOL).unwrap_or_default();
        }
        settings
    }
}
