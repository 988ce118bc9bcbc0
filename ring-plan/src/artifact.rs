//! The immutable file of a proposal: `PROJECT/.pi/KIND/SLUG-YYYYMMDD-HHMM[-n].md` (ring-plan(1), ARTIFACTS).
//!
//! Every step goes from one open directory to the next and follows no link, so a path that is swapped in between leads
//! nowhere. The bytes are written under a dot name, synced, then given their name by an operation that fails if the
//! name exists, so no file is ever overwritten and none has a name before it is whole.

use crate::slug::slug;
use ring_session::queue::sha256_hex;
use ring_session::record::{Artifact, Proposal, ProposalKind};
use ring_session::time::Ms;
use ring_session::{Code, Refusal};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Names that are tried for one title and minute.
const NAMES: u32 = 10_000;
/// Dot files of killed submits are removed after this time.
const SWEEP_MS: Ms = 3_600_000;
const TEMP: &str = ".ring-plan-";
const PI: &str = ".pi";

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn unsafe_path(what: &str) -> Refusal {
    Refusal::new(
        Code::PlanArtifactPathUnsafe,
        format!("{what} is no plain folder of the project; remove the link or file that stands there"),
    )
}

fn not_written(path: &Path, e: Errno) -> Refusal {
    Refusal::new(
        Code::PlanArtifactWriteFailed,
        format!("cannot write {}: {e}", path.display()),
    )
    .with("path", path.to_string_lossy().into_owned())
}

/// The project's folder, as stored: real since the session was made.
///
/// # Errors
/// `PLAN_WORKSPACE_REQUIRED`.
pub fn project(stored: Option<&str>) -> Result<PathBuf, Refusal> {
    let required = |text: &str| Refusal::new(Code::PlanWorkspaceRequired, text);
    let project =
        stored.ok_or_else(|| required("the session has no project; make one with `ring-session new --project`"))?;
    let path = PathBuf::from(project);
    match path.canonicalize() {
        Ok(real) if real.is_dir() && real == path => Ok(path),
        Ok(real) if real.is_dir() => Err(unsafe_path(&format!("{}: a part of it", path.display()))),
        _ => Err(required("the session's project is gone")),
    }
}

fn folder_in(at: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(at, name, OFlags::RDONLY | DIRECTORY, Mode::empty())
}

fn top(project: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(project, OFlags::RDONLY | DIRECTORY, Mode::empty())
}

/// Opens the folder of a kind. With `make` what is missing is made, and noted there.
fn below(project: &Path, kind: ProposalKind, mut make: Option<&mut Made>) -> Result<OwnedFd, Refusal> {
    let mut at =
        top(project).map_err(|_| Refusal::new(Code::PlanWorkspaceRequired, "the session's project is gone"))?;
    let mut path = project.to_owned();
    for name in [PI, kind.as_str()] {
        path.push(name);
        let found = match (folder_in(&at, name), &mut make) {
            (Err(Errno::NOENT), Some(made)) => {
                match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) => {
                        match name {
                            PI => made.pi = true,
                            _ => made.kind = true,
                        }
                        rustix::fs::fsync(&at).map_err(|e| not_written(&path, e))?;
                    }
                    Err(Errno::EXIST) => {}
                    Err(e) => return Err(not_written(&path, e)),
                }
                folder_in(&at, name)
            }
            (found, _) => found,
        };
        at = match found {
            Ok(found) => found,
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(unsafe_path(&path.display().to_string())),
            Err(Errno::NOENT) => return Err(not_ready(&path, "it is gone")),
            Err(e) if make.is_some() => return Err(not_written(&path, e)),
            Err(e) => return Err(not_ready(&path, &e.to_string())),
        };
    }
    Ok(at)
}

/// Folders that a submission has made. They go with it if it fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Made {
    pi: bool,
    kind: bool,
}

impl Made {
    /// Removes them. One in which somebody has put something meanwhile is not empty, and stays.
    fn unmake(self, project: &Path, kind: ProposalKind) {
        let Ok(project) = top(project) else { return };
        if self.kind
            && let Ok(pi) = folder_in(&project, PI)
        {
            rustix::fs::unlinkat(&pi, kind.as_str(), AtFlags::REMOVEDIR).unwrap_or_default();
        }
        if self.pi {
            rustix::fs::unlinkat(&project, PI, AtFlags::REMOVEDIR).unwrap_or_default();
        }
    }
}

/// An artifact that was written and whose row is not stored yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// What the row holds of it.
    pub artifact: Artifact,
    project: PathBuf,
    kind: ProposalKind,
    made: Made,
}

impl Written {
    /// Takes it back: the row could not be stored. What cannot be removed is an inert file.
    pub fn take_back(&self) {
        if let (Ok(dir), Some(name)) = (
            below(&self.project, self.kind, None),
            self.artifact.path.rsplit('/').next(),
        ) {
            rustix::fs::unlinkat(&dir, name, AtFlags::empty()).unwrap_or_default();
        }
        self.made.unmake(&self.project, self.kind);
    }
}

