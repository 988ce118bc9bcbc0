use super::*;
use proptest::prelude::*;
use std::fs;
use std::io::Write;

const WAIT: Duration = Duration::from_secs(5);

fn place() -> (tempfile::TempDir, StateDir) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(dir.path().join("state"));
    (dir, state)
}

fn tell(state: &StateDir, key: &str) {
    append(state, Line::new("status", 7).with("key", key).as_str(), WAIT).unwrap();
}

fn keys(events: &[Event]) -> Vec<String> {
    let key = |e: &Event| {
        serde_json::from_str::<serde_json::Value>(&e.text).unwrap()["key"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    events.iter().map(key).collect()
}

fn rotate(state: &StateDir) {
    crate::replace::set_aside(&state.events()).unwrap();
}

#[test]
fn a_line_holds_what_every_line_has_and_hostile_values_stay_inside_it() {
    let line = Line::new("turn_ended", 5)
        .of_record("r1", 9)
        .with("project", "/w/\n\"x")
        .with("reason", &None::<&str>);
    let value: serde_json::Value = serde_json::from_str(line.as_str()).unwrap();
    let expected = serde_json::json!(
        {"schema":1,"at_ms":5,"kind":"turn_ended","session":"r1","revision":9,"project":"/w/\n\"x","reason":null}
    );
    assert_eq!(value, expected);
    assert!(!line.as_str().contains('\n'));
}

#[test]
fn a_line_is_appended_under_the_lock_and_both_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, state) = place();
    tell(&state, "a");
    tell(&state, "b");
    assert_eq!(fs::read_to_string(state.events()).unwrap().lines().count(), 2);
    for path in [state.events(), state.events_lock()] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_held_lock_costs_the_line_and_says_so() {
    let (_dir, state) = place();
    let _held = Lock::acquire(&state.events_lock(), WAIT).unwrap();
    let refusal = append(&state, "{}", Duration::from_millis(5)).unwrap_err();
    assert_eq!(refusal.code, crate::Code::LockTimeout);
    assert!(!state.events().exists());
}

#[test]
fn at_eight_mebibytes_the_file_becomes_the_old_one() {
    let (_dir, state) = place();
    tell(&state, "first");
    let big = fs::OpenOptions::new().write(true).open(state.events()).unwrap();
    big.set_len(ROTATE_BYTES).unwrap();
    tell(&state, "second");
    assert_eq!(
        fs::metadata(state.root().join("events.jsonl.1")).unwrap().len(),
        ROTATE_BYTES
    );
    assert_eq!(fs::read_to_string(state.events()).unwrap().lines().count(), 1);
}

#[test]
fn many_writers_lose_and_tear_no_line() {
    let (_dir, state) = place();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let state = &state;
            scope.spawn(move || (0..50).for_each(|n| tell(state, &format!("{writer}:{n}"))));
        }
    });
    let mut follower = Follower::from_start(&state);
    let mut seen = keys(&follower.look().unwrap());
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), follower.skipped()), (400, 0));
}

#[test]
fn a_follower_gives_each_new_line_once() {
    let (_dir, state) = place();
    let mut early = Follower::from_now(&state).unwrap();
    assert_eq!(early.look().unwrap(), []);
    tell(&state, "a");
    let mut late = Follower::from_now(&state).unwrap();
    assert_eq!(keys(&early.look().unwrap()), ["a"]);
    tell(&state, "b");
    assert_eq!(keys(&early.look().unwrap()), ["b"]);
    assert_eq!(keys(&late.look().unwrap()), ["b"]);
    assert_eq!(early.look().unwrap(), []);
}

#[test]
fn a_follower_goes_on_across_one_and_two_rotations() {
    let (_dir, state) = place();
    let mut follower = Follower::from_now(&state).unwrap();
    tell(&state, "a");
    assert_eq!(keys(&follower.look().unwrap()), ["a"]);
    tell(&state, "b");
    rotate(&state);
    tell(&state, "c");
    assert_eq!(keys(&follower.look().unwrap()), ["b", "c"]);
    tell(&state, "d");
    rotate(&state);
    tell(&state, "e");
    rotate(&state);
    tell(&state, "f");
    assert_eq!(keys(&follower.look().unwrap()), ["d", "e", "f"]);
    rotate(&state);
    assert_eq!(follower.look().unwrap(), []);
    tell(&state, "g");
    assert_eq!(keys(&follower.look().unwrap()), ["g"]);
}

