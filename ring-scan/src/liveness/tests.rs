use super::*;
use Verdict::{Alive, Foreign, Gone, Near, Unknown};

fn here() -> Stamp {
    Stamp {
        host: "box".into(),
        boot: "9a3c1d20".into(),
        pid_ns: 1,
        ..Stamp::default()
    }
}

fn host(name: &str, boot: &str, pid_ns: u64) -> Host {
    Host {
        name: name.into(),
        boot: boot.into(),
        pid_ns,
        ..Host::default()
    }
}

fn process(pid: u32, server: bool) -> Recorded {
    Recorded {
        pid,
        start_ticks: 7,
        name: "codex".into(),
        server,
        ..Recorded::default()
    }
}

/// A session of an agent that can be told, with a readable table, and nothing else known of it.
fn known<'a>() -> Known<'a> {
    Known {
        table: true,
        detector: true,
        ..Known::default()
    }
}

#[test]
fn the_verdict_is_the_first_row_of_the_table_that_applies() {
    let ours = host("box", "9a3c1d20", 1);
    let rebooted = host("box", "00000000", 1);
    let container = host("box", "9a3c1d20", 2);
    let other = host("laptop", "00000000", 2);
    let single = process(42, false);
    let server = process(42, true);
    let nobody = process(0, false);
    let of = |process, host, look| Known {
        recorded: Some((process, host)),
        look: Some(look),
        ..known()
    };
    let table: Vec<(&str, Known, Verdict)> = vec![
        ("c19 another boot", of(&single, &rebooted, Look::Same), Gone),
        ("c20 another namespace", of(&single, &container, Look::Gone), Foreign),
        ("c20 another host", of(&single, &other, Look::Gone), Foreign),
        (
            "c21 table unreadable",
            Known {
                table: false,
                look: None,
                ..of(&single, &ours, Look::Gone)
            },
            Unknown,
        ),
        (
            "c21 table unreadable, nothing recorded",
            Known {
                table: false,
                ..known()
            },
            Unknown,
        ),
        ("c19 absent, zombie, other ticks", of(&single, &ours, Look::Gone), Gone),
        ("c19 equal ticks", of(&single, &ours, Look::Same), Alive),
        ("c19 ticks unreadable", of(&single, &ours, Look::Unknown), Unknown),
        ("c73 server absent", of(&server, &ours, Look::Gone), Gone),
        ("server there", of(&server, &ours, Look::Same), Near),
        (
            "c81 server let go",
            Known {
                lock: Lock::Free,
                takes_locks: true,
                ..of(&server, &ours, Look::Same)
            },
            Gone,
        ),
        (
            "server there, an old version without locks",
            Known {
                lock: Lock::Free,
                ..of(&server, &ours, Look::Same)
            },
            Near,
        ),
        (
            "c81 server holds the lock",
            Known {
                joined: Some(42),
                lock: Lock::Held(42),
                takes_locks: true,
                ..of(&server, &ours, Look::Same)
            },
            Alive,
        ),
        (
            "resumed in another process",
            Known {
                joined: Some(43),
                ..of(&single, &ours, Look::Gone)
            },
            Alive,
        ),
        (
            "joined by its id",
            Known {
                joined: Some(42),
                ..known()
            },
            Alive,
        ),
        (
            "c79 live record of another machine",
            Known {
                foreign: true,
                ..known()
            },
            Foreign,
        ),
        ("near", Known { near: true, ..known() }, Near),
        (
            "no pid recorded, near",
            Known {
                near: true,
                ..of(&nobody, &ours, Look::Gone)
            },
            Near,
        ),
        (
            "lock free although a process is near",
            Known {
                near: true,
                lock: Lock::Free,
                takes_locks: true,
                ..known()
            },
            Gone,
        ),
        ("no process at all", known(), Gone),
        (
            "c31 no detector",
            Known {
                detector: false,
                ..known()
            },
            Unknown,
        ),
    ];
    for (name, known, expected) in table {
        assert_eq!(verdict(&known, &here()), expected, "{name}");
    }
}

fn seeker(session: usize, folders: &[&str], hook: bool, mark_ms: Ms) -> Seeker {
    Seeker {
        session,
        agent: "claude-code".into(),
        folders: folders.iter().map(PathBuf::from).collect(),
        hook,
        mark_ms,
    }
}

fn candidate(pid: u32, cwd: &str, start_ms: Ms) -> Candidate {
    Candidate {
        pid,
        agent: "claude-code",
        cwd: cwd.into(),
        start_ms,
    }
}

fn claimed(seekers: &[Seeker], candidates: &[Candidate]) -> Vec<(usize, u32)> {
    let mut claims: Vec<(usize, u32)> = claims(seekers, candidates).into_iter().collect();
    claims.sort_unstable();
    claims
}

#[test]
fn c23_n_processes_in_a_folder_keep_the_n_newest_records() {
    let records = [
        seeker(0, &["/w"], false, 100),
        seeker(1, &["/w"], false, 300),
        seeker(2, &["/w"], false, 200),
    ];
    assert_eq!(claimed(&records, &[candidate(7, "/w", 50)]), [(1, 7)]);
    let two = [candidate(7, "/w", 50), candidate(8, "/w", 60)];
    assert_eq!(claimed(&records, &two), [(1, 8), (2, 7)]);
}

#[test]
fn a_record_older_than_the_process_is_not_its_own() {
    let records = [seeker(0, &["/w"], false, 100)];
    assert_eq!(claimed(&records, &[candidate(7, "/w", 101)]), []);
    assert_eq!(claimed(&records, &[candidate(7, "/w", 100)]), [(0, 7)]);
}

#[test]
fn c22_a_hook_row_may_be_in_a_folder_below_by_whole_parts() {
    let below = [seeker(0, &["/w/app/src"], true, 100)];
    assert_eq!(claimed(&below, &[candidate(7, "/w/app", 1)]), [(0, 7)]);
    assert_eq!(claimed(&below, &[candidate(7, "/", 1)]), [(0, 7)]);
    assert_eq!(claimed(&below, &[candidate(7, "/w/ap", 1)]), []);
    let record = [seeker(0, &["/w/app/src"], false, 100)];
    assert_eq!(claimed(&record, &[candidate(7, "/w/app", 1)]), []);
}

#[test]
fn a_process_above_keeps_a_hook_row_only_while_no_nearer_session_claims_it() {
    let sessions = [
        seeker(0, &["/w/app/src"], true, 300),
        seeker(1, &["/w/app"], false, 100),
    ];
    assert_eq!(claimed(&sessions, &[candidate(7, "/w/app", 1)]), [(1, 7)]);
    let two = [
        seeker(0, &["/w/app/src/deep"], true, 300),
        seeker(1, &["/w/app/src"], true, 100),
    ];
    assert_eq!(claimed(&two, &[candidate(7, "/w/app", 1)]), [(1, 7)]);
}

#[test]
fn other_agents_processes_are_nobodys() {
    let mut other = candidate(7, "/w", 1);
    other.agent = "codex";
    assert_eq!(claimed(&[seeker(0, &["/w"], true, 100)], &[other]), []);
}
