//! Secrets: read when they are needed, never kept, shown or logged.

use super::http;
use crate::outlet::{Secret, Way};
use ring_session::regular;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file is read so far.
const FILE: u64 = 64 * 1024;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::None => f.write_str("None"),
            Secret::Value(_) => f.write_str("Value(***)"),
            Secret::File(path) => f.debug_tuple("File").field(path).finish(),
            Secret::Env(name) => f.debug_tuple("Env").field(name).finish(),
        }
    }
}

/// The value; none if there is to be none.
///
/// # Errors
/// Why it is missing, for people: `token is missing: the variable NTFY_TOKEN is not set`.
pub fn read(name: &str, secret: &Secret) -> Result<Option<String>, String> {
    let found = match secret {
        Secret::None => return Ok(None),
        Secret::Value(value) => Some(value.clone()),
        Secret::File(path) => first_line(path),
        Secret::Env(variable) => std::env::var(variable).ok(),
    };
    let found = found.map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
    found.map(Some).ok_or_else(|| {
        let why = match secret {
            Secret::None | Secret::Value(_) => "it is empty".to_owned(),
            Secret::File(path) => format!("nothing can be read from {}", path.display()),
            Secret::Env(variable) => format!("the variable {variable} is not set"),
        };
        format!("{name} is missing: {why}")
    })
}

/// The value of one that must be there.
///
/// # Errors
/// As above.
pub fn demand(name: &str, secret: &Secret) -> Result<String, String> {
    read(name, secret)?.ok_or_else(|| format!("{name} is missing"))
}

fn first_line(path: &Path) -> Option<String> {
    let path = match path.strip_prefix("~") {
        Ok(rest) => ring_session::state_dir::home()?.join(rest),
        Err(_) => PathBuf::from(path),
    };
    let file = regular::open(&path).ok()?;
    let mut text = String::new();
    file.take(FILE).read_to_string(&mut text).ok()?;
    text.lines().next().map(str::to_owned)
}

/// Settings of an outlet that hold a secret, for people and for `outlets`: an address as scheme and host only, all else
/// as `set` or `missing`. What is not to be there is left out.
pub fn shown(way: &Way) -> Vec<(String, String)> {
    let mut out = Vec::new();
    match way {
        Way::Ntfy(ntfy) => {
            out.extend(address(&ntfy.url));
            out.extend(state("token", &ntfy.token));
            out.extend(state("user", &ntfy.user));
            out.extend(state("password", &ntfy.password));
        }
        Way::Webhook(webhook) => {
            out.extend(address(&webhook.url));
            let headers = webhook.headers.iter();
            out.extend(headers.filter_map(|(name, value)| state(&format!("headers.{name}"), value)));
        }
        _ => {}
    }
    out
}

fn state(name: &str, secret: &Secret) -> Option<(String, String)> {
    let word = match read(name, secret) {
        Ok(None) => return None,
        Ok(Some(_)) => "set",
        Err(_) => "missing",
    };
    Some((name.to_owned(), word.to_owned()))
}

fn address(secret: &Secret) -> Option<(String, String)> {
    let shown = match read("url", secret) {
        Ok(Some(url)) => http::address(&url).map_or_else(|_| "set".to_owned(), |uri| http::host_only(&uri)),
        Ok(None) | Err(_) => "missing".to_owned(),
    };
    Some(("url".to_owned(), shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outlet::{Ntfy, Webhook};

    fn value(text: &str) -> Secret {
        Secret::Value(text.into())
    }

    #[test]
    fn n61_an_address_is_shown_as_scheme_and_host_and_all_else_as_set_or_missing() {
        let way = Way::Ntfy(Ntfy {
            url: value("https://ntfy.example:8443/secret-topic?auth=secret"),
            token: Secret::Env("RING_TEST_NO_SUCH_VARIABLE".into()),
            password: value("secret"),
            ..Ntfy::default()
        });
        let wanted = [
            ("url", "https://ntfy.example"),
            ("token", "missing"),
            ("password", "set"),
        ];
        assert_eq!(shown(&way), wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let way = Way::Webhook(Webhook {
            url: value("secret of no form"),
            headers: vec![
                ("X-A".into(), value("secret")),
                ("X-B".into(), Secret::File("/nonexistent".into())),
            ],
            ..Webhook::default()
        });
        let wanted = [("url", "set"), ("headers.X-A", "set"), ("headers.X-B", "missing")];
        assert_eq!(shown(&way), wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert!(!format!("{way:?}").contains("secret"));
        let wanted = [("url".to_owned(), "missing".to_owned())];
        assert_eq!(shown(&Way::Webhook(Webhook::default())), wanted);
        assert_eq!(shown(&Way::Tmux), []);
    }

    #[test]
    fn a_secret_that_is_missing_says_where_it_should_have_been() {
        let why = |secret: &Secret| read("token", secret).unwrap_err();
        let variable = why(&Secret::Env("RING_TEST_NO_SUCH_VARIABLE".into()));
        assert_eq!(
            variable,
            "token is missing: the variable RING_TEST_NO_SUCH_VARIABLE is not set"
        );
        let file = why(&Secret::File("/nonexistent".into()));
        assert_eq!(file, "token is missing: nothing can be read from /nonexistent");
        assert_eq!(why(&value(" \n")), "token is missing: it is empty");
        assert_eq!(read("token", &Secret::None), Ok(None));
    }
}
