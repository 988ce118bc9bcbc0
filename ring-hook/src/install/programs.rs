//! Where our programs are, as entries should name them.

use super::entry::{Programs, Role};
use super::order::{Order, With};
use super::search_path;
use ring_session::{Code, Refusal, sister};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What to look with.
pub struct Search<'a> {
    /// `$PATH`.
    pub path: Option<&'a OsStr>,
    /// This program's own file.
    pub own: PathBuf,
    /// What the person gave as ring-hook.
    pub given: Option<&'a Path>,
}

impl Search<'_> {
    /// ring-hook: as given, as found on `$PATH`, else this program.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a path that no settings file can hold, or under whose name no entry would be known again.
    pub fn hook(&self) -> Result<String, Refusal> {
        if let Some(given) = self.given {
            // A bare name is left to the `$PATH` of the agent; a path must not hang on the folder of the day.
            let bare = given.components().count() == 1 && !given.is_absolute();
            let whole = if bare {
                Ok(given.to_owned())
            } else {
                std::path::absolute(given)
            };
            let whole = whole.map_err(|e| Refusal::io("find", given, &e))?;
            if whole.file_name() != Some(OsStr::new(Role::Hook.program())) {
                let text = format!(
                    "--command must name a program called ring-hook, not {}",
                    given.display()
                );
                return Err(Refusal::new(Code::InvalidArgument, text));
            }
            return text_of(&whole);
        }
        text_of(&self.on_path(Role::Hook).unwrap_or_else(|| self.own.clone()))
    }

    /// All of them, as far as the order needs them.
    ///
    /// # Errors
    /// Those of [`Search::hook`]; `INSTALL_MANUAL` if one that is needed is nowhere, or does not know the command that
    /// entries would run: they would fail on every event.
    pub fn programs(&self, order: &Order) -> Result<Programs, Refusal> {
        let hook = self.hook()?;
        let needed = |with: With, role: Role| {
            if !order.has(with) {
                return Ok(role.program().to_owned());
            }
            let beside = [Path::new(&hook), &self.own].map(|p| p.with_file_name(role.program()));
            let found = self
                .on_path(role)
                .or_else(|| beside.into_iter().find(|p| search_path::is_program(p)));
            let found = found.ok_or_else(|| missing(role))?;
            if !role.command().is_none_or(|command| sister::knows(&found, command)) {
                return Err(cannot(role, &found, with));
            }
            text_of(&found)
        };
        Ok(Programs {
            session: needed(With::Session, Role::Session)?,
            plan: needed(With::Plan, Role::Plan)?,
            notify: needed(With::Notify, Role::Notify)?,
            hook,
        })
    }

    /// What a person should know of a ring-hook before agents run it.
    pub fn doubts(&self, hook: &str) -> Vec<String> {
        let path = Path::new(hook);
        if !path.is_absolute() {
            return Vec::new();
        }
        if !search_path::is_program(path) {
            return vec![format!("{hook} is no program here, so no entry that names it will run")];
        }
        if is_built(path) {
            let text =
                "is in a build folder, where the next clean removes it: put ring-hook on PATH first, then install";
            return vec![format!("{hook} {text}")];
        }
        Vec::new()
    }

    fn on_path(&self, role: Role) -> Option<PathBuf> {
        search_path::all(role.program(), self.path).into_iter().next()
    }
}

/// Whether a program stands where cargo builds: `target/release`, also below the name of a platform.
fn is_built(path: &Path) -> bool {
    let profile = path.parent();
    let name = |p: &Path| p.file_name().and_then(OsStr::to_str).unwrap_or_default().to_owned();
    let built = profile.is_some_and(|p| matches!(name(p).as_str(), "release" | "debug"));
    let above = profile.into_iter().flat_map(|p| p.ancestors().skip(1).take(2));
    built
        && above
            .into_iter()
            .any(|p| name(p) == "target" || p.join("CACHEDIR.TAG").exists())
}

fn text_of(path: &Path) -> Result<String, Refusal> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let text = format!("{} is no UTF-8 and cannot stand in a settings file", path.display());
        Refusal::new(Code::InvalidArgument, text)
    })
}

fn cannot(role: Role, found: &Path, with: With) -> Refusal {
    let (name, command) = (role.program(), role.command().unwrap_or_default());
    Refusal::new(
        Code::InstallManual,
        format!(
            "{} has no command `{command}` yet, so entries of --with {} would fail on every event; nothing was written. \
             Leave {} out, or install a {name} that knows it",
            found.display(),
            with.name(),
            with.name()
        ),
    )
    .with("program", name)
    .with("reason", "not_yet")
}

fn missing(role: Role) -> Refusal {
    let name = role.program();
    Refusal::new(
        Code::InstallManual,
        format!("{name} is neither on $PATH nor beside ring-hook; nothing was written. Install {name} first"),
    )
    .with("program", name)
}
