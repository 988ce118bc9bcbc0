//! What two runs at once keep when one of them is killed or its disk fails, with outlets that are slow, fail, hang or lie:
//! each item reaches each outlet at most once, and none is lost.

use crate::harness::{Home, MINUTE, SECOND, count, eventually, parse, signal, start, str_of, text};
use crate::server::{Reply, Server};
use crate::trace::{self, Point};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// So many cases run beside each other: most of their time they wait for outlets.
const WORKERS: usize = 6;

/// Does something with each of some cases, several at once.
fn beside<T: Sync>(cases: &[T], run: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(cases.len()) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    run(case);
                }
            });
        }
    });
}

type Outlet = (&'static str, &'static str);

/// What outlets do with the message on their stdin, and with the file of their name in `$1`.
const SLOW: Outlet = ("slow", "sleep 0.1; cat >> \"$1\"");
const FAILS: Outlet = ("fails", "cat >> \"$1\"; exit 3");
/// It takes the message and does not live to say so.
const DIES: Outlet = ("dies", "cat >> \"$1\"; kill -9 $$");
/// It says that it has taken what it has not.
const LIES: Outlet = ("lies", "cat > /dev/null");
/// It takes the message and is never done.
const HANGS: Outlet = ("hangs", "cat >> \"$1\"; exec sleep 600");

/// Two unread results and a wait.
struct Scene {
    home: Home,
    sessions: Vec<String>,
    notify: &'static str,
    outlets: &'static [Outlet],
}

impl Scene {
    fn new(notify: &'static str, outlets: &'static [Outlet]) -> Scene {
        let home = Home::bare();
        let mut sessions = Vec::new();
        for n in 0..2 {
            home.after(n);
            sessions.push(home.turn("Build", MINUTE, &["error", "--error-code", "E"]).id);
        }
        home.after(3).asks("s1", "git push");
        Scene {
            home,
            sessions,
            notify,
            outlets,
        }
    }

    /// The same in a home of its own, whose outlets write there.
    fn copy(&self) -> Home {
        let home = Home::bare();
        let copied = Command::new("cp")
            .arg("-a")
            .arg(self.home.state())
            .arg(home.path(""))
            .status();
        assert!(copied.unwrap().success());
        let mut config = format!("[notify]\nrepeat_max = 0\n{}\n", self.notify);
        for (name, script) in self.outlets {
            let file = home.path(name).display().to_string();
            // a file for each that has not ended; whoever was killed leaves it behind
            let head = format!("set -- '{file}'; : > \"$1.$$\"; trap 'rm -f \"$1.$$\"' EXIT");
            config.push_str(&home.script(name, &format!("{head}; {script}"), ""));
        }
        home.config(&config);
        home.after(4);
        home
    }

    /// Everything that must not change: the inbox.
    fn inbox(&self, home: &Home) -> Vec<Vec<u8>> {
        let file = |id: &String| fs::read(home.path("state/sessions").join(id).join("session.json")).unwrap();
        self.sessions.iter().map(file).collect()
    }

    /// How often each item has reached each outlet, alone or in a summary.
    fn reached(&self, home: &Home) -> BTreeMap<(String, &'static str), usize> {
        let mut reached = BTreeMap::new();
        for (name, _) in self.outlets {
            for message in home.messages(name) {
                let items = message["items"].as_array().unwrap().clone();
                for item in if items.is_empty() { vec![message] } else { items } {
                    *reached.entry((str_of(&item["id"]), *name)).or_default() += 1;
                }
            }
        }
        reached
    }

    /// What holds when all runs have ended, and one more, which nobody kills, has looked.
    fn check(&self, home: &Home, what: &str) {
        let out = home.after(5).run(&["ring-notify", "deliver"], "");
        assert_eq!(out.status.code(), Some(0), "{what}: {}", text(&out.stderr));
        eventually("the end of the outlets", || !self.is_sending(home));
        assert_eq!(self.inbox(home), self.inbox(&self.home), "{what}: the inbox");
        let ledger = home.ledger();
        let items = ledger["items"].as_object().unwrap();
        assert_eq!(items.len(), 3, "{what}: {ledger}");
        let reached = self.reached(home);
        for (name, _) in self.outlets {
            for (id, item) in items {
                let to = &item["to"][name];
                let times = reached.get(&(id.clone(), *name)).copied().unwrap_or(0);
                let fine = match (*name, to["state"].as_str().unwrap_or_default()) {
                    ("slow", "sent") => times == 1,
                    ("fails", "retry") => times == 1,
                    ("lies", "sent" | "unconfirmed") => times == 0,
                    ("slow" | "fails" | "dies" | "hangs", "unconfirmed") => times <= 1,
                    _ => false,
                };
                assert!(fine, "{what}: {id} has reached {name} {times} times: {to}");
            }
        }
        // and so it stays
        home.after(6).deliver();
        assert_eq!(self.reached(home), reached, "{what}");
    }

