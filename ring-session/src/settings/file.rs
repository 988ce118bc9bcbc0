//! Reading `config.toml`: which known keys stand in it, on which line, and what is wrong with the rest.

use super::keys::{self, Key, Standing};
use super::{Problem, Value};
use crate::regular;
use crate::text::clean;
use std::io::{self, Read};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A longer file is not read, in bytes.
const LIMIT: u64 = 1024 * 1024;

/// What the file says.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub found: Vec<Found>,
    pub problems: Vec<Problem>,
}

/// A key with a usable value.
#[derive(Debug)]
pub(super) struct Found {
    pub key: &'static Key,
    pub value: Value,
    pub line: usize,
}

/// Flat names first, so that the keys they are names of win.
pub(super) fn in_order(found: Vec<Found>) -> impl Iterator<Item = Found> {
    let (flat, rest): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|f| matches!(f.key.standing, Standing::Flat(_)));
    flat.into_iter().chain(rest)
}

/// The file's text. None: there is no file. Anything that is no regular file is not opened: a pipe would block a hook.
///
/// # Errors
/// Those of the system; it is no regular file, over 1 MiB, or no UTF-8.
pub fn text(path: &Path) -> Option<io::Result<String>> {
    let read = || {
        let file = regular::open(path)?;
        if file.metadata()?.len() > LIMIT {
            return Err(io::Error::other("it is over 1 MiB"));
        }
        let mut bytes = Vec::new();
        file.take(LIMIT).read_to_end(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
    };
    match read() {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        other => Some(other),
    }
}

/// Reads the file; none if there is none.
pub(super) fn read(path: &Path) -> Option<Content> {
    let file = path.to_string_lossy().into_owned();
    match text(path)? {
        Ok(text) => Some(parse(&file, &text)),
        Err(e) => {
            let text = format!("cannot be read: {e}; all defaults are used");
            let problem = Problem {
                file,
                line: 0,
                key: String::new(),
                text,
            };
            Some(Content {
                found: Vec::new(),
                problems: vec![problem],
            })
        }
    }
}

/// What a text says, as that of `file`.
pub(super) fn parse(file: &str, text: &str) -> Content {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut walk = Walk {
        file,
        body,
        lines: Lines::of(body),
        content: Content::default(),
    };
    match DeTable::parse(body) {
        Ok(table) => walk.table("", table.get_ref()),
        Err(e) => {
            let what = e.message().lines().next().unwrap_or_default();
            walk.problem(begin(&e), "", format!("{what}; all defaults are used"));
        }
    }
    walk.content.problems.sort_by_key(|p| p.line);
    bounded(file, &mut walk.content.problems);
    walk.content
}

/// Where a text that is no TOML has to be mended: the line, and what is wrong there. None: it is TOML.
pub(super) fn broken(body: &str) -> Option<(usize, String)> {
    let error = DeTable::parse(body).err()?;
    let what = error.message().lines().next().unwrap_or_default();
    Some((Lines::of(body).at(begin(&error)), what.to_owned()))
}

fn begin(error: &toml::de::Error) -> usize {
    error.span().map_or(0, |s| s.start)
}

/// So many problems of a file are told.
const PROBLEMS: usize = 50;
/// So many characters of a value or a key that is of no use are told.
const TOLD: usize = 80;

/// Cuts what is wrong with a file to what a person reads: a file that is no settings file at all could tell megabytes, at each event.
pub fn bounded(file: &str, problems: &mut Vec<Problem>) {
    let rest = problems.len().saturating_sub(PROBLEMS);
    if rest > 0 {
        problems.truncate(PROBLEMS);
        problems.push(Problem {
            file: file.to_owned(),
            line: 0,
            key: String::new(),
            text: format!("and {rest} more like these"),
        });
    }
}

/// Where the lines of a text begin. Counting them anew for each of many keys would take minutes.
#[derive(Debug)]
pub struct Lines(Vec<usize>);

impl Lines {
    /// Those of a text.
    pub fn of(body: &str) -> Lines {
        Lines(memchr::memchr_iter(b'\n', body.as_bytes()).collect())
    }

    /// The line of a byte, from 1.
    pub fn at(&self, byte: usize) -> usize {
        1 + self.0.partition_point(|end| *end < byte)
    }
}

struct Walk<'a> {
    file: &'a str,
    body: &'a str,
    lines: Lines,
    content: Content,
}

impl Walk<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let dotted = match prefix {
                "" => name.get_ref().to_string(),
                _ => format!("{prefix}.{}", name.get_ref()),
            };
            self.member(&dotted, name.span().start, value);
        }
    }

    fn member(&mut self, dotted: &str, at: usize, value: &Spanned<DeValue<'_>>) {
        if let Some(key) = keys::find(dotted) {
            match key.of_toml(value.get_ref()) {
                Some(value) => self.content.found.push(Found {
                    key,
                    value,
                    line: self.line(at),
                }),
                None => {
                    let got = match key.is_secret() {
                        true => "what stands there".to_owned(),
                        false => clean(&self.body[value.span()], TOLD),
                    };
                    let text = format!("must be {}, not {got}; {} is used", key.wanted(), key.default());
                    self.problem(at, dotted, text);
                }
            }
            return;
        }
        let inside = format!("{dotted}.");
        match value.get_ref() {
            // ring-notify reads and checks its outlets
            DeValue::Array(_) if dotted == "notify.outlet" => {}
            DeValue::Table(table) if keys::KEYS.iter().any(|k| k.name.starts_with(&inside)) => {
                self.table(dotted, table)
            }
            DeValue::Table(_) => self.problem(at, dotted, "no such table; it has no effect".into()),
            _ => self.problem(at, dotted, "no such key; it has no effect".into()),
        }
    }

    fn line(&self, at: usize) -> usize {
        self.lines.at(at)
    }

    fn problem(&mut self, at: usize, key: &str, text: String) {
        let problem = Problem {
            file: self.file.to_owned(),
            line: self.line(at),
            key: clean(key, TOLD),
            text,
        };
        self.content.problems.push(problem);
    }
}
