//! Where a session is, in words for people: its project and its location (ring-scan(1), PLACES).

pub use ring_session::columns::short_path as short;
use std::path::Path;

/// The last part of the folder where the session began; the whole folder if it has no parts.
pub fn project(origin_cwd: &str) -> String {
    Path::new(origin_cwd)
        .file_name()
        .map_or_else(|| origin_cwd.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// tmux target, else terminal, else folder.
pub fn location(tmux_target: &str, tty: &str, cwd: &str, home: Option<&Path>) -> String {
    match (tmux_target, tty) {
        ("", "") => short(cwd, home),
        ("", tty) => tty.strip_prefix("/dev/").unwrap_or(tty).to_owned(),
        (target, _) => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c48_a_home_does_not_shorten_its_namesake() {
        let home = Some(Path::new("/home/u"));
        assert_eq!(short("/home/u/src/api", home), "~/src/api");
        assert_eq!(short("/home/u", home), "~");
        assert_eq!(short("/home/user2/x", home), "/home/user2/x");
        assert_eq!(short("/w", Some(Path::new("/"))), "/w");
        assert_eq!(short("/w", None), "/w");
    }

    #[test]
    fn the_most_exact_place_is_shown() {
        assert_eq!(location("work:2.1", "/dev/pts/3", "/w", None), "work:2.1");
        assert_eq!(location("", "/dev/pts/3", "/w", None), "pts/3");
        assert_eq!(location("", "", "/w", None), "/w");
        assert_eq!(project("/w/app"), "app");
        assert_eq!(project("/"), "/");
        assert_eq!(project(""), "");
    }
}
