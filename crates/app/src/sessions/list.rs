//! `list`: sessions from every source, running first, then newest.

pub use catalog::SessionFilter;
use model::{AgentId, Origin, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::openclaw_conversation;
use crate::sessions::select::select;
use crate::sessions::unread::unread;
use crate::{Context, Error, Moment};

/// Which sessions to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ListRequest")]
pub struct Request {
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
    /// Only sessions last seen on this branch.
    pub branch: Option<String>,
    /// Only sessions of this origin.
    pub origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    pub agent: Option<AgentId>,
    /// Only sessions that are open in a running process.
    pub running: bool,
    /// Only sessions active since then.
    pub since: Option<Moment>,
    /// At most so many; all without it.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// Who started a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OriginName {
    /// Started by an agent of OpenClaw's.
    OpenClaw,
    /// A person, an editor's extension or a script.
    Native,
    /// Nobody knows any more: only the archive still has the session.
    Archived,
}

impl OriginName {
    /// The word of sessions of this origin.
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenClaw => "openclaw",
            Self::Native => "native",
            Self::Archived => "archived",
        }
    }
}

impl From<&Origin> for OriginName {
    fn from(origin: &Origin) -> Self {
        match origin {
            Origin::OpenClaw { .. } => Self::OpenClaw,
            Origin::Native => Self::Native,
            Origin::Archived => Self::Archived,
        }
    }
}

/// The sessions, and what is not among them.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ListAnswer")]
pub struct Answer {
    /// The sessions asked for.
    pub sessions: Vec<Session>,
    /// How many more match beyond the limit.
    pub more: usize,
    /// How many sessions there are in all.
    pub known: usize,
    /// Sub-agents' files, which are no sessions.
    pub subagents_excluded: usize,
    /// How many files and folders could not be read.
    pub problems: usize,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Lists the sessions that a request selects, newest first.
pub fn list(context: &Context, request: &Request) -> Result<Answer, Error> {
    let listing = select(context, &request.filter(context)?, request.limit)?;
    let not_cached = listing.not_cached.map(|why| {
        format!("the cache could not be saved, so the next listing reads the same files again: {why}")
    });
    let asks_openclaw = request.origin == Some(OriginName::OpenClaw) || request.agent.is_some();
    let unread = if asks_openclaw { unread(context) } else { Vec::new() };
    let (mut sessions, mut more) = (listing.sessions, listing.more);
    if request.holds_conversations() {
        let since = request.since.as_ref().map(|since| since.at(context)).transpose()?;
        let conversations = openclaw_conversation::all(context, request.agent.as_ref());
        let is_recent = |session: &Session| since.is_none_or(|since| session.last_modified >= Some(since));
        sessions.extend(conversations.into_iter().filter(is_recent));
        sessions.sort_by_key(|session| std::cmp::Reverse((session.is_running, session.last_modified)));
        let limit = request.limit.unwrap_or(usize::MAX);
        more += sessions.len().saturating_sub(limit);
        sessions.truncate(limit);
    }
    Ok(Answer {
        sessions,
        more,
        known: listing.known,
        subagents_excluded: listing.subagents,
        problems: listing.problems.len(),
        notes: not_cached.into_iter().chain(unread).collect(),
    })
}

impl Request {
    /// Whether OpenClaw's own conversations are asked for: they belong to no project and run in no process.
    fn holds_conversations(&self) -> bool {
        let is_of_claude = self.project.is_some() || self.branch.is_some() || self.running;
        self.origin == Some(OriginName::OpenClaw) && !is_of_claude
    }

    fn filter(&self, context: &Context) -> Result<SessionFilter, Error> {
        Ok(SessionFilter {
            project: self.project.clone(),
            branch: self.branch.clone(),
            origin: self.origin.map(|origin| origin.word().to_owned()),
            agent: self.agent.clone(),
            running: self.running,
            since: self.since.as_ref().map(|since| since.at(context)).transpose()?,
            ..SessionFilter::default()
        })
    }
}
