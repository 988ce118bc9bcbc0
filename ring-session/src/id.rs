//! Ids that sort by the time they were made (RFC 9562, UUID version 7).

use crate::time::Ms;
use std::sync::Mutex;
use uuid::{ContextV7, Timestamp, Uuid};

/// A new id. Ids that one process makes within a millisecond sort in the order they were made.
pub fn mint(now: Ms) -> String {
    static CONTEXT: Mutex<ContextV7> = Mutex::new(ContextV7::new());
    let seconds = u64::try_from(now.div_euclid(1000)).unwrap_or(0);
    let nanos = u32::try_from(now.rem_euclid(1000)).unwrap_or(0) * 1_000_000;
    Uuid::new_v7(Timestamp::from_unix(&CONTEXT, seconds, nanos)).to_string()
}

/// Which of `ids` a person means by `given`: the id itself, or the only one that begins so (4 characters or more).
pub enum Meant<'a> {
    /// This one.
    One(&'a str),
    /// None of them.
    Nobody,
    /// Several begin so.
    Several(Vec<&'a str>),
}

/// Resolves a beginning.
pub fn meant<'a>(given: &str, ids: impl IntoIterator<Item = &'a str>) -> Meant<'a> {
    let mut found = Vec::new();
    for id in ids {
        if id == given {
            return Meant::One(id);
        }
        if given.len() >= 4 && id.starts_with(given) {
            found.push(id);
        }
    }
    match found.as_slice() {
        [] => Meant::Nobody,
        [one] => Meant::One(one),
        _ => {
            found.sort_unstable();
            Meant::Several(found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_sort_in_the_order_they_were_made() {
        let ids: Vec<String> = (0..100).map(|_| mint(1_800_000_000_000)).collect();
        assert!(ids.is_sorted());
        assert!(ids[0].starts_with("01a31"), "{}", ids[0]);
        assert!(mint(1_800_000_000_001) > ids[99]);
    }

    #[test]
    fn s79_a_unique_beginning_is_enough_and_two_candidates_are_named() {
        let ids = ["alpha-one", "alpha-two", "beta", "alpha"];
        assert!(matches!(meant("beta", ids), Meant::One("beta")));
        assert!(matches!(meant("alpha", ids), Meant::One("alpha")));
        assert!(matches!(meant("alpha-o", ids), Meant::One("alpha-one")));
        assert!(matches!(meant("bet", ids), Meant::Nobody));
        assert!(matches!(meant("alph", ids), Meant::Several(v) if v == ["alpha", "alpha-one", "alpha-two"]));
    }
}
