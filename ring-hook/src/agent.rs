//! The agents: names, processes, and what a process of an agent is (ring-hook(1), AGENTS).
//!
//! One table. A process belongs to an agent by its name, or, if an interpreter runs it, by whole parts of the path of
//! its script; never because a text occurs somewhere in its arguments. So editors, `tail`, shells, hook scripts and
//! servers of other protocols that mention an agent's folder are none.

mod command_line;

use command_line::CommandLine;

/// How much is known of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Hooks, live state and records.
    Full,
    /// Hooks or an adapter.
    Hooks,
    /// Nothing but its process.
    Process,
}

/// One agent.
#[derive(Debug, PartialEq, Eq)]
pub struct Agent {
    /// Canonical id.
    pub id: &'static str,
    /// Other names that mean it.
    pub aliases: &'static [&'static str],
    /// How much is known of it.
    pub tier: Tier,
    /// Names of its process, as the kernel gives them.
    pub names: &'static [&'static str],
    /// Whole parts of the path of its script, where an interpreter runs it.
    pub scripts: &'static [&'static str],
    /// One session a process. A server of such an agent still holds many.
    pub one_to_one: bool,
}

/// What a process of an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It holds a session.
    Session,
    /// It holds many sessions and is none.
    Server,
    /// It is no session: a sandbox, an updater, a protocol server, `--version`.
    Helper,
    /// It waits to become a background session; it is one once the agent's live record names its pid.
    Spare,
}

const fn agent(
    id: &'static str,
    aliases: &'static [&'static str],
    tier: Tier,
    names: &'static [&'static str],
    scripts: &'static [&'static str],
    one_to_one: bool,
) -> Agent {
    Agent {
        id,
        aliases,
        tier,
        names,
        scripts,
        one_to_one,
    }
}

/// The agent that a payload without any other hint comes from.
pub const CLAUDE: &str = "claude-code";
/// Codex.
pub const CODEX: &str = "codex";
/// What a name becomes that cannot be one.
pub const GENERIC: &str = "generic";

/// All agents that are known, in the order of ring-hook(1).
pub const AGENTS: &[Agent] = &[
    agent(
        CLAUDE,
        &["claude"],
        Tier::Full,
        &["claude"],
        &["@anthropic-ai/claude-code", "claude/versions"],
        true,
    ),
    agent(CODEX, &["codex-cli"], Tier::Full, &["codex"], &["@openai/codex"], true),
    agent(
        "gemini",
        &["gemini-cli"],
        Tier::Hooks,
        &["gemini"],
        &["@google/gemini-cli"],
        true,
    ),
    agent("antigravity", &["agy"], Tier::Hooks, &["agy"], &[], true),
    agent(
        "copilot",
        &["copilot-cli", "github-copilot"],
        Tier::Hooks,
        &["copilot"],
        &["@github/copilot"],
        true,
    ),
    agent("cursor", &["cursor-agent"], Tier::Hooks, &["cursor-agent"], &[], false),
    agent("opencode", &[], Tier::Hooks, &["opencode"], &[], false),
    agent("pi", &[], Tier::Hooks, &["pi"], &["pi-coding-agent"], true),
    agent(
        "kimi",
        &["kimi-code", "kimi-cli"],
        Tier::Hooks,
        &["kimi", "kimi-code"],
        &[],
        true,
    ),
    agent(
        "qwen",
        &["qwen-code"],
        Tier::Hooks,
        &["qwen"],
        &["@qwen-code/qwen-code"],
        true,
    ),
    agent(
        "droid",
        &["factory", "factory-droid"],
        Tier::Hooks,
        &["droid"],
        &[],
        true,
    ),
    agent("goose", &["block-goose"], Tier::Hooks, &["goose"], &[], true),
    agent(
        "kiro",
        &["kiro-cli"],
        Tier::Hooks,
        &["kiro-cli", "kiro-cli-chat"],
        &[],
        true,
    ),
    agent("amp", &[], Tier::Hooks, &["amp"], &["@sourcegraph/amp"], true),
    agent("cline", &[], Tier::Hooks, &["cline"], &[], false),
    agent("grok", &[], Tier::Hooks, &["grok"], &[], true),
    agent("vibe", &["mistral-vibe"], Tier::Hooks, &["vibe"], &[], true),
    agent("hermes", &[], Tier::Hooks, &["hermes"], &[], true),
    agent("devin", &[], Tier::Hooks, &["devin"], &[], true),
    // An editor: none of its processes is the session.
    agent("windsurf", &["cascade"], Tier::Hooks, &[], &[], false),
    agent("aider", &[], Tier::Process, &["aider"], &[], true),
    agent("ollama", &[], Tier::Process, &["ollama"], &[], true),
    agent(
        "llama.cpp",
        &["llama"],
        Tier::Process,
        &["llama-cli", "llama"],
        &[],
        true,
    ),
];

