//! The tokens that were handed out. A file keeps their digests, names and scopes; a token itself is shown once.

use std::fmt::{self, Display};
use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use app::{Config, Error, Kind};
use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FlockOperation, flock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use system::FileStamp;
use uuid::Uuid;

use crate::folder;

/// For how many days a browser is known.
pub(super) const BROWSER_DAYS: i64 = 30;
/// How many browsers are known; the oldest is forgotten for one more.
const BROWSERS: usize = 32;
/// The largest file of tokens, in bytes.
const LARGEST: u64 = 1 << 20;
/// The longest name of a token, in bytes.
const LONGEST_NAME: usize = 64;

/// What a token is good for; each scope holds those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenScope {
    /// Asking questions.
    Read,
    /// Also starting, telling, answering and stopping workers, and changing names, rooms and jobs.
    Act,
    /// Also tokens and connections, and workers that act without asking.
    Admin,
}

impl TokenScope {
    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::Admin => "admin",
        }
    }
}

impl Display for TokenScope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl FromStr for TokenScope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Self::Read, Self::Act, Self::Admin]
            .into_iter()
            .find(|scope| scope.word() == text)
            .ok_or_else(|| Error::new(Kind::Usage, format!("`{text}` is no scope: give read, act or admin")))
    }
}

/// A token as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    name: String,
    scope: TokenScope,
    /// SHA-256 of the token, in hexadecimal digits. A token is random, so that nothing slower is needed.
    digest: String,
    created: Timestamp,
    /// Only browsers' end by themselves.
    expires: Option<Timestamp>,
}

/// A token that is known, without itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub struct TokenInfo {
    /// Its name; a browser has the name of the token that its link had.
    pub name: String,
    /// What it is good for.
    pub scope: TokenScope,
    /// When it was handed out.
    #[serde(serialize_with = "model::time")]
    pub created: Timestamp,
    /// When it ends by itself, which a browser's does.
    #[serde(serialize_with = "model::optional_time")]
    pub expires: Option<Timestamp>,
}

/// A token that was just made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub scope: TokenScope,
    /// The token itself, which is shown this once.
    pub token: String,
}

/// What a credential grants.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    name: String,
    scope: TokenScope,
    digest: String,
    is_browser: bool,
}

impl Grant {
    /// What the printed link grants to the browser that exchanges it; the link's own token grants nothing else.
    pub(super) fn of_link() -> Self {
        Self { name: "link".to_owned(), scope: TokenScope::Admin, digest: String::new(), is_browser: false }
    }

    /// What it is good for.
    pub(crate) fn scope(&self) -> TokenScope {
        self.scope
    }

    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    pub(super) fn is_browser(&self) -> bool {
        self.is_browser
    }
}

/// The tokens of a state folder.
#[derive(Debug)]
pub struct Tokens {
    file: PathBuf,
    lock: PathBuf,
    /// What the file held, and its stamp: whoever revokes a token may be another process.
    known: Mutex<(Option<FileStamp>, Vec<Entry>)>,
}

impl Tokens {
    /// The tokens that this configuration's state folder has.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let folder = folder::create(config)?;
        Ok(Self {
            file: folder.join("tokens.json"),
            lock: folder.join("tokens.lock"),
            known: Mutex::default(),
        })
    }

    /// Hands out a token.
    pub fn add(&self, name: &str, scope: TokenScope, now: Timestamp) -> Result<NewToken, Error> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_plain) {
            let message = format!("`{name}` is no name of a token");
            return Err(
                Error::new(Kind::Usage, message).hint("use letters, digits, dots, dashes and underscores")
            );
        }
        let token = new_secret();
        self.edit(|entries| {
            if entries.iter().any(|entry| entry.name == name && entry.expires.is_none()) {
                let message = format!("there is already a token `{name}`");
                return Err(
                    Error::new(Kind::Usage, message).hint("give another name, or revoke that one first")
                );
            }
            entries.push(Entry {
                name: name.to_owned(),
                scope,
                digest: digest(&token),
                created: now,
                expires: None,
            });
            Ok(())
        })?;
        Ok(NewToken { name: name.to_owned(), scope, token })
    }

    /// The tokens that are good now, oldest first.
    pub fn list(&self, now: Timestamp) -> Result<Vec<TokenInfo>, Error> {
        let good = self.read()?.into_iter().filter(|entry| entry.is_good(now));
        Ok(good
            .map(|Entry { name, scope, created, expires, .. }| TokenInfo { name, scope, created, expires })
            .collect())
    }

    /// Ends a token, and every browser that came with it; tells how many there were.
    pub fn revoke(&self, name: &str) -> Result<usize, Error> {
        self.edit(|entries| {
            let before = entries.len();
            entries.retain(|entry| entry.name != name);
            match before - entries.len() {
                0 => Err(Error::new(Kind::NotFound, format!("there is no token `{name}`"))),
                gone => Ok(gone),
            }
        })
    }

    /// A token for a browser, with the name and the scope of the one that it had in its link.
    pub(super) fn add_browser(&self, from: &Grant, now: Timestamp) -> Result<String, Error> {
        let token = new_secret();
        let expires = now.checked_add(SignedDuration::from_hours(24 * BROWSER_DAYS)).ok();
        let entry = Entry {
            name: from.name.clone(),
            scope: from.scope,
            digest: digest(&token),
            created: now,
            expires: Some(expires.unwrap_or(Timestamp::MAX)),
        };
        self.edit(|entries| {
            entries.retain(|entry| entry.is_good(now));
            let browsers = entries.iter().filter(|entry| entry.expires.is_some()).count();
            if browsers >= BROWSERS
                && let Some(oldest) = entries.iter().position(|entry| entry.expires.is_some())
            {
                entries.remove(oldest);
            }
            entries.push(entry);
            Ok(())
        })?;
        Ok(token)
    }

    /// What a token grants.
    pub(super) fn grant(&self, secret: &str, now: Timestamp) -> Option<Grant> {
        self.find(&digest(secret), now)
    }

    /// Whether the token with this digest is still good.
    pub(super) fn holds(&self, digest: &str, now: Timestamp) -> bool {
        self.find(digest, now).is_some()
    }

    fn find(&self, digest: &str, now: Timestamp) -> Option<Grant> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.file.metadata().ok().map(|metadata| FileStamp::from_metadata(&metadata));
        if known.0 != stamp {
            // What cannot be read grants nothing.
            *known = (stamp, self.read().unwrap_or_default());
        }
        // All are compared, each as long as the others.
        let mut found = None;
        for entry in &known.1 {
            let is_it: bool = entry.digest.as_bytes().ct_eq(digest.as_bytes()).into();
            if is_it && entry.is_good(now) {
                found = Some(entry);
            }
        }
        found.map(|entry| Grant {
            name: entry.name.clone(),
            scope: entry.scope,
            digest: entry.digest.clone(),
            is_browser: entry.expires.is_some(),
        })
    }

    fn read(&self) -> Result<Vec<Entry>, Error> {
        let bytes = match system::read_small(&self.file, LARGEST) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| folder::unusable(&self.file, &error))?,
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            let attempt = format!("cannot read {}", self.file.display());
            Error::caused(Kind::Unavailable, attempt, &error)
                .hint("move the file away to begin without tokens")
        })
    }

    /// Changes the file; one who wants the same meanwhile waits.
    fn edit<T>(&self, change: impl FnOnce(&mut Vec<Entry>) -> Result<T, Error>) -> Result<T, Error> {
        let unusable = |error: &std::io::Error| folder::unusable(&self.file, error);
        let lock: File = system::private_file()
            .create(true)
            .append(true)
            .open(&self.lock)
            .map_err(|error| folder::unusable(&self.lock, &error))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| unusable(&error.into()))?;
        let mut entries = self.read()?;
        let done = change(&mut entries)?;
        let text = serde_json::to_vec_pretty(&entries).unwrap_or_default();
        system::replace_private_file(&self.file, &text).map_err(|error| unusable(&error))?;
        Ok(done)
    }
}

