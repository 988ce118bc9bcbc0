//! All forms of one board.

use super::width::width;
use super::*;
use crate::board::{Session, Source, Waiting, count};
use proptest::prelude::*;
use ring_session::Settings;

fn printed(form: Form, board: &Board, look: &Look) -> String {
    let mut out = Vec::new();
    write(form, board, look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn of(sessions: Vec<Session>) -> Board {
    Board {
        schema: 1,
        counts: count(&sessions),
        sessions,
        ..Board::default()
    }
}

fn session(key: &str, status: &str, project: &str, age_s: i64, location: &str) -> Session {
    let (agent, id) = key.split_once(':').unwrap();
    Session {
        key: key.into(),
        agent: agent.into(),
        session_id: id.into(),
        kind: "foreground".into(),
        status: status.into(),
        project: project.into(),
        age_ms: age_s * 1000,
        location: location.into(),
        host: "box".into(),
        ..Session::default()
    }
}

/// Three sessions and a source that failed, as the man page shows them.
fn example() -> Board {
    let mut waits = session("claude-code:3f2a", "waiting", "app", 4, "work:2.1");
    waits.waiting = Some(Waiting {
        kind: "permission".into(),
        detail: "Bash: git push origin main".into(),
        ..Waiting::default()
    });
    waits.waits = 1;
    let mut works = session("codex:0199", "working", "api", 720, "~/src/api");
    works.name = "api refactor".into();
    works.note = "quiet 11 min".into();
    works.last_action = "cargo test".into();
    let mut idles = session("claude-code:77", "idle", "docs", 7200, "/dev/pts/7");
    idles.title = "fix the flaky test".into();
    let mut board = of(vec![waits, works, idles]);
    board.sources = vec![Source {
        name: "codex".into(),
        state: "failed".into(),
        error: "/h/.codex/sessions: permission denied".into(),
        ..Source::default()
    }];
    board
}

#[test]
fn the_table_is_the_one_of_the_manual() {
    assert_eq!(
        printed(Form::Human, &example(), &Look::default()),
        "\
3 sessions · 1 waits for you
🔴 waiting  claude-code  app            4s  work:2.1   permission  Bash: git push origin main
🟢 working  codex        api refactor  12m  ~/src/api  quiet 11 min · cargo test
🟡 idle     claude-code  docs           2h  pts/7      fix the flaky test
! codex: /h/.codex/sessions: permission denied (its rows are missing)
"
    );
}

#[test]
fn c50_narrow_tables_lose_where_then_agent_and_never_status() {
    let at = |columns| {
        printed(
            Form::Human,
            &example(),
            &Look {
                width: Some(columns),
                ..Look::default()
            },
        )
    };
    let row = |columns: usize| at(columns).lines().nth(1).unwrap().to_owned();
    assert_eq!(
        row(80),
        "🔴 waiting  claude-code  app            4s  work:2.1   permission  Bash: git pu…"
    );
    assert_eq!(
        row(72),
        "🔴 waiting  claude-code  app            4s  permission  Bash: git push…"
    );
    assert_eq!(row(50), "🔴 waiting  app          4s  permission  Bash: gi…");
    assert_eq!(row(40), "🔴 waiting  app          4s  permission…");
    assert_eq!(row(20), "🔴 waiting  app   4s");
}

#[test]
fn c1_words_are_translated_for_people_and_never_for_programs() {
    let look = Look {
        lang: Lang::ZhTw,
        markers: Markers::Emoji,
        legend: true,
        all: true,
        ..Look::default()
    };
    let mut board = example();
    board.sessions.push(session("codex:gone", "ended", "old", 9, ""));
    board.counts = count(&board.sessions);
    let table = printed(Form::Human, &board, &look);
    for word in [
        "🔴 在等你",
        "🟢 工作中",
        "🟡 跑完停著",
        "⚫ 已離場",
        "4 個工作階段 · 1 個在等你",
    ] {
        assert!(table.contains(word), "{table}");
    }
    for form in [Form::Json, Form::Jsonl, Form::Tsv, Form::Oneline, Form::Tmux] {
        assert!(!printed(form, &board, &look).contains(['等', '作']), "{form:?}");
    }
    let ascii = printed(
        Form::Human,
        &board,
        &Look {
            markers: Markers::Ascii,
            all: true,
            ..Look::default()
        },
    );
    for word in ["! waiting", "* working", "- idle", "x ended"] {
        assert!(ascii.contains(word), "{ascii}");
    }
}

#[test]
fn an_empty_board_says_what_to_do() {
    let text = printed(Form::Human, &of(vec![]), &Look::default());
    assert_eq!(text.lines().count(), 1);
    assert!(
        text.contains("start an agent") && text.contains("ring-hook install"),
        "{text}"
    );
    let narrow = printed(
        Form::Human,
        &of(vec![]),
        &Look {
            width: Some(40),
            ..Look::default()
        },
    );
    assert!(narrow.lines().all(|l| width(l) <= 40), "{narrow}");
    let filtered = printed(
        Form::Human,
        &of(vec![]),
        &Look {
            filtered: true,
            ..Look::default()
        },
    );
    assert_eq!(filtered, "no session passes the filters\n");
}

#[test]
fn c51_oneline_counts_what_there_is() {
    let board = example();
    assert_eq!(printed(Form::Oneline, &board, &Look::default()), "🔴1 🟢1 🟡1\n");
    assert_eq!(printed(Form::Oneline, &of(vec![]), &Look::default()), "\n");
    assert_eq!(
        printed(
            Form::Oneline,
            &board,
            &Look {
                markers: Markers::Ascii,
                ..Look::default()
            }
        ),
        "!1 *1 -1\n"
    );
    let ended = of(vec![session("a:b", "ended", "", 1, "")]);
    assert_eq!(printed(Form::Oneline, &ended, &Look::default()), "\n");
    assert_eq!(
        printed(
            Form::Oneline,
            &ended,
            &Look {
                all: true,
                ..Look::default()
            }
        ),
        "⚫1\n"
    );
}

#[test]
fn c51_tsv_has_the_same_columns_whatever_the_texts_are() {
    let mut board = example();
    board.sessions[2].title = "a\tb\nc\r\nd".into();
    let text = printed(
        Form::Tsv,
        &board,
        &Look {
            header: true,
            ..Look::default()
        },
    );
    assert!(text.lines().all(|l| l.split('\t').count() == 9), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "key\tstatus\tkind\tagent\tsession\tage_s\twhere\twhat\thost");
    assert_eq!(
        lines[1],
        "claude-code:3f2a\twaiting\tforeground\tclaude-code\tapp\t4\twork:2.1\tpermission  Bash: git push origin main\tbox"
    );
    assert!(lines[3].contains("\ta b c d\t"), "{}", lines[3]);
}

#[test]
fn c52_waybar_is_one_json_object_with_escaped_markup() {
    let mut board = example();
    board.sessions[0].project = "<b>&\"'".into();
    let text = printed(Form::Waybar, &board, &Look::default());
    assert_eq!(text.lines().count(), 1);
    let module: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (
            module["text"].as_str(),
            module["class"].as_str(),
            module["alt"].as_str()
        ),
        (Some("🔴1 🟢1 🟡1"), Some("waiting"), Some("waiting"))
    );
    let tooltip = module["tooltip"].as_str().unwrap();
    assert!(
        tooltip.starts_with("🔴 &lt;b&gt;&amp;&quot;&#39;  4s  permission"),
        "{tooltip}"
    );
    assert!(!tooltip.contains(['<', '>', '"', '\'']), "{tooltip}");
    let empty: serde_json::Value = serde_json::from_str(&printed(Form::Waybar, &of(vec![]), &Look::default())).unwrap();
    assert_eq!(
        (empty["class"].as_str(), empty["text"].as_str()),
        (Some("none"), Some(""))
    );
}

#[test]
fn c52_tmux_gets_styles_on_one_short_line() {
    let look = Look {
        palette: Palette::new(&Settings::default().colors),
        all: true,
        ..Look::default()
    };
    assert_eq!(
        printed(Form::Tmux, &example(), &look),
        "#[fg=red,bold]🔴1#[default] #[fg=green]🟢1#[default] #[fg=yellow]🟡1#[default]\n"
    );
    let mut many = of(vec![]);
    many.counts = crate::board::Counts {
        waiting: 99999,
        working: 99999,
        idle: 99999,
        ended: 99999,
    };
    assert!(printed(Form::Tmux, &many, &look).chars().count() <= 200);
}

#[test]
fn c53_every_json_row_has_every_key() {
    let keys = [
        "key",
        "agent",
        "session_id",
        "kind",
        "status",
        "since_ms",
        "age_ms",
        "project",
        "name",
        "title",
        "note",
        "waiting",
        "waits",
        "origin_cwd",
        "cwd",
        "location",
        "tmux_target",
        "tmux_pane",
        "tty",
        "last_action",
        "todo",
        "model",
        "seen_ms",
        "process",
        "sources",
        "rule",
        "evidence",
        "hook_stale",
        "hidden",
        "record",
        "host",
    ];
    let board: serde_json::Value = serde_json::from_str(&printed(Form::Json, &example(), &Look::default())).unwrap();
    for top in ["schema", "now_ms", "host", "partial", "counts", "sources", "sessions"] {
        assert!(board.get(top).is_some(), "{top}");
    }
    for row in board["sessions"].as_array().unwrap() {
        let found: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(found.len(), keys.len());
        assert!(keys.iter().all(|k| found.contains(k)), "{found:?}");
    }
    let lines = printed(Form::Jsonl, &example(), &Look::default());
    assert_eq!(lines.lines().count(), 3);
    assert!(
        lines
            .lines()
            .all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok())
    );
}

