//! `[[notify.outlet]]`: reading the outlets of the settings (ring-notify(1), SETTINGS).
//!
//! A bad outlet is reported with file, line and key and left out; the others work.

use crate::hours::{self, Hours};
use crate::outlet::{NAME, Ntfy, OUTLETS, Outlet, Preset, Projects, Rules, Secret, Terminal, Way, Webhook};
use globset::GlobBuilder;
use ring_session::Settings;
use ring_session::settings::keys::{KINDS, OUTLETS as TYPES};
use ring_session::settings::{Lines, Problem, bounded, file_text};
use ring_session::state_dir;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The outlets in force, and what is wrong with others.
pub fn rules(settings: &Settings, file: Option<&Path>) -> (Rules, Vec<Problem>) {
    let text = file.and_then(|f| Some((f, file_text(f)?.ok()?)));
    let (tables, problems) = match &text {
        Some((file, text)) => tables(&file.to_string_lossy(), text),
        None => (None, Vec::new()),
    };
    let outlets = tables.unwrap_or_else(|| flat(settings));
    let notify = settings.notify.clone();
    (Rules { notify, outlets }, problems)
}

/// The outlets of flat names: `notify_backend`, `notify_also`, and the addresses.
fn flat(settings: &Settings) -> Vec<Outlet> {
    let notify = &settings.notify;
    if notify.backend == "none" {
        return Vec::new();
    }
    let mut types = vec![match notify.backend.as_str() {
        "" => "auto",
        named => named,
    }];
    types.extend(notify.also.iter().map(String::as_str));
    // an address that nobody would use otherwise is meant to be used
    if !notify.ntfy_url.is_empty() {
        types.push("ntfy");
    }
    if !notify.webhook_url.is_empty() {
        types.push("webhook");
    }
    let mut outlets: Vec<Outlet> = Vec::new();
    for kind in types {
        let way = match kind {
            "auto" => Way::Auto,
            "bell" => Way::Bell(Terminal::default()),
            "osc" | "osc9" => Way::Osc9(Terminal::default()),
            "osc777" => Way::Osc777(Terminal::default()),
            "osc99" => Way::Osc99(Terminal::default()),
            "tmux" => Way::Tmux,
            "notify-send" => Way::NotifySend,
            "osascript" => Way::Osascript,
            "terminal-notifier" => Way::TerminalNotifier {
                sound: notify.sound_name.clone(),
            },
            "ntfy" if !notify.ntfy_url.is_empty() => Way::Ntfy(Ntfy {
                url: Secret::Value(notify.ntfy_url.clone()),
                ..Ntfy::default()
            }),
            "webhook" if !notify.webhook_url.is_empty() => Way::Webhook(Webhook {
                url: Secret::Value(notify.webhook_url.clone()),
                ..Webhook::default()
            }),
            // none, and types that need more than a flat name can say
            _ => continue,
        };
        let outlet = plain(way.as_str(), way);
        if outlets.iter().all(|o| o.name != outlet.name) {
            outlets.push(outlet);
        }
    }
    outlets
}

fn plain(name: &str, way: Way) -> Outlet {
    Outlet {
        name: name.to_owned(),
        way,
        kinds: Vec::new(),
        agents: Vec::new(),
        projects: Projects::default(),
        repeat: true,
        skip_when_looking: false,
        retry_unconfirmed: false,
        brief: false,
        hours: None,
    }
}

/// The outlets that a file lists; none if it has no such list.
fn tables(file: &str, text: &str) -> (Option<Vec<Outlet>>, Vec<Problem>) {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    // a file that is no TOML has been reported with the settings
    let Ok(root) = DeTable::parse(body) else {
        return (None, Vec::new());
    };
    let mut found = Found {
        file,
        lines: Lines::of(body),
        problems: Vec::new(),
    };
    let notify = root.get_ref().get("notify").and_then(|n| n.get_ref().as_table());
    // `outlet = []` at the top is the way of flat names to say: none
    let Some(list) = notify.and_then(|n| n.get("outlet")).or(root.get_ref().get("outlet")) else {
        return (None, Vec::new());
    };
    let Some(members) = list.get_ref().as_array() else {
        found.problem(
            list.span().start,
            "notify.outlet",
            "must be written [[notify.outlet]]; no outlet is used",
        );
        return (Some(Vec::new()), found.problems);
    };
    let mut outlets: Vec<Outlet> = Vec::new();
    for member in members.iter() {
        let at = member.span().start;
        let Some(table) = member.get_ref().as_table() else {
            found.problem(at, "notify.outlet", "must be a table; it is left out");
            continue;
        };
        let Some(outlet) = found.outlet(at, table) else {
            continue;
        };
        if outlets.iter().any(|o| o.name == outlet.name) {
            let text = format!("there are two outlets {:?}; the second is left out", outlet.name);
            let at = table.get("name").map_or(at, |n| n.span().start);
            found.problem(at, "notify.outlet.name", &text);
        } else if outlets.len() == OUTLETS {
            found.problem(
                at,
                "notify.outlet",
                &format!("more than {OUTLETS} outlets; the rest is left out"),
            );
            break;
        } else if enabled(table) {
            outlets.push(outlet);
        }
    }
    bounded(file, &mut found.problems);
    (Some(outlets), found.problems)
}

