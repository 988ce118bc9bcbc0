//! Colours and attributes as people name them in the settings (`bold red`, `grey50`, `bright_blue`), for terminals and
//! for tmux.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    /// 0 to 7, and 8 to 15 the bright ones.
    Named(u8),
    /// The 256-colour table.
    Fixed(u8),
    Rgb(u8, u8, u8),
}

/// One style: attributes and a colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    attributes: Vec<Attribute>,
    foreground: Option<Colour>,
    background: Option<Colour>,
}

/// SGR number, tmux's name, names in the settings.
type Attribute = (u8, &'static str);

const ATTRIBUTES: &[(&str, Attribute)] = &[
    ("bold", (1, "bold")),
    ("dim", (2, "dim")),
    ("italic", (3, "italics")),
    ("underline", (4, "underscore")),
    ("blink", (5, "blink")),
    ("reverse", (7, "reverse")),
];

const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

impl Style {
    /// Words with blanks between: attributes, a colour, `on` and a colour of the background. Empty or `none`: plain.
    pub fn parse(name: &str) -> Option<Style> {
        let mut style = Style::default();
        let mut on = false;
        for word in name.to_ascii_lowercase().split_whitespace() {
            match ATTRIBUTES.iter().find(|(n, _)| *n == word) {
                Some((_, attribute)) => style.attributes.push(*attribute),
                None if word == "none" || word == "default" => {}
                None if word == "on" && !on => on = true,
                None if on => style.background = Some(colour(word)?),
                None => style.foreground = Some(colour(word)?),
            }
        }
        Some(style)
    }

    /// The text as a terminal is to show it.
    pub fn paint(&self, text: &str) -> String {
        let mut codes: Vec<String> = self.attributes.iter().map(|(n, _)| n.to_string()).collect();
        codes.extend(self.foreground.map(|c| sgr(c, 0)));
        codes.extend(self.background.map(|c| sgr(c, 10)));
        if codes.is_empty() || text.is_empty() {
            return text.to_owned();
        }
        format!("\u{1b}[{}m{text}\u{1b}[0m", codes.join(";"))
    }

    /// What stands in tmux's `#[...]`; empty if plain (tmux(1), STYLES).
    pub fn tmux(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.foreground.map(|c| format!("fg={}", tmux(c))));
        parts.extend(self.background.map(|c| format!("bg={}", tmux(c))));
        parts.extend(self.attributes.iter().map(|(_, n)| (*n).to_owned()));
        parts.join(",")
    }
}

fn colour(word: &str) -> Option<Colour> {
    let named = |n: &str| NAMES.iter().position(|c| *c == n).map(|i| i as u8);
    if let Some(n) = named(word) {
        return Some(Colour::Named(n));
    }
    if let Some(n) = word
        .strip_prefix("bright_")
        .or_else(|| word.strip_prefix("bright"))
        .and_then(named)
    {
        return Some(Colour::Named(8 + n));
    }
    if let Some(shade) = word.strip_prefix("grey").or_else(|| word.strip_prefix("gray")) {
        return match shade {
            "" => Some(Colour::Named(8)),
            _ => shade.parse().ok().filter(|s| *s <= 100).map(grey),
        };
    }
    if let Some(hex) = word.strip_prefix('#').filter(|h| h.len() == 6 && h.is_ascii()) {
        let part = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).ok();
        return Some(Colour::Rgb(part(0)?, part(2)?, part(4)?));
    }
    let digits = word
        .strip_prefix("colour")
        .or_else(|| word.strip_prefix("color"))
        .unwrap_or(word);
    digits.trim_matches(['(', ')']).parse().ok().map(Colour::Fixed)
}

/// A shade in percent as an entry of the 256-colour table, whose greys are 8, 18 .. 238 of 255.
fn grey(percent: u8) -> Colour {
    match percent {
        0 => Colour::Fixed(16),
        100 => Colour::Fixed(231),
        _ => {
            let level = f64::from(percent) * 2.55;
            Colour::Fixed(232 + ((level - 8.0) / 10.0).round().clamp(0.0, 23.0) as u8)
        }
    }
}

/// SGR code; `ground` is 0 for the foreground, 10 for the background.
fn sgr(colour: Colour, ground: u8) -> String {
    match colour {
        Colour::Named(n @ 0..8) => (30 + ground + n).to_string(),
        Colour::Named(n) => (90 + ground + n - 8).to_string(),
        Colour::Fixed(n) => format!("{};5;{n}", 38 + ground),
        Colour::Rgb(r, g, b) => format!("{};2;{r};{g};{b}", 38 + ground),
    }
}

fn tmux(colour: Colour) -> String {
    match colour {
        Colour::Named(n @ 0..8) => NAMES[usize::from(n)].to_owned(),
        Colour::Named(n) => format!("bright{}", NAMES[usize::from(n) & 7]),
        Colour::Fixed(n) => format!("colour{n}"),
        Colour::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_what_terminals_and_tmux_understand() {
        for (name, terminal, bar) in [
            ("bold red", "\u{1b}[1;31mx\u{1b}[0m", "fg=red,bold"),
            ("green", "\u{1b}[32mx\u{1b}[0m", "fg=green"),
            ("grey50", "\u{1b}[38;5;244mx\u{1b}[0m", "fg=colour244"),
            ("grey3", "\u{1b}[38;5;232mx\u{1b}[0m", "fg=colour232"),
            ("bright_blue", "\u{1b}[94mx\u{1b}[0m", "fg=brightblue"),
            (
                "Underline #0a0b0c on white",
                "\u{1b}[4;38;2;10;11;12;47mx\u{1b}[0m",
                "fg=#0a0b0c,bg=white,underscore",
            ),
            ("color(208)", "\u{1b}[38;5;208mx\u{1b}[0m", "fg=colour208"),
            ("", "x", ""),
            ("none", "x", ""),
            ("#ff0000", "\u{1b}[38;2;255;0;0mx\u{1b}[0m", "fg=#ff0000"),
        ] {
            let style = Style::parse(name).unwrap();
            assert_eq!(style.paint("x"), terminal, "{name}");
            assert_eq!(style.tmux(), bar, "{name}");
        }
    }

    #[test]
    fn what_is_no_colour_is_named() {
        for name in [
            "blurple",
            "grey101",
            "#12",
            "#ééé",
            "bold 300",
            "bold-magenta",
            "\u{1b}[31m",
        ] {
            assert_eq!(Style::parse(name), None, "{name}");
        }
    }

    #[test]
    fn nothing_is_painted_around_nothing() {
        assert_eq!(Style::parse("red").unwrap().paint(""), "");
    }
}
