//! Records whose unknown members survive a rewrite.
//!
//! A newer or a foreign program may have put members into a record that this one does not know. They are kept as raw
//! JSON text, so that big numbers and odd strings come out as they went in, at every depth of the record.

use serde_json::value::RawValue;

/// A JSON object whose members keep their order and their text. Of a member that comes twice the last counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Raw)>);

/// Members that this program does not know.
pub type Unknown = Object;

impl Object {
    /// A member's raw text.
    pub fn raw(&self, name: &str) -> Option<&Raw> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// A member as a value of a type; none if it is missing or of another type.
    pub fn get<'a, T: serde::Deserialize<'a>>(&'a self, name: &str) -> Option<T> {
        self.raw(name).and_then(|v| serde_json::from_str(v.0.get()).ok())
    }

    /// Sets a member, in its place if it is there, else at the end. A value that JSON cannot hold is left out.
    pub fn set<T: serde::Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if let Ok(value) = serde_json::value::to_raw_value(value) {
            self.put(name.to_owned(), Raw(value));
        }
    }

    /// As [`Object::set`], of a raw value.
    pub fn put(&mut self, name: String, value: Raw) {
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Removes a member.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(n, _)| n != name);
    }

    /// All members, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl serde::Serialize for Object {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> serde::Deserialize<'de> for Object {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Object;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut object = Object::default();
                while let Some((name, value)) = map.next_entry()? {
                    object.put(name, value);
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A JSON text in one line: line ends of JSON stand between its tokens, never in a string, so that blanks do as well.
pub fn one_line(json: String) -> String {
    match json.contains(['\n', '\r']) {
        true => json.replace(['\n', '\r'], " "),
        false => json,
    }
}

/// A value that is kept as it came and never interpreted.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Raw(pub Box<RawValue>);

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Raw {
    /// The raw form of a JSON text, in one line; none if it is no JSON.
    pub fn parse(text: &str) -> Option<Raw> {
        let raw: Box<RawValue> = serde_json::from_str(text).ok()?;
        // only a text that is JSON may lose its line ends: a string must not get a blank for one
        RawValue::from_string(one_line(String::from(Box::<str>::from(raw))))
            .ok()
            .map(Raw)
    }
}

/// A member's name, borrowed from the text where it has no escapes: a record has hundreds of them.
#[derive(serde::Deserialize)]
pub struct Name<'a>(#[serde(borrow)] pub std::borrow::Cow<'a, str>);

/// Whether a value is its type's default.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Declares a struct that is read and written as a JSON object in the order of its fields. A missing member has its
/// default; of a member that comes twice the last counts; a member of a wrong type is an error that names it; unknown
/// ones are kept in `unknown`. A field that is declared `NAME as sparse: TYPE` is left out while it has its default.
#[macro_export]
macro_rules! members {
    (@entry $map:ident, $field:ident, $value:expr) => {
        $map.serialize_entry(stringify!($field), &$value)?;
    };
    (@entry $map:ident, $field:ident, $value:expr, sparse) => {
        if !$crate::members::is_default(&$value) {
            $map.serialize_entry(stringify!($field), &$value)?;
        }
    };
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$field_attribute:meta])* $field:ident $(as $how:ident)?: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_attribute])* pub $field: $type,)*
            /// What else the record holds.
            pub unknown: $crate::members::Unknown,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $($crate::members!(@entry map, $field, self.$field $(, $how)?);)*
                for (name, value) in self.unknown.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;
                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object (", stringify!($name), ")"))
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut record = <$name as Default>::default();
                        while let Some($crate::members::Name(name)) = map.next_key()? {
                            match &*name {
                                $(stringify!($field) => {
                                    record.$field = map
                                        .next_value()
                                        .map_err(|e| serde::de::Error::custom(format_args!("{name}: {e}")))?;
                                })*
                                _ => record.unknown.put(name.into_owned(), map.next_value()?),
                            }
                        }
                        Ok(record)
                    }
                }
                deserializer.deserialize_map(Members)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Unknown;

    members! {
        /// Of this test.
        #[derive(Default)]
        pub struct Inner {
            /// A number.
            n: i64,
        }
    }

    members! {
        /// Of this test.
        #[derive(Default)]
        pub struct Outer {
            /// A text.
            text: String,
            /// A struct in a list.
            list: Vec<Inner>,
            /// Perhaps nothing.
            maybe: Option<Inner>,
            /// Seldom there.
            rare as sparse: i64,
        }
    }

    #[test]
    fn a_sparse_member_is_left_out_while_it_has_its_default() {
        let mut outer = Outer::default();
        let without = serde_json::to_string(&outer).unwrap();
        assert!(!without.contains("rare"), "{without}");
        outer.rare = 7;
        let with = serde_json::to_string(&outer).unwrap();
        assert!(with.contains(r#""rare":7"#), "{with}");
        assert_eq!(serde_json::from_str::<Outer>(&with).unwrap(), outer);
    }

    #[test]
    fn a_raw_text_is_one_line_and_a_line_end_within_a_string_makes_it_none() {
        let raw = super::Raw::parse("{\n \"a\":\r\n[1.00,\"x\\n y\"] }\n").unwrap();
        assert_eq!(raw.0.get(), "{  \"a\":  [1.00,\"x\\n y\"] }");
        assert!(super::Raw::parse("\"a\nb\"").is_none());
    }

    #[test]
    fn s39_unknown_members_survive_at_every_depth() {
        let text = r#"{"text":"a","list":[{"n":1,"big":123456789012345678901234567890}],"maybe":null,"odd":"\ud800","x":{"deep":[1.00]}}"#;
        let outer: Outer = serde_json::from_str(text).unwrap();
        assert_eq!(outer.list[0].n, 1);
        assert_eq!(serde_json::to_string(&outer).unwrap(), text);
    }

    #[test]
    fn missing_members_have_their_default_and_the_last_of_two_counts() {
        let outer: Outer = serde_json::from_str(r#"{"text":"a","text":"b","u":1,"u":2}"#).unwrap();
        assert_eq!((outer.text.as_str(), outer.maybe), ("b", None));
        assert_eq!(outer.unknown.iter().count(), 1);
        assert_eq!(outer.unknown.get("u"), Some(2));
        assert_ne!(outer.unknown, Unknown::default());
    }

    #[test]
    fn a_member_of_a_wrong_type_is_named() {
        let error = serde_json::from_str::<Outer>(r#"{"text":5}"#).unwrap_err().to_string();
        assert!(error.starts_with("text: "), "{error}");
    }
}
