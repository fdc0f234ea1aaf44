//! Where a request comes from. A page of another site can make a browser send requests here; they are distinguished by `Host`
//! and `Origin`, which no page can change.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};

use crate::problem::Problem;

/// What a browser says of the relation between a page and what it asks for.
const SITE: &str = "sec-fetch-site";
/// What a browser wants an answer for.
const MODE: &str = "sec-fetch-mode";

/// How the server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// From this machine only, in the clear.
    Loopback,
    /// With a certificate, also from others.
    Encrypted,
}

impl Bound {
    /// How a server is reached that has a certificate, or none.
    pub(crate) fn new(is_encrypted: bool) -> Self {
        if is_encrypted { Self::Encrypted } else { Self::Loopback }
    }

    /// How an address begins.
    pub(crate) fn scheme(self) -> &'static str {
        match self {
            Self::Loopback => "http",
            Self::Encrypted => "https",
        }
    }

    /// Whether a name is one of ours. Only names can be made to lead elsewhere, so that an address is as good as it is; and
    /// a browser has compared the name with the certificate, where there is one.
    fn is_ours(self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        match address.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || self == Self::Encrypted,
            Err(_) => name.eq_ignore_ascii_case("localhost") || (self == Self::Encrypted && is_name(name)),
        }
    }
}

/// Whether a text can be a machine's name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

fn without_port(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, rest) = host.split_at(end);
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

/// The host a request is sent to, which is said once and is ours.
pub(super) fn host(request: &Request, bound: Bound) -> Result<&str, Problem> {
    let mut said = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (said.next(), said.next()) else {
        return Err(Problem::usage("send exactly one Host header"));
    };
    let host = host.to_str().map_err(|_| Problem::usage("the Host header is not a host name"))?;
    if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
        return Err(Problem::usage("the address and the Host differ"));
    }
    if !bound.is_ours(host) {
        return Err(Problem::forbidden(
            "this Host is not allowed: use localhost or an address of this machine",
        ));
    }
    Ok(host)
}

/// Refuses what comes from a page of another origin. Programs say nothing of an origin.
pub(super) fn check(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    (bound, host): (Bound, &str),
) -> Result<(), Problem> {
    let origins = headers.get_all(header::ORIGIN).iter();
    let is_own = |origin: &str| origin.split_once("://") == Some((bound.scheme(), host));
    if origins.into_iter().any(|origin| !origin.to_str().is_ok_and(is_own)) {
        return Err(Problem::forbidden("this request comes from a page of another origin"));
    }
    match text(headers, SITE) {
        None | Some("same-origin" | "none") => Ok(()),
        // A link from another site to one of our pages.
        Some(_)
            if is_safe(method) && !path.starts_with("/api") && text(headers, MODE) == Some("navigate") =>
        {
            Ok(())
        }
        Some(_) => Err(Problem::forbidden("this request comes from a page of another site")),
    }
}

/// Refuses a browser's change that does not say where it comes from: every browser says it.
pub(super) fn check_browser(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let says = headers.contains_key(header::ORIGIN) || headers.contains_key(SITE);
    if is_safe(method) || says {
        return Ok(());
    }
    Err(Problem::forbidden(
        "a change with a cookie needs an Origin header; programs send a bearer token instead",
    ))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

/// Whether a method changes nothing.
pub(super) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

#[cfg(test)]
mod tests {
    use super::check as check_headers;
    use super::*;

    #[test]
    fn our_hosts() {
        let check = |host: &str, here: bool, encrypted: bool| {
            assert_eq!(Bound::Loopback.is_ours(host), here, "{host}");
            assert_eq!(Bound::Encrypted.is_ours(host), encrypted, "{host}");
        };
        for host in [
            "localhost",
            "LOCALHOST:80",
            "localhost:65535",
            "127.0.0.1:8787",
            "127.8.8.8",
            "[::1]",
            "[::1]:8787",
        ] {
            check(host, true, true);
        }
        // With a certificate a browser has compared the name already.
        let names = ["mac.example", "localhost.evil.example", "127.0.0.1.evil.example:8787"];
        for host in ["192.168.1.5:8787", "[fe80::1]:80", "8.8.8.8"].into_iter().chain(names) {
            check(host, false, true);
        }
        let none = [
            "",
            ":",
            ":80",
            "localhost:",
            "localhost:8a",
            "localhost:65536",
            "localhost:+80",
            "[::1",
            "[::1]x",
        ];
        for host in none.into_iter().chain(["127.0.0.1@evil", "a_b.example", "a b"]) {
            check(host, false, false);
        }
    }

    #[test]
    fn origins_and_sites() {
        let check = |method: &str, path: &str, said: &[(&'static str, &str)], expected: bool| {
            let headers = said.iter().map(|(name, value)| {
                (axum::http::HeaderName::from_static(name), axum::http::HeaderValue::from_str(value).unwrap())
            });
            let headers: HeaderMap = headers.collect();
            let found =
                check_headers(&method.parse().unwrap(), path, &headers, (Bound::Loopback, "localhost:8787"))
                    .is_ok();
            assert_eq!(found, expected, "{method} {path} {said:?}");
        };
        check("GET", "/api/sessions", &[], true);
        check(
            "POST",
            "/api/x",
            &[("origin", "http://localhost:8787"), ("sec-fetch-site", "same-origin")],
            true,
        );
        check(
            "POST",
            "/api/x",
            &[("origin", "http://localhost:9999"), ("sec-fetch-site", "same-site")],
            false,
        );
        check("GET", "/api/x", &[("sec-fetch-site", "same-site")], false);
        check("GET", "/api/x", &[("origin", "null")], false);
        check("GET", "/api/x", &[("origin", "https://localhost:8787")], false);
        check("GET", "/", &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], true);
        check("GET", "/api/x", &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], false);
        check("POST", "/", &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], false);
        check("GET", "/x.js", &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")], false);
    }

    #[test]
    fn an_origin_in_the_clear_is_not_ours_where_all_is_encrypted() {
        for (origin, expected) in [("https://mac.example", true), ("http://mac.example", false)] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            let found = check_headers(&Method::POST, "/api/x", &headers, (Bound::Encrypted, "mac.example"));
            assert_eq!(found.is_ok(), expected, "{origin}");
        }
    }
}
