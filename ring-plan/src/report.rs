//! The report of a goal: each criterion once, with an outcome and evidence (ring-plan(1), GOALS).

use crate::criteria::{Criterion, collapsed};
use ring_session::members::{Object, Raw};
use ring_session::{Code, Refusal};

/// Longest report, in bytes.
pub const BYTES: usize = 256 * 1024;
/// Longest evidence, in characters.
const EVIDENCE: usize = 4000;

fn invalid(reason: &str, text: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidArgument, text).with("reason", reason)
}

/// Any report: a JSON object.
///
/// # Errors
/// `INVALID_ARGUMENT` (`report_invalid`).
pub fn read(bytes: &[u8]) -> Result<(Raw, Object), Refusal> {
    if bytes.len() > BYTES {
        return Err(invalid(
            "report_invalid",
            format!("the report has more than {BYTES} bytes"),
        ));
    }
    // kept as it came, so nothing of it may be replaced
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("report_invalid", "the report is not UTF-8"))?;
    let object = serde_json::from_str(text)
        .map_err(|e| invalid("report_invalid", format!("the report is no JSON object: {e}")))?;
    let raw = Raw::parse(text.trim()).ok_or_else(|| invalid("report_invalid", "the report is no JSON object"))?;
    Ok((raw, object))
}

/// A goal's report: nothing may be passed over.
///
/// # Errors
/// `INVALID_ARGUMENT` (`report_missing`, `report_invalid`), with `missing`, `unknown`, `duplicate`, `blank_evidence`.
pub fn of_goal(bytes: Option<&[u8]>, criteria: &[Criterion]) -> Result<Raw, Refusal> {
    let bytes = bytes.filter(|b| !b.iter().all(u8::is_ascii_whitespace));
    let Some(bytes) = bytes else {
        return Err(invalid(
            "report_missing",
            "a goal needs a report of each criterion; `ring-plan instruction` tells the agent how to give it",
        )
        .with("missing", criteria.iter().map(|c| c.id.clone()).collect::<Vec<_>>()));
    };
    let (raw, object) = read(bytes)?;
    if criteria.is_empty() {
        let summary = object.get::<String>("summary").unwrap_or_default();
        return match summary.trim().is_empty() {
            true => Err(invalid(
                "report_invalid",
                "the report needs a summary, since the goal names no criteria",
            )),
            false => Ok(raw),
        };
    }
    let Some(entries) = object.get::<Vec<Object>>("criteria") else {
        return Err(
            invalid("report_invalid", "the report needs a list `criteria` of objects")
                .with("missing", criteria.iter().map(|c| c.id.clone()).collect::<Vec<_>>()),
        );
    };
    let (mut seen, mut unknown, mut duplicate, mut blank, mut outcome) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for entry in &entries {
        let id = entry.get::<String>("id");
        let text = entry.get::<String>("criterion").map(|t| collapsed(&t));
        let found = criteria.iter().find(|c| match (&id, &text) {
            (Some(id), _) => c.id == id.trim(),
            (None, Some(text)) => c.text == *text,
            (None, None) => false,
        });
        let Some(found) = found else {
            unknown.push(id.or(text).unwrap_or_default());
            continue;
        };
        if seen.contains(&found.id) {
            duplicate.push(found.id.clone());
            continue;
        }
        seen.push(found.id.clone());
        let evidence = entry.get::<String>("evidence").unwrap_or_default();
        if evidence.trim().is_empty() || evidence.chars().count() > EVIDENCE {
            blank.push(found.id.clone());
        }
        if !matches!(
            entry.get::<String>("outcome").as_deref(),
            Some("met" | "unmet" | "blocked")
        ) {
            outcome.push(found.id.clone());
        }
    }
    let missing: Vec<String> = criteria
        .iter()
        .map(|c| c.id.clone())
        .filter(|id| !seen.contains(id))
        .collect();
    let lists = [
        ("missing", missing),
        ("unknown", unknown),
        ("duplicate", duplicate),
        ("blank_evidence", blank),
        ("bad_outcome", outcome),
    ];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return Ok(raw);
    }
    let text: Vec<String> = lists
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| format!("{}: {}", name.replace('_', " "), list.join(", ")))
        .collect();
    let refusal = invalid(
        "report_invalid",
        format!("the report does not cover the goal ({})", text.join("; ")),
    );
    Err(lists
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .fold(refusal, |r, (name, list)| r.with(name, list)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criteria::criteria;

    fn two() -> Vec<Criterion> {
        criteria("# Acceptance criteria\n- tests  pass\n- docs\n")
    }

    fn judge(text: &str) -> Result<Raw, Refusal> {
        of_goal(Some(text.as_bytes()), &two())
    }

    #[test]
    fn p38_each_criterion_once_by_id_or_text_with_outcome_and_evidence() {
        let ok = r#"{"criteria":[{"id":"c1","outcome":"met","evidence":"214 passed"},{"criterion":"docs","outcome":"blocked","evidence":"no access"}],"x":1.0}"#;
        assert_eq!(judge(ok).unwrap().0.get(), ok);
        for (text, name) in [
            (
                r#"{"criteria":[{"id":"c1","outcome":"met","evidence":"a"}]}"#,
                "missing",
            ),
            (
                r#"{"criteria":[{"id":"c1","outcome":"met","evidence":"a"},{"id":"c1","outcome":"met","evidence":"a"},{"id":"c2","outcome":"met","evidence":"a"}]}"#,
                "duplicate",
            ),
            (
                r#"{"criteria":[{"id":"c9","outcome":"met","evidence":"a"}]}"#,
                "unknown",
            ),
            (
                r#"{"criteria":[{"id":"c1","outcome":"met","evidence":" "},{"id":"c2","outcome":"met","evidence":"a"}]}"#,
                "blank_evidence",
            ),
            (
                r#"{"criteria":[{"id":"c1","outcome":"done","evidence":"a"},{"id":"c2","outcome":"met","evidence":"a"}]}"#,
                "bad_outcome",
            ),
        ] {
            let refusal = judge(text).unwrap_err();
            assert!(refusal.details.contains_key(name), "{text}: {:?}", refusal.details);
        }
    }

    #[test]
    fn p39_no_report_names_every_criterion_as_missing() {
        let refusal = of_goal(None, &two()).unwrap_err();
        assert_eq!(refusal.details["reason"], "report_missing");
        assert_eq!(refusal.details["missing"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_goal_without_criteria_needs_a_summary() {
        assert!(of_goal(Some(br#"{"summary":"done"}"#), &[]).is_ok());
        assert!(of_goal(Some(br#"{"summary":" "}"#), &[]).is_err());
        assert!(of_goal(Some(b"[]"), &[]).is_err());
    }
}
