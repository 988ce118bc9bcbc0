//! HTTP: one POST, and what its answer or its failure means (ring-notify(1), RESULTS).
//!
//! An agent is built for one request and only for one that is due: it costs time, and it reads the system's certificates.

use super::Fate;
use super::phase::{Mark, Notes, Phase};
use super::proxy;
use crate::message::Message;
use ring_session::time::{self, Ms};
use std::time::Duration;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::http::{self, HeaderMap, HeaderName, HeaderValue, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, RustlsConnector, SocksConnector, TcpConnector};
use ureq::{Agent, Error, Proxy};

/// How long a connection may take, TLS included.
const CONNECT: Duration = Duration::from_secs(5);
/// How long all of it may take.
const WHOLE: Duration = Duration::from_secs(10);
/// What `Retry-After` may ask for, at most.
const LATEST: Ms = 3_600_000;
/// Headers that say how the bytes are framed.
const FRAMING: [&str; 4] = ["connection", "content-length", "expect", "transfer-encoding"];

/// What is to be sent.
#[derive(Debug)]
pub struct Request {
    /// To this address.
    pub uri: Uri,
    /// Beside those that every request has.
    pub headers: HeaderMap,
    /// JSON.
    pub body: serde_json::Value,
}

/// Sends a request, if it can be made at all.
pub fn send(request: Result<Request, String>, message: &Message) -> Fate {
    match request {
        Ok(request) => post(request, &message.key),
        Err(_) => Fate::not_usable(),
    }
}

fn post(request: Request, key: &str) -> Fate {
    let proxy = proxy::of(&request.uri);
    let notes = Notes::default();
    let agent = agent(proxy, &notes);
    let mut post = http::Request::new(request.body.to_string());
    *post.method_mut() = http::Method::POST;
    *post.uri_mut() = request.uri;
    let headers = post.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(key) = HeaderValue::from_str(&visible(key)) {
        headers.insert("idempotency-key", key);
    }
    headers.extend(request.headers);
    match agent.run(post) {
        Ok(response) => answered(response.status().as_u16(), response.headers()),
        Err(error) => broken(&error, notes.phase()),
    }
}

fn agent(proxy: Option<Proxy>, notes: &Notes) -> Agent {
    let mark = |reached| Mark {
        notes: notes.clone(),
        reached,
        proxied: proxy.is_some(),
    };
    let chain =
        ().chain(SocksConnector::default())
            .chain(ConnectProxyConnector::default())
            .chain(TcpConnector::default())
            .chain(mark(Phase::Connected))
            .chain(RustlsConnector::default())
            .chain(mark(Phase::Ready));
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_idle_connections(0)
        .proxy(proxy)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(WHOLE))
        .timeout_resolve(Some(CONNECT))
        .tls_config(tls)
        .user_agent(concat!("ring-notify/", env!("CARGO_PKG_VERSION")))
        .build();
    Agent::with_parts(config, chain, DefaultResolver::default())
}

fn answered(status: u16, headers: &HeaderMap) -> Fate {
    let error = format!("http {status}");
    match status {
        200..=299 => Fate::Sent,
        408 | 425 | 429 | 500..=599 => Fate::Retry {
            error,
            after_ms: headers
                .get(RETRY_AFTER)
                .and_then(|v| after(v.to_str().ok()?, time::now_ms())),
        },
        _ => Fate::failed(error),
    }
}

/// `Retry-After`: seconds, or a date.
fn after(value: &str, now: Ms) -> Option<Ms> {
    let value = value.trim();
    let ms = match value.bytes().all(|b| b.is_ascii_digit()) {
        true if value.is_empty() => return None,
        // more than fits is more than may be
        true => value.parse::<Ms>().map_or(LATEST, |s| s.saturating_mul(1_000)),
        false => jiff::fmt::rfc2822::parse(value).ok()?.timestamp().as_millisecond() - now,
    };
    Some(ms.clamp(0, LATEST))
}

fn broken(error: &Error, phase: Phase) -> Fate {
    let late = matches!(error, Error::Timeout(_));
    match phase {
        Phase::Written if late => Fate::unconfirmed("timeout"),
        Phase::Written => Fate::unconfirmed("reset"),
        _ if late => Fate::retry("timeout"),
        Phase::Connected => Fate::retry("tls"),
        Phase::Begun | Phase::Ready => Fate::retry("connect"),
    }
}

