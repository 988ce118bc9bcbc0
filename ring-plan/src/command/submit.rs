//! `submit`: a proposal is recorded, its file first.

use crate::artifact;
use crate::cli::Context;
use crate::command::enter::{check_turn, kind, mode, warn};
use crate::command::{bad, check_batch, given, needs_a_person, unattended};
use crate::criteria::criteria;
use crate::{locate, shown};
use ring_session::proposal::Submission;
use ring_session::record::{Artifact, Mode, Proposal, ProposalKind, ProposalStatus, Record};
use ring_session::store::Files;
use ring_session::time::human_span;
use ring_session::work::Work;
use ring_session::{Code, Refusal, Store, ring, text};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Longest text, in bytes.
pub const MARKDOWN: usize = 524_288;

/// Submits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session
    id: String,
    /// File of the Markdown, or - for stdin (the default)
    file: Option<String>,
    /// plan or goal
    #[arg(long)]
    kind: String,
    /// The live turn
    #[arg(long, value_name = "TURN")]
    turn: String,
    /// The call
    #[arg(long, value_name = "CALL")]
    call: String,
    /// Title
    #[arg(long, allow_hyphen_values = true)]
    title: String,
    /// Question to the person
    #[arg(long, allow_hyphen_values = true)]
    question: String,
    /// Calls in that message of the agent
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch_size: u32,
    /// Nobody is there to approve anything
    #[arg(long)]
    unattended: bool,
}

fn read(file: Option<&str>) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let limit = MARKDOWN as u64 + 1;
    let (name, read) = match file {
        None | Some("-") => ("stdin", io::stdin().lock().take(limit).read_to_end(&mut bytes)),
        Some(path) => (
            path,
            File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes)),
        ),
    };
    read.map_err(|e| Refusal::io("read", Path::new(name), &e))?;
    Ok(bytes)
}

/// Control characters and white space at the ends go; inner blanks stay as they are.
fn trimmed(option: &str, value: &str, limit: usize) -> Result<String, Refusal> {
    let inert: String = text::printable(value.trim());
    given(option, &inert, limit)?;
    Ok(inert)
}

/// Runs it.
///
/// # Errors
/// Those of ring-plan(1), CHECKS.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    given("the session", &args.id, 128)?;
    given("--turn", &args.turn, 128)?;
    given("--call", &args.call, 200)?;
    let kind = kind(&args.kind)?;
    let title = trimmed("--title", &args.title, 200)?;
    let question = trimmed("--question", &args.question, 2000)?;
    let bytes = read(args.file.as_deref())?;
    let too_large = bytes.len() > MARKDOWN;
    let markdown = match String::from_utf8(bytes) {
        Ok(text) => text,
        // cut in the middle of a character by the limit of what is read
        Err(_) if too_large => String::new(),
        Err(_) => return Err(bad("the text is not UTF-8")),
    };
    if !too_large && markdown.trim().is_empty() {
        return Err(bad("the text is blank"));
    }
    check_batch(args.batch_size)?;
    if unattended(args.unattended) {
        return Err(needs_a_person());
    }
    if too_large {
        return Err(Refusal::new(
            Code::PlanMarkdownTooLarge,
            format!("the text has more than {MARKDOWN} bytes; shorten it"),
        ));
    }
    let id = context.store.resolve(&args.id)?;
    let span = context.settings.plan.approval_timeout_ms;
    let submission = Submission {
        kind,
        via: "cli".into(),
        turn: args.turn,
        call: args.call,
        title,
        question,
        markdown,
        artifact: Artifact::default(),
        wait_ms: (span > 0).then_some(span),
    };
    let (proposal, record, is_new) = store(&context.store, &id, submission, |work, submission| {
        if work
            .record
            .turn
            .as_ref()
            .is_some_and(|t| t.id == submission.turn && t.unattended)
        {
            return Err(needs_a_person());
        }
        Ok(())
    })?;
    if is_new {
        let key = ring_session::shown::key(&record);
        ring::start(context.store.state(), context.place.config.as_deref(), &key, 0);
    }
    let mut warnings = Vec::new();
    if kind == ProposalKind::Goal && criteria(&proposal.markdown).is_empty() {
        warnings.push(
            "no acceptance criteria were found in the goal; give them under a heading `Acceptance criteria`".to_owned(),
        );
    }
    warn(&warnings);
    let here = context.store.here().clone();
    let mut row = shown::row(&record, &proposal, &here);
    row.set("stop_turn", &(proposal.status == ProposalStatus::Pending));
    if !warnings.is_empty() {
        row.set("warnings", &warnings);
    }
    context.print(&row, |out| {
        writeln!(
            out,
            "{}\n{}",
            proposal.id,
            text::for_terminal(&shown::path(&record, &proposal))
        )?;
        match shown::remaining_ms(&proposal, here.now) {
            Some(ms) => writeln!(out, "expires in {}", human_span(ms)),
            None => Ok(()),
        }
    })
}

