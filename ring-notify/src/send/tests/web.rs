//! ntfy and webhooks against a web server.

use super::web_server::{Answer, OK, Web};
use super::{Fate, Job, said};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;

fn webhook(url: &str) -> Job {
    Job::new(json!({"type": "webhook", "url": url}))
}

fn fate(answer: Answer) -> (String, u128) {
    let web = Web::start(&[answer]);
    let told = webhook(&web.url("/hook")).send(&[]);
    (told.fate, told.took.as_millis())
}

#[test]
fn n55_what_a_server_answers_decides() {
    let retry = |error: &str, after_ms| {
        said(&Fate::Retry {
            error: error.into(),
            after_ms,
        })
    };
    let rows = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", said(&Fate::Sent)),
        ("HTTP/1.1 204 No Content\r\n\r\n", said(&Fate::Sent)),
        // the rest of a body does not matter
        ("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\nok", said(&Fate::Sent)),
        (
            "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
            retry("http 503", None),
        ),
        (
            "HTTP/1.1 503 Busy\r\nRetry-After: 60\r\n\r\n",
            retry("http 503", Some(60_000)),
        ),
        (
            "HTTP/1.1 429 Slow\r\nRetry-After: 999999\r\n\r\n",
            retry("http 429", Some(3_600_000)),
        ),
        (
            "HTTP/1.1 503 Busy\r\nRetry-After: Mon, 30 Nov 2026 12:00:30 GMT\r\n\r\n",
            retry("http 503", Some(30_000)),
        ),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            said(&Fate::failed("http 404")),
        ),
        ("HTTP/1.1 403 No\r\n\r\n", said(&Fate::failed("http 403"))),
        ("this is no answer\r\n\r\n", said(&Fate::unconfirmed("reset"))),
    ];
    for (answer, wanted) in rows {
        let web = Web::start(&[Answer::Says(answer)]);
        let told = webhook(&web.url("/hook")).send(&[("RING_NOW_MS", "1796040000000")]);
        assert_eq!(told.fate, wanted, "{answer:?}");
        assert_eq!(web.seen().len(), 1);
    }
}

#[test]
fn n58_a_redirect_is_not_followed() {
    let other = Web::start(&[OK]);
    let location = format!(
        "HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
        other.url("/")
    );
    let web = Web::start(&[Answer::Says(location.leak())]);
    assert_eq!(webhook(&web.url("/")).send(&[]).fate, said(&Fate::failed("http 302")));
    assert!(other.seen().is_empty());
}

#[test]
fn n56_a_server_that_never_answers_leaves_it_unconfirmed_within_11_seconds() {
    let (fate, ms) = fate(Answer::Hangs);
    assert_eq!(fate, said(&Fate::unconfirmed("timeout")));
    assert!((9_500..11_000).contains(&ms), "{ms}");
}

#[test]
fn n57_before_the_request_has_left_it_may_be_sent_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let told = webhook(&url).send(&[]);
    assert_eq!(told.fate, said(&Fate::retry("connect")));
    assert!(told.took.as_millis() < 4_000);
}

#[test]
fn a_connection_that_ends_after_the_request_leaves_it_unconfirmed() {
    assert_eq!(fate(Answer::Closes).0, said(&Fate::unconfirmed("reset")));
}

#[test]
fn n54_the_same_message_has_the_same_key() {
    let web = Web::start(&[OK]);
    let job = webhook(&web.url("/a/b?c=d"));
    assert_eq!(job.send(&[]).fate, said(&Fate::Sent));
    assert_eq!(job.send(&[]).fate, said(&Fate::Sent));
    let seen = web.seen();
    assert_eq!(seen.len(), 2);
    for request in seen {
        assert!(
            request.head.starts_with("POST /a/b?c=d HTTP/1.1\r\n"),
            "{}",
            request.head
        );
        assert_eq!(
            request.header("Idempotency-Key"),
            Some("wait:claude-code:3f2a:1/0/phone")
        );
        assert_eq!(request.header("Content-Type"), Some("application/json"));
        assert!(request.header("User-Agent").unwrap().starts_with("ring-notify/"));
        let json = request.json();
        let members: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let all = "agent body detail error_code id items kind location opened_ms project ring schema session \
                   session_title title tool urgent waiting_for";
        assert_eq!(members.len(), all.split_whitespace().count(), "{members:?}");
        assert!(all.split_whitespace().all(|m| members.contains(&m)));
        assert_eq!(json["title"], "api: needs permission");
    }
}

