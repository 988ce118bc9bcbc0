//! Whether the last thing that an agent said is a question to the person (ring-hook(1), QUESTIONS).

/// The question in the last line of `text`, cleaned, at most 160 characters; none if nothing is asked.
///
/// `courtesy` holds phrases that look like questions and ask nothing; empty: nothing is filtered.
pub fn question(text: &str, courtesy: &[String]) -> Option<String> {
    let _ = (text, courtesy);
    None
}
