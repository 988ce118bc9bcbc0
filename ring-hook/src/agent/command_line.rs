//! The command line of a process that may be an agent's: its program, its script, its arguments.

use super::{Agent, CLAUDE, CODEX, Role};

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "env"];
/// Options of interpreters that take their value as the next word.
const INTERPRETER_VALUES: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-C",
    "--conditions",
    "-W",
    "-X",
    "--config",
    "--preload",
];
/// Options of Codex in front of its command that take a value.
const CODEX_VALUES: &[&str] = &[
    "-c",
    "--config",
    "-m",
    "--model",
    "-p",
    "--profile",
    "-s",
    "--sandbox",
    "-a",
    "--ask-for-approval",
    "-C",
    "--cd",
    "-i",
    "--image",
    "--add-dir",
    "--enable",
    "--disable",
    "--local-provider",
];
const OLLAMA_VALUES: &[&str] = &[
    "--dimensions",
    "--format",
    "--keepalive",
    "--width",
    "--height",
    "--steps",
    "--seed",
    "--negative",
];
const LLAMA_MODELS: &[&str] = &[
    "-m",
    "--model",
    "-hf",
    "-hfr",
    "--hf-repo",
    "-mu",
    "--model-url",
    "-dr",
    "--docker-repo",
];

/// Programs that run agents' scripts. Newer Node names its main thread, so the kernel shows that.
pub(super) fn is_interpreter(name: &str) -> bool {
    matches!(
        name,
        "node" | "nodejs" | "node-MainThread" | "MainThread" | "bun" | "deno"
    ) || name
        .strip_prefix("python")
        .is_some_and(|v| v.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether `path` has the parts of `wanted`, whole and in a row, and no package inside of that package follows.
fn has_parts(path: &str, wanted: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let wanted: Vec<&str> = wanted.split('/').collect();
    parts
        .windows(wanted.len())
        .rposition(|w| w == wanted)
        .is_some_and(|at| !parts[at..].contains(&"node_modules"))
}

/// A command line, taken apart.
pub(super) struct CommandLine<'a> {
    /// File name of the program.
    program: &'a str,
    /// The program as it was called.
    path: &'a str,
    /// Path, or module, of the script, if an interpreter runs one.
    script: Option<&'a str>,
    arguments: Vec<&'a str>,
}

impl<'a> CommandLine<'a> {
    pub(super) fn parse<S: AsRef<str>>(argv: &'a [S]) -> CommandLine<'a> {
        let mut words: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
        // A program that writes its own title leaves one text in place of its arguments.
        if let [title] = words[..]
            && base(title).contains(' ')
        {
            words = title.split_ascii_whitespace().collect();
        }
        let path = words.first().copied().unwrap_or("");
        let program = base(path);
        let rest = words.get(1..).unwrap_or_default();
        let (script, arguments) = if is_interpreter(program) {
            split_script(program, rest)
        } else {
            (None, rest.to_vec())
        };
        CommandLine {
            program,
            path,
            script,
            arguments,
        }
    }

    /// Whether a process named `comm` with this command line is the agent's.
    pub(super) fn is_of(&self, agent: &Agent, comm: &str) -> bool {
        if let Some(script) = self.script {
            return agent.scripts.iter().any(|s| has_parts(script, s)) || agent.names.contains(&base(script));
        }
        if is_interpreter(comm) {
            // `exec -a NAME node ...`: the program calls itself by the agent's name.
            return agent.names.contains(&self.program);
        }
        if agent.names.contains(&comm) {
            return !SHELLS.contains(&self.program) && !is_interpreter(self.program);
        }
        // The program file of Claude is named after its version.
        agent.id == CLAUDE
            && comm.starts_with(|c: char| c.is_ascii_digit())
            && (self.program == "claude"
                || self
                    .path
                    .rsplit_once('/')
                    .is_some_and(|(dir, file)| dir.ends_with("/claude/versions") && file.starts_with(comm)))
    }

    /// What the process is; none if it is one that nobody talks to (a model server).
    pub(super) fn role(&self, agent: &Agent) -> Option<Role> {
        match agent.id {
            "ollama" => return (self.arguments.first() == Some(&"run")).then_some(Role::Session),
            "llama.cpp" if self.program == "llama" => {
                return matches!(self.arguments.first(), Some(&("cli" | "client"))).then_some(Role::Session);
            }
            _ => {}
        }
        if self.has_foreign_name(agent) {
            return Some(Role::Helper);
        }
        if agent.id == CLAUDE {
            let head = self.arguments.get(..self.arguments.len().min(3)).unwrap_or_default();
            if head.windows(2).any(|w| w == ["daemon", "run"]) || self.arguments.contains(&"--bg-pty-host") {
                return Some(Role::Helper);
            }
            if self.arguments.contains(&"--bg-spare") {
                return Some(Role::Spare);
            }
        }
        Some(self.role_by_command(agent))
    }

    /// One binary under several names: the file is the agent's, the name that it was called by is not.
    fn has_foreign_name(&self, agent: &Agent) -> bool {
        self.script.is_none()
            && !self.program.is_empty()
            && !agent.names.contains(&self.program)
            && !self.program.starts_with(|c: char| c.is_ascii_digit())
    }

    fn role_by_command(&self, agent: &Agent) -> Role {
        let values = if agent.id == CODEX { CODEX_VALUES } else { &[] };
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            match (agent.id, *word) {
                (_, "--version" | "--help" | "mcp" | "update" | "login") => return Role::Helper,
                (CODEX, "sandbox" | "mcp-server" | "exec-server") => return Role::Helper,
                // `app-server daemon ...` and the like serve nobody; options may follow.
                (CODEX, "app-server") => {
                    return match words.next() {
                        Some(next) if !next.starts_with('-') => Role::Helper,
                        _ => Role::Server,
                    };
                }
                ("opencode", "serve") => return Role::Server,
                (_, "--") => break,
                (_, option) if option.starts_with('-') => {
                    if values.contains(&option) {
                        words.next();
                    }
                }
                _ => break,
            }
        }
        Role::Session
    }

    pub(super) fn model(&self, agent: &Agent) -> String {
        let found = match agent.id {
            "ollama" => self.ollama_model(),
            "llama.cpp" => self.llama_model(),
            _ => None,
        };
        found.unwrap_or(self.program).to_owned()
    }

    fn ollama_model(&self) -> Option<&'a str> {
        let mut words = self.arguments.iter().skip(1).copied().peekable();
        while let Some(word) = words.next() {
            match word {
                "--" => return words.next(),
                "--think" => {
                    words.next_if(|v| matches!(*v, "true" | "false" | "high" | "medium" | "low"));
                }
                option if option.starts_with('-') => {
                    if OLLAMA_VALUES.contains(&option) {
                        words.next();
                    }
                }
                model => return Some(model),
            }
        }
        None
    }

    fn llama_model(&self) -> Option<&'a str> {
        self.arguments.iter().enumerate().find_map(|(at, word)| {
            if LLAMA_MODELS.contains(word) {
                return self.arguments.get(at + 1).copied();
            }
            let (flag, value) = word.split_once('=')?;
            LLAMA_MODELS.contains(&flag).then_some(value)
        })
    }
}

/// The script that an interpreter runs, and the arguments behind it.
fn split_script<'a>(program: &str, words: &[&'a str]) -> (Option<&'a str>, Vec<&'a str>) {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        match *word {
            "-m" if program.starts_with("python") => break,
            // A text of code instead of a script.
            "-e" | "--eval" | "-p" | "--print" | "-c" => return (None, Vec::new()),
            "run" if matches!(program, "bun" | "deno") => {}
            option if option.starts_with('-') => at += usize::from(INTERPRETER_VALUES.contains(&option)),
            _ => {
                at -= 1;
                break;
            }
        }
    }
    let script = words.get(at).copied();
    (script, words.get(at + 1..).unwrap_or_default().to_vec())
}
