use super::*;

/// A program.
#[derive(Debug, Parser)]
#[command(name = "ring-test", version = "1.2.3", help_template = HELP, before_help = "Examples:\n  ring-test x")]
struct Cli {
    #[command(flatten)]
    place: Place,
    /// Form
    #[arg(long, global = true, default_value = "human")]
    format: Format,
    /// Span
    #[arg(long, value_parser = span)]
    after: Option<Ms>,
    #[arg(default_value = "")]
    word: String,
}

fn argv(words: &[&str]) -> Vec<OsString> {
    std::iter::once("ring-test")
        .chain(words.iter().copied())
        .map(OsString::from)
        .collect()
}

fn ran(words: &[&str], f: impl FnOnce(Cli, &mut Output<'_>) -> Result<u8, Refusal>) -> (ExitCode, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run("ring-test", argv(words), &mut out, &mut err, f);
    (status, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn c76_a_mistyped_option_is_64_on_one_line_with_a_hint() {
    let (status, out, err) = ran(&["--formt", "json"], |_, _| Ok(0));
    assert_eq!(status, ExitCode::from(64));
    assert_eq!(out, "");
    assert_eq!(
        err,
        "ring-test: unexpected argument '--formt' found; a similar argument exists: '--format'; see ring-test --help [INVALID_ARGUMENT]\n"
    );
}

#[test]
fn c76_a_bad_value_names_the_option_and_the_values() {
    for words in [
        ["--format", "xml"],
        ["--after", "1x"],
        ["--after", "-1"],
        ["--after", "inf"],
    ] {
        let (status, out, err) = ran(&words, |_, _| Ok(0));
        assert_eq!(status, ExitCode::from(64), "{words:?}");
        assert_eq!(out, "");
        assert!(
            err.starts_with("ring-test: ") && err.ends_with("see ring-test --help [INVALID_ARGUMENT]\n"),
            "{err}"
        );
        assert_eq!(err.matches("INVALID_ARGUMENT").count(), 1, "{err}");
        assert_eq!(err.lines().count(), 1);
    }
}

#[test]
fn c76_errors_are_json_where_the_command_line_asks_for_json_even_if_it_cannot_be_parsed() {
    for words in [
        &["--format", "json", "--nope"][..],
        &["--nope", "--format=json"],
        &["--format=jsonl", "a", "b"],
    ] {
        let (status, out, err) = ran(words, |_, _| Ok(0));
        assert_eq!(status, ExitCode::from(64));
        assert_eq!(out, "");
        assert_eq!(err.lines().count(), 1);
        let error: serde_json::Value = serde_json::from_str(&err).unwrap();
        assert_eq!(error["error"]["code"], "INVALID_ARGUMENT");
        assert_eq!(error["error"]["retriable"], false);
        assert!(error["error"]["details"].is_object());
    }
}

#[test]
fn what_stands_behind_two_dashes_does_not_choose_the_format() {
    assert!(asks_for_json(&argv(&["--format", "json"])));
    assert!(!asks_for_json(&argv(&["--format", "human", "--", "--format", "json"])));
    assert!(!asks_for_json(&argv(&["--format"])));
    assert!(!asks_for_json(&argv(&[])));
    assert!(!asks_for_json(&[]));
}

#[test]
fn help_and_version_are_successes_on_stdout() {
    let (status, out, err) = ran(&["--version"], |_, _| Ok(1));
    assert_eq!(
        (status, out.as_str(), err.as_str()),
        (ExitCode::SUCCESS, "ring-test 1.2.3\n", "")
    );
    let (status, out, err) = ran(&["--help"], |_, _| Ok(1));
    assert_eq!((status, err.as_str()), (ExitCode::SUCCESS, ""));
    let order = ["A program", "Examples:", "Usage:", "--state-dir"]
        .map(|w| out.find(w).unwrap_or_else(|| panic!("{w}: {out}")));
    assert!(order.is_sorted(), "{out}");
}

#[test]
fn s78_stdout_stays_empty_if_the_command_fails_after_it_has_printed() {
    let (status, out, err) = ran(&[], |_, out| {
        writeln!(out, "half of it")?;
        Err(Refusal::new(Code::SessionNotFound, "no session x"))
    });
    assert_eq!(status, ExitCode::from(3));
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("", "ring-test: no session x [SESSION_NOT_FOUND]\n")
    );
}

#[test]
fn the_status_of_the_command_is_the_status_of_the_program() {
    let (status, out, err) = ran(&["word"], |cli, out| {
        write!(out, "{}", cli.word)?;
        Ok(exit::NO)
    });
    assert_eq!((status, out.as_str(), err.as_str()), (ExitCode::from(1), "word", ""));
}

#[test]
fn a_closed_reader_is_a_quiet_success() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut err = Vec::new();
    let status = run("ring-test", argv(&[]), &mut Closed, &mut err, |_: Cli, out| {
        writeln!(out, "x")?;
        out.flush()?;
        Ok(1)
    });
    assert_eq!((status, err.as_slice()), (ExitCode::SUCCESS, &b""[..]));
}

#[test]
fn an_argument_with_escape_bytes_reaches_the_terminal_inert() {
    let (_, _, err) = ran(&["--\u{1b}]0;owned\u{7}\u{202e}x"], |_, _| Ok(0));
    assert!(!err.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{err:?}");
    assert_eq!(err.lines().count(), 1);
}

#[test]
fn an_argument_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let mut words = argv(&[]);
    words.push(OsString::from_vec(b"--form\xff".to_vec()));
    let refusal = parse::<Cli>("ring-test", &words).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidArgument);
}

