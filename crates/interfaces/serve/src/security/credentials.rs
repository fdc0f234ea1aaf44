//! The credentials that the server accepts: tokens, the cookies of browsers, and the link that gives a browser its cookie once.

use app::Kind;
use axum::http::StatusCode;
use jiff::Timestamp;
use tokio::sync::watch;

use crate::problem::Problem;
use crate::security::link::Link;
use crate::security::origin::Bound;
use crate::security::tokens::{self, BrowserSecrets, Grant, TokenChanges, Tokens};

/// The name of the cookie that a browser gets for the link.
pub(super) const COOKIE: &str = "backstory";
/// The header in which a browser's pages send the key that belongs to the cookie.
pub(super) const KEY: &str = "backstory-key";

/// The credentials that the server accepts.
pub(crate) struct Credentials {
    pub(super) bound: Bound,
    pub(super) tokens: Tokens,
    link: Link,
    changes: TokenChanges,
}

impl Credentials {
    /// These tokens, and a new link.
    pub(crate) fn new(bound: Bound, tokens: Tokens) -> Self {
        Self { bound, changes: tokens.watch(), tokens, link: Link::new() }
    }

    /// The tokens.
    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The token of the link that is printed.
    pub(crate) fn link_token(&self) -> String {
        self.link.token()
    }

    /// Marked as changed whenever tokens change: what was granted may not be granted any more.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Whether what was granted is still granted.
    pub(crate) fn holds(&self, grant: &Grant, now: Timestamp) -> bool {
        self.tokens.holds(grant.digest(), now)
    }

    /// What a browser gets for the token of a link: once for a link that was printed, at any time for a named token.
    pub(super) fn exchange(&self, secret: &str, now: Timestamp) -> Result<BrowserSecrets, Problem> {
        let added = match self.tokens.grant(secret, now) {
            Some(from) => Some(self.tokens.add_browser(&from, now)),
            None => self
                .link
                .exchange(secret, || self.tokens.add_browser(&Grant::of_link(), now))
                .or_else(|| self.tokens.exchange_link(secret, now)),
        };
        let used = || {
            let why = "this link was used already, or is too old; `backstory serve link` prints a new one";
            unauthorized(why)
        };
        Ok(added.ok_or_else(used)??)
    }

    /// The header that gives a browser its cookie.
    pub(super) fn set_cookie(&self, secrets: &BrowserSecrets) -> String {
        let month = tokens::BROWSER_DAYS * 24 * 3600;
        let secure = if self.bound == Bound::Encrypted { "; Secure" } else { "" };
        format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={month}{secure}", secrets.cookie)
    }
}

/// The refusal of a request without a valid credential.
pub(super) fn unauthorized(why: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, Kind::Forbidden, why)
}
