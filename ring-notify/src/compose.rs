//! Making a message of an item, or of several (ring-notify(1), MESSAGES). Texts are data: cleaned, masked, bounded.

use crate::item::{Kind, Live};
use crate::mask::mask;
use crate::message::{Facts, Message};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ring_session::text;
use ring_session::time::{Ms, human_span};

/// Characters of a title at most.
const TITLE: usize = 120;
/// Characters of a body at most.
const BODY: usize = 1000;
/// Bytes of both at most.
const BYTES: usize = 3 * 1024;
/// Lines of a summary; the rest is counted.
const LINES: usize = 5;

/// How messages of an outlet are made.
#[derive(Clone, Debug)]
pub struct Style<'a> {
    /// No detail, path, title or question.
    pub brief: bool,
    /// The clock.
    pub now: Ms,
    /// Of deadlines.
    pub zone: &'a TimeZone,
    /// The home folder, shown as `~`.
    pub home: &'a str,
}

/// One part of a message.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The item.
    pub live: &'a Live,
    /// Which of its rings.
    pub ring: u32,
    /// By its kind or by `send`.
    pub urgent: bool,
}

/// The message of one item, or the summary of several. `key` is the `Idempotency-Key`.
pub fn compose(parts: &[Part<'_>], batch: &str, key: &str, style: &Style<'_>) -> Message {
    let mut message = match parts {
        [one] => single(one, style),
        _ => summary(parts, batch, style),
    };
    bound(&mut message);
    message.facts.title.clone_from(&message.title);
    message.facts.body = message.text();
    key.clone_into(&mut message.key);
    message
}

fn plain(text: &str, limit: usize) -> String {
    text::clean(&mask(&text::clean(text, limit.max(BODY))), limit)
}

/// What a person calls the session.
fn name(live: &Live, brief: bool) -> String {
    let short: String = live.session_id.chars().take(8).collect();
    let last = live.project.rsplit('/').find(|p| !p.is_empty()).unwrap_or_default();
    let candidates: &[&str] = match brief {
        true => &[&live.name],
        false => &[&live.name, &live.session_title, last],
    };
    let found = candidates.iter().map(|c| plain(c, 60)).find(|c| !c.is_empty());
    found.unwrap_or_else(|| {
        let agent = if brief { live.agent.as_str() } else { "" };
        let named = plain(&format!("{agent} {short}"), 60);
        if named.is_empty() { "ring".to_owned() } else { named }
    })
}

fn what(live: &Live) -> String {
    match live.kind {
        Kind::Permission => "needs permission".into(),
        Kind::Question => "asks".into(),
        Kind::Plan => "plan to approve".into(),
        Kind::Input => "needs input".into(),
        Kind::Proposal if live.is_goal => "goal to approve".into(),
        Kind::Proposal => "plan to approve".into(),
        Kind::Completed => "finished".into(),
        Kind::Failed => match &live.error_code {
            Some(code) => format!("failed {}", plain(code, 80)),
            None => "failed".into(),
        },
        Kind::Message => String::new(),
    }
}

fn headline(live: &Live, style: &Style<'_>) -> String {
    if live.kind == Kind::Message {
        return match style.brief {
            true => "message".into(),
            false => plain(&live.title, TITLE),
        };
    }
    format!("{}: {}", name(live, style.brief), what(live))
}

/// Where: the pane, else the folder.
fn place(live: &Live, style: &Style<'_>) -> String {
    let pane = plain(&live.place.tmux_pane, 40);
    match (pane.is_empty(), style.brief) {
        (false, _) => format!("pane {pane}"),
        (true, true) => String::new(),
        (true, false) => folder(&live.project, style.home),
    }
}

fn folder(project: &str, home: &str) -> String {
    let short = match project.strip_prefix(home) {
        Some("") if !home.is_empty() => "~".to_owned(),
        Some(rest) if !home.is_empty() && rest.starts_with('/') => format!("~{rest}"),
        _ => project.to_owned(),
    };
    plain(&short, 200)
}

fn single(part: &Part<'_>, style: &Style<'_>) -> Message {
    let live = part.live;
    let mut body: Vec<String> = Vec::new();
    let open = |text: &str| match style.brief {
        true => String::new(),
        false => plain(text, BODY),
    };
    match live.kind {
        // masked as a whole, because a secret may stand on the line behind its name
        Kind::Message => body.extend(mask(&live.body).lines().map(open)),
        Kind::Completed | Kind::Failed => {
            body.push(human_span(live.duration_ms));
            body.push(place(live, style));
        }
        Kind::Proposal => {
            body.push(open(&live.detail));
            body.push(open(&live.question));
            body.extend(live.until_ms.map(|ms| format!("until {}", clock(ms, style.zone))));
            body.push(format!("ring-plan show {}", plain(&live.proposal, 60)));
        }
        Kind::Permission | Kind::Question | Kind::Plan | Kind::Input => {
            body.push(open(&live.detail));
            body.push(place(live, style));
        }
    }
    if part.ring > 0 {
        body.push(format!(
            "since {}",
            human_span(style.now.saturating_sub(live.opened_ms))
        ));
    }
    body.retain(|line| !line.is_empty());
    Message {
        title: headline(live, style),
        body,
        facts: facts(part, style),
        place: live.place.clone(),
        ..Message::default()
    }
}

fn clock(ms: Ms, zone: &TimeZone) -> String {
    Timestamp::from_millisecond(ms)
        .map(|t| zone.to_datetime(t).time().strftime("%H:%M").to_string())
        .unwrap_or_default()
}

fn facts(part: &Part<'_>, style: &Style<'_>) -> Facts {
    let live = part.live;
    let open = |text: &str, limit| match style.brief {
        true => String::new(),
        false => plain(text, limit),
    };
    Facts {
        schema: 1,
        id: live.id.clone(),
        kind: live.kind.as_str().to_owned(),
        ring: part.ring,
        urgent: part.urgent,
        title: headline(live, style),
        body: String::new(),
        session: live.session.clone(),
        session_title: open(&live.session_title, 200),
        agent: plain(&live.agent, 40),
        project: open(&live.project, 1000),
        location: place(live, style),
        detail: open(&live.detail, BODY),
        tool: plain(&live.tool, 80),
        waiting_for: open(&live.waiting_for, 80),
        error_code: live.error_code.as_deref().map(|c| plain(c, 80)),
        opened_ms: live.opened_ms,
        items: Vec::new(),
    }
}

fn summary(parts: &[Part<'_>], batch: &str, style: &Style<'_>) -> Message {
    let count = |of: &dyn Fn(Kind) -> bool| parts.iter().filter(|p| of(p.live.kind)).count();
    let needed = count(&Kind::needs_somebody);
    let told = |n: usize, what: &str| (n > 0).then(|| format!("{n} {what}"));
    let title: Vec<String> = [
        told(needed, if needed == 1 { "needs you" } else { "need you" }),
        told(count(&|k| k == Kind::Failed), "failed"),
        told(count(&|k| k == Kind::Completed), "finished"),
        told(
            count(&|k| k == Kind::Message),
            if count(&|k| k == Kind::Message) == 1 {
                "message"
            } else {
                "messages"
            },
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut body: Vec<String> = parts
        .iter()
        .take(LINES)
        .map(|p| text::clean(&headline(p.live, style), TITLE))
        .collect();
    if parts.len() > LINES {
        body.push(format!("and {} more", parts.len() - LINES));
    }
    let place = parts
        .iter()
        .map(|p| &p.live.place)
        .find(|p| !p.tty.is_empty() || !p.tmux_pane.is_empty());
    Message {
        title: title.join(", "),
        body,
        facts: Facts {
            schema: 1,
            id: batch.to_owned(),
            kind: "summary".into(),
            ring: parts.iter().map(|p| p.ring).max().unwrap_or(0),
            urgent: parts.iter().any(|p| p.urgent),
            opened_ms: parts.iter().map(|p| p.live.opened_ms).min().unwrap_or(0),
            items: parts
                .iter()
                .map(|p| {
                    let mut facts = facts(p, style);
                    facts.body = single(p, style).text();
                    facts
                })
                .collect(),
            ..Facts::default()
        },
        place: place.cloned().unwrap_or_default(),
        ..Message::default()
    }
}

/// Title, body and both within their limits.
fn bound(message: &mut Message) {
    message.title = text::clean(&message.title, TITLE);
    let mut left = BODY;
    for line in &mut message.body {
        *line = text::clean(line, left);
        left = left.saturating_sub(line.chars().count());
    }
    let mut bytes = BYTES.saturating_sub(message.title.len());
    for line in &mut message.body {
        // every character has at most four bytes
        while line.len() > bytes {
            let fewer = (bytes / 4).max(line.chars().count().saturating_sub(1).min(bytes));
            let cut = text::clean(line, fewer);
            if cut.len() >= line.len() {
                line.clear();
            } else {
                *line = cut;
            }
        }
        bytes = bytes.saturating_sub(line.len() + 1);
    }
    message.body.retain(|line| !line.is_empty());
}

#[cfg(test)]
#[path = "compose/tests.rs"]
mod tests;