/// The longest agent name, in bytes.
const NAME_LIMIT: usize = 40;

/// An agent's canonical name: trimmed, lower case, `_` and blanks to `-`, aliases resolved. A name that is empty, `ring`,
/// over 40 bytes or has a byte outside `[a-z0-9.-]` is `generic`; any other unknown name stays.
pub fn canonical(name: &str) -> String {
    let folded: String = name
        .trim()
        .chars()
        .map(|c| match c {
            '_' | ' ' | '\t' => '-',
            c => c.to_ascii_lowercase(),
        })
        .collect();
    if let Some(agent) = find(&folded) {
        return agent.id.to_owned();
    }
    let fits = !folded.is_empty()
        && folded != "ring"
        && folded.len() <= NAME_LIMIT
        && folded
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'));
    // A name begins a file's name and follows an option: neither a hidden file nor an option may come of it.
    if fits && folded.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        folded
    } else {
        GENERIC.to_owned()
    }
}

/// The agent with this canonical id or alias.
pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|a| a.id == name || a.aliases.contains(&name))
}

/// Whether a process of this name (as the kernel gives it, 15 bytes) may be an agent's, so that its command line is
/// worth reading.
pub fn may_be_agent(comm: &str) -> bool {
    command_line::is_interpreter(comm)
        || comm.starts_with(|c: char| c.is_ascii_digit())
        || AGENTS.iter().any(|a| a.names.contains(&comm))
}

/// The agent that a process belongs to, and what the process is. `comm` is its name as the kernel gives it, `argv` its
/// command line. That a process was started by an agent, and is none for that reason, only a process table can tell.
pub fn of_process<S: AsRef<str>>(comm: &str, argv: &[S]) -> Option<(&'static Agent, Role)> {
    if !may_be_agent(comm) {
        return None;
    }
    let line = CommandLine::parse(argv);
    let agent = AGENTS.iter().find(|a| line.is_of(a, comm))?;
    line.role(agent).map(|role| (agent, role))
}

