//! `pending`, `history`, `expire`.

use crate::cli::Context;
use crate::locate::{self, Found};
use crate::shown;
use ring_session::members::Object;
use ring_session::record::ProposalStatus;
use ring_session::table::{self, Table};
use ring_session::time::human_span;
use ring_session::{Code, Refusal, text};
use std::io::Write;

/// Prints what is no longer pending.
#[derive(Debug, clap::Args)]
pub struct History {
    /// Only of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// How many, at most 1000
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

fn newest_first(found: &mut [Found]) {
    found.sort_by(|a, b| (b.proposal.created_ms, &b.proposal.id).cmp(&(a.proposal.created_ms, &a.proposal.id)));
}

fn all(context: &Context<'_>) -> Result<Vec<Found>, Refusal> {
    let (mut found, broken) = locate::all(&context.store)?;
    for refusal in broken {
        // a closed stderr leaves nobody to tell
        writeln!(
            std::io::stderr(),
            "{}: {}",
            crate::TOOL,
            text::for_terminal(&refusal.message)
        )
        .unwrap_or_default();
    }
    newest_first(&mut found);
    Ok(found)
}

fn print(found: &[Found], context: &mut Context<'_>) -> Result<(), Refusal> {
    let here = context.store.here().clone();
    let rows: Vec<Object> = found
        .iter()
        .map(|f| shown::row(&f.seen.record, &f.proposal, &here))
        .collect();
    let mut ids: Vec<String> = found.iter().map(|f| f.proposal.id.clone()).collect();
    ids.sort_unstable();
    let cells = |f: &Found| {
        let left = shown::remaining_ms(&f.proposal, here.now).map(|ms| format!("{} left", human_span(ms)));
        [
            table::short(&ids, &f.proposal.id).to_owned(),
            f.proposal.kind.as_str().to_owned(),
            f.proposal.status.as_str().to_owned(),
            human_span(here.now.saturating_sub(f.proposal.created_ms)),
            left.unwrap_or_default(),
            f.seen.record.title.clone(),
            f.proposal.title.clone(),
        ]
    };
    let table = Table {
        dispensable: &[5, 3, 1, 4],
        cuttable: &[5],
        limit: table::limit(),
    };
    context.print_list(&rows, |out| table.write(out, found, cells))
}

/// Runs `pending`.
///
/// # Errors
/// `IO`.
pub fn pending(context: &mut Context<'_>) -> Result<(), Refusal> {
    let mut found = all(context)?;
    found.retain(|f| f.proposal.status == ProposalStatus::Pending);
    print(&found, context)
}

/// Runs `history`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AMBIGUOUS`, `LIMIT_EXCEEDED`, `IO`.
pub fn history(args: &History, context: &mut Context<'_>) -> Result<(), Refusal> {
    if args.limit > 1000 {
        return Err(Refusal::new(Code::LimitExceeded, "--limit is at most 1000"));
    }
    let session = args.session.as_deref().map(|s| context.store.resolve(s)).transpose()?;
    let mut found = all(context)?;
    found.retain(|f| {
        f.proposal.status != ProposalStatus::Pending && session.as_ref().is_none_or(|s| *s == f.seen.record.id)
    });
    found.truncate(args.limit);
    print(&found, context)
}

/// Runs `expire`: each writer stores what is overdue before it decides, so nothing is left to decide.
///
/// # Errors
/// `IO`, and those of the store, when it has seen all sessions: one that cannot be changed keeps no other open.
pub fn expire(context: &mut Context<'_>) -> Result<(), Refusal> {
    let (mut closed, mut failed) = (Vec::new(), None);
    for id in context.store.ids()? {
        let (Ok(stored), Ok(seen)) = (context.store.stored(&id), context.store.see(&id)) else {
            continue;
        };
        // also what died: a reader shows it as interrupted
        let changed = stored.proposal != seen.record.proposal;
        let Some(open) = stored.proposal.filter(|_| changed) else {
            continue;
        };
        let record = match context.store.update(&id, |_, _| Ok(())) {
            Ok((_, record)) => record,
            Err(refusal) => {
                failed = failed.or(Some(refusal));
                continue;
            }
        };
        let past = locate::past(&context.store.files(&id), &record)?;
        let seen = context.store.see(&id)?;
        closed.extend(
            past.into_iter()
                .filter(|p| p.id == open.id && p.status == ProposalStatus::Expired)
                .map(|proposal| Found {
                    seen: seen.clone(),
                    proposal,
                }),
        );
    }
    if let Some(refusal) = failed {
        return Err(refusal);
    }
    newest_first(&mut closed);
    let here = context.store.here().clone();
    let rows: Vec<Object> = closed
        .iter()
        .map(|f| shown::row(&f.seen.record, &f.proposal, &here))
        .collect();
    context.print_list(&rows, |out| {
        for found in &closed {
            writeln!(out, "{}", found.proposal.id)?;
        }
        Ok(())
    })
}