fn enabled(table: &DeTable<'_>) -> bool {
    table.get("enabled").and_then(|v| v.get_ref().as_bool()).unwrap_or(true)
}

struct Found<'a> {
    file: &'a str,
    lines: Lines,
    problems: Vec<Problem>,
}

/// Keys of every outlet.
const COMMON: &[&str] = &[
    "name",
    "type",
    "enabled",
    "kinds",
    "agents",
    "projects",
    "repeat",
    "skip_when_looking",
    "retry_unconfirmed",
    "content",
    "quiet_hours",
];

/// Further keys of a type.
fn further(kind: &str) -> &'static [&'static str] {
    match kind {
        "bell" | "osc" | "osc9" | "osc777" | "osc99" => &["tty"],
        "terminal-notifier" => &["sound"],
        "command" => &["argv"],
        "ntfy" => &[
            "url",
            "url_file",
            "url_env",
            "topic",
            "token",
            "token_file",
            "token_env",
            "user",
            "user_file",
            "user_env",
            "password",
            "password_file",
            "password_env",
            "priority",
            "tags",
            "click",
        ],
        "webhook" => &[
            "url",
            "url_file",
            "url_env",
            "preset",
            "headers",
            "headers_file",
            "headers_env",
        ],
        _ => &[],
    }
}

/// A member that is there and is not what it must be: reported already.
struct Bad;