    /// Whether an outlet has not ended. One that was killed has left its file.
    fn is_sending(&self, home: &Home) -> bool {
        let entries = fs::read_dir(home.path("")).unwrap().flatten();
        let names: Vec<String> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
        let pids = names
            .iter()
            .filter_map(|n| n.split_once('.'))
            .filter(|(name, _)| *name != HANGS.0 && self.outlets.iter().any(|(outlet, _)| outlet == name));
        pids.map(|(_, pid)| Path::new("/proc").join(pid)).any(|p| p.exists())
    }

    /// Ends the outlets that hang because their run was killed.
    fn end_hanging(&self, home: &Home) {
        let folder = home.path("").canonicalize().unwrap();
        for entry in fs::read_dir(home.path("")).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let Some(pid) = name.strip_prefix("hangs.") else {
                continue;
            };
            // only one of this home: by now the number may be another's
            if fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|f| f == folder) {
                assert!(Command::new("kill").args(["-9", pid]).status().is_ok());
            }
        }
    }
}

fn words() -> Vec<String> {
    vec!["deliver".to_owned()]
}

/// Kills one of two runs, and one alone, at each call that it makes.
fn killed_at_every_call(scene: &Scene) {
    if !trace::works() {
        return;
    }
    let points = trace::points(&scene.copy(), &words(), b"");
    assert!(points.iter().any(|p| p.call.starts_with("rename")), "{points:?}");
    let names: Vec<&str> = scene.outlets.iter().map(|(name, _)| *name).collect();
    println!("{names:?}: {} calls", points.len());
    beside(&points, |point: &Point| {
        let what = format!("{names:?} killed at {} {}: {}", point.call, point.n, point.line);
        let home = scene.copy();
        let other = start(&mut home.command(&["ring-notify", "deliver"]), b"");
        trace::kill(&home, &words(), b"", point);
        let out = other.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{what}: {}", text(&out.stderr));
        scene.check(&home, &what);
        // alone: then it is certain that it gets there
        let home = scene.copy();
        let out = trace::kill(&home, &words(), b"", point);
        assert!(!out.status.success(), "{what}: {out:?}");
        scene.check(&home, &what);
    });
}

#[test]
fn n54_killed_at_any_call_with_a_slow_outlet_each_item_arrives_once() {
    killed_at_every_call(&Scene::new("", &[SLOW]));
}

#[test]
fn n54_killed_at_any_call_with_an_outlet_that_fails_nothing_arrives_twice() {
    killed_at_every_call(&Scene::new("", &[FAILS]));
}

#[test]
fn n54_killed_at_any_call_with_an_outlet_that_lies_or_dies_nothing_arrives_twice() {
    killed_at_every_call(&Scene::new("", &[LIES]));
    killed_at_every_call(&Scene::new("", &[DIES]));
}

#[test]
fn n54_killed_at_any_call_a_summary_arrives_once() {
    killed_at_every_call(&Scene::new("burst_max = 2", &[SLOW]));
}

#[test]
fn n54_killed_at_any_call_beside_other_outlets_nothing_arrives_twice() {
    killed_at_every_call(&Scene::new("burst_max = 2", &[SLOW, FAILS, LIES, DIES]));
}

/// One that hangs is ended after ten seconds: there is one message, and the cases wait beside each other.
#[test]
fn n54_killed_at_any_call_with_an_outlet_that_hangs_nothing_arrives_twice() {
    if !trace::works() {
        return;
    }
    let scene = Scene::new("burst_max = 2", &[HANGS]);
    let points = trace::points(&scene.copy(), &words(), b"");
    std::thread::scope(|scope| {
        for point in &points {
            let scene = &scene;
            scope.spawn(move || {
                let home = scene.copy();
                let what = format!("killed at {} {}: {}", point.call, point.n, point.line);
                let other = start(&mut home.command(&["ring-notify", "deliver"]), b"");
                trace::kill(&home, &words(), b"", point);
                assert!(other.wait_with_output().unwrap().status.success(), "{what}");
                scene.check(&home, &what);
                scene.end_hanging(&home);
            });
        }
    });
}

/// Moments rather than calls: the threads that send to several outlets are hit, too.
#[test]
fn n54_killed_at_any_moment_with_several_outlets_nothing_arrives_twice() {
    let scene = Scene::new("", &[SLOW, FAILS, LIES, DIES]);
    let moments: Vec<u64> = (0..36).map(|n| n * 12).collect();
    beside(&moments, |moment| {
        let home = scene.copy();
        let mut one = start(&mut home.command(&["ring-notify", "deliver"]), b"");
        let other = start(&mut home.command(&["ring-notify", "deliver"]), b"");
        std::thread::sleep(Duration::from_millis(*moment));
        signal(&one, "KILL");
        one.wait().unwrap();
        assert!(other.wait_with_output().unwrap().status.success());
        scene.check(&home, &format!("killed after {moment} ms"));
    });
}