/// An address of a web server.
///
/// # Errors
/// Why it is none, for people; without the address, which may be a secret.
pub fn address(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|_| "url is no address".to_owned())?;
    let host = uri.host().unwrap_or_default();
    match uri.scheme_str() {
        _ if host.is_empty() => Err("url is no address".to_owned()),
        Some("http" | "https") if uri.authority().is_some_and(|a| a.as_str().contains('@')) => {
            Err("url holds a name or a password; they have settings of their own".to_owned())
        }
        Some("http" | "https") => Ok(uri),
        _ => Err("url is not one of http or https".to_owned()),
    }
}

/// All of an address that is no secret.
pub fn host_only(uri: &Uri) -> String {
    format!(
        "{}://{}",
        uri.scheme_str().unwrap_or_default(),
        uri.host().unwrap_or_default()
    )
}

/// A header of the settings. Its value is a secret.
///
/// # Errors
/// Why it cannot be sent, for people.
pub fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let shown = ring_session::text::for_terminal(name);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{shown:?} is no name of a header"))?;
    if FRAMING.contains(&name.as_str()) {
        return Err(format!("the header {shown} cannot be set"));
    }
    let mut value =
        HeaderValue::from_str(value).map_err(|_| format!("headers.{shown} has a character that no header has"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The text as a header holds it: what is not visible ASCII becomes `%XX`.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Ms = 1_796_040_000_000; // 2026-11-30T12:00:00Z

    #[test]
    fn n55_retry_after_is_seconds_or_a_date_and_an_hour_at_most() {
        let rows = [
            ("60", Some(60_000)),
            (" 0 ", Some(0)),
            ("86400", Some(LATEST)),
            ("99999999999999999999999", Some(LATEST)),
            ("Mon, 30 Nov 2026 12:02:00 GMT", Some(120_000)),
            ("Mon, 30 Nov 2026 11:00:00 GMT", Some(0)),
            ("Tue, 01 Dec 2026 12:00:00 GMT", Some(LATEST)),
            ("", None),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
        ];
        for (value, ms) in rows {
            assert_eq!(after(value, NOW), ms, "{value:?}");
        }
    }

    #[test]
    fn n55_each_status_has_its_class() {
        let fate = |status| answered(status, &HeaderMap::new());
        for status in [200, 201, 202, 204] {
            assert_eq!(fate(status), Fate::Sent);
        }
        for status in [408, 425, 429, 500, 502, 503, 504] {
            assert_eq!(fate(status), Fate::retry(format!("http {status}")));
        }
        for status in [300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 410, 413, 422] {
            assert_eq!(fate(status), Fate::failed(format!("http {status}")));
        }
    }

    #[test]
    fn what_is_not_known_begins_with_the_first_byte_of_the_request() {
        let late = Error::Timeout(ureq::Timeout::Global);
        for phase in [Phase::Begun, Phase::Connected, Phase::Ready] {
            assert_eq!(broken(&late, phase), Fate::retry("timeout"));
        }
        assert_eq!(broken(&late, Phase::Written), Fate::unconfirmed("timeout"));
        assert_eq!(broken(&Error::HostNotFound, Phase::Begun), Fate::retry("connect"));
        assert_eq!(broken(&Error::Tls("x"), Phase::Connected), Fate::retry("tls"));
        assert_eq!(
            broken(&Error::ConnectionFailed, Phase::Written),
            Fate::unconfirmed("reset")
        );
    }

    #[test]
    fn an_address_is_one_of_the_web_and_holds_no_name() {
        for good in [
            "http://x",
            "https://ntfy.example/a/b?c=d",
            "HTTPS://[::1]:8443/",
            "http://localhost:80",
        ] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "x",
            "/x",
            "ftp://x/",
            "file:///etc/passwd",
            "http://",
            "https://u:secret@x/",
            "http://a b/",
        ] {
            let why = address(bad).unwrap_err();
            assert!(!why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn a_header_of_the_settings_is_a_header_or_refused_without_its_value() {
        assert!(header("X-Token", "abc").unwrap().1.is_sensitive());
        for (name, value) in [
            ("a b", "v"),
            ("", "v"),
            ("x", "a\nb: c"),
            ("Content-Length", "5"),
            ("x", "se\u{7}cret"),
        ] {
            let why = header(name, value).unwrap_err();
            assert!(!why.contains("cret") && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn a_key_is_visible_ascii() {
        assert_eq!(visible("wait:a%20:1/0/phone"), "wait:a%20:1/0/phone");
        assert_eq!(visible("msg:\u{e4} \r\n"), "msg:%C3%A4%20%0D%0A");
    }
}
