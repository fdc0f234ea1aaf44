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
/// How many browsers a token has; its oldest is forgotten for one more, and no other's.
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
    /// SHA-256 of the key that a browser sends beside its cookie; only browsers have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
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
        Self { name, scope, digest, key: None, created: now, expires: None, is_link: false, last_used: None }
    }

    pub(super) fn is_browser(&self) -> bool {
        self.expires.is_some() && !self.is_link
    }

    /// Whether it is a program's, which sends it by itself.
    pub(super) fn is_named(&self) -> bool {
        self.expires.is_none() && !self.is_link
    }

    /// Uses it; true where it was not used for a while, so that this is to be written. One whose clock was turned back was not,
    /// either. Where it cannot be written, not every request tries again.
    pub(super) fn use_again(&mut self, now: Timestamp) -> bool {
        let is_new = self
            .last_used
            .is_none_or(|used| now.duration_since(used).abs() >= SignedDuration::from_mins(USE_MINUTES));
        if is_new {
            self.last_used = Some(now);
        }
        is_new
    }

    /// Whether it has not expired. A browser that signed in when a cookie was enough
    /// has no key, and has to sign in again.
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires) && (!self.is_browser() || self.key.is_some())
    }
}

/// What a browser gets for a link, of which neither half is worth anything without the other.
#[derive(Debug)]
pub(in crate::security) struct BrowserSecrets {
    /// The cookie, which a browser sends to every port of this machine.
    pub(in crate::security) cookie: String,
    /// The key, which only pages of this very address have.
    pub(in crate::security) key: String,
}

/// Adds a browser, in place of the oldest of that name where there are too many, and returns its secrets.
pub(super) fn add_browser(
    entries: &mut Vec<Entry>,
    name: &str,
    scope: TokenScope,
    now: Timestamp,
) -> BrowserSecrets {
    entries.retain(|entry| entry.is_valid(now));
    let is_its = |entry: &Entry| entry.is_browser() && entry.name == name;
    if entries.iter().filter(|entry| is_its(entry)).count() >= BROWSERS
        && let Some(oldest) = entries.iter().position(is_its)
    {
        entries.remove(oldest);
    }
    let secrets = BrowserSecrets { cookie: new_secret(), key: new_secret() };
    let expires = now.checked_add(SignedDuration::from_hours(24 * BROWSER_DAYS)).unwrap_or(Timestamp::MAX);
    let entry = Entry::new(name, scope, &secrets.cookie, now);
    entries.push(Entry { expires: Some(expires), key: Some(digest(&secrets.key)), ..entry });
    secrets
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
