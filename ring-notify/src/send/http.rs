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
#[path = "http/tests.rs"]
mod tests;
