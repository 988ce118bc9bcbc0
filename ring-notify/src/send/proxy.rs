//! The proxy that the environment names for an address.

use std::env;
use ureq::Proxy;
use ureq::http::Uri;

/// The proxy for an address: `https_proxy` or `http_proxy` by its scheme, else `all_proxy`, in small or capital letters,
/// unless `no_proxy` names the host.
pub fn of(uri: &Uri) -> Option<Proxy> {
    by(uri, |name| env::var(name).ok())
}

fn by(uri: &Uri, variable: impl Fn(&str) -> Option<String>) -> Option<Proxy> {
    let either = |name: &str| {
        let found = variable(name).or_else(|| variable(&name.to_ascii_uppercase()));
        found.map(|v| v.trim().to_owned()).filter(|v| !v.is_empty())
    };
    let named = match uri.scheme_str() {
        Some("https") => either("https_proxy"),
        _ => either("http_proxy"),
    };
    let proxy = Proxy::new(&named.or_else(|| either("all_proxy"))?).ok()?;
    let mut builder = Proxy::builder(proxy.protocol())
        .host(proxy.host())
        .port(proxy.port())
        .resolve_target(proxy.resolve_target());
    if let Some(user) = proxy.username() {
        builder = builder.username(user);
    }
    if let Some(password) = proxy.password() {
        builder = builder.password(password);
    }
    let exceptions = either("no_proxy").unwrap_or_default();
    for host in exceptions.split(',').map(str::trim).filter(|h| !h.is_empty()) {
        builder = builder.no_proxy(host);
    }
    let proxy = builder.build().ok()?;
    (!proxy.is_no_proxy(uri)).then_some(proxy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        by(&url.parse().unwrap(), variable).map(|p| format!("{:?} {}:{}", p.protocol(), p.host(), p.port()))
    }

    #[test]
    fn a_proxy_is_chosen_by_the_scheme_of_the_address() {
        let both = [("http_proxy", "http://a:1"), ("HTTPS_PROXY", "http://b:2")];
        assert_eq!(proxy("http://x/", &both).as_deref(), Some("Http a:1"));
        assert_eq!(proxy("https://x/", &both).as_deref(), Some("Http b:2"));
        assert_eq!(proxy("https://x/", &[("http_proxy", "http://a:1")]), None);
        assert_eq!(
            proxy("https://x/", &[("all_proxy", "socks5h://c:3")]).as_deref(),
            Some("Socks5h c:3")
        );
        assert_eq!(proxy("https://x/", &[("https_proxy", "")]), None);
    }

    #[test]
    fn hosts_without_a_proxy_are_reached_directly() {
        let variables = [("https_proxy", "http://b:2"), ("NO_PROXY", "localhost, .lan")];
        assert_eq!(proxy("https://localhost/", &variables), None);
        assert_eq!(proxy("https://box.lan/", &variables), None);
        assert!(proxy("https://ntfy.sh/", &variables).is_some());
    }
}