#[test]
fn n60_ntfy_keeps_the_path_and_any_script_and_sends_the_token() {
    let title = "审批 ждёт <b> $(x) \"quoted\" 🔔";
    let rows = [
        (json!({"url": "/base/", "topic": "mine"}), "/base/"),
        (json!({"url": "/base", "topic": "mine"}), "/base"),
        (json!({"url": "/base/mine"}), "/base/"),
        (json!({"url": "/mine"}), "/"),
        (json!({"url": "/mine/"}), "/"),
        (json!({"url": "/deep/er/mine?up=1"}), "/deep/er/?up=1"),
    ];
    for (mut way, path) in rows {
        let web = Web::start(&[Answer::Says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]);
        way["type"] = "ntfy".into();
        way["url"] = web.url(way["url"].as_str().unwrap()).into();
        way["token"] = json!({"env": "TOKEN"});
        let told = Job::titled(way, title, &["eins", "zwei"]).send(&[("TOKEN", "tk_secret")]);
        assert_eq!(told.fate, said(&Fate::Sent));
        let seen = web.only();
        assert!(
            seen.head.starts_with(&format!("POST {path} HTTP/1.1\r\n")),
            "{}",
            seen.head
        );
        assert_eq!(seen.header("Authorization"), Some("Bearer tk_secret"));
        assert_eq!(
            seen.json(),
            json!({"topic": "mine", "title": title, "message": "eins\nzwei"})
        );
        assert!(!told.all.contains("tk_secret"), "{}", told.all);
    }
}

#[test]
fn ntfy_has_a_priority_tags_and_an_address_to_open() {
    let sent = |way: Value, urgent: bool| {
        let web = Web::start(&[OK]);
        let mut all = json!({"type": "ntfy", "url": web.url("/mine")});
        all.as_object_mut().unwrap().extend(way.as_object().unwrap().clone());
        let mut job = Job::titled(all, "t", &[]);
        job.urgent = urgent;
        assert_eq!(job.send(&[]).fate, said(&Fate::Sent));
        web.only()
    };
    assert_eq!(sent(json!({}), false).json(), json!({"topic": "mine", "message": "t"}));
    assert_eq!(sent(json!({}), true).json()["priority"], 5);
    let all = json!({"priority": 2, "tags": ["bell"], "click": "https://x/", "user": "me", "password": "pw"});
    let seen = sent(all, true);
    let wanted = json!({"topic": "mine", "message": "t", "priority": 2, "tags": ["bell"], "click": "https://x/"});
    assert_eq!(seen.json(), wanted);
    assert_eq!(seen.header("authorization"), Some("Basic bWU6cHc="));
}

#[test]
fn a_topic_that_is_none_is_not_used() {
    for way in [
        json!({"url": "http://127.0.0.1:9/"}),
        json!({"url": "http://127.0.0.1:9/a%20b"}),
        json!({"url": "http://127.0.0.1:9/", "topic": "a/b"}),
        json!({"url": "http://127.0.0.1:9/", "topic": "x".repeat(65)}),
        json!({"url": "ntfy.sh/mine"}),
        json!({"topic": "mine"}),
    ] {
        let mut way = way;
        way["type"] = "ntfy".into();
        let told = Job::new(way.clone()).send(&[]);
        assert_eq!(told.fate, said(&Fate::not_usable()), "{way}");
        assert!(told.usable.starts_with("Err"), "{way}");
    }
}

#[test]
fn n61_a_secret_comes_from_a_file_or_the_environment_and_is_missed_without_being_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "tk_file \r\nsecond line\n").unwrap();
    let web = Web::start(&[OK]);
    let url = web.url("/mine");
    let job = |token: Value| Job::new(json!({"type": "ntfy", "url": url, "token": token}));
    assert_eq!(job(json!({"file": file})).send(&[]).fate, said(&Fate::Sent));
    assert_eq!(web.only().header("authorization"), Some("Bearer tk_file"));
    let home = folder.path().display().to_string();
    let told = job(json!({"file": "~/token"})).send(&[("HOME", &home)]);
    assert_eq!(told.fate, said(&Fate::Sent));
    for token in [
        json!({"file": "~/none"}),
        json!({"file": home}),
        json!({"file": "/dev/zero"}),
        json!({"env": "TOKEN"}),
        json!(" "),
        json!("tk_\u{7}x"),
    ] {
        let told = job(token).send(&[("HOME", &home), ("TOKEN", "")]);
        assert_eq!(told.fate, said(&Fate::not_usable()));
        assert!(told.usable.starts_with("Err(\""), "{}", told.usable);
        assert!(!told.all.contains("tk_"), "{}", told.all);
    }
    assert_eq!(web.seen().len(), 2);
}

