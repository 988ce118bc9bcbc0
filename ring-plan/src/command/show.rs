//! `show`, `diff`, `criteria`.

use crate::cli::Context;
use crate::criteria as goal;
use crate::markdown;
use crate::{locate, shown};
use ring_session::record::{Proposal, ProposalStatus};
use ring_session::time::human_span;
use ring_session::{Refusal, text};
use serde_json::json;
use std::io::IsTerminal;

/// Prints a proposal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Proposal
    proposal: String,
    /// The exact text and nothing else
    #[arg(long)]
    markdown: bool,
}

/// Prints a difference.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// Proposal
    proposal: String,
}

/// Prints criteria.
#[derive(Debug, clap::Args)]
pub struct Criteria {
    /// Proposal
    proposal: String,
}

/// Runs `show`.
///
/// # Errors
/// `PLAN_NOT_FOUND`, `AMBIGUOUS`, `IO`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let found = locate::proposal(&context.store, &args.proposal)?;
    let (record, proposal) = (&found.seen.record, &found.proposal);
    let terminal = std::io::stdout().is_terminal();
    if args.markdown && !context.json() {
        let bytes = if terminal {
            visible(&proposal.markdown)
        } else {
            proposal.markdown.clone()
        };
        return Ok(context.out.write_all(bytes.as_bytes())?);
    }
    let mut row = shown::row(record, proposal, context.store.here());
    row.set("markdown", &proposal.markdown);
    let now = context.store.here().now;
    context.print(&row, |out| {
        let clean = text::for_terminal;
        writeln!(out, "{}", clean(&proposal.title))?;
        writeln!(out, "{}", clean(&proposal.question))?;
        writeln!(out)?;
        writeln!(
            out,
            "proposal  {} ({}, {})",
            proposal.id,
            proposal.kind.as_str(),
            proposal.status.as_str()
        )?;
        writeln!(out, "session   {} {}", record.id, clean(&record.title))?;
        writeln!(out, "file      {}", clean(&shown::path(record, proposal)))?;
        if let Some(ms) = shown::remaining_ms(proposal, now) {
            writeln!(out, "expires   in {}", human_span(ms))?;
        }
        if let Some(note) = &proposal.note {
            writeln!(out, "note      {}", clean(note))?;
        }
        if let Some(execution) = &proposal.execution {
            let code = execution
                .error_code
                .as_deref()
                .map(|c| format!(", {}", clean(c)))
                .unwrap_or_default();
            writeln!(out, "execution {} ({}{code})", execution.id, execution.state.as_str())?;
            if let Some(report) = &execution.report {
                writeln!(out, "report    {}", clean(report.0.get()))?;
            }
        }
        writeln!(out)?;
        out.write_all(markdown::render(&proposal.markdown, terminal).as_bytes())?;
        decide_by(out, proposal)
    })
}

fn decide_by(out: &mut dyn std::io::Write, proposal: &Proposal) -> std::io::Result<()> {
    if proposal.status != ProposalStatus::Pending {
        return Ok(());
    }
    let id = &proposal.id;
    writeln!(out, "\nring-plan approve {id} --permission ask")?;
    writeln!(out, "ring-plan reject {id} --note 'what should change'")
}

/// Control and bidirectional characters made visible; line ends stay.
pub fn visible(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    for c in markdown.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() || text::is_bidi(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// So long the shortest difference is looked for.
const LONGEST_SEARCH: std::time::Duration = std::time::Duration::from_secs(1);

/// The unified difference of two texts. For some that have nothing in common the shortest one would take minutes; any is
/// right.
fn difference(from: &str, old: &str, to: &str, new: &str) -> String {
    similar::TextDiff::configure()
        .timeout(LONGEST_SEARCH)
        .diff_lines(old, new)
        .unified_diff()
        .header(from, to)
        .to_string()
}

/// Runs `diff`.
///
/// # Errors
/// `PLAN_NOT_FOUND`, `AMBIGUOUS`, `IO`.
pub fn diff(args: &Diff, context: &mut Context<'_>) -> Result<(), Refusal> {
    let found = locate::proposal(&context.store, &args.proposal)?;
    let to = &found.proposal;
    let (all, _) = locate::all(&context.store)?;
    let from = all
        .into_iter()
        .filter(|f| f.seen.record.id == found.seen.record.id)
        .map(|f| f.proposal)
        .filter(|p| (p.created_ms, &p.id) < (to.created_ms, &to.id))
        .max_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
    let old = from.as_ref().map_or("", |p| p.markdown.as_str());
    let name = from.as_ref().map_or("/dev/null", |p| p.id.as_str());
    let diff = difference(name, old, &to.id, &to.markdown);
    let terminal = std::io::stdout().is_terminal();
    let value = json!({"from": from.as_ref().map(|p| &p.id), "to": to.id, "diff": diff});
    context.print(&value, |out| {
        out.write_all(if terminal { visible(&diff) } else { diff.clone() }.as_bytes())
    })
}

/// Runs `criteria`.
///
/// # Errors
/// `PLAN_NOT_FOUND`, `AMBIGUOUS`, `IO`.
pub fn criteria(args: &Criteria, context: &mut Context<'_>) -> Result<(), Refusal> {
    let found = locate::proposal(&context.store, &args.proposal)?;
    let all = goal::criteria(&found.proposal.markdown);
    context.print_list(&all, |out| {
        for one in &all {
            writeln!(out, "{} {}", one.id, text::for_terminal(&one.text))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_long_texts_with_nothing_in_common_are_told_apart_soon() {
        let mut seed = 7_u64;
        let mut text = || -> String {
            (0..100_000)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    format!("{}\n", (seed >> 33) % 10)
                })
                .collect()
        };
        let (old, new) = (text(), text());
        let begun = std::time::Instant::now();
        let told = difference("a", &old, "b", &new);
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
        let of = |kept: [char; 2]| -> String {
            let lines = told.lines().skip(2).filter(|l| !l.starts_with('@'));
            lines
                .filter(|l| l.starts_with(kept))
                .map(|l| format!("{}\n", &l[1..]))
                .collect()
        };
        assert!(old.contains(&of([' ', '-'])) && new.contains(&of([' ', '+'])));
    }
}
