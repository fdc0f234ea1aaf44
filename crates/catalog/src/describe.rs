//! What one session's card says, as a [`Session`].

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::Timestamp;
use model::{Origin, Session, SessionId, Subagent, Usage};
use transcript::{Live, Then, TranscriptFile};

use crate::card::{AgentCard, Card};
use crate::project::{self, Projects};

/// A session nothing is known of but its id.
pub(crate) fn blank(id: SessionId) -> Session {
    Session {
        id,
        origin: Origin::Native,
        file: None,
        repo_path: None,
        project: None,
        cwd: None,
        branch: None,
        title: None,
        first_message: None,
        last_prompt: None,
        created: None,
        last_modified: None,
        message_count: 0,
        visible_messages: 0,
        file_size: 0,
        usage: Usage::default(),
        context_tokens: 0,
        cost_usd: None,
        registry_cost_usd: None,
        registry_turns: None,
        last_task: None,
        nickname: None,
        is_running: false,
        activity: None,
        origin_marker: None,
        compactions: 0,
        budget_used_pct: None,
        permission_mode: None,
        version: None,
        entrypoint: None,
        forked_from: None,
        subagents: Vec::new(),
        archived: false,
    }
}

/// A session by its card, as far as a filter looks at it.
pub(crate) fn outlined(file: &TranscriptFile, card: &Card<'_>, projects: &mut Projects) -> Session {
    let root = card.cwd.map(|cwd| projects.root(cwd, card.worktree_origin));
    Session {
        origin: origin(card.origin_marker),
        project: root.as_deref().and_then(project::label),
        repo_path: root,
        cwd: card.cwd.map(PathBuf::from),
        branch: owned(card.branch),
        last_modified: last_modified(file, card),
        ..blank(file.id.clone())
    }
}

/// When something last happened in a session.
pub(crate) fn last_modified(file: &TranscriptFile, card: &Card<'_>) -> Option<Timestamp> {
    card.last_at.or(file.stamp.modified())
}

/// A session by its card.
pub(crate) fn describe(file: &TranscriptFile, card: &Card<'_>, projects: &mut Projects) -> Session {
    let (usage, cost_usd) = card.took.unwrap_or_default();
    Session {
        file: Some(file.path.clone()),
        title: title(file, card),
        first_message: owned(card.first_message),
        last_prompt: owned(card.last_prompt),
        created: card.first_at,
        message_count: card.lines,
        visible_messages: card.visible_messages,
        file_size: file.stamp.size,
        usage,
        context_tokens: card.context_tokens,
        cost_usd,
        nickname: owned(card.nickname),
        origin_marker: owned(card.origin_marker),
        compactions: card.compactions,
        permission_mode: owned(card.permission_mode),
        version: owned(card.version),
        entrypoint: owned(card.entrypoint),
        forked_from: card.forked_from.clone(),
        subagents: card.agents.iter().map(subagent).collect(),
        ..outlined(file, card, projects)
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(ToOwned::to_owned)
}

/// A session by what its transcript held at a moment of the past; a title beside the transcript has no time.
pub(crate) fn describe_then(file: &TranscriptFile, then: &Then, projects: &mut Projects) -> Session {
    let file = TranscriptFile { has_side_folder: false, ..file.clone() };
    let session = describe(&file, &Card::of(file.id.as_str(), &then.summary), projects);
    Session { last_modified: then.summary.last_at, file_size: then.bytes, ..session }
}

/// The best name: the person's own, the CLI's model's, an old summary, else a prompt.
fn title(file: &TranscriptFile, card: &Card<'_>) -> Option<String> {
    let side = || card.own_title.is_none().then(|| file.side_title()).flatten();
    side().or_else(|| owned(card.given_title.or(card.first_message)))
}

/// A marker without an entry in a registry still says which agent began the session.
fn origin(marker: Option<&str>) -> Origin {
    let agent = marker.and_then(transcript::marked_agent);
    match agent.and_then(|agent| agent.parse().ok()) {
        Some(agent) => Origin::OpenClaw { agent, label: None },
        None => Origin::Native,
    }
}

fn subagent(card: &AgentCard<'_>) -> Subagent {
    Subagent {
        id: card.id.to_owned(),
        agent_type: owned(card.kind),
        description: owned(card.description),
        file: card.file.to_owned(),
    }
}

/// Marks the sessions that live processes hold.
pub(crate) fn mark_running<'a>(sessions: impl Iterator<Item = &'a mut Session>, live: &[Live]) {
    let held: HashSet<&SessionId> = live.iter().map(|live| &live.session).collect();
    for session in sessions {
        session.is_running |= held.contains(&session.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_process_holds_one_session() {
        let live = Live {
            pid: 1,
            session: "s".parse().unwrap(),
            cwd: None,
            status: None,
            waiting_for: None,
            status_since: None,
            kind: None,
            entrypoint: None,
            name: None,
            process_start: None,
        };
        let mut sessions = [blank("s".parse().unwrap()), blank("t".parse().unwrap())];
        mark_running(sessions.iter_mut(), &[live]);
        assert_eq!([sessions[0].is_running, sessions[1].is_running], [true, false]);
    }
}
