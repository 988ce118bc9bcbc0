//! Our entries: the commands that agents run, how they are written, and how they are known again.
//!
//! An entry is one string for `sh`. It does not change with the version of an agent or of this program: Codex trusts an
//! entry by its hash, and asks the person again when that changes.

use std::path::Path;

/// Which of our programs an entry starts. One entry a role stands on one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// `ring-hook`, alone or piped into `ring-session hook`.
    Hook,
    /// `ring-session` as the first word: never written, ours all the same.
    Session,
    /// `ring-plan hook`.
    Plan,
    /// `ring-notify deliver`.
    Notify,
}

impl Role {
    const ALL: [Role; 4] = [Role::Hook, Role::Session, Role::Plan, Role::Notify];

    /// Name of the program.
    pub fn program(self) -> &'static str {
        match self {
            Role::Hook => "ring-hook",
            Role::Session => "ring-session",
            Role::Plan => "ring-plan",
            Role::Notify => "ring-notify",
        }
    }

    /// The command that entries run; `ring-hook` needs none.
    pub fn command(self) -> Option<&'static str> {
        match self {
            Role::Hook => None,
            Role::Session | Role::Plan => Some("hook"),
            Role::Notify => Some("deliver"),
        }
    }

    /// The role of a command; none if it is not ours.
    pub fn of(command: &str) -> Option<Role> {
        let words = words(command);
        let first = file_name(words.first()?);
        Role::ALL.into_iter().find(|r| r.program() == first)
    }
}

/// Paths of our programs, as entries name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// `ring-hook`.
    pub hook: String,
    /// `ring-session`.
    pub session: String,
    /// `ring-plan`.
    pub plan: String,
    /// `ring-notify`.
    pub notify: String,
}

impl Programs {
    /// Every program by its bare name: what commands are compared with when it does not matter where they are.
    pub fn bare() -> Programs {
        let name = |r: Role| r.program().to_owned();
        Programs {
            hook: name(Role::Hook),
            session: name(Role::Session),
            plan: name(Role::Plan),
            notify: name(Role::Notify),
        }
    }

    /// `ring-hook --agent NAME`.
    pub fn hook_command(&self, agent: &str) -> String {
        format!("{} --agent {agent}", sh_word(&self.hook))
    }

    /// The same, piped into `ring-session hook`.
    pub fn session_command(&self, agent: &str) -> String {
        format!("{} --emit | {} hook", self.hook_command(agent), sh_word(&self.session))
    }

    /// `ring-plan hook --agent NAME`, with the span that it waits for a person.
    pub fn plan_command(&self, agent: &str, wait: Option<&str>) -> String {
        let wait = wait
            .map(|span| format!(" --wait {}", sh_word(span)))
            .unwrap_or_default();
        format!("{} hook --agent {agent}{wait}", sh_word(&self.plan))
    }

    /// `ring-notify deliver`, in the background, when the turn's last words are stored.
    pub fn notify_command(&self) -> String {
        format!("{} deliver --detach --after 2s", sh_word(&self.notify))
    }
}

/// A word for `sh`: as it is if nothing in it is special, else in single quotes.
pub fn sh_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The words of a command as `sh` splits them; `|` is a word of its own. What is written after a quote that does not
/// end is the last word.
pub fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '|' => {
                words.extend(word.take());
                words.push("|".to_owned());
            }
            '\'' => word
                .get_or_insert_default()
                .extend(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    word.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Each program of ours that a command starts, by its path or name as it stands there.
pub fn started(command: &str) -> Vec<(Role, String)> {
    let paths = bare(command).1.into_iter();
    paths
        .filter_map(|path| Some((Role::of(&sh_word(&path))?, path)))
        .collect()
}

/// The command with every program of ours by its bare name, and the paths that stood there.
pub fn bare(command: &str) -> (String, Vec<String>) {
    let mut paths = Vec::new();
    let mut starts = true;
    let words: Vec<String> = words(command)
        .into_iter()
        .map(|word| {
            let program = std::mem::replace(&mut starts, word == "|");
            let name = file_name(&word).to_owned();
            if program && Role::ALL.iter().any(|r| r.program() == name) {
                paths.push(word);
                return name;
            }
            word
        })
        .collect();
    (words.join(" "), paths)
}

fn file_name(word: &str) -> &str {
    Path::new(word).file_name().and_then(|n| n.to_str()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(dir: &str) -> Programs {
        let name = |r: Role| format!("{dir}/{}", r.program());
        Programs {
            hook: name(Role::Hook),
            session: name(Role::Session),
            plan: name(Role::Plan),
            notify: name(Role::Notify),
        }
    }

    #[test]
    fn an_entry_is_one_string_for_sh() {
        let p = at("/usr/bin");
        assert_eq!(p.hook_command("codex"), "/usr/bin/ring-hook --agent codex");
        assert_eq!(
            p.session_command("claude-code"),
            "/usr/bin/ring-hook --agent claude-code --emit | /usr/bin/ring-session hook"
        );
        assert_eq!(
            p.plan_command("claude-code", Some("10m")),
            "/usr/bin/ring-plan hook --agent claude-code --wait 10m"
        );
        assert_eq!(p.notify_command(), "/usr/bin/ring-notify deliver --detach --after 2s");
        assert_eq!(
            at("/my tools/it's").hook_command("codex"),
            r"'/my tools/it'\''s/ring-hook' --agent codex"
        );
    }

    #[test]
    fn ours_is_what_starts_one_of_our_programs() {
        for (command, role) in [
            ("ring-hook", Some(Role::Hook)),
            ("/old/place/ring-hook --agent codex", Some(Role::Hook)),
            (
                "'/a b/ring-hook' --agent x --emit | ring-session hook",
                Some(Role::Hook),
            ),
            (r#""/a b/ring-plan" hook"#, Some(Role::Plan)),
            (r"/a\ b/ring-notify deliver", Some(Role::Notify)),
            ("ring-session hook", Some(Role::Session)),
            ("echo ring-hook", None),
            ("/usr/bin/ring-hooks", None),
            ("my-ring-hook", None),
            ("", None),
            ("'", None),
        ] {
            assert_eq!(Role::of(command), role, "{command}");
        }
    }

    #[test]
    fn a_command_is_compared_without_its_places() {
        let (name, paths) = bare(&at("/my tools").session_command("codex"));
        assert_eq!(name, Programs::bare().session_command("codex"));
        assert_eq!(paths, ["/my tools/ring-hook", "/my tools/ring-session"]);
    }

    proptest! {
        #[test]
        fn a_quoted_word_is_read_back(word in "\\PC{1,20}") {
            prop_assert_eq!(words(&sh_word(&word)), vec![word]);
        }

        #[test]
        fn no_command_makes_it_panic(command in ".{0,40}") {
            Role::of(&command);
            bare(&command);
        }
    }
}
