//! A webhook: every member for programs, or the shape that Slack or Discord takes.

use super::desktop::markup;
use super::http::{self, Request};
use super::secret;
use crate::message::Message;
use crate::outlet::{Preset, Webhook};
use ring_session::text::{CUT, clusters};
use serde_json::{Value, json};
use ureq::http::HeaderMap;

/// Length of a message at Discord, in units of UTF-16.
const DISCORD: usize = 2000;

/// What is sent there.
///
/// # Errors
/// Why it cannot be used, for people.
pub fn request(webhook: &Webhook, message: &Message) -> Result<Request, String> {
    let uri = http::address(&secret::demand("url", &webhook.url)?)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &webhook.headers {
        let shown = ring_session::text::for_terminal(name);
        let value = secret::demand(&format!("headers.{shown}"), value)?;
        let (name, value) = http::header(name, &value)?;
        headers.insert(name, value);
    }
    let body = match webhook.preset {
        Preset::Generic => serde_json::to_value(&message.facts).map_err(|e| e.to_string())?,
        Preset::Slack => slack(message),
        Preset::Discord => discord(message),
    };
    Ok(Request { uri, headers, body })
}

fn both(message: &Message) -> String {
    let text = message.text();
    match text.is_empty() {
        true => message.title.clone(),
        false => format!("{}\n{text}", message.title),
    }
}

/// Without marks: a text in backticks stays as it is.
fn slack(message: &Message) -> Value {
    json!({"text": markup(&both(message)), "mrkdwn": false})
}

fn discord(message: &Message) -> Value {
    json!({"content": short(&both(message)), "allowed_mentions": {"parse": []}})
}

fn short(text: &str) -> String {
    let length = |text: &str| text.encode_utf16().count();
    if length(text) <= DISCORD {
        return text.to_owned();
    }
    let mut left = DISCORD - 1;
    let fits = |c: &&str| {
        let rest = left.checked_sub(length(c));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let mut out: String = clusters(text).take_while(fits).collect();
    out.push(CUT);
    out
}
