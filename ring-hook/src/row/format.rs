//! Records as JSON objects: fields in their declared order, each read by its own type, the rest kept.

/// Declares records whose fields stand in their files in the declared order. Each gets a last field `unknown`, the
/// members that are no field.
macro_rules! records {
    ($($(#[$doc:meta])* pub struct $name:ident {
        $($(#[$field_doc:meta])* $field:ident $(as $spelled:literal)?: $kind:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[allow(missing_docs, reason = "ring(5) lists the fields")]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $kind,)*
            /// Members that this program does not know.
            pub unknown: Unknown,
        }

        impl json::Value for $name {
            fn read(raw: &str) -> Option<Self> {
                const NAMES: &[&str] = &[$(format::spelling!($field $($spelled)?)),*];
                let mut record = <$name>::default();
                // Files are written in this order, so the next name is known before it is looked at.
                let mut next = 0;
                json::each_member(raw, |name, value| {
                    let is_next = NAMES.get(next) == Some(&name);
                    let place = if is_next { Some(next) } else { NAMES.iter().position(|n| *n == name) };
                    let Some(place) = place else {
                        record.unknown.push((name.to_owned(), value.to_owned()));
                        return;
                    };
                    next = place + 1;
                    let mut at = 0;
                    $(
                        if at == place {
                            record.$field = json::Value::read(value).unwrap_or_default();
                        }
                        at += 1;
                    )*
                    debug_assert!(at == NAMES.len());
                })?;
                Some(record)
            }

            fn write(&self, out: &mut String) {
                out.push('{');
                $(
                    out.push_str(format::spelling!($field $($spelled)?));
                    out.push(':');
                    json::Value::write(&self.$field, out);
                    out.push(',');
                )*
                for (name, value) in &self.unknown {
                    out.push_str(name);
                    out.push(':');
                    out.push_str(value);
                    out.push(',');
                }
                out.pop();
                out.push('}');
            }
        }
    )*};
}

/// A field's name in its file, with quotes.
macro_rules! spelling {
    ($field:ident) => {
        concat!("\"", stringify!($field), "\"")
    };
    ($field:ident $spelled:literal) => {
        concat!("\"", $spelled, "\"")
    };
}

pub(super) use records;
pub(super) use spelling;
