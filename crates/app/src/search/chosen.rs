//! Chooses which sessions may answer: those of a filter, of a project, or one that is named.

use std::collections::HashSet;

use catalog::{Discovery, SessionFilter};
use model::SessionId;
use openclaw::{Memory, StoredConversation};
use transcript::SubagentFile;

use crate::context::Visible;
use crate::repository::target;
use crate::sessions::resolve::is_named;
use crate::sessions::select::all as all_sessions;
use crate::sessions::totals::select;
use crate::{Context, Error, Kind, NextStep};

/// The sessions of Claude Code and the conversations of OpenClaw that may be found; `None` for all.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) sessions: Option<HashSet<SessionId>>,
    pub(crate) conversations: Option<HashSet<SessionId>>,
}

impl Chosen {
    /// Of these, what the caller may find.
    pub(crate) fn within(self, visible: Option<&Visible>) -> Self {
        let Some(visible) = visible else { return self };
        Self {
            sessions: Some(common(self.sessions, &visible.sessions)),
            conversations: Some(common(self.conversations, &visible.conversations)),
        }
    }
}

fn common(chosen: Option<HashSet<SessionId>>, with: &HashSet<SessionId>) -> HashSet<SessionId> {
    match chosen {
        Some(chosen) => chosen.intersection(with).cloned().collect(),
        None => with.clone(),
    }
}

/// The session that is asked for by its id or the beginning of it, or by OpenClaw's key with all that works
/// for it.
pub(crate) fn named(
    session: Option<&str>,
    found: &Discovery,
    memory: &Memory,
    visible: Option<&Visible>,
) -> Result<Option<Chosen>, Error> {
    let Some(text) = session else { return Ok(None) };
    let begins = |id: &SessionId| is_named(id, text);
    let mut sessions: HashSet<SessionId> =
        found.sessions.iter().map(|file| file.id.clone()).filter(|id| begins(id)).collect();
    // Of some only transcripts of sub-agents are left.
    let lone = found.lone_subagents.iter().filter_map(SubagentFile::folder_session);
    sessions.extend(lone.filter(|id| begins(id)));
    let mut conversations: HashSet<SessionId> = memory
        .agents
        .iter()
        .flat_map(|agent| agent.transcripts.iter().map(|file| file.session.clone()))
        .filter(|id| begins(id))
        .collect();
    let key = text.to_lowercase();
    for conversation in all_conversations(memory) {
        if conversation.key.as_ref() == Some(&key) || conversations.contains(&conversation.session) {
            conversations.insert(conversation.session);
            sessions.extend(conversation.claude);
        }
    }
    if let Some(visible) = visible {
        sessions.retain(|id| visible.sessions.contains(id));
        conversations.retain(|id| visible.conversations.contains(id));
    }
    if sessions.is_empty() && conversations.is_empty() {
        return Err(Error::new(
            Kind::NotFound,
            format!("no session id starts with `{text}`, and no conversation has that key"),
        )
        .next(NextStep::ListSessions));
    }
    Ok(Some(Chosen { sessions: Some(sessions), conversations: Some(conversations) }))
}

/// The conversations of all agents' stores.
pub(crate) fn all_conversations(memory: &Memory) -> impl Iterator<Item = StoredConversation> {
    memory.agents.iter().flat_map(|agent| agent.conversations().0)
}

/// The conversations behind which one of these Claude sessions is: they belong to its project.
pub(crate) fn with_claude_among(memory: &Memory, sessions: &HashSet<SessionId>) -> HashSet<SessionId> {
    let conversations = all_conversations(memory);
    let of_them = conversations.filter(|known| known.claude.iter().any(|claude| sessions.contains(claude)));
    of_them.map(|conversation| conversation.session).collect()
}

/// The sessions that meet the filter. Only an agent has conversations and notes, and a project those behind which its
/// sessions are: whatever else is asked for, none of them has.
pub(crate) fn chosen(
    context: &Context,
    filter: &SessionFilter,
    found: &Discovery,
    memory: &Memory,
) -> Result<Chosen, Error> {
    let agent = &filter.agent;
    let only_agent = *filter == SessionFilter { agent: agent.clone(), ..SessionFilter::default() };
    let of_agent = memory.agents.iter().filter(|known| only_agent && Some(&known.agent) == agent.as_ref());
    let of_project = SessionFilter { project: filter.project.clone(), ..SessionFilter::default() };
    let sessions = select(context, found, filter)?;
    let conversations = if filter.project.is_some() && *filter == of_project {
        with_claude_among(memory, &sessions)
    } else {
        of_agent.flat_map(search::session_names).collect()
    };
    Ok(Chosen { sessions: Some(sessions), conversations: Some(conversations) })
}

/// What filters call the project that a person names.
pub(crate) fn project(context: &Context, typed: &str, found: &Discovery) -> Result<String, Error> {
    // An error is a cancelled request, which ends below.
    let is_known = |name: &str| of_project(context, name, found).is_ok_and(|sessions| !sessions.is_empty());
    let project = target::project(context, typed, is_known);
    context.check_cancelled()?;
    // Only the whole description of a session says which repository has a path of this end.
    if target::is_path(typed) && !is_known(&project) {
        let sessions = all_sessions(context)?.sessions;
        return Ok(target::project_of(context, typed, &sessions.iter()));
    }
    Ok(project)
}

/// The Claude sessions of a project.
pub(crate) fn of_project(
    context: &Context,
    name: &str,
    found: &Discovery,
) -> Result<HashSet<SessionId>, Error> {
    let filter = SessionFilter { project: Some(name.to_owned()), ..SessionFilter::default() };
    select(context, found, &filter)
}
