//! How things look for people: colours, marks, the width of the terminal.

use ring_session::Settings;
use ring_session::columns::{fit_end, short_path};
use ring_session::command_line::Color;
use ring_session::style::Style;
use ring_session::{state_dir, table};
use std::io::IsTerminal;
use std::path::PathBuf;

/// A project is cut to a fifth of the terminal, but to no less than this.
const PROJECT: usize = 12;
/// Eighths of a block, from none to seven.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// What the settings, the environment and the terminal say.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Columns; none: no limit.
    pub width: Option<usize>,
    /// Marks and bars of ASCII only.
    pub ascii: bool,
    colour: bool,
    waiting: Style,
    working: Style,
    ended: Style,
    muted: Style,
    home: Option<PathBuf>,
}

/// What a text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Somebody is needed, or something failed.
    Waiting,
    /// Works, or is well.
    Working,
    /// Over.
    Ended,
    /// Of less weight.
    Muted,
}

impl Look {
    /// Of stdout.
    pub fn new(settings: &Settings, color: Color) -> Look {
        let style = |name: &str| Style::parse(name).unwrap_or_default();
        Look {
            width: table::limit(),
            ascii: settings.markers == "ascii",
            colour: color.wanted(std::io::stdout().is_terminal(), |name| std::env::var_os(name)),
            waiting: style(&settings.colors.waiting),
            working: style(&settings.colors.working),
            ended: style(&settings.colors.ended),
            muted: style(&settings.colors.muted),
            home: state_dir::home(),
        }
    }

    /// The text in its colour.
    pub fn paint(&self, tone: Tone, text: String) -> String {
        let style = match tone {
            Tone::Waiting => &self.waiting,
            Tone::Working => &self.working,
            Tone::Ended => &self.ended,
            Tone::Muted => &self.muted,
            Tone::Plain => return text,
        };
        match self.colour {
            true => style.paint(&text),
            false => text,
        }
    }

    /// A folder, with `~`, and where the terminal is narrow only its end.
    pub fn project(&self, project: Option<&str>) -> String {
        let path = short_path(project.unwrap_or_default(), self.home.as_deref());
        match self.width {
            Some(columns) => fit_end(&path, PROJECT.max(columns / 5)),
            None => path,
        }
    }

    /// What stands for a result.
    pub fn mark(&self, failed: bool) -> &'static str {
        match (self.ascii, failed) {
            (false, false) => "✓",
            (false, true) => "✗",
            (true, false) => "+",
            (true, true) => "x",
        }
    }

    /// A bar of at most `columns` for a `part` of the `whole`. What is there is never shown as nothing.
    pub fn bar(&self, part: i64, whole: i64, columns: usize) -> String {
        if part <= 0 || whole <= 0 {
            return String::new();
        }
        let eighths = (part.min(whole) as f64 / whole as f64 * columns as f64 * 8.0).round() as usize;
        let (full, rest) = (eighths / 8, eighths % 8);
        match self.ascii {
            true => "#".repeat((full + usize::from(rest >= 4)).max(1)),
            false if eighths == 0 => EIGHTHS[1].to_owned(),
            false => "█".repeat(full) + EIGHTHS[rest],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring_session::columns::width;

    #[test]
    fn a_bar_is_as_long_as_its_part_and_never_longer_than_its_room() {
        let look = Look::default();
        assert_eq!(look.bar(10, 10, 4), "████");
        assert_eq!(look.bar(5, 10, 4), "██");
        assert_eq!(look.bar(11, 32, 4), "█▍");
        assert_eq!(look.bar(1, 100_000, 4), "▏");
        assert_eq!(look.bar(0, 10, 4), "");
        assert_eq!(look.bar(3, 0, 4), "");
        assert_eq!(width(&look.bar(99, 10, 4)), 4);
        let ascii = Look {
            ascii: true,
            ..Look::default()
        };
        assert_eq!(
            [10, 5, 1, 0].map(|n| ascii.bar(n, 10, 4)),
            ["####", "##", "#", ""].map(str::to_owned)
        );
    }

    #[test]
    fn a_project_is_shown_with_its_end() {
        let look = Look {
            home: Some("/home/u".into()),
            width: Some(40),
            ..Look::default()
        };
        assert_eq!(look.project(Some("/home/u/api")), "~/api");
        assert_eq!(look.project(Some("/srv/a/long/way/to/api")), "…/way/to/api");
        assert_eq!(look.project(None), "");
    }
}
