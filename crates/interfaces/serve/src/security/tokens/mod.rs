//! Tokens. A file has their digests, names and scopes; a token itself is shown once, when it is created.

mod changes;
mod entry;
mod file;
mod grant;
mod scope;

use std::sync::{Mutex, PoisonError};

use app::{Config, Error, Kind};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use subtle::ConstantTimeEq as _;
use system::FileStamp;

use crate::folder;
pub(super) use crate::security::tokens::changes::TokenChanges;
pub(super) use crate::security::tokens::entry::{BROWSER_DAYS, BrowserSecrets, new_secret};
use crate::security::tokens::entry::{Entry, LINK, add_browser, digest};
use crate::security::tokens::file::TokenFile;
pub(crate) use crate::security::tokens::grant::Grant;
pub use crate::security::tokens::scope::TokenScope;

/// For how many minutes a link is valid that was made while the server runs.
const LINK_MINUTES: i64 = 10;
/// The longest name of a token, in bytes.
const LONGEST_NAME: usize = 64;

/// A token that is known, without itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub struct TokenInfo {
    /// Its name; a browser has the name of the token that its link had.
    pub name: String,
    /// What it allows.
    pub scope: TokenScope,
    /// When it was created.
    #[serde(serialize_with = "model::time")]
    pub created: Timestamp,
    /// When it expires; only the tokens of browsers do.
    #[serde(serialize_with = "model::optional_time")]
    pub expires: Option<Timestamp>,
    /// When it was last used, to the hour; `null` if it never was.
    #[serde(serialize_with = "model::optional_time")]
    pub last_used: Option<Timestamp>,
}

impl From<Entry> for TokenInfo {
    fn from(Entry { name, scope, created, expires, last_used, .. }: Entry) -> Self {
        Self { name, scope, created, expires, last_used }
    }
}

/// A token that was just made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// What it allows.
    pub scope: TokenScope,
    /// The token itself, which is shown this once.
    pub token: String,
}

/// The tokens of a state folder.
#[derive(Debug)]
pub struct Tokens {
    file: TokenFile,
    /// What the file held, and its stamp: whoever revokes a token may be another process.
    known: Mutex<(Option<FileStamp>, Vec<Entry>)>,
}

impl Tokens {
    /// The tokens that this configuration's state folder has.
    pub fn open(config: &Config) -> Result<Self, Error> {
        Ok(Self { file: TokenFile::new(&folder::create(config)?), known: Mutex::default() })
    }

    /// Signals each change of them, also by another process.
    pub(super) fn watch(&self) -> TokenChanges {
        TokenChanges::watch(&self.file.path)
    }