#[test]
fn n60_n62_slack_and_discord_get_the_text_and_nobody_is_called() {
    let title = "<!channel> @everyone $(touch x) `touch x` & <b>";
    let sent = |preset: &str| {
        let web = Web::start(&[OK]);
        let way = json!({"type": "webhook", "preset": preset, "url": web.url("/")});
        assert_eq!(
            Job::titled(way, title, &["one", "two"]).send(&[]).fate,
            said(&Fate::Sent)
        );
        web.only().json()
    };
    let escaped = "&lt;!channel&gt; @everyone $(touch x) `touch x` &amp; &lt;b&gt;\none\ntwo";
    assert_eq!(sent("slack"), json!({"text": escaped, "mrkdwn": false}));
    let content = format!("{title}\none\ntwo");
    assert_eq!(
        sent("discord"),
        json!({"content": content, "allowed_mentions": {"parse": []}})
    );
    assert_eq!(sent("generic")["title"], title);
}

#[test]
fn discord_gets_2000_characters_at_most() {
    let web = Web::start(&[OK]);
    let way = json!({"type": "webhook", "preset": "discord", "url": web.url("/")});
    assert_eq!(
        Job::titled(way, "t", &[&"🔔".repeat(1_500)]).send(&[]).fate,
        said(&Fate::Sent)
    );
    let content = web.only().json()["content"].as_str().unwrap().to_owned();
    assert!((1_999..=2_000).contains(&content.encode_utf16().count()) && content.ends_with('…'));
}

#[test]
fn headers_of_the_settings_are_sent_and_win() {
    let web = Web::start(&[OK]);
    let headers = json!({"X-Key": {"env": "KEY"}, "content-type": "application/vnd.x+json"});
    let way = json!({"type": "webhook", "url": web.url("/"), "headers": headers});
    assert_eq!(Job::new(way).send(&[("KEY", "k1")]).fate, said(&Fate::Sent));
    let seen = web.only();
    assert_eq!(seen.header("x-key"), Some("k1"));
    assert_eq!(seen.header("content-type"), Some("application/vnd.x+json"));
    assert_eq!(seen.head.to_ascii_lowercase().matches("content-type").count(), 1);
}

#[test]
fn a_proxy_of_the_environment_is_used_and_what_it_refuses_may_be_sent_again() {
    let proxy = Web::start(&[Answer::Connects]);
    let address = proxy.url("");
    let job = webhook("http://ring.invalid/hook");
    assert_eq!(job.send(&[("http_proxy", &address)]).fate, said(&Fate::Sent));
    let seen = proxy.seen();
    assert!(
        seen[0].head.starts_with("CONNECT ring.invalid:80 HTTP/1.1"),
        "{}",
        seen[0].head
    );
    assert!(seen[1].head.starts_with("POST /hook HTTP/1.1"), "{}", seen[1].head);
    let refusing = Web::start(&[
        Answer::Says("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"),
        Answer::Closes,
    ]);
    let address = refusing.url("");
    for _ in 0..2 {
        let told = job.send(&[("all_proxy", &address)]);
        assert_eq!(told.fate, said(&Fate::retry("connect")));
    }
    let direct = Web::start(&[OK]);
    let variables = [("http_proxy", address.as_str()), ("no_proxy", "127.0.0.1")];
    assert_eq!(webhook(&direct.url("/")).send(&variables).fate, said(&Fate::Sent));
}

#[test]
fn a_socks_proxy_is_used_too() {
    let proxy = Web::start(&[Answer::Socks]);
    let address = format!("socks5h://127.0.0.1:{}", proxy.port);
    let told = webhook("http://ring.invalid/hook").send(&[("ALL_PROXY", &address)]);
    assert_eq!(told.fate, said(&Fate::Sent));
    let seen = proxy.seen();
    assert_eq!(seen[0].head, "SOCKS ring.invalid");
    assert!(seen[1].head.starts_with("POST /hook HTTP/1.1"), "{}", seen[1].head);
}
