//! Identifiers, validated on construction.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A name that is not a valid identifier of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct InvalidId {
    text: String,
    expected: &'static str,
}

/// Claude's id of one conversation: the stem of its transcript's file name.
///
/// `[A-Za-z0-9][A-Za-z0-9._-]{0,127}` and never `agent-…`, which names a sub-agent's file. It is safe in a
/// path and in an argument list. Most are UUIDs; only where `claude` itself demands one does that matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The number of characters shown of an id; in practice enough to be unique.
    pub const SHORT: usize = 8;

    /// The id of the session whose file has this stem. No program writes a dot into it: what has one is a copy or a trace
    /// beside the session, such as `<id>.sync-conflict-…`, `<id>.checkpoint.…` and `<id>.trajectory`.
    pub fn from_file_stem(stem: &str) -> Result<Self, InvalidId> {
        let id: Self = stem.parse()?;
        if stem.contains('.') {
            return Err(InvalidId {
                text: printable(stem),
                expected: "a session id, but one with something behind it",
            });
        }
        Ok(id)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first characters, for people. Of ids that begin with a date only the year is left out: a session that was
    /// copied every day differs from its copies by the day alone.
    pub fn short(&self) -> &str {
        let (start, length) = if starts_with_date(self.as_str()) {
            (YEAR, "01-01-".len() + Self::SHORT)
        } else {
            (0, Self::SHORT)
        };
        &self.as_str()[start..(start + length).min(self.as_str().len())]
    }

    /// Whether a text is the beginning of the id, or of the id without its year or its whole date.
    pub fn begins_with(&self, text: &str) -> bool {
        let whole = self.as_str();
        let is_later = |start: usize| starts_with_date(whole) && whole[start..].starts_with(text);
        whole.starts_with(text) || is_later(YEAR) || is_later(DATE)
    }

    /// The id without the date that it may begin with.
    pub fn without_date(&self) -> &str {
        if starts_with_date(self.as_str()) { &self.as_str()[DATE..] } else { self.as_str() }
    }

    /// Whether the id is a UUID in its usual form, as `claude --session-id` demands.
    pub fn is_uuid(&self) -> bool {
        let bytes = self.as_str().as_bytes();
        bytes.len() == 36
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    }
}

/// The length of a year before an id, with the dash.
const YEAR: usize = "2026-".len();
/// The length of a date before an id, with the dash.
const DATE: usize = "2026-01-29-".len();

/// `2026-01-29-…`: some programs put the day in front of the id.
fn starts_with_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 11
        && bytes[..11].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 | 10 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The bytes allowed in an id. A table, because thousands of ids are read before every answer.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        plain[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        byte += 1;
    }
    plain
};

impl FromStr for SessionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let bytes = text.as_bytes();
        let valid = bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.len() <= 128
            && bytes.iter().all(|byte| PLAIN[usize::from(*byte)])
            && !text.starts_with("agent-");
        if valid {
            Ok(Self(text.into()))
        } else {
            Err(InvalidId { text: printable(text), expected: "a session id" })
        }
    }
}

impl TryFrom<String> for SessionId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.as_str().to_owned()
    }
}

impl Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

/// The name of an OpenClaw agent (`main`); never a sub-agent.
///
/// `[a-z0-9][a-z0-9_-]{0,63}`, lower-cased on the way in, as OpenClaw itself does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(Box<str>);

impl AgentId {
    /// The agent that OpenClaw uses when none is configured.
    pub fn main() -> Self {
        Self("main".into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let lower = text.trim().to_ascii_lowercase();
        let bytes = lower.as_bytes();
        let valid = bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.len() <= 64
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if valid {
            Ok(Self(lower.into()))
        } else {
            Err(InvalidId { text: printable(text), expected: "an agent's name" })
        }
    }
}

impl TryFrom<String> for AgentId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.0.into_string()
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

/// Text for an error message: short, and without bytes that could steer a terminal.
fn printable(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(80).collect();
    if text.chars().count() > 80 { clean + "…" } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_session(text: &str, valid: bool) {
        assert_eq!(text.parse::<SessionId>().is_ok(), valid, "{text:?}");
    }

    #[test]
    fn session_ids() {
        check_session("60309e1e-c4ea-4d6d-8da1-21732781ce4d", true);
        check_session("2026-01-15-0790ea37-90df-4d30-8fdf-0bfe301b8f3e", true);
        check_session("a", true);
        check_session("A.b_c-9", true);
        check_session(&"x".repeat(128), true);
        check_session(&"x".repeat(129), false);
        check_session("", false);
        check_session("-rf", false);
        check_session(".hidden", false);
        check_session("../etc/passwd", false);
        check_session("a/b", false);
        check_session("a b", false);
        check_session("agent-1234", false);
        check_session("ünï", false);
        check_session("a\0b", false);
    }

    #[test]
    fn what_lies_beside_a_session_is_no_session() {
        let uuid = "60309e1e-c4ea-4d6d-8da1-21732781ce4d";
        for whole in [uuid, "s1", "2026-01-15-0790ea37"] {
            assert!(SessionId::from_file_stem(whole).is_ok(), "{whole}");
            for beside in [
                "sync-conflict-20260115-120000-ABCDEFG",
                &format!("checkpoint.{uuid}"),
                "trajectory",
                "bak",
                "2",
            ] {
                assert!(SessionId::from_file_stem(&format!("{whole}.{beside}")).is_err(), "{whole} {beside}");
            }
        }
    }

    #[test]
    fn short_ids_skip_a_leading_year() {
        let short = |text: &str| text.parse::<SessionId>().unwrap().short().to_owned();
        assert_eq!(short("60309e1e-c4ea-4d6d-8da1-21732781ce4d"), "60309e1e");
        assert_eq!(short("2026-01-15-0790ea37-90df-4d30-8fdf-0bfe301b8f3e"), "01-15-0790ea37");
        assert_eq!(short("abc"), "abc");
    }

    #[test]
    fn uuids() {
        let uuid = |text: &str| text.parse::<SessionId>().unwrap().is_uuid();
        assert!(uuid("60309e1e-c4ea-4d6d-8da1-21732781ce4d"));
        assert!(!uuid("60309e1e"));
        assert!(!uuid("2026-01-15-0790ea37-90df-4d30-8fdf-0bfe301b8f3e"));
    }

    #[test]
    fn agent_names_are_lower_cased() {
        assert_eq!("Main".parse::<AgentId>().unwrap().as_str(), "main");
        assert!("a b".parse::<AgentId>().is_err());
        assert!("".parse::<AgentId>().is_err());
    }

    #[test]
    fn an_error_never_carries_control_characters() {
        let error = "\u{1b}[2Jx".parse::<SessionId>().unwrap_err().to_string();
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }
}