/// The model that a tier 3 process runs, as its arguments name it; else the command's name.
pub fn local_model<S: AsRef<str>>(agent: &Agent, argv: &[S]) -> String {
    CommandLine::parse(argv).model(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(comm: &str, argv: &[&str]) -> Option<(&'static str, Role)> {
        of_process(comm, argv).map(|(a, r)| (a.id, r))
    }

    #[test]
    fn h104_aliases_resolve_and_unknown_names_stay() {
        for (name, id) in [
            ("claude", "claude-code"),
            ("Claude_Code", "claude-code"),
            (" Codex ", "codex"),
            ("gemini-cli", "gemini"),
            ("agy", "antigravity"),
            ("cursor-agent", "cursor"),
            ("kimi-code", "kimi"),
            ("Factory Droid", "droid"),
            ("cascade", "windsurf"),
            ("llama", "llama.cpp"),
            ("acme", "acme"),
            ("my.agent-2", "my.agent-2"),
        ] {
            assert_eq!(canonical(name), id, "{name}");
        }
    }

    #[test]
    fn names_that_cannot_be_agents_are_generic() {
        let long = "a".repeat(41);
        for name in [
            "", "  ", "ring", "RING", "a/b", "..", ".", ".x", "-x", "a:b", "é", "a\nb", &long,
        ] {
            assert_eq!(canonical(name), GENERIC, "{name:?}");
        }
        assert_eq!(canonical(&"a".repeat(40)), "a".repeat(40));
    }

    #[test]
    fn c105_native_and_hosted_agents_are_sessions() {
        let modules = "/usr/lib/node_modules";
        for (comm, argv, id) in [
            ("claude", vec!["claude"], "claude-code"),
            (
                "claude",
                vec!["/opt/bin/claude", "--permission-mode", "plan"],
                "claude-code",
            ),
            ("claude", vec![], "claude-code"),
            (
                "2.1.332",
                vec!["/h/.local/share/claude/versions/2.1.332"],
                "claude-code",
            ),
            ("2.1.332", vec!["claude", "--resume", "x"], "claude-code"),
            (
                "node",
                vec!["node", &format!("{modules}/@anthropic-ai/claude-code/cli.js")],
                "claude-code",
            ),
            (
                "node-MainThread",
                vec![
                    "node",
                    "--max-old-space-size=8192",
                    &format!("{modules}/@google/gemini-cli/dist/index.js"),
                ],
                "gemini",
            ),
            (
                "node",
                vec!["node", "--require", "/x/y.js", "/usr/local/bin/gemini"],
                "gemini",
            ),
            (
                "node",
                vec!["/usr/bin/node", &format!("{modules}/@openai/codex/bin/codex.js")],
                "codex",
            ),
            ("bun", vec!["bun", "run", "/h/x/pi-coding-agent/dist/cli.js"], "pi"),
            ("codex", vec!["codex", "--no-daemon", "resume", "--last"], "codex"),
            ("codex", vec!["codex", "-c", "a=b", "exec", "do it"], "codex"),
            (
                "node",
                vec!["/h/.local/bin/cursor-agent", "/h/cursor-agent/index.js"],
                "cursor",
            ),
            ("kiro-cli-chat", vec!["kiro-cli-chat"], "kiro"),
            ("aider", vec!["/usr/bin/python3", "/usr/local/bin/aider"], "aider"),
            ("python3.12", vec!["python3.12", "-m", "aider"], "aider"),
        ] {
            assert_eq!(role(comm, &argv), Some((id, Role::Session)), "{comm} {argv:?}");
        }
    }

    #[test]
    fn c24_c105_c106_a_mention_of_an_agent_is_no_agent() {
        for (comm, argv) in [
            ("vim", vec!["vim", "/h/.claude/settings.json"]),
            ("tail", vec!["tail", "-f", "/h/.claude/projects/x.jsonl"]),
            ("python3", vec!["python3", "/h/.claude/hooks/claude.py"]),
            ("bash", vec!["/bin/bash", "-c", "source /h/.claude/snapshot.sh; claude"]),
            ("claude.sh", vec!["/bin/sh", "/h/bin/claude.sh"]),
            ("claude", vec!["/bin/sh", "/h/bin/claude"]),
            ("claude-helper", vec!["claude-helper"]),
            ("mycodex", vec!["mycodex"]),
            ("node", vec!["node", "/w/app/node_modules/my@openai/codex/x.js"]),
            ("node", vec!["node", "/w/@openai/codex-tools/x.js"]),
            (
                "node",
                vec!["node", "/n/@google/gemini-cli/node_modules/some-mcp/index.js"],
            ),
            ("node", vec!["node", "server.js", "/n/@google/gemini-cli/dist/index.js"]),
            ("node", vec!["node", "-e", "1", "/n/@google/gemini-cli/dist/index.js"]),
            ("rg", vec!["/n/@anthropic-ai/claude-code/vendor/rg", "x"]),
            ("sh", vec!["sh", "-c", "codex"]),
            ("sudo", vec!["sudo", "claude"]),
        ] {
            assert_eq!(role(comm, &argv), None, "{comm} {argv:?}");
        }
    }

    #[test]
    fn c24_c106_helpers_servers_and_spares_are_no_sessions() {
        for (comm, argv, expected) in [
            ("claude", vec!["claude", "daemon", "run"], Role::Helper),
            ("claude", vec!["claude", "--x", "daemon", "run"], Role::Helper),
            ("claude", vec!["claude", "--bg-pty-host"], Role::Helper),
            (
                "claude",
                vec!["claude", "--bg-pty-host", "--session-id", "x"],
                Role::Helper,
            ),
            ("claude", vec!["claude", "--bg-spare", "x"], Role::Spare),
            ("claude", vec!["claude", "mcp", "serve"], Role::Helper),
            ("claude", vec!["claude", "--version"], Role::Helper),
            ("claude", vec!["claude", "update"], Role::Helper),
            // one binary under several names: the search tool that it brings along
            ("claude", vec!["rg", "--files", "/w"], Role::Helper),
            (
                "codex",
                vec!["codex", "app-server", "--listen", "unix://"],
                Role::Server,
            ),
            ("codex", vec!["codex", "-c", "a=b", "app-server"], Role::Server),
            (
                "codex",
                vec!["codex", "app-server", "daemon", "pid-update-loop"],
                Role::Helper,
            ),
            ("codex", vec!["codex", "sandbox", "linux"], Role::Helper),
            ("codex", vec!["codex", "mcp-server"], Role::Helper),
            ("codex", vec!["codex", "exec-server"], Role::Helper),
            ("codex", vec!["codex-linux-sandbox", "--x"], Role::Helper),
            ("opencode", vec!["opencode", "serve"], Role::Server),
            ("gemini", vec!["gemini", "--help"], Role::Helper),
            (
                "node",
                vec!["node", "/n/@google/gemini-cli/dist/index.js", "mcp", "list"],
                Role::Helper,
            ),
        ] {
            assert_eq!(role(comm, &argv).map(|r| r.1), Some(expected), "{comm} {argv:?}");
        }
    }

    #[test]
    fn a_prompt_that_names_a_command_is_a_session() {
        for argv in [
            vec!["claude", "please update"],
            vec!["claude", "fix the daemon", "run"],
            vec!["claude", "-p", "say", "hello"],
            vec!["claude", "--", "--version"],
        ] {
            assert_eq!(role("claude", &argv), Some(("claude-code", Role::Session)), "{argv:?}");
        }
        assert_eq!(
            role("codex", &["codex", "--sandbox", "login"]),
            Some(("codex", Role::Session))
        );
    }

    #[test]
    fn local_models_are_sessions_only_where_a_person_talks_to_them() {
        assert_eq!(
            role("ollama", &["ollama", "run", "qwen3"]),
            Some(("ollama", Role::Session))
        );
        for verb in ["serve", "list", "pull"] {
            assert_eq!(role("ollama", &["ollama", verb]), None, "{verb}");
        }
        assert_eq!(
            role("llama-cli", &["llama-cli", "-m", "x.gguf"]),
            Some(("llama.cpp", Role::Session))
        );
        assert_eq!(role("llama", &["llama", "client"]), Some(("llama.cpp", Role::Session)));
        assert_eq!(role("llama", &["llama", "serve"]), None);
        assert_eq!(role("llama-server", &["llama-server", "-m", "x"]), None);
    }

    #[test]
    fn local_models_are_named_by_their_arguments() {
        let model = |id: &str, argv: &[&str]| local_model(find(id).unwrap(), argv);
        assert_eq!(
            model("ollama", &["ollama", "run", "--keepalive", "5m", "qwen3"]),
            "qwen3"
        );
        assert_eq!(model("ollama", &["ollama", "run", "--think", "qwen3"]), "qwen3");
        assert_eq!(model("ollama", &["ollama", "run", "--think", "high", "qwen3"]), "qwen3");
        assert_eq!(
            model("ollama", &["ollama", "run", "--verbose", "--", "q:8b", "hi"]),
            "q:8b"
        );
        assert_eq!(model("llama.cpp", &["llama-cli", "-m", "/m/x.gguf"]), "/m/x.gguf");
        assert_eq!(model("llama.cpp", &["llama", "cli", "--hf-repo=a/b"]), "a/b");
        assert_eq!(model("llama.cpp", &["/opt/llama-cli", "-ngl", "9"]), "llama-cli");
    }
}
