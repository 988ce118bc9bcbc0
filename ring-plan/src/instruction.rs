//! The text that an approved proposal becomes for the agent (ring-plan(1), RUN).

use crate::criteria::criteria;
use ring_session::record::{PermissionMode, Proposal, ProposalKind};

/// The instruction of an approved proposal.
pub fn instruction(proposal: &Proposal) -> String {
    let mode = proposal.permission_mode.unwrap_or(PermissionMode::Ask).as_str();
    let mut text = match proposal.kind {
        ProposalKind::Plan => "A person approved the plan below. Carry it out as it is written. Make no new plan. \
            When it is done, report briefly what was done and how it was checked.\n"
            .to_owned(),
        ProposalKind::Goal => "A person approved the goal below. Reach it in your own way, within its boundaries. \
            Check each acceptance criterion. Stop when all are met, or when a boundary or an obstacle blocks you.\n"
            .to_owned(),
    };
    text.push_str(&format!("\nPermission mode: {mode}\n"));
    if let Some(note) = proposal.note.as_deref().filter(|n| !n.trim().is_empty()) {
        text.push_str(&format!("\nNote of the approval: {note}\n"));
    }
    text.push_str(&format!("\nThe approved text:\n\n{}", proposal.markdown));
    if proposal.kind == ProposalKind::Goal {
        text.push_str(&report_form(&proposal.markdown));
    }
    text
}

fn report_form(markdown: &str) -> String {
    let all = criteria(markdown);
    let mut text = "\n\n".to_owned();
    if all.is_empty() {
        text.push_str("At the end write a report, a JSON object with a `summary` that is not blank.\n");
    } else {
        text.push_str("Criteria:\n");
        for one in &all {
            text.push_str(&format!("{} {}\n", one.id, one.text));
        }
        text.push_str("\nAt the end write a report: each criterion once, its outcome `met`, `unmet` or `blocked`, and the evidence.\n");
    }
    text.push_str(
        "Write it as JSON into the file that $RING_REPORT_FILE names, or as the last fenced block of your answer with the \
         info string `ring-report`:\n\n```ring-report\n{\"criteria\": [{\"id\": \"c1\", \"outcome\": \"met\", \"evidence\": \"...\"}], \"summary\": \"...\"}\n```\n",
    );
    text
}

/// The last fenced block of a text with the info string `ring-report`.
pub fn report_in(text: &str) -> Option<String> {
    let mut last = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let fence = line.trim();
        let marks = fence.chars().take_while(|c| *c == '`').count();
        // with more of them behind, it is code within a line
        if marks < 3 || fence.get(marks..).is_some_and(|rest| rest.contains('`')) {
            continue;
        }
        let ours = fence.get(marks..).map(str::trim) == Some("ring-report");
        let close = |l: &&str| l.trim().len() >= marks && l.trim().chars().all(|c| c == '`');
        let body: Vec<&str> = lines.by_ref().take_while(|l| !close(l)).collect();
        if ours {
            last = Some(body.join("\n"));
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p42_the_instruction_holds_the_approved_bytes_the_note_and_the_mode() {
        let proposal = Proposal {
            markdown: "# A\r\n\n1. x  ".into(),
            note: Some("keep the old endpoint".into()),
            permission_mode: Some(PermissionMode::AcceptEdits),
            ..Proposal::default()
        };
        let text = instruction(&proposal);
        assert!(
            text.contains("# A\r\n\n1. x  ") && text.contains("keep the old endpoint") && text.contains("accept-edits")
        );
    }

    #[test]
    fn the_last_report_of_an_answer_counts() {
        let text = "a\n```ring-report\n{\"n\":1}\n```\n```json\n{}\n```\n````ring-report\n{\"n\":2}\n````\nbye";
        assert_eq!(report_in(text).as_deref(), Some("{\"n\":2}"));
        assert_eq!(report_in("```\nring-report\n```"), None);
    }
}
