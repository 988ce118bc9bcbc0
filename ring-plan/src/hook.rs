//! What an agent's hook events mean for its session's proposal (ring-plan(1), HOOK ENTRY).
//!
//! Read from the top; each part looks at one event and what the record holds:
//!
//! 1. An event that comes after a proposal of this entry without deciding it interrupts it: the agent has gone on.
//! 2. A prompt carries the agent's own plan mode into the record, and out of it again.
//! 3. ExitPlanMode is a submission; its PermissionRequest says that the person sees it, and may be waited on.
//! 4. The end of that call is the person's decision in the agent's own prompt.
//! 5. The end of the turn ends the work.
//! 6. Any other call in a contract mode is asked about: the gate denies or is silent, and never allows.
//!
//! Pure on a [`Work`] but for the artifact, which the caller writes.

use crate::{artifact, gate};
use ring_session::execution::Finish;
use ring_session::lifecycle::Begin;
use ring_session::process::Stamp;
use ring_session::proposal::{Decision, Submission};
use ring_session::queue::sha256_hex;
use ring_session::record::{
    ExecutionState, Mode, ModeBy, Origin, PermissionMode, Proposal, ProposalKind, ProposalStatus,
};
use ring_session::time::Ms;
use ring_session::work::Work;
use ring_session::{Code, Refusal, text};
use serde_json::{Value, json};

/// Nothing is begun by an event so soon after the session's last turn: it is a late one of that turn.
const LATE_MS: Ms = 2_000;

/// One event of the foreground.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// Canonical id of the agent.
    pub agent: String,
    /// Canonical name.
    pub name: String,
    /// KEY and turn id of the agent.
    pub key: String,
    /// The agent's turn.
    pub agent_turn: String,
    /// The agent's own permission mode; empty: not said.
    pub permission_mode: String,
    /// Tool.
    pub tool: String,
    /// Call.
    pub call: String,
    /// The tool's input as it came, raw JSON.
    pub input: Value,
    /// The plan's text: of the input, of its file, or of the response.
    pub plan: Option<String>,
    /// The agent's process.
    pub owner: Stamp,
}

/// Settings that matter.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What `inherit` means.
    pub inherited: PermissionMode,
    /// Claude Code's mode after an approval with `auto`.
    pub claude_auto: String,
    /// How long a proposal waits; none: for ever.
    pub wait_ms: Option<Ms>,
}

/// What an event leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The answer on stdout.
    pub answer: Option<String>,
    /// The proposal that this process may wait for.
    pub wait_for: Option<String>,
    /// The artifact that was written, should the row not be stored.
    pub written: Option<artifact::Written>,
}

impl Event {
    fn is_plan_exit(&self) -> bool {
        self.tool == "ExitPlanMode"
    }

    /// The call, or a stand-in made of turn and text.
    fn call_of(&self, turn: &str, plan: &str) -> String {
        if !self.call.is_empty() {
            return self.call.clone();
        }
        format!("hook-{}", &sha256_hex(format!("{turn}\n{plan}").as_bytes())[..32])
    }
}

fn by_hook(work: &Work) -> Option<&Proposal> {
    work.record.proposal.as_ref().filter(|p| p.via == "hook")
}

/// Whether an event can change or answer anything: asked before a lock is taken.
pub fn concerns(work: &Work, event: &Event) -> bool {
    let contract = work.record.mode != Mode::Agent;
    match event.name.as_str() {
        "UserPromptSubmit" => by_hook(work).is_some() || contract || event.permission_mode == "plan",
        "PreToolUse" => event.is_plan_exit() || contract || by_hook(work).is_some(),
        "PermissionRequest" => event.is_plan_exit(),
        "PostToolUse" => event.is_plan_exit() || event.tool == "EnterPlanMode",
        "PostToolUseFailure" => event.is_plan_exit() && by_hook(work).is_some(),
        "Stop" | "StopFailure" | "SessionEnd" => by_hook(work).is_some(),
        _ => false,
    }
}

/// Applies one event.
///
/// # Errors
/// Those of the artifact.
pub fn apply(work: &mut Work, past: &[Proposal], event: &Event, rules: &Rules) -> Result<Outcome, Refusal> {
    go_on(work, event);
    match event.name.as_str() {
        "UserPromptSubmit" => mirror(work, event),
        "PostToolUse"
            if event.tool == "EnterPlanMode"
                && work.record.mode == Mode::Agent
                && work.active_execution().is_none() =>
        {
            work.enter(ProposalKind::Plan, ModeBy::Hook);
        }
        "PreToolUse" | "PermissionRequest" if event.is_plan_exit() => return propose(work, past, event, rules),
        "PostToolUse" if event.is_plan_exit() => return Ok(decided_there(work, event)),
        "PostToolUseFailure" if event.is_plan_exit() && by_hook(work).is_some() => {
            work.reject(Decision {
                note: None,
                by: "agent".into(),
            });
        }
        "Stop" | "StopFailure" | "SessionEnd" => end_of_work(work, event),
        "PreToolUse" => {
            return Ok(Outcome {
                answer: gate::answer(work, event, rules),
                ..Outcome::default()
            });
        }
        _ => {}
    }
    Ok(Outcome::default())
}

