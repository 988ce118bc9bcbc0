//! The command line (ring-hook(1)).
//!
//! A hook entry is parsed by hand, in `entry.rs`: building clap's parser costs more than the whole event. Everything
//! else comes here. Both know the same options, which a test compares.

use crate::command;
use clap::{Parser, Subcommand, ValueEnum};
use ring_session::{Refusal, Settings, StateDir, state_dir};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// One agent's hook payload in, one status row out.
#[derive(Debug, Parser)]
#[command(name = "ring-hook", version, disable_help_subcommand = true)]
pub struct Cli {
    /// Where the state is [default: $RING_STATE_DIR, else ~/.local/state/ring]
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// The settings file [default: $RING_CONFIG, else ~/.config/ring/config.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How results and errors are written
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// What to do; without one, a payload is taken from stdin
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Human or one JSON document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Human,
    /// One JSON document
    Json,
}

/// The commands beside taking a payload.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Put the hook entries into the agents' settings
    Install(command::install::Args),
    /// Take our hook entries out again
    Remove(command::remove::Args),
    /// What is installed, stale or missing, agent by agent
    Status(command::status::Args),
    /// Print one row and how readers show it
    Show(command::show::Args),
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
    /// From the global options, the environment and the home folder.
    pub fn new(state_dir: Option<PathBuf>, config: Option<PathBuf>, format: Format) -> Context {
        Context {
            state: StateDir::resolve(state_dir.as_deref()),
            config: state_dir::config_file(config.as_deref()),
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

    /// The settings in force. What is wrong in the file is told on stderr: for commands that people run.
    pub fn settings(&self) -> Settings {
        let (settings, problems) = Settings::load(self.config.as_deref());
        for p in problems {
            eprintln!("ring-hook: {}:{}: {}: {}", p.file, p.line, p.key, p.text);
        }
        settings
    }
}