/// Stores a submission: checks, file, row, in one hold of the session's lock. `before` is asked first. Gives the
/// proposal, the record, and whether it is new.
///
/// # Errors
/// Those of ring-plan(1), CHECKS. A file whose row could not be stored is taken back.
pub fn store(
    store: &Store,
    id: &str,
    submission: Submission,
    before: impl FnOnce(&mut Work, &Submission) -> Result<(), Refusal>,
) -> Result<(Proposal, Record, bool), Refusal> {
    let mut written = None;
    let result = store.update(id, |work, files| {
        before(work, &submission)?;
        if let Some(known) = same_call(work, files, &submission.call)? {
            return repeated(known, &submission);
        }
        let project = check(work, &submission)?;
        let file = artifact::write(
            &project,
            submission.kind,
            &submission.title,
            &submission.markdown,
            work.now(),
        )?;
        let artifact = file.artifact.clone();
        written = Some(file);
        Ok(work.submit(Submission { artifact, ..submission }))
    });
    match result {
        Ok((proposal, record)) => Ok((proposal, record, written.is_some())),
        Err(refusal) => match written {
            Some(file) => {
                file.take_back();
                Err(Refusal::new(
                    Code::PlanSubmitFailed,
                    format!(
                        "the proposal could not be stored ({}); submit it again",
                        refusal.message
                    ),
                ))
            }
            None => Err(refusal),
        },
    }
}

fn same_call(work: &Work, files: &Files, call: &str) -> Result<Option<Proposal>, Refusal> {
    if let Some(own) = work.record.proposal.as_ref().filter(|p| p.call_id == call) {
        return Ok(Some(own.clone()));
    }
    Ok(locate::closed(work, files)?.into_iter().find(|p| p.call_id == call))
}

fn repeated(known: Proposal, new: &Submission) -> Result<Proposal, Refusal> {
    let same = known.kind == new.kind
        && known.turn_id == new.turn
        && known.title == new.title
        && known.question == new.question
        && known.markdown == new.markdown;
    match same {
        true => Ok(known),
        false => Err(Refusal::new(
            Code::PlanApprovalConflict,
            "this call has submitted something else; use a new call id",
        )
        .with("proposal", known.id)),
    }
}

fn check(work: &Work, submission: &Submission) -> Result<PathBuf, Refusal> {
    let project = artifact::project(work.record.project.as_deref())?;
    let own = mode(submission.kind);
    match work.record.mode {
        Mode::Agent => {
            return Err(Refusal::new(
                Code::PlanNotActive,
                "the session is in agent mode; enter a contract mode first",
            ));
        }
        other if other != own => {
            let text = format!("the session is in {} mode", other.as_str());
            return Err(Refusal::new(Code::PlanKindMismatch, text));
        }
        _ => {}
    }
    check_turn(work, &submission.turn)?;
    if let Some(open) = work.open_proposal() {
        return Err(
            Refusal::new(Code::PlanAlreadyPending, "a proposal awaits a decision already")
                .with("proposal", open.id.as_str()),
        );
    }
    Ok(project)
}
