//! A topic of an ntfy server.

use super::http::{self, Request};
use super::secret;
use crate::message::Message;
use crate::outlet::Ntfy;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use ureq::http::{HeaderMap, Uri};

/// Priority of what is urgent.
const URGENT: u8 = 5;
/// Characters of a topic at most.
const TOPIC: usize = 64;

/// What is sent there: JSON to the server's own address, because a header holds no title in every script.
///
/// # Errors
/// Why it cannot be used, for people.
pub fn request(ntfy: &Ntfy, message: &Message) -> Result<Request, String> {
    let url = http::address(&secret::demand("url", &ntfy.url)?)?;
    let (uri, topic) = match ntfy.topic.is_empty() {
        true => split(&url)?,
        false => (url, ntfy.topic.clone()),
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if topic.is_empty() || topic.len() > TOPIC || !topic.bytes().all(plain) {
        return Err("topic is not 1 to 64 of letters, digits, - and _".to_owned());
    }
    let text = message.text();
    let mut body = match text.is_empty() {
        // an empty message would read "triggered"
        true => json!({"topic": topic, "message": message.title}),
        false => json!({"topic": topic, "title": message.title, "message": text}),
    };
    let urgent = message.facts.urgent.then_some(URGENT);
    if let Some(priority) = ntfy.priority.or(urgent) {
        body["priority"] = priority.into();
    }
    if !ntfy.tags.is_empty() {
        body["tags"] = ntfy.tags.clone().into();
    }
    if !ntfy.click.is_empty() {
        body["click"] = ntfy.click.clone().into();
    }
    let mut headers = HeaderMap::new();
    if let Some(value) = authorization(ntfy)? {
        let (name, value) = http::header("authorization", &value)?;
        headers.insert(name, value);
    }
    Ok(Request { uri, headers, body })
}

/// The address of a topic: the server's, with a `/` at its end, and the topic.
fn split(url: &Uri) -> Result<(Uri, String), String> {
    let path = url.path().trim_end_matches('/');
    let (rest, topic) = path.rsplit_once('/').unwrap_or_default();
    let query = url.query().map(|q| format!("?{q}")).unwrap_or_default();
    let mut parts = url.clone().into_parts();
    parts.path_and_query = Some(
        format!("{rest}/{query}")
            .parse()
            .map_err(|_| "url is no address".to_owned())?,
    );
    let server = Uri::from_parts(parts).map_err(|_| "url is no address".to_owned())?;
    Ok((server, topic.to_owned()))
}

fn authorization(ntfy: &Ntfy) -> Result<Option<String>, String> {
    if let Some(token) = secret::read("token", &ntfy.token)? {
        return Ok(Some(format!("Bearer {token}")));
    }
    let Some(user) = secret::read("user", &ntfy.user)? else {
        return Ok(None);
    };
    let password = secret::read("password", &ntfy.password)?.unwrap_or_default();
    let both = BASE64_STANDARD.encode(format!("{user}:{password}"));
    Ok(Some(format!("Basic {both}")))
}
