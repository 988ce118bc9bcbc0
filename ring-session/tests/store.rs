//! Locks and replacements among real processes: this test program starts itself anew for each of them.

#![allow(clippy::unwrap_used)]

use ring_session::lock::Lock;
use ring_session::replace::{Durability, TEMP_PREFIX, replace, replace_foreign, set_aside};
use ring_session::{Code, StateDir, events};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

/// What a process started by [`start`] does; in an ordinary run of the tests, nothing.
#[test]
fn a_process_of_the_other_tests() {
    let (Ok(role), Some(dir)) = (std::env::var("STORE_ROLE"), std::env::var_os("STORE_DIR")) else {
        return;
    };
    let dir = PathBuf::from(dir);
    match role.as_str() {
        "hold" => {
            let _held = Lock::acquire(&dir.join("lock"), LONG).unwrap();
            println!("ready");
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        "count" => (0..100).for_each(|_| count(&dir)),
        "replace" => {
            println!("ready");
            loop {
                for letter in [b'a', b'b'] {
                    replace(&dir.join("file"), &vec![letter; 64 * 1024], Durability::Whole).unwrap();
                }
            }
        }
        "replace_once" => {
            let result = replace(&dir.join("file"), &vec![b'n'; 1024 * 1024], Durability::Synced);
            println!("{}", if result.is_ok() { "replaced" } else { "failed" });
        }
        "files" => {
            let state = StateDir::at(dir.join("state"));
            let _held = Lock::acquire(&state.status_lock(7), LONG).unwrap();
            replace(&state.status().join("k.json"), b"{}", Durability::Whole).unwrap();
            replace(&state.sessions().join("s/session.json"), b"{}", Durability::Synced).unwrap();
            events::append(&state, "{}", LONG).unwrap();
            ring_session::error_log::note(&state, 0, Code::Io, "a", "b", 0).unwrap();
        }
        other => panic!("{other}"),
    }
}

/// Lock, read, decide, replace: what every writer does.
fn count(dir: &Path) {
    let _held = Lock::acquire(&dir.join("lock"), LONG).unwrap();
    let path = dir.join("counter");
    let before: u64 = fs::read_to_string(&path).map_or(0, |t| t.parse().unwrap());
    replace(&path, (before + 1).to_string().as_bytes(), Durability::Whole).unwrap();
}

fn command(shell: &str, role: &str, dir: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &format!("{shell} exec \"$0\" --exact a_process_of_the_other_tests --nocapture"),
        ])
        .arg(std::env::current_exe().unwrap())
        .env_clear()
        .env("STORE_ROLE", role)
        .env("STORE_DIR", dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start(role: &str, dir: &Path) -> Child {
    command("", role, dir).spawn().unwrap()
}

/// Starts a process and waits until it says so.
fn ready(role: &str, dir: &Path) -> Child {
    let mut child = start(role, dir);
    let out = child.stdout.as_mut().unwrap();
    assert!(
        BufReader::new(out).lines().any(|l| l.unwrap().ends_with("ready")),
        "{role}"
    );
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn names(dir: &Path) -> Vec<String> {
    let name = |e: std::io::Result<fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_time_out_names_the_file_and_the_process_that_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let holder = ready("hold", dir.path());
    let path = dir.path().join("lock");
    let refusal = Lock::acquire(&path, Duration::from_millis(30)).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.code.exit(), refusal.code.retriable()),
        (Code::LockTimeout, 75, true)
    );
    assert!(refusal.message.contains(path.to_str().unwrap()), "{}", refusal.message);
    assert_eq!(refusal.details["path"], path.to_str().unwrap());
    // the system's table of locks is not everywhere, nor does it know every file system's files
    let listed = fs::read_to_string("/proc/locks").is_ok_and(|t| t.contains(&format!(" {} ", holder.id())));
    if listed {
        assert_eq!(refusal.details["holder"], holder.id());
        assert!(
            refusal.message.contains(&format!("process {} (", holder.id())),
            "{}",
            refusal.message
        );
    }
    kill(holder);
}

#[test]
fn the_lock_of_a_killed_process_is_free() {
    let dir = tempfile::tempdir().unwrap();
    kill(ready("hold", dir.path()));
    Lock::acquire(&dir.path().join("lock"), Duration::ZERO).unwrap();
}

#[test]
fn a_waiter_gets_the_lock_when_its_holder_ends() {
    let dir = tempfile::tempdir().unwrap();
    let mut holder = ready("hold", dir.path());
    let path = dir.path().join("lock");
    let waiter = std::thread::spawn(move || Lock::acquire(&path, LONG).map(|_| ()));
    drop(holder.stdin.take());
    holder.wait().unwrap();
    waiter.join().unwrap().unwrap();
}

