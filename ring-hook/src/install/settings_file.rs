//! A settings file on disk: read once, replaced once, with a backup of what was there.

use ring_session::replace::{Durability, followed, replace, replace_foreign};
use ring_session::{Code, Refusal};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file as it was read.
#[derive(Debug)]
pub struct SettingsFile {
    real: PathBuf,
    before: Option<String>,
}

impl SettingsFile {
    /// Reads the file behind `path`, which may be a link. A missing one is empty.
    ///
    /// # Errors
    /// `IO`; `SETTINGS_INVALID` for what is no file, or no UTF-8.
    pub fn read(path: &Path) -> Result<SettingsFile, Refusal> {
        let real = followed(path).map_err(|e| Refusal::io("follow", path, &e))?;
        let before = read(&real)?;
        Ok(SettingsFile { real, before })
    }

    /// What it holds.
    pub fn text(&self) -> &str {
        self.before.as_deref().unwrap_or("")
    }

    /// The backup beside the real file.
    pub fn backup_path(&self) -> PathBuf {
        let mut name = self.real.clone().into_os_string();
        name.push(".bak");
        name.into()
    }

    /// What the backup holds; none if there is none that can be read.
    pub fn backup(&self) -> Option<String> {
        fs::read_to_string(self.backup_path()).ok()
    }

    /// Whether the file is there.
    pub fn is_there(&self) -> bool {
        self.before.is_some()
    }

    /// Writes the backup, then the new text. With `keep` a backup that is there stays: it holds what the person had
    /// before our entries came. The caller holds the settings lock.
    ///
    /// # Errors
    /// `SETTINGS_CHANGED` if somebody else wrote since it was read; `IO`, the file is then as it was.
    pub fn write(&self, text: &str, keep: bool) -> Result<(), Refusal> {
        self.unchanged()?;
        let backup = self.backup_path();
        if let Some(before) = self.before.as_ref().filter(|_| !(keep && backup.is_file())) {
            replace(&backup, before.as_bytes(), Durability::Synced)
                .map_err(|e| Refusal::io("write the backup", &backup, &e))?;
            self.unchanged()?;
        }
        replace_foreign(&self.real, text.as_bytes()).map_err(|e| Refusal::io("write", &self.real, &e))
    }

    /// Removes the file. The caller holds the settings lock.
    ///
    /// # Errors
    /// Those of [`SettingsFile::write`].
    pub fn delete(&self) -> Result<(), Refusal> {
        self.unchanged()?;
        fs::remove_file(&self.real).map_err(|e| Refusal::io("remove", &self.real, &e))
    }

    fn unchanged(&self) -> Result<(), Refusal> {
        if read(&self.real)? == self.before {
            return Ok(());
        }
        let real = self.real.display();
        Err(Refusal::new(
            Code::SettingsChanged,
            format!("{real} was changed by another program meanwhile; run the command again"),
        )
        .with("path", real.to_string()))
    }
}

fn read(real: &Path) -> Result<Option<String>, Refusal> {
    match fs::metadata(real) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Refusal::io("read", real, &e)),
        Ok(found) if !found.is_file() => return Err(invalid(real, "it is no file")),
        Ok(_) => {}
    }
    let bytes = fs::read(real).map_err(|e| Refusal::io("read", real, &e))?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| invalid(real, "it is no UTF-8 text"))
}

/// The refusal of a file that is not what it should be; it is left as it is.
pub fn invalid(path: &Path, what: &str) -> Refusal {
    Refusal::new(
        Code::SettingsInvalid,
        format!("{}: {what}; mend the file, it was left as it is", path.display()),
    )
    .with("path", path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h69_what_changed_since_it_was_read_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        for (before, meanwhile) in [(Some("{}"), "{ }"), (None, "{}")] {
            fs::remove_file(&path).unwrap_or_default();
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
            let file = SettingsFile::read(&path).unwrap();
            fs::write(&path, meanwhile).unwrap();
            assert_eq!(file.write("new", false).unwrap_err().code, Code::SettingsChanged);
            assert_eq!(fs::read_to_string(&path).unwrap(), meanwhile);
            assert!(file.backup().is_none());
        }
    }

    #[test]
    fn h69_without_a_backup_nothing_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "{}").unwrap();
        fs::create_dir_all(dir.path().join("settings.json.bak/x")).unwrap();
        let file = SettingsFile::read(&path).unwrap();
        assert_eq!(file.write("new", false).unwrap_err().code, Code::Io);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    }

    #[test]
    fn h70_a_folder_and_bytes_that_are_no_text_are_invalid() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, [b'{', 0xff, b'}']).unwrap();
        assert_eq!(SettingsFile::read(&path).unwrap_err().code, Code::SettingsInvalid);
        assert_eq!(SettingsFile::read(dir.path()).unwrap_err().code, Code::SettingsInvalid);
    }
}