#[test]
fn n68_where_any_call_fails_nothing_arrives_twice_and_what_was_not_stored_is_not_sent() {
    if !trace::works() {
        return;
    }
    let scene = Scene::new("", &[SLOW]);
    let points = trace::points(&scene.copy(), &words(), b"");
    let refused = AtomicUsize::new(0);
    let cases: Vec<(usize, Point)> = points.into_iter().enumerate().collect();
    beside(&cases, |(place, point)| {
        let error = ["ENOSPC", "EIO", "EACCES", "EDQUOT"][place % 4];
        // a disk stays full; but who writes no more cannot say so, and who opens nothing reads nothing
        let stays = !["write", "openat"].contains(&point.call.as_str());
        let home = scene.copy();
        let out = trace::fail(&home, &words(), b"", point, error, stays);
        let what = format!("{error} at {} {}: {}", point.call, point.n, point.line);
        let said = text(&out.stderr);
        match out.status.code() {
            Some(74) => {
                refused.fetch_add(1, Ordering::Relaxed);
                assert!(out.stdout.is_empty() && said.ends_with("[IO]\n"), "{what}: {said}");
                assert!(home.messages("slow").is_empty(), "{what}: {said}");
                home.deliver();
            }
            status => assert_eq!(status, Some(0), "{what}: {said}"),
        }
        assert_eq!(home.messages("slow").len(), 3, "{what}: {said}");
        scene.check(&home, &what);
        assert_eq!(home.messages("slow").len(), 3, "{what}");
    });
    assert!(refused.into_inner() > 3, "the claim can fail at several calls");
}

#[test]
fn n54_a_claim_whose_owner_was_killed_is_unconfirmed_and_is_not_sent_again() {
    for again in [false, true] {
        let server = Server::start(&[Reply::Silence]);
        let home = Home::bare();
        let webhook = server.webhook("probe", &format!("retry_unconfirmed = {again}"));
        home.config(&format!("[notify]\nrepeat_max = 0\n{webhook}"));
        home.asks("s1", "git push");
        let mut run = start(&mut home.command(&["ring-notify", "deliver"]), b"");
        eventually("the request", || server.requests().len() == 1);
        signal(&run, "KILL");
        run.wait().unwrap();
        assert_eq!(home.stands("wait.permission")["state"], "claimed");
        let report = home.after(SECOND).deliver();
        assert_eq!(count(&report, "unconfirmed"), 1, "{report}");
        let to = home.stands("wait.permission");
        assert_eq!(to["error"], "owner_lost");
        assert_eq!(to["state"], if again { "retry" } else { "unconfirmed" });
        let told = home.events("notify_unconfirmed");
        assert_eq!((told.len(), &told[0]["error"]), (1, &json!("owner_lost")));
        home.after(12 * SECOND).deliver();
        home.after(MINUTE).deliver();
        let requests = server.requests();
        assert_eq!(requests.len(), 1 + usize::from(again));
        if again {
            assert_eq!(
                requests[0].header("idempotency-key"),
                requests[1].header("idempotency-key")
            );
            assert!(requests[0].header("idempotency-key").is_some());
            let (one, two): (Value, Value) = (parse(&requests[0].body), parse(&requests[1].body));
            assert_eq!((&one["id"], &one["ring"]), (&two["id"], &two["ring"]));
            assert_eq!(home.stands("wait.permission")["state"], "sent");
        }
    }
}

#[test]
fn n54_a_summary_that_is_sent_again_has_the_same_key() {
    let server = Server::start(&[Reply::Close, Reply::Status(503, "")]);
    let home = Home::bare();
    let webhook = server.webhook("probe", "retry_unconfirmed = true");
    home.config(&format!("[notify]\nrepeat_max = 0\n{webhook}"));
    for session in ["s1", "s2", "s3", "s4"] {
        home.asks(session, "git push");
    }
    for second in [0, 10, 40] {
        home.after(second * SECOND).deliver();
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let keys: Vec<_> = requests.iter().map(|r| r.header("idempotency-key")).collect();
    assert!(keys[0].is_some() && keys.iter().all(|k| *k == keys[0]), "{keys:?}");
    assert!(
        requests
            .iter()
            .all(|r| parse(&r.body)["items"].as_array().unwrap().len() == 4)
    );
}

#[test]
fn n54_a_claim_that_is_too_old_is_given_up_and_its_owners_late_result_counts() {
    let home = Home::bare();
    let (probe, gate) = (home.path("probe"), home.path("gate"));
    let script = format!(
        "cat >> '{}'; while test ! -e '{}'; do sleep 0.02; done",
        probe.display(),
        gate.display()
    );
    home.config(&format!(
        "[notify]\nrepeat_max = 0\n{}",
        home.script("probe", &script, "retry_unconfirmed = true")
    ));
    home.asks("s1", "git push");
    let run = start(&mut home.command(&["ring-notify", "deliver"]), b"");
    eventually("the message", || home.messages("probe").len() == 1);
    home.after(119 * SECOND).deliver();
    assert_eq!(home.stands("wait.permission")["state"], "claimed");
    home.after(121 * SECOND).deliver();
    assert_eq!(home.stands("wait.permission")["state"], "retry");
    fs::write(gate, "").unwrap();
    assert!(run.wait_with_output().unwrap().status.success());
    assert_eq!(home.stands("wait.permission")["state"], "sent");
    home.after(200 * SECOND).deliver();
    assert_eq!(home.taken().len(), 1);
}
