//! `recover`.

use crate::TOOL;
use crate::cli::Context;
use ring_session::recovery::Reach;
use ring_session::{Code, Refusal, rows, text};
use serde_json::json;
use std::io::{self, Write};

/// Heals sessions whose owner died.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Sessions; none: all, but only where the owner is proven dead
    id: Vec<String>,
    /// Also where the owner lives
    #[arg(long)]
    force: bool,
}

/// Runs it.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AGENT_BUSY` (`owner_alive`), and those of the store.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    context.store.sweep();
    let named = !args.id.is_empty();
    let ids = match named {
        true => args
            .id
            .iter()
            .map(|id| context.store.resolve(id))
            .collect::<Result<Vec<_>, _>>()?,
        false => context.store.ids()?,
    };
    let reach = match (args.force, named) {
        (true, _) => Reach::Living,
        (false, true) => Reach::Unknown,
        (false, false) => Reach::Dead,
    };
    let mut done: Vec<(String, Vec<&'static str>)> = Vec::new();
    let mut failed: Vec<Refusal> = Vec::new();
    for id in ids {
        match recover(&id, reach, context) {
            Ok(did) if named || !did.is_empty() => done.push((id, did)),
            Ok(_) => {}
            Err(e) if named => return Err(e),
            // deleted between the listing and the look
            Err(e) if e.code == Code::SessionNotFound && !context.store.files(&id).dir.exists() => {}
            // one that cannot be healed keeps no other from it
            Err(e) => failed.push(e),
        }
    }
    let worst = failed.iter().position(|e| e.code != Code::SchemaNewer);
    let worst = worst.map(|place| failed.remove(place));
    for refusal in failed {
        // a closed stderr leaves nobody to tell
        writeln!(io::stderr(), "{TOOL}: {}", text::for_terminal(&refusal.message)).unwrap_or_default();
    }
    if let Some(refusal) = worst {
        return Err(refusal);
    }
    let objects: Vec<_> = done.iter().map(|(id, did)| json!({"id": id, "did": did})).collect();
    context.print_list(&objects, |out| {
        for (id, did) in &done {
            let what = if did.is_empty() {
                "nothing to do".to_owned()
            } else {
                did.join(", ")
            };
            writeln!(out, "{id}  {what}")?;
        }
        Ok(())
    })
}

fn recover(id: &str, reach: Reach, context: &Context<'_>) -> Result<Vec<&'static str>, Refusal> {
    let files = context.store.files(id);
    let _held = context.store.lock(id)?;
    files.sweep();
    let mut did = Vec::new();
    let stored = match context.store.stored(id) {
        Err(e) if rows::is_unreadable(&e) => {
            did.push("record");
            rows::rebuild(&context.store, id)?
        }
        other => other?,
    };
    // the store takes the dead by itself, before anybody decides
    let mut before = ring_session::work::Work::new(stored.clone(), context.store.here().clone());
    did.extend(before.recover(Reach::Dead));
    context.store.update_held(&files, stored, |work, _| {
        if reach == Reach::Unknown {
            work.check_owner_is_gone()?;
        }
        if reach != Reach::Dead {
            did.extend(work.recover(reach));
        }
        Ok(())
    })?;
    Ok(did)
}
