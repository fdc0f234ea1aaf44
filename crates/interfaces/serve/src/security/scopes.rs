//! What a token has to be good for, by what is asked: reading, acting in the person's name, or handing out more tokens and
//! changing what the server is connected to.

use axum::http::Method;

use crate::security::{Scope, is_safe};

/// Questions that are too long for an address: asking them changes nothing.
const QUESTIONS: [&str; 3] = ["/api/v1/search", "/api/v1/pick", "/api/discovery/scan"];
/// What only an administrator may touch.
const ADMINISTRATION: [&str; 4] = ["/api/v1/tokens", "/api/auth/", "/api/backup/", "/api/connections"];

/// What a request needs.
pub(super) fn needed(method: &Method, path: &str) -> Scope {
    let is_administration = ADMINISTRATION.iter().any(|start| path.starts_with(start));
    match is_safe(method) {
        true if path.starts_with("/api/v1/tokens") || path.starts_with("/api/backup/export") => Scope::Admin,
        true => Scope::Read,
        false if is_administration => Scope::Admin,
        false if QUESTIONS.contains(&path) => Scope::Read,
        false => Scope::Act,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, path: &str, expected: Scope) {
        assert_eq!(needed(&method.parse().unwrap(), path), expected, "{method} {path}");
    }

    #[test]
    fn reading_acting_and_administration() {
        check("GET", "/api/v1/sessions", Scope::Read);
        check("HEAD", "/api/connections", Scope::Read);
        check("POST", "/api/v1/search", Scope::Read);
        check("POST", "/api/v1/search/", Scope::Act);
        check("POST", "/api/v1/workers", Scope::Act);
        check("DELETE", "/api/rooms/x", Scope::Act);
        check("PATCH", "/anything", Scope::Act);
        check("POST", "/api/connections", Scope::Admin);
        check("DELETE", "/api/connections/x", Scope::Admin);
        check("GET", "/api/v1/tokens", Scope::Admin);
        check("POST", "/api/auth/keys", Scope::Admin);
    }
}
