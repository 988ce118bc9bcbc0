//! Values of settings: from the file, from the command line, and as both show them.

use super::keys::{Key, Kind};
use crate::style::Style;
use crate::time::{self, Ms};
use serde::{Serialize, Serializer};
use std::fmt;
use toml::de::DeValue;

/// A value of one of the types that keys have.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// true or false.
    Bool(bool),
    /// A text.
    Text(String),
    /// Milliseconds; seconds where people see it.
    Span(Ms),
    /// A whole number.
    Count(u32),
    /// Texts.
    Texts(Vec<String>),
    /// Milliseconds each; seconds where people see them.
    Spans(Vec<Ms>),
}

impl Value {
    /// The value as TOML holds it.
    pub(super) fn to_toml(&self) -> toml_edit::Value {
        let seconds = |ms: Ms| match ms % 1000 {
            0 => toml_edit::Value::from(ms / 1000),
            _ => toml_edit::Value::from(ms as f64 / 1000.0),
        };
        match self {
            Value::Bool(v) => (*v).into(),
            Value::Text(v) => v.as_str().into(),
            Value::Span(v) => seconds(*v),
            Value::Count(v) => i64::from(*v).into(),
            Value::Texts(v) => v.iter().map(String::as_str).collect(),
            Value::Spans(v) => v.iter().map(|ms| seconds(*ms)).collect(),
        }
    }
}

impl fmt::Display for Value {
    /// As it stands in the file: `"emoji"`, `2.5`, `["*"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_toml().fmt(f)
    }
}

impl Serialize for Value {
    /// Spans are numbers of seconds, as in the file.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Seconds {
            Whole(Ms),
            Part(f64),
        }
        let seconds = |ms: Ms| match ms % 1000 {
            0 => Seconds::Whole(ms / 1000),
            _ => Seconds::Part(ms as f64 / 1000.0),
        };
        match self {
            Value::Bool(v) => to.serialize_bool(*v),
            Value::Text(v) => to.serialize_str(v),
            Value::Span(v) => seconds(*v).serialize(to),
            Value::Count(v) => to.serialize_u32(*v),
            Value::Texts(v) => v.serialize(to),
            Value::Spans(v) => to.collect_seq(v.iter().map(|ms| seconds(*ms))),
        }
    }
}

impl Key {
    /// The value that the file gives; none if it is of another type or out of range.
    pub(super) fn of_toml(&self, value: &DeValue<'_>) -> Option<Value> {
        let found = match self.kind {
            Kind::Bool { .. } => Value::Bool(value.as_bool()?),
            Kind::Text { .. } | Kind::Style { .. } => Value::Text(value.as_str()?.to_owned()),
            Kind::Span { .. } => Value::Span(span(value)?),
            Kind::Count { .. } => Value::Count(integer(value)?.try_into().ok()?),
            Kind::Texts { .. } => Value::Texts(each(value, |v| v.as_str().map(str::to_owned))?),
            Kind::Spans { .. } => Value::Spans(each(value, span)?),
            Kind::Ignored => Value::Texts(Vec::new()),
        };
        self.check(found)
    }

    /// The value that a person types: lists with commas or as TOML, spans as a number of seconds or `5m`.
    pub(super) fn of_words(&self, words: &str) -> Option<Value> {
        let as_toml = DeValue::parse(words).ok().map(toml::Spanned::into_inner);
        if let Some(value) = as_toml.as_ref().and_then(|v| self.of_toml(v)) {
            return Some(value);
        }
        let listed = || words.split(',').map(str::trim).filter(|w| !w.is_empty());
        let spanned = |w: &str| time::parse_span(w).ok();
        let found = match self.kind {
            Kind::Text { .. } | Kind::Style { .. } => Value::Text(words.to_owned()),
            Kind::Span { .. } => Value::Span(spanned(words)?),
            Kind::Texts { .. } if !words.trim_start().starts_with('[') => {
                Value::Texts(listed().map(str::to_owned).collect())
            }
            Kind::Spans { .. } => Value::Spans(listed().map(spanned).collect::<Option<_>>()?),
            _ => return None,
        };
        self.check(found)
    }

    fn check(&self, value: Value) -> Option<Value> {
        let allowed = |of: &[&str], text: &str| of.is_empty() || of.contains(&text);
        let good = match (&self.kind, &value) {
            (Kind::Text { of, .. }, Value::Text(v)) => allowed(of, v),
            (Kind::Style { .. }, Value::Text(v)) => Style::parse(v).is_some(),
            (Kind::Texts { of, .. }, Value::Texts(v)) => v.iter().all(|t| allowed(of, t)),
            (Kind::Span { min, max, .. }, Value::Span(v)) => (min..=max).contains(&v),
            (Kind::Spans { min, max, .. }, Value::Spans(v)) => v.iter().all(|ms| (min..=max).contains(&ms)),
            (Kind::Count { min, max, .. }, Value::Count(v)) => (min..=max).contains(&v),
            _ => true,
        };
        good.then_some(value)
    }
}

fn each<T>(value: &DeValue<'_>, one: impl Fn(&DeValue<'_>) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(|v| one(v.get_ref())).collect()
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A number of seconds in milliseconds.
fn span(value: &DeValue<'_>) -> Option<Ms> {
    if value.is_integer() {
        return integer(value)?.checked_mul(1000);
    }
    let seconds: f64 = value.as_float()?.as_str().parse().ok()?;
    let ms = (seconds * 1000.0).round();
    (ms.abs() <= time::MAX_SPAN_MS as f64).then_some(ms as Ms)
}
