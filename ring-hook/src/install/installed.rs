//! Which version of an agent is installed: what its settings may hold depends on it.
//!
//! The name of the file behind the program on `$PATH` (`.../versions/2.1.332`), else the package.json beside it, else
//! what it answers to `--version`, else the newest version in its live records. If several are installed all read the
//! same settings, so the lowest one counts.

use super::search_path;
use super::version::Version;
use super::writers::Target;
use serde::Deserialize;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long `--version` may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Whether an agent may be started to ask it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `install` does.
    Program,
    /// `status` starts nobody.
    Nobody,
}

/// The version of the target's agent; none if nothing tells it.
pub fn version(target: &Target, path: Option<&OsStr>, ask: Ask) -> Option<Version> {
    let mut programs: Vec<PathBuf> = Vec::new();
    for program in search_path::all(target.writer.program, path) {
        let real = std::fs::canonicalize(&program).unwrap_or(program);
        if !programs.contains(&real) {
            programs.push(real);
        }
    }
    let found = programs.iter().filter_map(|real| {
        by_name(real)
            .or_else(|| by_package(real, target.writer.package))
            .or_else(|| (ask == Ask::Program).then(|| by_answer(real)).flatten())
    });
    found.min().or_else(|| by_records(&target.home))
}

fn by_name(real: &Path) -> Option<Version> {
    Version::find(real.file_name()?.to_str()?)
}

/// How far above the program its package.json may be: npm packages keep programs in folders of their own.
const PACKAGE_DEPTH: usize = 5;

/// The package.json of the program's own package.
fn by_package(real: &Path, package: &str) -> Option<Version> {
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    real.ancestors().skip(1).take(PACKAGE_DEPTH).find_map(|folder| {
        let text = std::fs::read(folder.join("package.json")).ok()?;
        let found: Package = serde_json::from_slice(&text).ok()?;
        found.name.starts_with(package).then(|| Version::find(&found.version))?
    })
}

/// The first line that the program prints to `--version`.
fn by_answer(program: &Path) -> Option<Version> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take();
    let (answer, answered) = mpsc::channel();
    // A thread, because what the program starts may keep its output open for as long as it likes.
    std::thread::spawn(move || {
        let mut text = String::new();
        let mut bytes = [0; 256];
        let mut stdout = stdout;
        while let Some(n) = stdout.as_mut().and_then(|s| s.read(&mut bytes).ok()).filter(|n| *n > 0) {
            text += &String::from_utf8_lossy(&bytes[..n]);
            if text.contains('\n') || text.len() > 4096 {
                break;
            }
        }
        // Nobody listens any more after the limit.
        answer.send(text).ok();
    });
    let text = answered.recv_timeout(ANSWER_LIMIT).unwrap_or_default();
    // It has either answered or missed its time; an error says that it is gone already.
    child.kill().ok();
    child.wait().ok();
    Version::find(text.lines().next()?)
}

/// The newest version in the live records of the agent's home.
fn by_records(home: &Path) -> Option<Version> {
    #[derive(Deserialize)]
    struct Record {
        version: String,
    }
    let records = std::fs::read_dir(home.join("sessions")).ok()?;
    records
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .filter_map(|path| {
            let bytes = std::fs::read(path).ok()?;
            // Written in place: an old tail may stand behind the object.
            let first = serde_json::Deserializer::from_slice(&bytes)
                .into_iter::<Record>()
                .next();
            Version::find(&first?.ok()?.version)
        })
        .max()
}
