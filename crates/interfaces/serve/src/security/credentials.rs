//! The credentials that the server accepts: tokens, the cookies of browsers, and the link that gives a browser its cookie once.

use app::Kind;
use axum::http::StatusCode;
use jiff::Timestamp;

use crate::problem::Problem;
use crate::security::link::Link;
use crate::security::origin::Bound;
use crate::security::tokens::{self, Grant, Tokens};

/// The name of the cookie that a browser gets for the link.
pub(super) const COOKIE: &str = "backstory";

/// The credentials that the server accepts.
pub(crate) struct Credentials {
    pub(super) bound: Bound,
    pub(super) tokens: Tokens,
    link: Link,
}

impl Credentials {
    /// These tokens, and a new link.
    pub(crate) fn new(bound: Bound, tokens: Tokens) -> Self {
        Self { bound, tokens, link: Link::new() }
    }

    /// The tokens that were handed out.
    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The token of the link that is printed.
    pub(crate) fn link_token(&self) -> String {
        self.link.token()
    }

    /// Whether what was granted is still granted.
    pub(crate) fn holds(&self, grant: &Grant, now: Timestamp) -> bool {
        self.tokens.holds(grant.digest(), now)
    }

    /// A cookie for the token of a link: once for the printed one, at any time for a named one.
    pub(super) fn exchange(&self, secret: &str, now: Timestamp) -> Result<String, Problem> {
        let from = match self.tokens.grant(secret, now) {
            Some(grant) => grant,
            None if self.link.close(secret) => Grant::of_link(),
            None => {
                return Err(unauthorized("this link was used already; start `serve` again for a new one"));
            }
        };
        let cookie = self.tokens.add_browser(&from, now)?;
        let month = tokens::BROWSER_DAYS * 24 * 3600;
        let secure = if self.bound == Bound::Encrypted { "; Secure" } else { "" };
        Ok(format!("{COOKIE}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age={month}{secure}"))
    }
}

/// The refusal of a request without a valid credential.
pub(super) fn unauthorized(why: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, Kind::Forbidden, why)
}
