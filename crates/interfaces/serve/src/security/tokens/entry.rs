//! A token as it is kept: its digest, and the rules for how long it is valid.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::security::tokens::scope::TokenScope;

/// For how many days a browser's token is valid.
pub(in crate::security) const BROWSER_DAYS: i64 = 30;
/// The name of what a link grants that belongs to no token.
pub(super) const LINK: &str = "link";
/// How many browsers have a token; the oldest is forgotten for one more.
pub(super) const BROWSERS: usize = 32;
/// For how many minutes a use counts as the last one: the file is not written at each request.
const USE_MINUTES: i64 = 60;

/// A token as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) scope: TokenScope,
    /// SHA-256 of the token, in hexadecimal digits. A token is random, so that nothing slower is needed.
    pub(super) digest: String,
    pub(super) created: Timestamp,
    /// Only those of browsers and links expire.
    pub(super) expires: Option<Timestamp>,
    /// Whether it can only be exchanged for a browser's, once.
    #[serde(default)]
    pub(super) is_link: bool,
    /// When it was last used, to the hour.
    #[serde(default)]
    pub(super) last_used: Option<Timestamp>,
}

impl Entry {
    /// One that does not expire.
    pub(super) fn new(name: &str, scope: TokenScope, token: &str, now: Timestamp) -> Self {
        let (name, digest) = (name.to_owned(), digest(token));
        Self { name, scope, digest, created: now, expires: None, is_link: false, last_used: None }
    }

    pub(super) fn is_browser(&self) -> bool {
        self.expires.is_some() && !self.is_link
    }

    /// Whether it was not used for a while; one whose clock was turned back is, too.
    pub(super) fn is_used_again(&self, now: Timestamp) -> bool {
        self.last_used
            .is_none_or(|used| now.duration_since(used).abs() >= SignedDuration::from_mins(USE_MINUTES))
    }

    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

/// Adds a browser, in place of the oldest where there are too many, and returns its token.
pub(super) fn add_browser(entries: &mut Vec<Entry>, name: &str, scope: TokenScope, now: Timestamp) -> String {
    entries.retain(|entry| entry.is_valid(now));
    if entries.iter().filter(|entry| entry.is_browser()).count() >= BROWSERS
        && let Some(oldest) = entries.iter().position(Entry::is_browser)
    {
        entries.remove(oldest);
    }
    let token = new_secret();
    let expires = now.checked_add(SignedDuration::from_hours(24 * BROWSER_DAYS)).unwrap_or(Timestamp::MAX);
    entries.push(Entry { expires: Some(expires), ..Entry::new(name, scope, &token, now) });
    token
}

/// A new token: 244 random bits in letters that an address holds without escapes.
pub(in crate::security) fn new_secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

pub(super) fn digest(secret: &str) -> String {
    let hex: Vec<String> =
        Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    hex.concat()
}
