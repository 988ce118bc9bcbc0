use super::*;
use proptest::prelude::*;

fn row(key: &str, status: &str, since_ms: i64) -> Session {
    let id = key.split(':').next_back().unwrap_or_default();
    Session {
        key: key.into(),
        session_id: id.into(),
        status: status.into(),
        since_ms,
        ..Session::default()
    }
}

fn keys(board: &Board) -> Vec<&str> {
    board.sessions.iter().map(|s| s.key.as_str()).collect()
}

fn of(sessions: Vec<Session>) -> Board {
    Board {
        sessions,
        ..Board::default()
    }
}

#[test]
fn c44_the_longest_wait_is_first_and_equal_times_go_by_key() {
    let rows = vec![
        row("b", "waiting", 20),
        row("z", "idle", 90),
        row("c", "waiting", 10),
        row("a", "waiting", 20),
        row("y", "idle", 95),
    ];
    assert_eq!(keys(&select(of(rows), &Filter::default())), ["c", "a", "b", "y", "z"]);
}

#[test]
fn c48_a_folder_matches_itself_and_what_is_below_by_whole_parts() {
    let at = |key: &str, cwd: &str| Session {
        cwd: cwd.into(),
        ..row(key, "idle", 0)
    };
    let rows = vec![at("a", "/w/app"), at("b", "/w/app/x"), at("c", "/w/apple"), at("d", "")];
    let filter = Filter {
        cwd: vec!["/w/app/".into()],
        ..Filter::default()
    };
    assert_eq!(keys(&select(of(rows.clone()), &filter)), ["a", "b"]);
    let filter = Filter {
        cwd: vec!["/w/apple".into(), "/w/app/x".into()],
        ..Filter::default()
    };
    assert_eq!(keys(&select(of(rows), &filter)), ["b", "c"]);
}

#[test]
fn c48_filters_combine_and_the_counts_are_those_of_what_passes() {
    let at = |key: &str, status: &str, agent: &str, project: &str, host: &str| Session {
        agent: agent.into(),
        project: project.into(),
        host: host.into(),
        ..row(key, status, 0)
    };
    let rows = vec![
        at("a", "waiting", "codex", "app", "box"),
        at("b", "waiting", "codex", "api", "box"),
        at("c", "working", "codex", "app", "box"),
        at("d", "waiting", "claude-code", "app", "box"),
        at("e", "waiting", "codex", "app", "other"),
    ];
    let filter = Filter {
        status: vec![Status::Waiting],
        agent: vec!["codex".into()],
        project: vec!["app".into()],
        host: vec!["box".into()],
        ..Filter::default()
    };
    let board = select(of(rows.clone()), &filter);
    assert_eq!(keys(&board), ["a"]);
    assert_eq!((board.counts.waiting, board.counts.working), (1, 0));
    let two = Filter {
        status: vec![Status::Waiting, Status::Working],
        limit: Some(2),
        ..Filter::default()
    };
    let board = select(of(rows), &two);
    assert_eq!(
        (board.sessions.len(), board.counts.waiting, board.counts.working),
        (2, 4, 1)
    );
}

#[test]
fn ended_rows_are_listed_only_if_asked_for_and_at_most_the_200_newest() {
    let rows: Vec<Session> = (0..300).map(|i| row(&format!("k{i:03}"), "ended", i)).collect();
    assert_eq!(select(of(rows.clone()), &Filter::default()).counts.ended, 0);
    for filter in [
        Filter {
            all: true,
            ..Filter::default()
        },
        Filter {
            status: vec![Status::Ended],
            ..Filter::default()
        },
    ] {
        let board = select(of(rows.clone()), &filter);
        assert_eq!(
            (board.counts.ended, keys(&board)[0], keys(&board)[199]),
            (200, "k299", "k100")
        );
    }
}

#[test]
fn a_hidden_row_passes_no_filter() {
    let rows = vec![Session {
        hidden: true,
        ..row("a", "idle", 0)
    }];
    assert!(
        select(
            of(rows),
            &Filter {
                all: true,
                ..Filter::default()
            }
        )
        .sessions
        .is_empty()
    );
}