impl Found<'_> {
    fn problem(&mut self, at: usize, key: &str, text: &str) {
        self.problems.push(Problem {
            file: self.file.to_owned(),
            line: self.lines.at(at),
            key: key.to_owned(),
            text: text.to_owned(),
        });
    }

    /// One table; none if something in it is wrong, which is reported.
    fn outlet(&mut self, at: usize, table: &DeTable<'_>) -> Option<Outlet> {
        let outlet = self.parts(at, table);
        let kind = table.get("type").and_then(|t| t.get_ref().as_str()).unwrap_or_default();
        for (name, _) in table {
            let known = COMMON.contains(&&**name.get_ref()) || further(kind).contains(&&**name.get_ref());
            // an unknown type has been reported, and so its keys are unknown too
            if !known && TYPES.contains(&kind) {
                let text = format!("no such key of an outlet of type {kind}; it has no effect");
                self.problem(name.span().start, &format!("notify.outlet.{}", name.get_ref()), &text);
            }
        }
        // what is bad has been reported where it stands
        outlet.ok()
    }

    fn parts(&mut self, at: usize, table: &DeTable<'_>) -> Result<Outlet, Bad> {
        let name = self.text(table, "name")?.unwrap_or_default();
        let letters = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if name.is_empty() || name.len() > NAME || !name.bytes().all(letters) {
            return self.refuse(table, at, "name", "must be 1 to 32 letters, digits, - or _");
        }
        let kind = self.text(table, "type")?.unwrap_or_default();
        let way = self.way(at, table, &kind)?;
        let kinds = self.texts(table, "kinds")?;
        if let Some(odd) = kinds.iter().find(|k| !KINDS.contains(&k.as_str())) {
            return self.refuse(
                table,
                at,
                "kinds",
                &format!("{odd:?} is no kind; one is {}", KINDS.join(", ")),
            );
        }
        let brief = match self.text(table, "content")?.as_deref() {
            None | Some("full") => false,
            Some("brief") => true,
            Some(_) => return self.refuse(table, at, "content", "must be full or brief"),
        };
        Ok(Outlet {
            kinds,
            agents: self.texts(table, "agents")?,
            projects: self.projects(table, at)?,
            repeat: self.bool(table, "repeat", true)?,
            skip_when_looking: self.bool(table, "skip_when_looking", false)?,
            retry_unconfirmed: self.bool(table, "retry_unconfirmed", false)?,
            brief,
            hours: self.hours(table)?,
            ..plain(&name, way)
        })
        .and_then(|outlet| self.bool(table, "enabled", true).map(|_| outlet))
    }

    fn way(&mut self, at: usize, table: &DeTable<'_>, kind: &str) -> Result<Way, Bad> {
        Ok(match kind {
            "auto" => Way::Auto,
            "bell" => Way::Bell(self.terminal(table)?),
            "osc" | "osc9" => Way::Osc9(self.terminal(table)?),
            "osc777" => Way::Osc777(self.terminal(table)?),
            "osc99" => Way::Osc99(self.terminal(table)?),
            "tmux" => Way::Tmux,
            "notify-send" => Way::NotifySend,
            "osascript" => Way::Osascript,
            "terminal-notifier" => Way::TerminalNotifier {
                sound: self.text(table, "sound")?.unwrap_or_default(),
            },
            "command" => {
                let argv = self.texts(table, "argv")?;
                if argv.first().is_none_or(String::is_empty) {
                    return self.refuse(
                        table,
                        at,
                        "argv",
                        "must be a list of texts, a program and its arguments",
                    );
                }
                Way::Command { argv }
            }
            "ntfy" => Way::Ntfy(Ntfy {
                url: self.address(table, at)?,
                topic: self.text(table, "topic")?.unwrap_or_default(),
                token: self.secret(table, "token")?,
                user: self.secret(table, "user")?,
                password: self.secret(table, "password")?,
                priority: self.priority(table, at)?,
                tags: self.texts(table, "tags")?,
                click: self.text(table, "click")?.unwrap_or_default(),
            }),
            "webhook" => Way::Webhook(Webhook {
                url: self.address(table, at)?,
                preset: match self.text(table, "preset")?.as_deref() {
                    None | Some("generic") => Preset::Generic,
                    Some("slack") => Preset::Slack,
                    Some("discord") => Preset::Discord,
                    Some(_) => return self.refuse(table, at, "preset", "must be generic, slack or discord"),
                },
                headers: self.headers(table)?,
            }),
            _ => {
                let types: Vec<&str> = TYPES.iter().filter(|t| **t != "none").copied().collect();
                return self.refuse(table, at, "type", &format!("must be one of {}", types.join(", ")));
            }
        })
    }

    fn refuse<T>(&mut self, table: &DeTable<'_>, at: usize, key: &str, text: &str) -> Result<T, Bad> {
        let at = table.get(key).map_or(at, |v| v.span().start);
        self.problem(
            at,
            &format!("notify.outlet.{key}"),
            &format!("{text}; the outlet is left out"),
        );
        Err(Bad)
    }

    fn get<T>(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        wanted: &str,
        of: impl FnOnce(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<T>, Bad> {
        let Some(value) = table.get(key) else { return Ok(None) };
        match of(value.get_ref()) {
            Some(found) => Ok(Some(found)),
            None => self.refuse(table, value.span().start, key, &format!("must be {wanted}")),
        }
    }

    fn text(&mut self, table: &DeTable<'_>, key: &str) -> Result<Option<String>, Bad> {
        self.get(table, key, "a text", |v| v.as_str().map(str::to_owned))
    }

    fn bool(&mut self, table: &DeTable<'_>, key: &str, default: bool) -> Result<bool, Bad> {
        Ok(self
            .get(table, key, "true or false", |v| v.as_bool())?
            .unwrap_or(default))
    }

    fn texts(&mut self, table: &DeTable<'_>, key: &str) -> Result<Vec<String>, Bad> {
        let all = |v: &DeValue<'_>| {
            let one = |m: &Spanned<DeValue<'_>>| m.get_ref().as_str().map(str::to_owned);
            v.as_array()?.iter().map(one).collect()
        };
        Ok(self.get(table, key, "a list of texts", all)?.unwrap_or_default())
    }

    fn terminal(&mut self, table: &DeTable<'_>) -> Result<Terminal, Bad> {
        let tty = self.text(table, "tty")?.filter(|t| !t.is_empty());
        Ok(Terminal {
            tty: tty.map(PathBuf::from),
        })
    }

    fn priority(&mut self, table: &DeTable<'_>, at: usize) -> Result<Option<u8>, Bad> {
        let number = |v: &DeValue<'_>| v.as_integer()?.as_str().parse::<u8>().ok();
        match self.get(table, "priority", "a number from 1 to 5", number)? {
            Some(p) if !(1..=5).contains(&p) => self.refuse(table, at, "priority", "must be a number from 1 to 5"),
            other => Ok(other),
        }
    }

    /// A secret, or a text that may be one: as it is, in a file, or in the environment.
    fn secret(&mut self, table: &DeTable<'_>, key: &str) -> Result<Secret, Bad> {
        if let Some(file) = self.text(table, &format!("{key}_file"))? {
            return Ok(Secret::File(under_home(&file)));
        }
        if let Some(variable) = self.text(table, &format!("{key}_env"))? {
            return Ok(Secret::Env(variable));
        }
        Ok(self.text(table, key)?.map_or(Secret::None, Secret::Value))
    }

    fn address(&mut self, table: &DeTable<'_>, at: usize) -> Result<Secret, Bad> {
        match self.secret(table, "url")? {
            Secret::None => self.refuse(table, at, "url", "must be there: an address, or url_file or url_env"),
            found => Ok(found),
        }
    }

    fn headers(&mut self, table: &DeTable<'_>) -> Result<Vec<(String, Secret)>, Bad> {
        let mut headers = Vec::new();
        for (key, of) in [
            ("headers", Secret::Value as fn(String) -> Secret),
            ("headers_file", |t| Secret::File(under_home(&t))),
            ("headers_env", Secret::Env),
        ] {
            let pairs = |v: &DeValue<'_>| {
                let one = |(n, v): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
                    Some((n.get_ref().to_string(), v.get_ref().as_str()?.to_owned()))
                };
                v.as_table()?.iter().map(one).collect::<Option<Vec<_>>>()
            };
            let found = self.get(table, key, "a table of texts", pairs)?.unwrap_or_default();
            headers.extend(found.into_iter().map(|(name, text)| (name, of(text))));
        }
        Ok(headers)
    }

    fn projects(&mut self, table: &DeTable<'_>, at: usize) -> Result<Projects, Bad> {
        let mut projects = Projects::default();
        for text in self.texts(table, "projects")? {
            let (list, glob) = match text.strip_prefix('!') {
                Some(glob) => (&mut projects.none, glob),
                None => (&mut projects.any, text.as_str()),
            };
            let glob = under_home(glob);
            match GlobBuilder::new(&glob.to_string_lossy())
                .literal_separator(true)
                .build()
            {
                Ok(glob) => list.push(glob.compile_matcher()),
                Err(e) => {
                    let text = format!("{text:?} is no glob: {}", e.kind());
                    return self.refuse(table, at, "projects", &text);
                }
            }
        }
        Ok(projects)
    }

    fn hours(&mut self, table: &DeTable<'_>) -> Result<Option<Hours>, Bad> {
        let Some(value) = table.get("quiet_hours") else {
            return Ok(None);
        };
        let at = value.span().start;
        let Some(inner) = value.get_ref().as_table() else {
            return self.refuse(table, at, "quiet_hours", "must be a table with start and end");
        };
        let wrong = |found: &mut Self, text: &str| found.refuse(table, at, "quiet_hours", text);
        for (name, _) in inner {
            if !["start", "end", "days", "urgent_bypass"].contains(&&**name.get_ref()) {
                let text = format!("has no key {}", name.get_ref());
                return wrong(self, &text);
            }
        }
        let time = |key: &str| inner.get(key).and_then(|v| hours::parse_time(v.get_ref().as_str()?));
        let (Some(start), Some(end)) = (time("start"), time("end")) else {
            return wrong(self, "needs start and end, each a text HH:MM");
        };
        let day = |v: &Spanned<DeValue<'_>>| {
            let name = v.get_ref().as_str()?;
            hours::DAYS.iter().find(|(n, _)| *n == name).map(|(_, d)| *d)
        };
        let days = match inner.get("days").map(|v| v.get_ref().as_array()) {
            None => hours::DAYS.iter().map(|(_, d)| *d).collect(),
            Some(list) => match list.and_then(|l| l.iter().map(day).collect::<Option<Vec<_>>>()) {
                Some(days) => days,
                None => return wrong(self, "has days that are none of mon, tue, wed, thu, fri, sat, sun"),
            },
        };
        let urgent_bypass = match inner.get("urgent_bypass").map(|v| v.get_ref().as_bool()) {
            None => true,
            Some(Some(found)) => found,
            Some(None) => return wrong(self, "has an urgent_bypass that is neither true nor false"),
        };
        Ok(Some(Hours {
            start,
            end,
            days,
            urgent_bypass,
        }))
    }
}

/// `~/` is the home folder.
fn under_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), state_dir::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
#[path = "config/tests.rs"]
mod tests;