#[test]
fn no_update_of_many_processes_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let writers: Vec<_> = (0..8).map(|_| start("count", dir.path())).collect();
    for writer in writers {
        let out = writer.wait_with_output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    }
    assert_eq!(fs::read_to_string(dir.path().join("counter")).unwrap(), "800");
    assert_eq!(names(dir.path()), ["counter", "lock"]);
}

#[test]
fn writers_that_are_killed_leave_the_file_whole_and_one_temporary_file_each_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut seen = [0, 0];
    for round in 0..12 {
        let writer = ready("replace", dir.path());
        for _ in 0..round {
            let found = fs::read(&path).unwrap_or_else(|_| vec![b'a'; 64 * 1024]);
            assert_eq!(found.len(), 64 * 1024);
            assert!(found.iter().all(|b| *b == found[0]));
            seen[usize::from(found[0] == b'b')] += 1;
        }
        kill(writer);
    }
    let litter: Vec<_> = names(dir.path()).into_iter().filter(|n| n != "file").collect();
    assert!(
        litter.len() <= 12 && litter.iter().all(|n| n.starts_with(TEMP_PREFIX)),
        "{litter:?}"
    );
    let found = fs::read(&path).unwrap();
    assert!(found.len() == 64 * 1024 && found.iter().all(|b| *b == found[0]));
}

#[test]
fn a_write_that_does_not_fit_leaves_the_old_file_and_no_litter() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "old").unwrap();
    // a limit on the size of files stands for a full disk: the write fails in the middle
    let out = command("trap '' XFSZ; ulimit -f 64;", "replace_once", dir.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&out.stdout).contains("failed"), "{out:?}");
    assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), "old");
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn a_rename_that_fails_leaves_no_litter() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("folder");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("inside"), "").unwrap();
    assert!(replace(&target, b"x", Durability::Synced).is_err());
    assert_eq!(names(dir.path()), ["folder"]);
    assert_eq!(names(&target), ["inside"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_the_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "old").unwrap();
    assert!(replace(&dir.path().join("file/below"), b"x", Durability::Whole).is_err());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let result = replace(&dir.path().join("file"), b"new", Durability::Whole);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    // root may write everywhere
    let expected = if result.is_ok() { "new" } else { "old" };
    assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), expected);
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn h63_folders_are_0700_and_files_0600_under_any_umask() {
    for umask in ["000", "022", "077"] {
        let dir = tempfile::tempdir().unwrap();
        let out = command(&format!("umask {umask};"), "files", dir.path())
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
        let mut seen = Vec::new();
        let mut open = vec![dir.path().join("state")];
        while let Some(path) = open.pop() {
            let found = fs::symlink_metadata(&path).unwrap();
            let expected = if found.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(
                found.permissions().mode() & 0o7777,
                expected,
                "{} umask {umask}",
                path.display()
            );
            if found.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            } else {
                seen.push(path);
            }
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
    }
}

#[test]
fn a_foreign_file_keeps_its_link_and_its_mode() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("dotfiles")).unwrap();
    fs::write(at("dotfiles/real"), "old").unwrap();
    fs::set_permissions(at("dotfiles/real"), fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink("dotfiles/real", at("middle")).unwrap();
    std::os::unix::fs::symlink(at("middle"), at("link")).unwrap();
    replace_foreign(&at("link"), b"new").unwrap();
    assert_eq!(fs::read_to_string(at("dotfiles/real")).unwrap(), "new");
    assert_eq!(
        fs::metadata(at("dotfiles/real")).unwrap().permissions().mode() & 0o777,
        0o644
    );
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert_eq!(names(&at("dotfiles")), ["real"]);

    std::os::unix::fs::symlink("not/there/yet", at("dangling")).unwrap();
    replace_foreign(&at("dangling"), b"x").unwrap();
    assert_eq!(fs::read_to_string(at("not/there/yet")).unwrap(), "x");

    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    assert!(replace_foreign(&at("loop"), b"x").is_err());
}

#[test]
fn setting_aside_keeps_one_old_file_and_a_missing_one_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    set_aside(&path).unwrap();
    for text in ["one", "two"] {
        fs::write(&path, text).unwrap();
        set_aside(&path).unwrap();
    }
    assert_eq!(names(dir.path()), ["log.1"]);
    assert_eq!(fs::read_to_string(dir.path().join("log.1")).unwrap(), "two");
}