#[test]
fn rows_can_be_sorted_by_other_columns() {
    let with = |key: &str, status: &str, since: i64, agent: &str, seen: i64| Session {
        agent: agent.into(),
        seen_ms: seen,
        ..row(key, status, since)
    };
    let rows = vec![
        with("a", "waiting", 30, "codex", 1),
        with("b", "working", 20, "claude-code", 3),
        with("c", "idle", 40, "codex", 2),
    ];
    let sorted = |sort| {
        keys(&select(
            of(rows.clone()),
            &Filter {
                sort,
                ..Filter::default()
            },
        ))
        .join("")
    };
    assert_eq!(sorted(Sort::Status), "abc");
    assert_eq!(sorted(Sort::Age), "cab");
    assert_eq!(sorted(Sort::Agent), "bac");
    assert_eq!(sorted(Sort::Seen), "bca");
}

fn found(id: &str) -> Result<String, Code> {
    let rows = [
        Session {
            record: "0198aaaa-1".into(),
            name: "api refactor".into(),
            ..row("codex:0199aaaa-1111", "idle", 0)
        },
        row("codex:0199bbbb-2222", "idle", 0),
        row("claude-code:0199bbbb-3333", "idle", 0),
        row("claude-code:same", "idle", 0),
        row("gemini:same", "idle", 0),
        row("claude-code:same@7", "idle", 0),
    ];
    find(&rows, id).map(|s| s.key.clone()).map_err(|r| r.code)
}

#[test]
fn an_id_is_a_key_a_session_id_a_record_a_name_or_a_unique_beginning() {
    for (id, key) in [
        ("codex:0199aaaa-1111", "codex:0199aaaa-1111"),
        ("0199aaaa-1111", "codex:0199aaaa-1111"),
        ("0198aaaa-1", "codex:0199aaaa-1111"),
        ("api refactor", "codex:0199aaaa-1111"),
        ("0199a", "codex:0199aaaa-1111"),
        ("api ", "codex:0199aaaa-1111"),
        ("codex:0199b", "codex:0199bbbb-2222"),
        ("claude-code:same", "claude-code:same"),
    ] {
        assert_eq!(found(id).as_deref(), Ok(key), "{id}");
    }
}

#[test]
fn an_id_that_is_several_or_none_is_refused() {
    assert_eq!(found("0199"), Err(Code::Ambiguous));
    assert_eq!(found("same"), Err(Code::Ambiguous));
    for id in ["nothing", "", "019", "api", "0199aaaa-1111x"] {
        assert_eq!(found(id), Err(Code::SessionNotFound), "{id}");
    }
    let rows = [
        row("codex:0199bbbb-2222", "idle", 0),
        row("codex:0199bbbb-3333", "idle", 0),
    ];
    let refusal = find(&rows, "0199bbbb").unwrap_err();
    assert_eq!(refusal.details["candidates"][1], "codex:0199bbbb-3333");
    assert!(refusal.message.contains("codex:0199bbbb-2222"), "{}", refusal.message);
}

proptest! {
    #[test]
    fn c44_the_order_does_not_depend_on_the_order_before(mut rows in prop::collection::vec((0..4usize, 0..3i64, "[a-c]{1,2}"), 0..20), sort in 0..6usize) {
        rows.sort_by(|a, b| a.2.cmp(&b.2));
        rows.dedup_by(|a, b| a.2 == b.2);
        let statuses = ["waiting", "working", "idle", "ended"];
        let sessions: Vec<_> = rows.iter().map(|(s, t, k)| row(k, statuses[*s], *t)).collect();
        let sort = [Sort::Status, Sort::Age, Sort::Agent, Sort::Project, Sort::Cwd, Sort::Seen][sort];
        let filter = Filter { all: true, sort, ..Filter::default() };
        let mut turned = sessions.clone();
        turned.reverse();
        let (one, other) = (select(of(sessions), &filter), select(of(turned), &filter));
        prop_assert_eq!(keys(&one), keys(&other));
    }
}
