//! Where our programs are, as entries should name them.

use super::entry::{Programs, Role};
use super::order::{Order, With};
use super::search_path;
use ring_session::{Code, Refusal};
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
    /// Those of [`Search::hook`]; `INSTALL_MANUAL` if one that is needed is nowhere.
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
            found.map_or_else(|| Err(missing(role)), |p| text_of(&p))
        };
        Ok(Programs {
            session: needed(With::Session, Role::Session)?,
            plan: needed(With::Plan, Role::Plan)?,
            notify: needed(With::Notify, Role::Notify)?,
            hook,
        })
    }

    fn on_path(&self, role: Role) -> Option<PathBuf> {
        search_path::all(role.program(), self.path).into_iter().next()
    }
}

fn text_of(path: &Path) -> Result<String, Refusal> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let text = format!("{} is no UTF-8 and cannot stand in a settings file", path.display());
        Refusal::new(Code::InvalidArgument, text)
    })
}

fn missing(role: Role) -> Refusal {
    let name = role.program();
    Refusal::new(
        Code::InstallManual,
        format!("{name} is neither on $PATH nor beside ring-hook; nothing was written. Install {name} first"),
    )
    .with("program", name)
}