/// 1: what shows that the agent has gone on without a decision.
fn go_on(work: &mut Work, event: &Event) {
    let Some(proposal) = by_hook(work) else { return };
    let same =
        event.is_plan_exit() && (event.call == proposal.call_id || event.plan.as_deref() == Some(&proposal.markdown));
    let over = match event.name.as_str() {
        "UserPromptSubmit" | "Stop" | "StopFailure" | "SessionEnd" => true,
        "PreToolUse" | "PermissionRequest" if event.is_plan_exit() => !same,
        "PreToolUse" => proposal.asked || proposal.status != ProposalStatus::Pending,
        _ => false,
    };
    let queued = proposal
        .execution
        .as_ref()
        .is_some_and(|e| e.state == ExecutionState::Queued);
    if over && proposal.status == ProposalStatus::Pending {
        work.interrupt_proposal();
    } else if over && queued {
        work.interrupt_execution("");
    }
}

/// 2: the agent's own plan mode.
fn mirror(work: &mut Work, event: &Event) {
    let free = work.open_proposal().is_none() && work.active_execution().is_none();
    match (event.permission_mode.as_str(), work.record.mode) {
        ("", _) => {}
        ("plan", Mode::Agent) if free => work.enter(ProposalKind::Plan, ModeBy::Hook),
        ("plan", _) => {}
        (_, Mode::Plan) if work.record.mode_by == ModeBy::Hook && work.open_proposal().is_none() => {
            work.record.mode = Mode::Agent;
        }
        _ => {}
    }
}

/// 3: a plan is proposed, once for its call, and seen by the person.
fn propose(work: &mut Work, past: &[Proposal], event: &Event, rules: &Rules) -> Result<Outcome, Refusal> {
    let asks = event.name == "PermissionRequest";
    let Some(plan) = event.plan.as_ref().filter(|p| !p.trim().is_empty()) else {
        return Ok(Outcome::default());
    };
    let turn = work.record.turn.as_ref().map(|t| t.id.clone());
    if let Some(open) = work
        .record
        .proposal
        .as_mut()
        .filter(|p| p.status == ProposalStatus::Pending)
    {
        let same = open.via == "hook"
            && (open.call_id == event.call || (Some(&open.turn_id) == turn.as_ref() && open.markdown == *plan));
        if !same {
            return Ok(Outcome::default());
        }
        open.asked |= asks;
        return Ok(Outcome {
            wait_for: asks.then(|| open.id.clone()),
            ..Outcome::default()
        });
    }
    let call = event.call_of(turn.as_deref().unwrap_or_default(), plan);
    // A new call may propose a text once more that was rejected in this turn. A prompt names no call (2.1.332): one of
    // that text which comes when no row is open belongs to the closed one.
    let is_new_call = !asks && !event.call.is_empty();
    let closed = |p: &Proposal| {
        let same = p.via == "hook" && Some(&p.turn_id) == turn.as_ref() && p.markdown == *plan;
        p.call_id == call || (same && !is_new_call)
    };
    let late = work
        .record
        .turns
        .last()
        .is_some_and(|t| work.now() - t.ended_ms < LATE_MS);
    let is_over = past.iter().chain(&work.record.proposal).any(closed) || (turn.is_none() && late);
    if is_over
        || work.active_execution().is_some()
        || work.record.mode == Mode::Goal
        || plan.len() > crate::command::submit::MARKDOWN
    {
        return Ok(Outcome::default());
    }
    let project = artifact::project(work.record.project.as_deref())?;
    let title = title_of(plan);
    let file = artifact::write(&project, ProposalKind::Plan, &title, plan, work.now())?;
    let turn = turn.unwrap_or_else(|| {
        let agent = Some((event.key.clone(), event.agent_turn.clone()));
        work.begin(Begin {
            origin: Origin::Hook,
            owner: event.owner.clone(),
            agent,
            ..Begin::default()
        })
        .0
    });
    if work.record.mode == Mode::Agent {
        work.enter(ProposalKind::Plan, ModeBy::Hook);
    }
    let proposal = work.submit(Submission {
        kind: ProposalKind::Plan,
        via: "hook".into(),
        turn,
        call,
        title,
        question: "Approve this plan?".into(),
        markdown: plan.clone(),
        artifact: file.artifact.clone(),
        wait_ms: rules.wait_ms,
    });
    if let Some(own) = work.record.proposal.as_mut() {
        own.asked = asks;
    }
    Ok(Outcome {
        answer: None,
        wait_for: asks.then_some(proposal.id),
        written: Some(file),
    })
}

/// The first heading, else the first line.
fn title_of(plan: &str) -> String {
    let heading = plan
        .lines()
        .map(str::trim)
        .find(|l| l.starts_with('#') && l.trim_start_matches('#').starts_with([' ', '\t']));
    let line = heading
        .map(|l| l.trim_start_matches('#'))
        .unwrap_or_else(|| text::first_line(plan));
    match text::clean(line, 200) {
        title if title.is_empty() => "Plan".into(),
        title => title,
    }
}

