//! The hook path: one payload in, one row out, nothing said (ring-hook(1), AS A HOOK).
//!
//! An agent runs this on every event and waits for it. So the options of a hook entry are parsed by hand: building the
//! real parser costs more than the whole event. Any other command line goes to that parser, which knows the same
//! options.

use crate::cli::{Context, Format};
use crate::take::{self, Taken};
use ring_hook::intake;
use ring_hook::normalise::Given;
use ring_session::time::now_ms;
use ring_session::{Code, Refusal, command_line, error_log, exit, panic};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// What a hook entry says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// `--agent`.
    pub agent: Option<String>,
    /// `--event`.
    pub event: Option<String>,
    /// `--emit`.
    pub emit: bool,
    /// `--strict`.
    pub strict: bool,
    /// `--print`.
    pub print: bool,
    /// `--state-dir`.
    pub state_dir: Option<PathBuf>,
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--format json`.
    pub json: bool,
    /// The payload as last argument, as Codex's `notify` gives it.
    pub payload: Option<Vec<u8>>,
}

impl Entry {
    /// The entry that this command line is. None if it is anything else, also one with a mistake: the real parser
    /// knows what to say.
    pub fn parse(arguments: &[OsString]) -> Option<Entry> {
        let mut entry = Entry::default();
        let (last, options) = match arguments.split_last() {
            Some((last, before)) if is_object(last) => (Some(last), before),
            _ => (None, arguments),
        };
        entry.payload = last.map(|l| l.as_encoded_bytes().to_vec());
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let option = option.to_str()?;
            let (name, given) = match option.split_once('=') {
                Some((name, value)) => (name, Some(OsString::from(value))),
                None => (option, None),
            };
            let flag = match name {
                "--emit" => &mut entry.emit,
                "--strict" => &mut entry.strict,
                "--print" => &mut entry.print,
                _ => {
                    let value = given.or_else(|| options.next().cloned())?;
                    entry.set(name, value)?;
                    continue;
                }
            };
            if *flag || given.is_some() {
                return None;
            }
            *flag = true;
        }
        Some(entry)
    }

    fn set(&mut self, name: &str, value: OsString) -> Option<()> {
        if value.is_empty() || value.as_encoded_bytes().starts_with(b"-") {
            return None;
        }
        match name {
            "--agent" if self.agent.is_none() => self.agent = Some(value.into_string().ok()?),
            "--event" if self.event.is_none() => self.event = Some(value.into_string().ok()?),
            "--state-dir" if self.state_dir.is_none() => self.state_dir = Some(value.into()),
            "--config" if self.config.is_none() => self.config = Some(value.into()),
            "--format" if value == "human" || value == "json" => self.json = value == "json",
            _ => return None,
        }
        Some(())
    }

    /// Takes the payload in and gives the exit status: 0, unless `--strict` says otherwise or a person sits at stdin.
    pub fn run(self) -> u8 {
        let format = if self.json { Format::Json } else { Format::Human };
        let place = command_line::Place {
            state_dir: self.state_dir.clone(),
            config: self.config.clone(),
        };
        let context = Context::new(&place, format);
        if self.payload.is_none() && io::stdin().is_terminal() {
            let text = "stdin is a terminal; a payload comes through a pipe; see ring-hook --help";
            return tell(&Refusal::new(Code::InvalidArgument, text), &context);
        }
        let mut size = 0;
        let result = panic::caught(|| self.take(&context, &mut size));
        match result {
            Ok(()) => exit::DONE,
            Err(refusal) => {
                let agent = self.agent.as_deref().unwrap_or_default();
                let event = self.event.as_deref().unwrap_or_default();
                // a state directory that takes no line takes no log either, and a hook has nobody to tell
                error_log::note(&context.state, now_ms(), refusal.code, agent, event, size).unwrap_or_default();
                if self.strict {
                    tell(&refusal, &context)
                } else {
                    exit::DONE
                }
            }
        }
    }

    fn take(&self, context: &Context, size: &mut usize) -> Result<(), Refusal> {
        let read;
        let bytes = match &self.payload {
            Some(bytes) => {
                *size = bytes.len();
                bytes
            }
            None => {
                read = intake::read(io::stdin(), intake::PATIENCE, size)?;
                &read
            }
        };
        let pane = std::env::var("TMUX_PANE").unwrap_or_default();
        let given = Given {
            agent: self.agent.as_deref(),
            event: self.event.as_deref(),
            tmux_pane: &pane,
            now: now_ms(),
        };
        let taken = take::take(bytes, &given, &take::Place::of_hook(context))?;
        self.answer(&taken);
        // the program ends here, and an agent waits for it: nobody needs each text given back one by one
        std::mem::forget(taken);
        Ok(())
    }

    /// What was asked for on stdout. A reader that is gone is no failure of the hook.
    fn answer(&self, taken: &Taken) {
        let mut out = String::new();
        if self.emit {
            out.extend(taken.emitted().map(|line| line + "\n"));
        }
        if self.print {
            out.push_str(&taken.printed());
            out.push('\n');
        }
        if !out.is_empty() {
            io::stdout().lock().write_all(out.as_bytes()).unwrap_or_default();
        }
    }
}

fn is_object(argument: &OsStr) -> bool {
    argument.as_encoded_bytes().trim_ascii_start().starts_with(b"{")
}

/// Says on stderr why not, and gives the exit status that goes with it.
fn tell(refusal: &Refusal, context: &Context) -> u8 {
    // a closed stderr leaves nobody to tell; the status says it all the same
    exit::report(&mut io::stderr(), "ring-hook", refusal, context.json()).unwrap_or_default();
    refusal.code.exit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn by_hand(arguments: &[&str]) -> Option<Entry> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        Entry::parse(&arguments)
    }

    #[test]
    fn both_parsers_read_a_hook_entry_alike() {
        let options = [
            "--agent",
            "codex",
            "--event",
            "Stop",
            "--emit",
            "--strict",
            "--print",
            "--state-dir",
            "/s",
            "--config",
            "/c",
            "--format",
            "json",
        ];
        let joined = [
            "--agent=codex",
            "--event=Stop",
            "--emit",
            "--strict",
            "--print",
            "--state-dir=/s",
            "--config=/c",
            "--format=json",
        ];
        for arguments in [&options[..], &joined, &[], &["--emit"], &["--agent", "a b"]] {
            let parsed = Cli::try_parse_from([&["ring-hook"], arguments].concat()).unwrap();
            assert_eq!(by_hand(arguments), Some(parsed.entry()), "{arguments:?}");
        }
    }

    #[test]
    fn whatever_the_hand_does_not_know_goes_to_the_parser() {
        for arguments in [
            &["--help"][..],
            &["status"],
            &["--bogus"],
            &["--agent"],
            &["--agent", "--emit"],
            &["--agent", ""],
            &["--agent", "a", "--agent", "b"],
            &["--emit", "--emit"],
            &["--emit=1"],
            &["--format", "xml"],
            &["--", "x"],
        ] {
            assert_eq!(by_hand(arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn h57_an_object_as_last_argument_is_the_payload() {
        let entry = by_hand(&["--agent", "codex", " {\"type\":1}"]).unwrap();
        assert_eq!(entry.payload.as_deref(), Some(&b" {\"type\":1}"[..]));
        assert_eq!(by_hand(&["{}", "--agent", "codex"]), None);
    }
}
