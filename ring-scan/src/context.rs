//! What every command needs of its surroundings: settings, state, clock, terminal.

use crate::NAME;
use crate::board::{Board, Request, collect};
use crate::format::colour::Palette;
use crate::format::words::{Lang, Markers};
use crate::format::{Form, Look};
pub use ring_session::columns::screen as size;
use ring_session::command_line::{Color, Place};
use ring_session::settings::Problem;
use ring_session::time::now_ms;
use ring_session::{Code, Refusal, Settings, StateDir, text};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::PathBuf;

/// See the module.
#[derive(Debug)]
pub struct Context {
    pub state: StateDir,
    pub settings: Settings,
    pub problems: Vec<Problem>,
    pub config_file: Option<PathBuf>,
    pub form: Form,
    color: Color,
}

impl Context {
    /// Reads the settings and says on stderr what is wrong with them.
    pub fn new(place: &Place, form: Form, color: Color) -> Context {
        let context = Context::quiet(place, form, color);
        context.problems.iter().for_each(|p| warn(&told(p)));
        context
    }

    /// As [`Context::new`], for a command that tells the problems itself.
    pub fn quiet(place: &Place, form: Form, color: Color) -> Context {
        let (settings, mut problems) = place.settings();
        problems.extend(place.missing_config());
        let config_file = place.config_file();
        Context {
            state: place.state(),
            settings,
            problems,
            config_file,
            form,
            color,
        }
    }

    /// The board as it is now.
    pub fn collect(&self, all: bool) -> Board {
        collect(&Request { all }, &self.settings, &self.state, now_ms())
    }

    /// How the board is to look on this output.
    pub fn look(&self) -> Look {
        let terminal = stdout().is_terminal();
        let variable = |name: &str| std::env::var_os(name);
        Look {
            width: size(terminal).0,
            colour: self.color.wanted(terminal, variable),
            palette: Palette::new(&self.settings.colors),
            markers: Markers::of(&self.settings.markers),
            lang: Lang::of(&self.settings.lang, variable),
            legend: self.settings.legend && terminal,
            ..Look::default()
        }
    }

    /// Refuses the forms that only a board has.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn human_or_json(&self) -> Result<bool, Refusal> {
        human_or_json(self.form)
    }
}

/// Whether JSON is wanted, where only that and `human` make sense.
///
/// # Errors
/// `INVALID_ARGUMENT` for another form.
pub fn human_or_json(form: Form) -> Result<bool, Refusal> {
    match form {
        Form::Human => Ok(false),
        Form::Json => Ok(true),
        _ => Err(Refusal::new(
            Code::InvalidArgument,
            "this command prints human or json; see ring-scan --help",
        )),
    }
}

/// A problem of the settings on one line.
pub fn told(p: &Problem) -> String {
    let line = if p.line > 0 {
        format!("{}:", p.line)
    } else {
        String::new()
    };
    let key = if p.key.is_empty() {
        String::new()
    } else {
        format!(" {}:", p.key)
    };
    format!("{}:{line}{key} {}", p.file, p.text)
}

/// One line on stderr, made harmless. Nobody may be listening there, which is no failure.
pub fn warn(line: &str) {
    writeln!(stderr(), "{NAME}: {}", text::for_terminal(line)).unwrap_or_default();
}

/// Names each source that failed, once.
#[derive(Debug, Default)]
pub struct Failures {
    told: BTreeSet<String>,
}

impl Failures {
    /// Tells what is new; a source that works again may fail again. With a table on the same screen that says it
    /// already, nothing is told twice.
    pub fn tell(&mut self, board: &Board, form: Form) {
        let on_screen = form == Form::Human && stdout().is_terminal() && stderr().is_terminal();
        let failed: BTreeSet<String> = board
            .sources
            .iter()
            .filter(|s| s.state == "failed" || s.state == "slow")
            .map(|s| match s.error.is_empty() {
                true => format!("{}: {}", s.name, s.state),
                false => format!("{}: {}", s.name, s.error),
            })
            .collect();
        if !on_screen {
            failed.difference(&self.told).for_each(|line| warn(line));
        }
        self.told = failed;
    }
}
