//! The session that a person means by `--session`: a record's id, a KEY, or a unique beginning of one.

use ring_session::notification::Head;
use ring_session::store::{ambiguous, session_not_found};
use ring_session::{Code, Refusal, StateDir};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The shortest beginning that is looked for.
const SHORTEST: usize = 4;

/// A session: its name, and the records that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whom {
    /// Its KEY.
    pub key: String,
    /// Its records: one if its id was given, all that have the KEY if that was, none if only a status row has it.
    pub records: Vec<Arc<Head>>,
}

impl Whom {
    /// Whether a record is one of its.
    pub fn has(&self, record: &str) -> bool {
        self.records.iter().any(|h| h.id == record)
    }
}

/// KEYs of all status rows, by the names of their files. A folder that cannot be read has none that anybody could name.
pub fn row_keys(state: &StateDir) -> BTreeSet<String> {
    let names = std::fs::read_dir(state.status()).into_iter().flatten().flatten();
    names
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let key = name.strip_suffix(".json")?;
            (!key.starts_with('.')).then(|| key.to_owned())
        })
        .collect()
}

/// Finds it among all records, the KEYs of status rows, and the records that cannot be read.
///
/// # Errors
/// `INVALID_ARGUMENT` if nothing is given; `SESSION_NOT_FOUND`, `AMBIGUOUS`.
pub fn meant(given: &str, heads: &[Arc<Head>], rows: &BTreeSet<String>, broken: &[Refusal]) -> Result<Whom, Refusal> {
    if given.trim().is_empty() {
        return Err(Refusal::new(
            Code::InvalidArgument,
            "--session names no session; give an id or a KEY",
        ));
    }
    let with_key = |key: &str| Whom {
        key: key.to_owned(),
        records: heads.iter().filter(|h| h.key == key).cloned().collect(),
    };
    let one = |head: &Arc<Head>| Whom {
        key: head.key.clone(),
        records: vec![Arc::clone(head)],
    };
    if let Some(head) = heads.iter().find(|h| h.id == given) {
        return Ok(one(head));
    }
    if let Some(refusal) = broken.iter().find(|b| is_of(b, given)) {
        return Err(refusal.clone());
    }
    if rows.contains(given) || heads.iter().any(|h| h.key == given) {
        return Ok(with_key(given));
    }
    if given.chars().count() < SHORTEST {
        return Err(session_not_found(given));
    }
    let keys = heads.iter().map(|h| &h.key).chain(rows);
    let mut found: BTreeMap<&str, Whom> = keys
        .filter(|k| k.starts_with(given))
        .map(|k| (k.as_str(), with_key(k)))
        .collect();
    for head in heads.iter().filter(|h| h.id.starts_with(given)) {
        // a session whose KEY begins so too is found already
        if !found.contains_key(head.key.as_str()) {
            found.insert(&head.id, one(head));
        }
    }
    let names: Vec<&str> = found.keys().copied().collect();
    match names[..] {
        [_] => found.into_values().next().ok_or_else(|| session_not_found(given)),
        [] => Err(session_not_found(given)),
        _ => Err(ambiguous(given, &names)),
    }
}

fn is_of(refusal: &Refusal, session: &str) -> bool {
    refusal.details.get("session").and_then(|s| s.as_str()) == Some(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads() -> Vec<Arc<Head>> {
        [
            ("claude-code-s1", "claude-code:s1"),
            ("claude-code-s2", "claude-code:s2"),
            ("0198aaaa", "ring:0198aaaa"),
            ("0198bbbb", "codex:dd"),
            ("0198cccc", "codex:dd"),
        ]
        .map(|(id, key)| {
            Arc::new(Head {
                id: id.into(),
                key: key.into(),
                ..Head::default()
            })
        })
        .to_vec()
    }

    fn ask(given: &str) -> Result<(String, Vec<String>), (Code, usize)> {
        let rows = BTreeSet::from(["codex:row".to_owned(), "claude-code:s1".into()]);
        let broken = [Refusal::new(Code::SessionNotFound, "bad").with("session", "0198dddd")];
        match meant(given, &heads(), &rows, &broken) {
            Ok(whom) => {
                let ids: Vec<String> = whom.records.iter().map(|h| h.id.clone()).collect();
                Ok((whom.key, ids))
            }
            Err(e) => Err((
                e.code,
                e.details
                    .get("candidates")
                    .and_then(|c| c.as_array())
                    .map_or(0, Vec::len),
            )),
        }
    }

    #[test]
    fn a_session_is_named_by_its_id_its_key_or_a_unique_beginning_of_either() {
        let whom = |key: &str, ids: &[&str]| Ok((key.to_owned(), ids.iter().map(|i| (*i).to_owned()).collect()));
        assert_eq!(ask("0198aaaa"), whom("ring:0198aaaa", &["0198aaaa"]));
        assert_eq!(ask("ring:0198aaaa"), whom("ring:0198aaaa", &["0198aaaa"]));
        assert_eq!(ask("0198b"), whom("codex:dd", &["0198bbbb"]));
        assert_eq!(ask("codex:d"), whom("codex:dd", &["0198bbbb", "0198cccc"]));
        assert_eq!(ask("claude-code:s1"), whom("claude-code:s1", &["claude-code-s1"]));
        assert_eq!(ask("codex:row"), whom("codex:row", &[]));
        assert_eq!(ask("codex:r"), whom("codex:row", &[]));
    }

    #[test]
    fn what_names_none_or_several_is_refused() {
        assert_eq!(ask(" "), Err((Code::InvalidArgument, 0)));
        assert_eq!(ask("nobody"), Err((Code::SessionNotFound, 0)));
        assert_eq!(ask("0198dddd"), Err((Code::SessionNotFound, 0)));
        assert_eq!(ask("cod"), Err((Code::SessionNotFound, 0)));
        assert_eq!(ask("codex:"), Err((Code::Ambiguous, 2)));
        assert_eq!(ask("0198"), Err((Code::Ambiguous, 3)));
        // an id and a KEY of the same session are one; of two sessions they are not
        assert_eq!(ask("claude-code"), Err((Code::Ambiguous, 2)));
    }
}