impl Entry {
    fn is_good(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

/// A new token: 244 random bits in letters that an address holds without escapes.
pub(super) fn new_secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

fn digest(secret: &str) -> String {
    let hex: Vec<String> =
        Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    hex.concat()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn tokens() -> (tempfile::TempDir, Tokens) {
        let scratch = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(&Config { state: scratch.path().to_owned(), ..Config::default() }).unwrap();
        (scratch, tokens)
    }

    #[test]
    fn a_token_is_kept_as_a_digest_in_a_private_file() {
        let (_scratch, tokens) = tokens();
        let made = tokens.add("phone", TokenScope::Act, NOW).unwrap();
        let kept = system::read_small(&tokens.file, 10_000).unwrap();
        assert!(!String::from_utf8_lossy(&kept).contains(&made.token));
        assert_eq!(tokens.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(tokens.grant(&made.token, NOW).unwrap().scope(), TokenScope::Act);
        assert!(tokens.grant("", NOW).is_none() && tokens.grant(&digest(&made.token), NOW).is_none());
    }

    #[test]
    fn a_token_ends_when_another_process_revokes_it_and_its_browsers_with_it() {
        let (scratch, tokens) = tokens();
        let made = tokens.add("phone", TokenScope::Read, NOW).unwrap();
        let browser = tokens.add_browser(&tokens.grant(&made.token, NOW).unwrap(), NOW).unwrap();
        assert!(
            tokens
                .grant(&browser, NOW)
                .is_some_and(|grant| grant.is_browser() && grant.scope() == TokenScope::Read)
        );
        let other = Tokens::open(&Config { state: scratch.path().to_owned(), ..Config::default() }).unwrap();
        assert_eq!(other.revoke("phone").unwrap(), 2);
        assert_eq!(other.revoke("phone").unwrap_err().kind, Kind::NotFound);
        assert!(tokens.grant(&made.token, NOW).is_none() && tokens.grant(&browser, NOW).is_none());
    }

    #[test]
    fn a_browser_is_known_for_a_month_and_not_too_many_are() {
        let (_scratch, tokens) = tokens();
        let first = tokens.add_browser(&Grant::of_link(), NOW).unwrap();
        let later = NOW + SignedDuration::from_hours(24 * BROWSER_DAYS);
        assert!(tokens.grant(&first, NOW).is_some() && tokens.grant(&first, later).is_none());
        for _ in 0..BROWSERS {
            tokens.add_browser(&Grant::of_link(), NOW).unwrap();
        }
        assert!(tokens.grant(&first, NOW).is_none());
        assert_eq!(tokens.list(NOW).unwrap().len(), BROWSERS);
    }

    #[test]
    fn names_are_plain_and_used_once() {
        let (_scratch, tokens) = tokens();
        tokens.add("a-b_c.1", TokenScope::Read, NOW).unwrap();
        for name in ["", "a b", "a/b", "a-b_c.1", &"x".repeat(65)] {
            assert_eq!(tokens.add(name, TokenScope::Read, NOW).unwrap_err().kind, Kind::Usage, "{name}");
        }
    }
}
