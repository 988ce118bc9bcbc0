//! The hooks, as `ring-hook status --format json` tells them: what agents' settings should hold is known there alone.

use super::{Check, Level};
use serde::Deserialize;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long `ring-hook status` may take.
const LIMIT: Duration = Duration::from_secs(5);

/// What `ring-hook status` prints (ring-hook(1), COMMANDS). Members that are not used are not named.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    agents: Vec<Agent>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Agent {
    agent: String,
    file: String,
    version: String,
    state: String,
    stale: Vec<String>,
    missing: Vec<String>,
    unknown: Vec<String>,
    foreign: Vec<String>,
    doubled: Vec<String>,
    hints: Vec<String>,
}

/// Asks `program`. The text says why there is no answer.
pub fn ask(program: Option<&Path>, place: &[(&str, Option<&Path>)]) -> Result<Status, String> {
    let program = program.ok_or("ring-hook not found")?;
    let mut command = Command::new(program);
    for (option, path) in place.iter().filter_map(|(o, p)| Some((o, (*p)?))) {
        command.arg(option).arg(path);
    }
    let answer = run(command.args(["--format", "json", "status"]))?;
    serde_json::from_slice(&answer).map_err(|e| format!("ring-hook status: {e}"))
}

fn run(command: &mut Command) -> Result<Vec<u8>, String> {
    let told = |e: std::io::Error| format!("ring-hook status: {e}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(told)?;
    let stdout = child.stdout.take();
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.map_or(Ok(0), |mut out| out.read_to_end(&mut bytes));
        // nobody waits for it any more after the limit
        answer.send(read.map(|_| bytes)).unwrap_or_default();
    });
    let bytes = answered.recv_timeout(LIMIT);
    if bytes.is_err() {
        child.kill().map_err(told)?;
    }
    let status = child.wait().map_err(told)?;
    if matches!(&bytes, Ok(Ok(b)) if b.is_empty()) {
        return Err(format!("ring-hook status: nothing printed, {status}"));
    }
    bytes
        .map_err(|_| "ring-hook status: no answer in 5 s".to_owned())?
        .map_err(told)
}

/// One check or more for each agent.
pub fn checks(status: Result<Status, String>) -> Vec<Check> {
    match status {
        Err(why) => vec![Check::warn(
            "hooks",
            why,
            "without it nothing is known about hooks; install ring-hook beside ring-scan",
        )],
        Ok(status) if status.agents.is_empty() => vec![Check::ok("hooks", "no agent with hooks is installed")],
        Ok(status) => status.agents.iter().flat_map(of_agent).collect(),
    }
}

fn of_agent(a: &Agent) -> Vec<Check> {
    let version = if a.version.is_empty() {
        "version unknown".to_owned()
    } else {
        format!("version {}", a.version)
    };
    let id = format!("hooks.{}", a.agent);
    let install = format!("ring-hook install --agent {}", a.agent);
    let listed = [("stale", &a.stale), ("missing", &a.missing)]
        .into_iter()
        .filter(|(_, events)| !events.is_empty())
        .map(|(what, events)| format!("; {what}: {}", events.join(", ")))
        .collect::<String>();
    let mut checks = vec![match a.state.as_str() {
        "complete" if listed.is_empty() => Check::ok(id, format!("complete in {}, {version}", a.file)),
        "none" => Check::warn(id, format!("none in {}, {version}", a.file), install),
        state => Check::warn(id, format!("{state} in {}, {version}{listed}", a.file), install),
    }];
    let each = |id: &str, texts: &[String], hint: &str| -> Vec<Check> {
        texts
            .iter()
            .map(|t| Check::warn(id, format!("{}: {t}", a.agent), hint))
            .collect()
    };
    checks.extend(each(
        "hooks.foreign",
        &a.foreign,
        "another program answers or hears the same event",
    ));
    checks.extend(each(
        "hooks.double",
        &a.doubled,
        "the same hook stands there twice; run ring-hook install",
    ));
    if !a.unknown.is_empty() {
        let text = format!(
            "{} {version} does not know {} in {}",
            a.agent,
            a.unknown.join(", "),
            a.file
        );
        checks.push(Check {
            level: Level::Error,
            ..Check::warn("hooks.names", text, "the agent stops at its start; take them out")
        });
    }
    checks.extend(each("hooks.policy", &a.hints, ""));
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str) -> Vec<(String, Level, String)> {
        checks(Ok(serde_json::from_str(json).unwrap()))
            .into_iter()
            .map(|c| (c.id, c.level, c.text))
            .collect()
    }

    #[test]
    fn c86_an_unknown_event_name_is_named_with_the_version_found() {
        let told = told(
            r#"{"schema":1,"agents":[{"agent":"claude-code","file":"/h/.claude/settings.json","version":"2.1.197",
                "state":"complete","unknown":["PreSkillShellCommand"],"later":1}]}"#,
        );
        assert_eq!((told[0].0.as_str(), told[0].1), ("hooks.claude-code", Level::Ok));
        assert_eq!((told[1].0.as_str(), told[1].1), ("hooks.names", Level::Error));
        assert!(
            told[1].2.contains("2.1.197") && told[1].2.contains("PreSkillShellCommand"),
            "{told:?}"
        );
    }

    #[test]
    fn c61_hints_doubles_and_other_programs_are_named() {
        let told = told(
            r#"{"agents":[{"agent":"codex","state":"partial","stale":["Stop"],"missing":["SessionEnd"],
                "foreign":["PermissionRequest: bell"],"doubled":["Stop"],"hints":["/hooks must approve"]}]}"#,
        );
        let ids: Vec<_> = told.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(ids, ["hooks.codex", "hooks.foreign", "hooks.double", "hooks.policy"]);
        assert!(told[0].2.contains("stale: Stop; missing: SessionEnd"), "{told:?}");
    }

    #[test]
    fn c61_without_ring_hook_doctor_says_so() {
        let found = checks(ask(None, &[]));
        assert_eq!(
            (found[0].level, found[0].text.as_str()),
            (Level::Warn, "ring-hook not found")
        );
    }
}