#[test]
fn c50_colour_follows_the_option_then_the_environment_then_the_terminal() {
    let with = |pairs: &'static [(&str, &str)]| {
        move |name: &str| pairs.iter().find(|(k, _)| *k == name).map(|(_, v)| OsString::from(v))
    };
    for (color, terminal, environment, wanted) in [
        (Color::Auto, true, &[][..], true),
        (Color::Auto, false, &[], false),
        (Color::Auto, true, &[("TERM", "dumb")], false),
        (Color::Auto, true, &[("NO_COLOR", "1")], false),
        (Color::Auto, true, &[("NO_COLOR", "")], true),
        (Color::Auto, false, &[("CLICOLOR_FORCE", "1")], true),
        (Color::Auto, false, &[("CLICOLOR_FORCE", "0")], false),
        (Color::Auto, true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
        (Color::Always, false, &[("NO_COLOR", "1")], true),
        (Color::Never, true, &[("CLICOLOR_FORCE", "1")], false),
    ] {
        assert_eq!(
            color.wanted(terminal, with(environment)),
            wanted,
            "{color:?} {terminal} {environment:?}"
        );
    }
}

#[test]
fn completions_are_written_for_three_shells() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut out = Vec::new();
        completions::<Cli>(shell, &mut out);
        assert!(String::from_utf8(out).unwrap().contains("ring-test"), "{shell:?}");
    }
}

#[test]
fn a_mistake_inside_a_command_points_to_that_commands_help() {
    #[derive(Debug, Parser)]
    #[command(name = "ring-test")]
    struct Nested {
        #[arg(long)]
        top: bool,
        #[command(subcommand)]
        command: Outer,
    }
    #[derive(Debug, clap::Subcommand)]
    enum Outer {
        #[command(subcommand)]
        Queue(Inner),
        Completions {
            shell: Shell,
        },
    }
    #[derive(Debug, clap::Subcommand)]
    enum Inner {
        Push { id: String },
    }
    let told = |words: &[&str]| parse::<Nested>("ring-test", &argv(words)).unwrap_err().message;
    for (words, help) in [
        (&["--nope", "queue"][..], "see ring-test --help"),
        (&["--top", "queue", "push", "--nope"], "see ring-test queue push --help"),
        (&["queue", "push"], "see ring-test queue push --help"),
        (&["queue"], "see ring-test queue --help"),
        (&["queue", "pish"], "see ring-test queue --help"),
        (&["completions", "tcsh"], "see ring-test completions --help"),
    ] {
        assert!(told(words).ends_with(help), "{}", told(words));
    }
    assert_eq!(
        told(&["completions", "tcsh"]),
        "invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish]; see ring-test completions --help"
    );
}
