//! File events, by inotify(7).

use super::places::Place;
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// File events by inotify(7).
pub struct Files {
    inotify: Option<OwnedFd>,
    watched: BTreeMap<i32, Place>,
    folders: BTreeSet<PathBuf>,
    missing: Vec<PathBuf>,
    /// Something was written in a place that does not wake, or nobody knows whether.
    pub changed: bool,
    /// A folder was made or has gone.
    pub moved: bool,
}

impl Files {
    /// Watches nothing yet.
    pub fn new() -> Files {
        Files {
            inotify: init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok(),
            watched: BTreeMap::new(),
            folders: BTreeSet::new(),
            missing: Vec::new(),
            changed: false,
            moved: false,
        }
    }

    /// Watches what is there of `places`. Tells whether all of it was watched already.
    pub fn watch(&mut self, places: Vec<Place>) -> bool {
        let Some(fd) = &self.inotify else { return false };
        let what = WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        let mut all = true;
        self.missing.clear();
        for place in places {
            if self.folders.contains(&place.folder) {
                continue;
            }
            match add_watch(fd, &place.folder, what) {
                Ok(wd) => {
                    all = false;
                    self.folders.insert(place.folder.clone());
                    // two paths may lead to one folder: the one that wakes counts
                    let known = self.watched.entry(wd).or_insert_with(|| place.clone());
                    if place.wakes && !known.wakes {
                        *known = place;
                    }
                }
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => self.missing.push(place.folder),
                Err(_) => all = false,
            }
        }
        all
    }

    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inotify.as_ref().map(AsFd::as_fd)
    }

    /// Whether a folder that was missing is there now: nobody tells of that.
    pub fn found(&self) -> bool {
        self.missing.iter().any(|p| p.exists())
    }

    /// Takes all events; tells whether one wakes.
    pub fn drain(&mut self) -> bool {
        let Some(fd) = &self.inotify else { return false };
        let mut wakes = false;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(fd, &mut buffer);
        while let Ok(event) = reader.next() {
            let flags = event.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                (wakes, self.changed, self.moved) = (true, true, true);
            }
            let Some(place) = self.watched.get(&event.wd()) else {
                continue;
            };
            if flags.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
                self.moved = true;
                self.folders.remove(&place.folder);
                self.watched.remove(&event.wd());
                continue;
            }
            let counts = match event.file_name().map(|n| OsStr::from_bytes(n.to_bytes())) {
                Some(name) if place.only.is_empty() => !name.as_bytes().starts_with(b"."),
                Some(name) => place.only.iter().any(|n| n == name),
                None => true,
            };
            self.moved |= counts && flags.contains(ReadFlags::ISDIR);
            wakes |= counts && place.wakes;
            self.changed |= counts;
        }
        wakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn place(folder: PathBuf, only: &[&str], wakes: bool) -> Place {
        Place {
            folder,
            only: only.iter().map(Into::into).collect(),
            wakes,
        }
    }

    #[test]
    fn an_event_wakes_or_only_tells_that_there_is_something_to_read() {
        let dir = tempfile::tempdir().unwrap();
        let (rows, records) = (dir.path().join("rows"), dir.path().join("records"));
        fs::create_dir(&rows).unwrap();
        fs::create_dir(&records).unwrap();
        let places = || vec![place(rows.clone(), &[], true), place(records.clone(), &[], false)];
        let mut files = Files::new();
        assert!(!files.watch(places()), "what was written before nobody heard");
        assert!(files.watch(places()));
        fs::write(rows.join(".tmp-1"), "").unwrap();
        assert!(
            !files.drain() && !files.changed,
            "a temporary file is nobody's business"
        );
        fs::write(records.join("a.jsonl"), "").unwrap();
        assert!(!files.drain() && files.changed && !files.moved);
        fs::write(rows.join("a.json"), "").unwrap();
        assert!(files.drain());
        fs::create_dir(records.join("more")).unwrap();
        assert!(!files.drain() && files.moved);
    }

    #[test]
    fn only_names_that_count_are_heard() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Files::new();
        files.watch(vec![place(dir.path().to_owned(), &["events.jsonl"], true)]);
        fs::write(dir.path().join("events.lock"), "").unwrap();
        assert!(!files.drain() && !files.changed);
        fs::write(dir.path().join("events.jsonl"), "").unwrap();
        assert!(files.drain());
    }

    #[test]
    fn a_folder_that_was_missing_is_found_and_one_that_went_is_watched_again() {
        let dir = tempfile::tempdir().unwrap();
        let late = dir.path().join("late");
        let places = || vec![place(late.clone(), &[], true)];
        let mut files = Files::new();
        assert!(files.watch(places()) && !files.found());
        fs::create_dir(&late).unwrap();
        assert!(files.found());
        assert!(!files.watch(places()) && !files.found());
        fs::remove_dir(&late).unwrap();
        files.drain();
        fs::create_dir(&late).unwrap();
        assert!(!files.watch(places()), "it is another folder now");
        fs::write(late.join("a"), "").unwrap();
        assert!(files.drain());
    }
}