const FORMS: [Form; 7] = [
    Form::Human,
    Form::Json,
    Form::Jsonl,
    Form::Tsv,
    Form::Oneline,
    Form::Waybar,
    Form::Tmux,
];

/// What a terminal might obey.
fn inert(text: &str) -> bool {
    text.chars()
        .all(|c| c == '\n' || c == '\t' || !(c.is_control() || ring_session::text::is_bidi(c)))
}

/// Escape sequences, tabs and breaks, overrides, wide and joined characters.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-z #<&\"]{0,12}",
        "[\u{1b}\u{9b}\u{7}\u{0}\u{8}\r\n\t\u{7f}\u{85}\u{202e}\u{2066}\u{200b}\u{301}\u{fe0f}\u{200d}]{1,3}",
        Just("\u{1b}]0;owned\u{7}".to_owned()),
        Just("\u{1b}[31;1m".to_owned()),
        "[日本語😀é🇩🇪👨‍👩‍👧가]{1,4}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|p| p.concat())
}

fn nasty_board() -> impl Strategy<Value = Board> {
    let row = (
        prop::collection::vec(nasty(), 14),
        0..4usize,
        0..10_000_000i64,
        any::<bool>(),
    )
        .prop_map(|(t, status, age_s, asks)| Session {
            key: t[0].clone(),
            agent: t[1].clone(),
            session_id: t[2].clone(),
            status: ["waiting", "working", "idle", "ended"][status].into(),
            age_ms: age_s * 1000,
            project: t[3].clone(),
            name: t[4].clone(),
            title: t[5].clone(),
            note: t[6].clone(),
            waiting: asks.then(|| Waiting {
                kind: t[7].clone(),
                detail: t[8].clone(),
                owner_type: t[9].clone(),
                ..Waiting::default()
            }),
            location: t[10].clone(),
            cwd: t[11].clone(),
            last_action: t[12].clone(),
            host: t[13].clone(),
            ..Session::default()
        });
    (prop::collection::vec(row, 0..5), nasty()).prop_map(|(rows, error)| Board {
        sources: vec![Source {
            name: "codex".into(),
            state: "failed".into(),
            error,
            ..Source::default()
        }],
        ..of(rows)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn c53_hostile_texts_are_inert_in_every_form(board in nasty_board()) {
        for form in FORMS {
            let text = printed(form, &board, &Look::default());
            prop_assert!(inert(&text), "{:?}: {:?}", form, text);
            let lines = match form {
                Form::Human => 2 + board.sessions.len(),
                Form::Jsonl | Form::Tsv => board.sessions.len(),
                _ => 1,
            };
            prop_assert_eq!(text.lines().count(), lines, "{:?}: {:?}", form, text);
        }
    }

    #[test]
    fn c50_no_line_is_wider_than_the_terminal_and_every_row_has_its_status(board in nasty_board(), columns in 40..=200usize, zh in any::<bool>(), ascii in any::<bool>()) {
        let look = Look {
            width: Some(columns),
            legend: true,
            lang: if zh { Lang::ZhTw } else { Lang::En },
            markers: if ascii { Markers::Ascii } else { Markers::Emoji },
            ..Look::default()
        };
        let text = printed(Form::Human, &board, &look);
        for line in text.lines() {
            prop_assert!(width(line) <= columns, "{} > {columns}: {:?}", width(line), line);
        }
        for (line, s) in text.lines().skip(1).zip(&board.sessions) {
            let status = format!("{} {}", look.markers.of_status(&s.status), look.lang.status(&s.status));
            prop_assert!(line.starts_with(&status), "{:?}", line);
        }
    }

    #[test]
    fn c50_columns_begin_where_they_begin_in_every_row(board in nasty_board(), columns in 40..=200usize) {
        let look = Look { width: Some(columns), ..Look::default() };
        let text = printed(Form::Human, &board, &look);
        // AGE stands right-aligned in front of the same column, whatever stands before it
        let ends: Vec<usize> = text.lines().skip(1).zip(&board.sessions).filter_map(|(line, s)| {
            let age = ring_session::time::human_span(s.age_ms);
            let before = line.match_indices(&age).map(|(i, _)| width(&line[..i]) + age.len()).collect::<Vec<_>>();
            (before.len() == 1).then(|| before[0])
        }).collect();
        prop_assert!(ends.windows(2).all(|w| w[0] == w[1]), "{:?}: {}", ends, text);
    }

    #[test]
    fn c50_colour_changes_no_column(board in nasty_board(), columns in 40..=200usize) {
        let plain = Look { width: Some(columns), ..Look::default() };
        let coloured = Look { colour: true, palette: Palette::new(&Settings::default().colors), ..plain.clone() };
        let text = printed(Form::Human, &board, &coloured);
        let mut stripped = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            stripped.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        stripped.push_str(rest);
        prop_assert_eq!(stripped, printed(Form::Human, &board, &plain));
    }
}