#[test]
fn a_follower_from_now_gives_no_old_line_even_if_the_new_file_is_not_there_yet() {
    let (_dir, state) = place();
    tell(&state, "a");
    rotate(&state);
    let mut follower = Follower::from_now(&state).unwrap();
    assert_eq!(follower.look().unwrap(), []);
    tell(&state, "b");
    assert_eq!(keys(&follower.look().unwrap()), ["b"]);
}

#[test]
fn a_follower_from_the_start_reads_the_old_file_too() {
    let (_dir, state) = place();
    tell(&state, "a");
    rotate(&state);
    tell(&state, "b");
    assert_eq!(keys(&Follower::from_start(&state).look().unwrap()), ["a", "b"]);
}

#[test]
fn bad_lines_are_skipped_and_counted_and_a_half_line_is_waited_for() {
    let (_dir, state) = place();
    tell(&state, "a");
    let mut raw = fs::OpenOptions::new().append(true).open(state.events()).unwrap();
    raw.write_all(b"nonsense\n\n[1]\n{\"kind\":3}\n{\"no\":1}\n\xff\xfe\n[\"status\",1,\"x\"]\n")
        .unwrap();
    raw.write_all(&vec![b'x'; 2 * 1024 * 1024]).unwrap();
    raw.write_all(b"\n{\"kind\":\"status\",\"key\":").unwrap();
    let mut follower = Follower::from_start(&state);
    assert_eq!(keys(&follower.look().unwrap()), ["a"]);
    assert_eq!(follower.skipped(), 7);
    raw.write_all(b"\"b\"}\n").unwrap();
    let events = follower.look().unwrap();
    assert_eq!(keys(&events), ["b"]);
    assert_eq!(
        (events[0].kind.as_str(), events[0].at_ms, events[0].session.as_str()),
        ("status", 0, "")
    );
}

#[test]
fn a_file_that_was_emptied_is_read_from_its_start() {
    let (_dir, state) = place();
    tell(&state, "a");
    let mut follower = Follower::from_now(&state).unwrap();
    fs::write(state.events(), "").unwrap();
    tell(&state, "b");
    fs::OpenOptions::new()
        .write(true)
        .open(state.events())
        .unwrap()
        .set_len(0)
        .unwrap();
    assert_eq!(follower.look().unwrap(), []);
    tell(&state, "c");
    assert_eq!(keys(&follower.look().unwrap()), ["c"]);
}

proptest! {
    #[test]
    fn whatever_a_value_is_a_line_is_one_object(kind in "\\PC{0,20}|\n", value in "(?s).{0,60}", name in "(?s).{1,20}") {
        prop_assume!(!["schema", "at_ms", "kind"].contains(&name.as_str()));
        let line = Line::new(&kind, -1).with(&name, &value);
        prop_assert!(!line.as_str().contains(['\n', '\r']));
        let read: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line.as_str()).unwrap();
        prop_assert_eq!(&read[&name], &serde_json::Value::from(value));
        prop_assert_eq!(&read["kind"], &serde_json::Value::from(kind));
    }

    #[test]
    fn any_bytes_are_followed_without_a_panic(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..6)) {
        let (_dir, state) = place();
        let mut follower = Follower::from_now(&state).unwrap();
        state.make(state.root()).unwrap();
        for piece in pieces {
            let mut raw = fs::OpenOptions::new().append(true).create(true).open(state.events()).unwrap();
            raw.write_all(&piece).unwrap();
            follower.look().unwrap();
        }
        tell(&state, "last");
        prop_assert_eq!(keys(&follower.look().unwrap()), ["last"]);
    }
}
