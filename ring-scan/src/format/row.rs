//! The texts of one row that every form for people and scripts shows alike: SESSION, WHERE and WHAT.

use crate::board::{Session, Waiting};

/// How many characters of an id stand for a session that nothing else names.
const SHORT_ID: usize = 8;

/// The name given, else the project, else the agent's title, else the beginning of the id.
pub fn session(s: &Session) -> String {
    let short: String = s.session_id.chars().take(SHORT_ID).collect();
    [&s.name, &s.project, &s.title, &short, &s.key]
        .into_iter()
        .find(|t| !t.is_empty())
        .cloned()
        .unwrap_or_default()
}

/// Where it can be found: `pts/7` for `/dev/pts/7`.
pub fn place(s: &Session) -> &str {
    s.location.strip_prefix("/dev/").unwrap_or(&s.location)
}

/// What it waits for; else its note and what it does or did.
pub fn what(s: &Session) -> String {
    match &s.waiting {
        Some(w) if s.status == "waiting" => request(w, s.waits),
        _ => {
            let (first, second) = match s.status.as_str() {
                "working" => (&s.last_action, &s.title),
                _ => (&s.title, &s.last_action),
            };
            let main = if first.is_empty() { second } else { first };
            // a title that stands under SESSION already is not said twice
            let main = if *main == session(s) { "" } else { main };
            [s.note.as_str(), main]
                .into_iter()
                .filter(|t| !t.is_empty())
                .collect::<Vec<_>>()
                .join(" · ")
        }
    }
}

/// A request: its kind, how many more there are, the type of the child that asks, the detail.
pub fn request(w: &Waiting, open: usize) -> String {
    let more = open.saturating_sub(1);
    let mut parts = vec![match more {
        0 => w.kind.clone(),
        _ => format!("{} (+{more})", w.kind),
    }];
    let child = match w.owner_type.as_str() {
        "" => String::new(),
        kind => format!("[{kind}]"),
    };
    let detail = [child, w.detail.clone()].into_iter().filter(|t| !t.is_empty());
    parts.push(detail.collect::<Vec<_>>().join(" "));
    parts.retain(|t| !t.is_empty());
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_called_by_its_name_then_its_project_then_its_title_then_its_id() {
        let mut s = Session {
            key: "codex:0199aaaa-bbbb".into(),
            session_id: "0199aaaa-bbbb".into(),
            ..Session::default()
        };
        assert_eq!(session(&s), "0199aaaa");
        s.title = "fix it".into();
        assert_eq!(session(&s), "fix it");
        s.project = "app".into();
        assert_eq!(session(&s), "app");
        s.name = "api refactor".into();
        assert_eq!(session(&s), "api refactor");
    }

    #[test]
    fn c12_a_childs_request_shows_the_childs_type() {
        let w = Waiting {
            kind: "permission".into(),
            detail: "Bash: ls".into(),
            owner_type: "Explore".into(),
            ..Waiting::default()
        };
        assert_eq!(request(&w, 1), "permission  [Explore] Bash: ls");
        assert_eq!(request(&w, 3), "permission (+2)  [Explore] Bash: ls");
        assert_eq!(
            request(
                &Waiting {
                    kind: "input".into(),
                    ..Waiting::default()
                },
                1
            ),
            "input"
        );
    }

    #[test]
    fn a_working_row_tells_its_action_and_an_idle_one_its_title() {
        let mut s = Session {
            project: "app".into(),
            title: "fix it".into(),
            last_action: "cargo test".into(),
            note: "quiet 11 min".into(),
            status: "working".into(),
            ..Session::default()
        };
        assert_eq!(what(&s), "quiet 11 min · cargo test");
        (s.status, s.note) = ("idle".into(), String::new());
        assert_eq!(what(&s), "fix it");
        s.title = String::new();
        assert_eq!(what(&s), "cargo test");
    }
}
