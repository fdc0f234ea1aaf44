//! What a token has to be good for, by what is asked: reading, acting in the person's name, or handing out more tokens and
//! changing what the server is connected to.

use axum::http::Method;

use crate::problem::Problem;
use crate::security::origin::is_safe;
use crate::security::tokens::{Grant, TokenScope};

/// Questions that are too long for an address: asking them changes nothing.
const QUESTIONS: [&str; 4] = ["/api/v1/search", "/api/v1/pick", "/api/discovery/scan", "/api/discovery/test"];
/// What only an administrator may touch.
const ADMINISTRATION: [&str; 4] = ["/api/v1/tokens", "/api/auth/", "/api/backup/", "/api/connections"];

/// What a request needs.
pub(super) fn needed(method: &Method, path: &str) -> TokenScope {
    let is_administration = ADMINISTRATION.iter().any(|start| path.starts_with(start));
    match is_safe(method) {
        true if path.starts_with("/api/v1/tokens") || path.starts_with("/api/backup/export") => {
            TokenScope::Admin
        }
        true => TokenScope::Read,
        false if is_administration => TokenScope::Admin,
        false if QUESTIONS.contains(&path) => TokenScope::Read,
        false => TokenScope::Act,
    }
}

/// Refuses what would act without asking anybody, unless an administrator wants it.
pub(crate) fn check_unasked(grant: &Grant, acts_unasked: bool, what: &str) -> Result<(), Problem> {
    if acts_unasked && grant.scope() < TokenScope::Admin {
        return Err(Problem::forbidden(format!("{what} that acts without asking needs an admin's token")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, path: &str, expected: TokenScope) {
        assert_eq!(needed(&method.parse().unwrap(), path), expected, "{method} {path}");
    }

    #[test]
    fn reading_acting_and_administration() {
        check("GET", "/api/v1/sessions", TokenScope::Read);
        check("HEAD", "/api/connections", TokenScope::Read);
        check("POST", "/api/v1/search", TokenScope::Read);
        check("POST", "/api/v1/search/", TokenScope::Act);
        check("POST", "/api/v1/workers", TokenScope::Act);
        check("DELETE", "/api/rooms/x", TokenScope::Act);
        check("PATCH", "/anything", TokenScope::Act);
        check("POST", "/api/connections", TokenScope::Admin);
        check("DELETE", "/api/connections/x", TokenScope::Admin);
        check("GET", "/api/v1/tokens", TokenScope::Admin);
        check("POST", "/api/auth/keys", TokenScope::Admin);
    }
}