/// Writes an artifact: file and directory are synced when it returns.
///
/// # Errors
/// `PLAN_ARTIFACT_PATH_UNSAFE`, `PLAN_ARTIFACT_WRITE_FAILED`, `PLAN_ARTIFACT_COLLISION_LIMIT`; nothing is left then.
pub fn write(project: &Path, kind: ProposalKind, title: &str, markdown: &str, now: Ms) -> Result<Written, Refusal> {
    let mut made = Made::default();
    let name =
        write_below(project, kind, title, markdown, now, &mut made).inspect_err(|_| made.unmake(project, kind))?;
    Ok(Written {
        artifact: Artifact {
            path: format!("{PI}/{}/{name}", kind.as_str()),
            sha256: sha256_hex(markdown.as_bytes()),
            size: markdown.len() as u64,
            ..Artifact::default()
        },
        project: project.to_owned(),
        kind,
        made,
    })
}

fn write_below(
    project: &Path,
    kind: ProposalKind,
    title: &str,
    markdown: &str,
    now: Ms,
    made: &mut Made,
) -> Result<String, Refusal> {
    let folder = project.join(PI).join(kind.as_str());
    let dir = below(project, kind, Some(made))?;
    sweep(&dir, now);
    let temp = format!("{TEMP}{}", ring_session::id::mint(now));
    let failed = |e| not_written(&folder, e);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&dir, &temp, flags, Mode::from_raw_mode(0o666)).map_err(failed)?;
    let named = fill(file, markdown)
        .map_err(failed)
        .and_then(|()| name(&dir, &temp, kind, title, now, &folder));
    // the dot file goes, whatever happened; a later submit sweeps what stays
    rustix::fs::unlinkat(&dir, &temp, AtFlags::empty()).unwrap_or_default();
    let name = named?;
    // a name that may be gone after a power cut is none that a row can count on
    rustix::fs::fsync(&dir)
        .inspect_err(|_| rustix::fs::unlinkat(&dir, &name, AtFlags::empty()).unwrap_or_default())
        .map_err(failed)?;
    Ok(name)
}

fn fill(file: OwnedFd, markdown: &str) -> Result<(), Errno> {
    let mut file = File::from(file);
    let errno = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
    file.write_all(markdown.as_bytes()).map_err(errno)?;
    file.sync_all().map_err(errno)
}

fn name(dir: &OwnedFd, temp: &str, kind: ProposalKind, title: &str, now: Ms, folder: &Path) -> Result<String, Refusal> {
    let stem = format!("{}-{}", slug(title, kind.as_str()), minute(now));
    for n in 1..=NAMES {
        let name = if n == 1 {
            format!("{stem}.md")
        } else {
            format!("{stem}-{n}.md")
        };
        match rustix::fs::linkat(dir, temp, dir, &name, AtFlags::empty()) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST) => {}
            Err(e) => return Err(not_written(folder, e)),
        }
    }
    Err(Refusal::new(
        Code::PlanArtifactCollisionLimit,
        format!(
            "{NAMES} files of this title and minute are in {}; use another title",
            folder.display()
        ),
    ))
}

/// Local time, by `TZ`.
fn minute(now: Ms) -> String {
    let stamp = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    jiff::ZonedDateTime::new(stamp, jiff::tz::TimeZone::system())
        .strftime("%Y%m%d-%H%M")
        .to_string()
}

fn sweep(dir: &OwnedFd, now: Ms) {
    let Ok(entries) = Dir::read_from(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_bytes().starts_with(TEMP.as_bytes()) {
            continue;
        }
        let old = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|s| now.saturating_sub(s.st_mtime.saturating_mul(1000)) > SWEEP_MS);
        if old {
            rustix::fs::unlinkat(dir, name, AtFlags::empty()).unwrap_or_default();
        }
    }
}

fn not_ready(path: &Path, why: &str) -> Refusal {
    Refusal::new(
        Code::PlanArtifactNotReady,
        format!("{} cannot be read: {why}", path.display()),
    )
    .with("path", path.to_string_lossy().into_owned())
}

/// Whether the file still is what was submitted.
///
/// # Errors
/// `PLAN_WORKSPACE_REQUIRED`, `PLAN_ARTIFACT_PATH_UNSAFE`, `PLAN_ARTIFACT_NOT_READY`, `PLAN_ARTIFACT_HASH_MISMATCH`.
pub fn verify(stored_project: Option<&str>, proposal: &Proposal) -> Result<(), Refusal> {
    let project = project(stored_project)?;
    let artifact = &proposal.artifact;
    let path = project.join(&artifact.path);
    let parts: Vec<&str> = artifact.path.split('/').collect();
    let [PI, kind, name] = parts.as_slice() else {
        return Err(unsafe_path(&artifact.path));
    };
    if *kind != proposal.kind.as_str() || !name.ends_with(".md") || name.starts_with('.') {
        return Err(unsafe_path(&artifact.path));
    }
    let dir = below(&project, proposal.kind, None)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(&dir, *name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::LOOP) => return Err(unsafe_path(&path.display().to_string())),
        Err(Errno::NOENT) => return Err(not_ready(&path, "it is gone")),
        Err(e) => return Err(not_ready(&path, &e.to_string())),
    };
    let stat = rustix::fs::fstat(&file).map_err(|e| not_ready(&path, &e.to_string()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(unsafe_path(&path.display().to_string()));
    }
    let mut bytes = Vec::new();
    let limit = artifact.size.saturating_add(1);
    File::from(file)
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|e| not_ready(&path, &e.to_string()))?;
    if bytes.len() as u64 != artifact.size || sha256_hex(&bytes) != artifact.sha256 {
        return Err(Refusal::new(
            Code::PlanArtifactHashMismatch,
            format!("{} is not what was submitted; submit it anew", path.display()),
        )
        .with("path", path.to_string_lossy().into_owned()));
    }
    Ok(())
}
