//! The keys by which CrewHub names sessions: `claude:` and an id, `cc:` and a fixed agent, `agent:` and one of OpenClaw's.

use std::fmt::{self, Display};
use std::str::FromStr;

use model::{AgentId, SessionId};
use serde::Deserialize;

use crate::crewhub::store::Store;
use crate::problem::Problem;

/// The key of a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum Key {
    /// A session of Claude Code.
    Session(SessionId),
    /// A fixed agent: its current session.
    Agent(AgentId),
    /// One of OpenClaw's, unchanged.
    OpenClaw {
        /// The agent.
        agent: AgentId,
        /// The whole key.
        whole: String,
    },
}

impl FromStr for Key {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong =
            || Problem::usage("this is no key of a session: claude:<id>, cc:<agent> or agent:<agent>:<name>");
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        match kind {
            "claude" => rest.parse().map(Self::Session).map_err(|_| wrong()),
            "cc" => rest.parse().map(Self::Agent).map_err(|_| wrong()),
            "agent" => {
                let (agent, name) = rest.split_once(':').ok_or_else(wrong)?;
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":._+@-".contains(&byte);
                if name.is_empty() || name.len() > 256 || !name.bytes().all(is_plain) {
                    return Err(wrong());
                }
                let agent = agent.parse().map_err(|_| wrong())?;
                Ok(Self::OpenClaw { agent, whole: text.to_owned() })
            }
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|problem: Problem| problem.detail().to_owned())
    }
}

impl Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => write!(out, "claude:{id}"),
            Self::Agent(agent) => write!(out, "cc:{agent}"),
            Self::OpenClaw { whole, .. } => out.write_str(whole),
        }
    }
}

impl Key {
    /// The session of Claude Code that it names; none where its agent has no session yet, or it is OpenClaw's.
    pub(super) fn session(&self, store: &Store) -> Option<SessionId> {
        match self {
            Self::Session(id) => Some(id.clone()),
            Self::Agent(agent) => store.read(|stored| {
                let known = stored.agents.iter().find(|known| known.id == agent.as_str())?;
                known.current_session_id.as_ref()?.parse().ok()
            }),
            Self::OpenClaw { .. } => None,
        }
    }

    /// What CrewHub calls the agent of a session.
    pub(super) fn agent(&self) -> String {
        match self {
            Self::Session(id) => id.to_string(),
            Self::Agent(agent) | Self::OpenClaw { agent, .. } => agent.to_string(),
        }
    }

    /// Whether it has a chat: a session, a fixed agent, or an agent's main conversation.
    pub(super) fn can_chat(&self) -> bool {
        match self {
            Self::Session(_) | Self::Agent(_) => true,
            Self::OpenClaw { whole, .. } => whole.ends_with(":main") && whole.matches(':').count() == 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_written_alike() {
        for text in ["claude:3601d36f-b6c0", "cc:dev", "agent:main:main", "agent:main:discord:group:1"] {
            assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "claude:",
            "claude:../x",
            "claude:agent-1",
            "cc:",
            "cc:a/b",
            "agent:main",
            "agent:main:",
            "agent::x",
            "x:y",
            "agent:a:b c",
        ] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_main_conversations_are_talked_to() {
        let check = |text: &str, expected: bool| {
            assert_eq!(text.parse::<Key>().unwrap().can_chat(), expected, "{text}");
        };
        check("claude:1", true);
        check("cc:dev", true);
        check("agent:main:main", true);
        check("agent:main:sub:main", false);
        check("agent:main:discord", false);
    }
}