/// The note of an approval in the agent's own prompt of a text that was edited there: the row and its file hold the one
/// that was proposed.
const EDITED: &str = "Edited in the agent's own prompt before it was approved there.";

/// 4: the call has gone through. A person has said yes, be it to a row that is closed by then, as one whose deadline
/// came while the agent's own prompt stayed: nothing is approved by that, but the agent plans no more.
fn decided_there(work: &mut Work, event: &Event) -> Outcome {
    let outcome = approved_there(work, event);
    if work.record.mode == Mode::Plan && work.record.mode_by == ModeBy::Hook && work.open_proposal().is_none() {
        work.record.mode = Mode::Agent;
    }
    outcome
}

fn approved_there(work: &mut Work, event: &Event) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(proposal) = by_hook(work).cloned() else {
        return outcome;
    };
    let same = proposal.call_id == event.call || event.plan.as_deref() == Some(&proposal.markdown);
    if !same {
        return outcome;
    }
    let edited = event
        .plan
        .as_ref()
        .is_some_and(|p| p.trim() != proposal.markdown.trim());
    if proposal.status == ProposalStatus::Pending {
        let by = if proposal.asked { "agent" } else { "agent-auto" };
        work.approve(
            mode_seen(&event.permission_mode),
            Decision {
                note: edited.then(|| EDITED.to_owned()),
                by: by.into(),
            },
        );
    } else if let Some(note) = proposal.note.as_deref().filter(|n| !n.trim().is_empty()) {
        let text = format!("Approved with a note: {note}");
        outcome.answer = Some(
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": text}}).to_string(),
        );
    }
    let queued = work
        .active_execution()
        .filter(|e| e.state == ExecutionState::Queued)
        .map(|e| e.id.clone());
    let live = work.record.turn.as_ref().map(|t| (t.id.clone(), t.epoch.clone()));
    if let (Some(execution), Some((turn, owner))) = (queued, live) {
        // it is the queued one, in the live turn: nothing can refuse it
        work.claim(&execution, Some(turn), owner).map(drop).unwrap_or_default();
    }
    outcome
}

/// The agent's mode as one of ours.
fn mode_seen(word: &str) -> PermissionMode {
    match word {
        "acceptEdits" => PermissionMode::AcceptEdits,
        "auto" | "bypassPermissions" => PermissionMode::Auto,
        _ => PermissionMode::Ask,
    }
}

/// 5: the turn that carried out the plan is over. Work that a `run` or a host has is theirs to finish.
fn end_of_work(work: &mut Work, event: &Event) {
    let Some(proposal) = by_hook(work) else { return };
    let Some(turn) = proposal
        .execution
        .as_ref()
        .filter(|e| e.state == ExecutionState::Running)
        .and_then(|e| e.turn_id.clone())
    else {
        return;
    };
    let live = work.record.turn.as_ref().filter(|t| t.id == turn).map(|t| t.origin);
    let closed = work.record.turns.iter().rev().find(|t| t.id == turn).map(|t| t.origin);
    if live.or(closed) == Some(Origin::Hook) {
        work.finish(Finish {
            completed: event.name == "Stop",
            ..Finish::default()
        });
    }
}

/// The answer to a request whose proposal was decided elsewhere; none if it was decided in the agent itself, or not at
/// all.
///
/// Measured with Claude Code 2.1.197 and 2.1.332: an allow needs `updatedInput`, and without `updatedPermissions` the
/// mode after it is `default`; `setMode` to acceptEdits and auto is that mode at once, in the next payload, in the
/// transcript and for the next edit. `bypassPermissions` is taken of an agent that was started with leave to bypass only,
/// else it is `default`.
pub fn answer(proposal: &Proposal, event: &Event, rules: &Rules) -> Option<String> {
    if proposal.decided_by.as_deref() != Some("cli") {
        return None;
    }
    let decision = match proposal.status {
        ProposalStatus::Approved => {
            let mode = match proposal.permission_mode.unwrap_or(PermissionMode::Ask) {
                PermissionMode::AcceptEdits => Some("acceptEdits"),
                PermissionMode::Auto if rules.claude_auto != "default" => Some(rules.claude_auto.as_str()),
                _ => None,
            };
            let mut decision = json!({"behavior": "allow", "updatedInput": event.input});
            if let Some(mode) = mode {
                decision["updatedPermissions"] = json!([{"type": "setMode", "mode": mode, "destination": "session"}]);
            }
            decision
        }
        ProposalStatus::Rejected => {
            let message = proposal
                .note
                .as_deref()
                .filter(|n| !n.trim().is_empty())
                .unwrap_or("Not yet. Revise the plan and propose it again.");
            json!({"behavior": "deny", "message": message})
        }
        _ => return None,
    };
    Some(json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}).to_string())
}

/// The code of an event whose plan has no text.
pub const NO_TEXT: Code = Code::BadPayload;
