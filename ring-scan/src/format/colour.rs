//! Which style of the settings each kind of text has.

use ring_session::settings::Colors;
pub use ring_session::style::Style;

/// What each kind of text looks like.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "each is the setting of the same name")]
pub struct Palette {
    pub waiting: Style,
    pub working: Style,
    pub idle: Style,
    pub ended: Style,
    pub project: Style,
    pub location: Style,
    pub muted: Style,
}

impl Palette {
    /// From `colors.*`. Settings hold no name that is no style.
    pub fn new(colors: &Colors) -> Palette {
        let style = |name: &str| Style::parse(name).unwrap_or_default();
        Palette {
            waiting: style(&colors.waiting),
            working: style(&colors.working),
            idle: style(&colors.idle),
            ended: style(&colors.ended),
            project: style(&colors.project),
            location: style(&colors.location),
            muted: style(&colors.muted),
        }
    }

    /// The style of a status.
    pub fn status(&self, status: &str) -> &Style {
        match status {
            "waiting" => &self.waiting,
            "working" => &self.working,
            "idle" => &self.idle,
            _ => &self.ended,
        }
    }
}
