//! The scope that each request needs: `read`, `act` for acting in the person's name, `admin` for creating tokens and changing
//! what the server is connected to.

use app::Context;
use app::cron::{self, JobRequest};
use axum::http::Method;

use crate::problem::Problem;
use crate::security::origin::is_safe;
use crate::security::tokens::{Grant, TokenScope};

/// Queries with a body: they change nothing.
const QUESTIONS: [&str; 4] = ["/api/v1/search", "/api/v1/pick", "/api/discovery/scan", "/api/discovery/test"];
/// Paths that need the scope `admin` to change anything.
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

/// Refuses what would act without asking, unless the token's scope is `admin`.
pub(crate) fn check_unasked(grant: &Grant, acts_unasked: bool, what: &str) -> Result<(), Problem> {
    if acts_unasked && grant.scope() < TokenScope::Admin {
        return Err(Problem::forbidden(format!("{what} that acts without asking needs an admin's token")));
    }
    Ok(())
}

/// Refuses to start or change a job that acts without asking, unless the token's scope is `admin`.
pub(crate) fn check_job(grant: &Grant, context: &Context, job: &JobRequest) -> Result<(), Problem> {
    check_unasked(grant, cron::acts_without_asking(context, job)?, "a job")
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
        check("GET", "/api/v1/cost/blocks", TokenScope::Read);
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