    /// Creates a token.
    pub fn add(&self, name: &str, scope: TokenScope, now: Timestamp) -> Result<NewToken, Error> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_plain) {
            let message = format!("`{name}` is no name of a token");
            return Err(
                Error::new(Kind::Usage, message).hint("use letters, digits, dots, dashes and underscores")
            );
        }
        if name == LINK {
            let message = format!("`{LINK}` is the name of the browsers that a printed link signed in");
            return Err(Error::new(Kind::Usage, message).hint("give another name"));
        }
        let token = new_secret();
        self.file.edit(|entries| {
            if entries.iter().any(|entry| entry.name == name && entry.expires.is_none()) {
                let message = format!("there is already a token `{name}`");
                return Err(
                    Error::new(Kind::Usage, message).hint("give another name, or revoke that one first")
                );
            }
            entries.push(Entry::new(name, scope, &token, now));
            Ok(())
        })?;
        Ok(NewToken { name: name.to_owned(), scope, token })
    }

    /// The tokens that are valid now, oldest first.
    pub fn list(&self, now: Timestamp) -> Result<Vec<TokenInfo>, Error> {
        Ok(self.valid(now)?.map(TokenInfo::from).collect())
    }

    /// The same, with the place of the one that a grant is for.
    pub(crate) fn list_for(
        &self,
        grant: &Grant,
        now: Timestamp,
    ) -> Result<(Vec<TokenInfo>, Option<usize>), Error> {
        let valid: Vec<Entry> = self.valid(now)?.collect();
        let place = valid.iter().position(|entry| entry.digest == grant.digest());
        Ok((valid.into_iter().map(TokenInfo::from).collect(), place))
    }

    fn valid(&self, now: Timestamp) -> Result<impl Iterator<Item = Entry>, Error> {
        Ok(self.file.read()?.into_iter().filter(move |entry| entry.is_valid(now) && !entry.is_link))
    }

    /// Revokes a token and those of the browsers that used it in a link; returns how many.
    pub fn revoke(&self, name: &str) -> Result<usize, Error> {
        self.file.edit(|entries| {
            let before = entries.len();
            entries.retain(|entry| entry.name != name);
            match before - entries.len() {
                0 => Err(Error::new(Kind::NotFound, format!("there is no token `{name}`"))),
                gone => Ok(gone),
            }
        })
    }

    /// A token for a link, which one browser can exchange within some minutes.
    pub fn add_link(&self, scope: TokenScope, now: Timestamp) -> Result<String, Error> {
        let token = new_secret();
        let expires = now.checked_add(SignedDuration::from_mins(LINK_MINUTES)).unwrap_or(Timestamp::MAX);
        self.file.edit(|entries| {
            entries.retain(|entry| entry.is_valid(now));
            let entry = Entry::new(LINK, scope, &token, now);
            entries.push(Entry { expires: Some(expires), is_link: true, ..entry });
            Ok(())
        })?;
        Ok(token)
    }

    /// The secrets of the browser that sent a link's token, which is used up; none where that is not valid.
    pub(super) fn exchange_link(
        &self,
        secret: &str,
        now: Timestamp,
    ) -> Option<Result<BrowserSecrets, Error>> {
        let digest = digest(secret);
        // A guess does not make the file be written.
        self.look_up(now, |entry| entry.is_link && is_same(&entry.digest, &digest), |_| ())?;
        let exchanged = self.file.edit(|entries| {
            let of_link = |entry: &Entry| entry.is_link && entry.is_valid(now) && entry.digest == digest;
            let place = entries.iter().position(of_link);
            Ok(place
                .map(|place| entries.remove(place))
                .map(|link| add_browser(entries, &link.name, link.scope, now)))
        });
        exchanged.transpose()
    }

    /// The secrets of a new browser, with the name and the scope of the token that it had in its link.
    pub(super) fn add_browser(&self, from: &Grant, now: Timestamp) -> Result<BrowserSecrets, Error> {
        self.file.edit(|entries| Ok(add_browser(entries, from.name(), from.scope(), now)))
    }

    /// What a token grants to the program that sends it. A cookie is none: every port of this machine gets it.
    pub(super) fn grant(&self, secret: &str, now: Timestamp) -> Option<Grant> {
        let digest = digest(secret);
        self.use_of(now, |entry| entry.is_named() && is_same(&entry.digest, &digest))
    }

    /// What a browser's cookie and its key grant together.
    pub(super) fn browser(&self, cookie: &str, key: &str, now: Timestamp) -> Option<Grant> {
        let (cookie, key) = (digest(cookie), digest(key));
        let has_key = |entry: &Entry| entry.key.as_ref().is_some_and(|known| is_same(known, &key));
        self.use_of(now, |entry| entry.is_browser() && is_same(&entry.digest, &cookie) && has_key(entry))
    }

    /// The browser that a cookie is of. The cookie alone grants nothing but pages that are the same for everybody.
    pub(super) fn browser_of_cookie(&self, cookie: &str, now: Timestamp) -> Option<Grant> {
        let cookie = digest(cookie);
        self.look_up(
            now,
            |entry| entry.is_browser() && is_same(&entry.digest, &cookie),
            |entry| Grant::of(entry),
        )
    }

    /// Whether the token with this digest is still valid.
    pub(super) fn holds(&self, digest: &str, now: Timestamp) -> bool {
        self.use_of(now, |entry| !entry.is_link && is_same(&entry.digest, digest)).is_some()
    }

    /// What a token grants, whose use is kept.
    fn use_of(&self, now: Timestamp, is_it: impl Fn(&Entry) -> bool) -> Option<Grant> {
        let use_now = |entry: &mut Entry| (Grant::of(entry), entry.use_again(now));
        let (grant, is_used_again) = self.look_up(now, is_it, use_now)?;
        if is_used_again {
            // The request is answered whether this can be written or not.
            let _ = self.keep_use(grant.digest(), now);
        }
        Some(grant)
    }

    /// What is taken from the valid token that it is.
    fn look_up<T>(
        &self,
        now: Timestamp,
        is_it: impl Fn(&Entry) -> bool,
        take: impl FnOnce(&mut Entry) -> T,
    ) -> Option<T> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.file.stamp();
        if known.0 != stamp {
            // What cannot be read grants nothing.
            *known = (stamp, self.file.read().unwrap_or_default());
        }
        // All are compared, each as long as the others.
        let mut found = None;
        for entry in &mut known.1 {
            if is_it(entry) && entry.is_valid(now) {
                found = Some(entry);
            }
        }
        found.map(take)
    }

    /// Writes that a token is used now. It does not wait: where another process is changing the file, it is skipped.
    fn keep_use(&self, digest: &str, now: Timestamp) -> Result<(), Error> {
        self.file.try_edit(|entries| {
            let entry = entries.iter_mut().find(|entry| entry.digest == digest);
            let gone = || Error::new(Kind::NotFound, "the token was revoked");
            entry.ok_or_else(gone)?.last_used = Some(now);
            Ok(())
        })
    }
}

/// Whether two digests are the same, compared in constant time.
fn is_same(known: &str, digest: &str) -> bool {
    known.as_bytes().ct_eq(digest.as_bytes()).into()
}

#[cfg(test)]
mod tests;
