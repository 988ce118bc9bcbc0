use super::*;
use proptest::prelude::*;

fn stat(comm: &[u8], state: char, ticks: u64) -> Vec<u8> {
    let mut line = b"4242 (".to_vec();
    line.extend(comm);
    line.extend(
        format!(") {state} 41 4242 4242 34819 4242 4194560 1 2 3 4 5 6 7 8 20 0 1 0 {ticks} 9 9 9\n").into_bytes(),
    );
    line
}

#[test]
fn fields_count_from_the_last_bracket_whatever_the_name_is() {
    for comm in [
        &b"claude"[..],
        b"a b",
        b") S 1 (",
        b"((",
        b"))",
        b"",
        b"x) Z 1 1 1 1 1",
        b"\xff\xfe",
        b"new\nline",
        b"tmux: server",
    ] {
        let found = parse_stat(&stat(comm, 'S', 20_095_994)).unwrap();
        assert_eq!((found.pid, found.ppid, found.tty_nr), (4242, 41, 34819));
        assert_eq!((found.state, found.start_ticks), ('S', 20_095_994));
        assert_eq!(found.comm, String::from_utf8_lossy(comm));
    }
}

#[test]
fn a_line_that_is_cut_or_no_stat_is_nothing() {
    let whole = stat(b"claude", 'S', 7);
    for text in [
        &b""[..],
        b"4242",
        b"()",
        b")(",
        b"4242 (x) S",
        b"x (claude) S 1 2 3 4",
        &whole[..40],
        b"4242 (x) S a b c d",
    ] {
        assert_eq!(parse_stat(text), None, "{:?}", String::from_utf8_lossy(text));
    }
}

#[test]
fn this_process_is_found_and_its_stamp_is_not_dead() {
    let pid = std::process::id();
    let Look::Found(found) = look(pid) else { panic!() };
    assert_eq!(found.pid, pid);
    let stamp = Stamp::of(pid).unwrap();
    assert!(stamp.start_ticks > 0 && stamp.boot.len() == 8 && !stamp.host.is_empty() && stamp.pid_ns > 0);
    assert!(!stamp.is_dead(&Stamp::nobody(), look));
}

#[test]
fn a_child_that_has_ended_is_dead_first_as_a_zombie_and_then_as_absent() {
    let mut child = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let stamp = Stamp::of(child.id()).unwrap();
    assert!(!stamp.is_dead(&Stamp::nobody(), look));
    child.kill().unwrap();
    // not waited for yet: a zombie, as soon as the signal is there
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !stamp.is_dead(&Stamp::nobody(), look) {
        assert!(std::time::Instant::now() < limit);
        std::thread::yield_now();
    }
    assert!(matches!(look(child.id()), Look::Found(s) if s.state == 'Z'));
    child.wait().unwrap();
    assert_eq!(look(stamp.pid), Look::Gone);
    assert!(stamp.is_dead(&Stamp::nobody(), look));
}

/// The rule of ring(5), STAMP, as a table: what differs from a living process, what a look finds, dead or no proof.
#[test]
fn c19_dead_is_only_what_is_proven() {
    let here = Stamp {
        host: "box".into(),
        boot: "9a3c1d20".into(),
        pid_ns: 4_026_531_836,
        pid: 0,
        start_ticks: 0,
    };
    let alive = Stamp {
        pid: 4242,
        start_ticks: 7,
        ..here.clone()
    };
    let found = |state, start_ticks| {
        Look::Found(ProcessStat {
            pid: 4242,
            state,
            start_ticks,
            ..ProcessStat::default()
        })
    };
    let table: Vec<(&str, Stamp, Look, bool)> = vec![
        ("equal ticks", alive.clone(), found('S', 7), false),
        ("absent", alive.clone(), Look::Gone, true),
        ("zombie", alive.clone(), found('Z', 7), true),
        ("dead letter", alive.clone(), found('X', 7), true),
        ("stopped", alive.clone(), found('T', 7), false),
        ("other ticks", alive.clone(), found('S', 8), true),
        ("unreadable", alive.clone(), Look::Unreadable, false),
        (
            "other boot",
            Stamp {
                boot: "00000000".into(),
                ..alive.clone()
            },
            found('S', 7),
            true,
        ),
        (
            "other boot, nobody named",
            Stamp {
                boot: "00000000".into(),
                pid: 0,
                ..alive.clone()
            },
            Look::Gone,
            true,
        ),
        (
            "other host",
            Stamp {
                host: "else".into(),
                ..alive.clone()
            },
            Look::Gone,
            false,
        ),
        (
            "other host and boot",
            Stamp {
                host: "else".into(),
                boot: "00000000".into(),
                ..alive.clone()
            },
            Look::Gone,
            false,
        ),
        (
            "other namespace",
            Stamp {
                pid_ns: 1,
                ..alive.clone()
            },
            Look::Gone,
            false,
        ),
        (
            "nobody named",
            Stamp {
                pid: 0,
                ..alive.clone()
            },
            Look::Gone,
            false,
        ),
        (
            "boot unknown",
            Stamp {
                boot: String::new(),
                ..alive.clone()
            },
            Look::Gone,
            false,
        ),
    ];
    for (case, stamp, seen, dead) in table {
        assert_eq!(stamp.is_dead(&here, |_| seen.clone()), dead, "{case}");
    }
    let no_boot = Stamp {
        boot: String::new(),
        ..here
    };
    assert!(!alive.is_dead(&no_boot, |_| Look::Gone), "own boot unknown");
}

#[test]
fn a_stamp_reads_what_others_wrote_and_fills_what_is_missing() {
    let text = r#"{"host":"box","boot":"9a3c1d20","pid_ns":4026531836,"pid":4242,"start_ticks":20095994}"#;
    let stamp: Stamp = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&stamp).unwrap(), text);
    assert_eq!(serde_json::from_str::<Stamp>("{}").unwrap(), Stamp::default());
}

#[test]
fn the_holder_of_a_lock_is_found_in_the_systems_table() {
    let table = "1: POSIX  ADVISORY  WRITE 1 fe:00:10011459 0 EOF\n\
                 2: FLOCK  ADVISORY  WRITE 2 fe:01:10011459 0 EOF\n\
                 3: -> FLOCK  ADVISORY  WRITE 3 fe:00:10011459 0 EOF\n\
                 4: FLOCK  ADVISORY  WRITE 13495 fe:00:10011459 0 EOF\n\
                 5: FLOCK  ADVISORY  WRITE 0 08:00:7 0 EOF\nnonsense\n\n6: FLOCK\n";
    assert_eq!(parse_locks(table, 0xfe00, 10_011_459), Some(13_495));
    assert_eq!(parse_locks(table, 0xfe00, 1), None);
    assert_eq!(
        parse_locks(table, 0x800, 7),
        None,
        "a holder in another namespace has no id"
    );
    assert_eq!(parse_locks("", 0, 0), None);
}

proptest! {
    #[test]
    fn any_bytes_are_a_stat_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        parse_stat(&bytes);
    }

    #[test]
    fn any_name_leaves_the_other_fields_right(comm in proptest::collection::vec(any::<u8>(), 0..16), ticks: u64) {
        let found = parse_stat(&stat(&comm, 'R', ticks)).unwrap();
        prop_assert_eq!((found.pid, found.ppid, found.tty_nr, found.state, found.start_ticks), (4242, 41, 34819, 'R', ticks));
    }

    #[test]
    fn any_table_of_locks_is_read(table in "(?s).{0,200}", device: u64, inode: u64) {
        parse_locks(&table, device, inode);
    }
}
