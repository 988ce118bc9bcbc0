//! A program of the user's own.

use super::Fate;
use super::program::{self, LIMIT};
use crate::message::Message;
use std::process::Command;

/// Runs it with the members as JSON on its stdin, one line.
pub fn send(argv: &[String], message: &Message) -> Fate {
    let Some((name, arguments)) = argv.split_first() else {
        return Fate::not_usable();
    };
    let Ok(mut json) = serde_json::to_vec(&message.facts) else {
        return Fate::not_usable();
    };
    json.push(b'\n');
    let mut command = Command::new(name);
    command
        .args(arguments)
        .env("RING_NOTIFY_ID", &message.facts.id)
        .env("RING_NOTIFY_KIND", &message.facts.kind)
        .env("RING_NOTIFY_OUTLET", &message.outlet);
    program::run(&mut command, Some(json), LIMIT).fate()
}

/// Whether its first word runs.
///
/// # Errors
/// Why not.
pub fn usable(argv: &[String]) -> Result<(), String> {
    match argv.first() {
        Some(name) if program::find(name).is_some() => Ok(()),
        Some(name) => Err(format!("{name} is not a program that can be run")),
        None => Err("argv is empty".to_owned()),
    }
}
