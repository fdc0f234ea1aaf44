//! What one session's files say, as a [`Session`].

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;
use model::{Activity, Evidence, Origin, Session, SessionId, State, Subagent, Usage};
use transcript::{Live, LiveStatus, Summary, Then, TranscriptFile};

use crate::project::{self, Projects};
use crate::scan::Agent;

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

/// What of a transcript's facts decides whether a session is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The directory it started in.
    pub(crate) cwd: Option<String>,
    /// The directory a worktree session came from.
    pub(crate) worktree_origin: Option<String>,
    /// The branch last seen.
    pub(crate) branch: Option<String>,
    /// What stands before its first prompt.
    pub(crate) origin_marker: Option<String>,
    /// The time of its last record.
    pub(crate) last_at: Option<Timestamp>,
}

impl Outline {
    /// The outline of a summary.
    pub(crate) fn of(summary: &Summary) -> Self {
        Self {
            cwd: summary.cwd().map(ToOwned::to_owned),
            worktree_origin: summary.worktree_origin.clone(),
            branch: summary.branch.clone().filter(|branch| !matches!(branch.as_str(), "" | "HEAD")),
            origin_marker: summary.origin_marker.clone(),
            last_at: summary.last_at,
        }
    }
}

/// A session by the outline of its transcript.
pub(crate) fn outlined(file: &TranscriptFile, outline: Outline, projects: &mut Projects) -> Session {
    let root = outline.cwd.as_deref().map(|cwd| projects.root(cwd, outline.worktree_origin.as_deref()));
    Session {
        origin: origin(outline.origin_marker.as_deref()),
        project: root.as_deref().and_then(project::label),
        repo_path: root,
        cwd: outline.cwd.map(PathBuf::from),
        branch: outline.branch,
        last_modified: outline.last_at.or(file.stamp.modified()),
        ..blank(file.id.clone())
    }
}

/// A session by its transcript.
pub(crate) fn describe(file: &TranscriptFile, summary: &Summary, projects: &mut Projects) -> Session {
    let first_message = summary.first_prompt.as_deref().or(summary.titles.stand_in());
    Session {
        file: Some(file.path.clone()),
        title: title(file, summary),
        first_message: first_message.map(ToOwned::to_owned),
        last_prompt: summary.last_prompt.clone(),
        created: summary.first_at,
        message_count: summary.lines,
        visible_messages: summary.visible_messages,
        file_size: file.stamp.size,
        context_tokens: summary.context_tokens,
        nickname: summary.nickname.clone(),
        origin_marker: summary.origin_marker.clone(),
        compactions: summary.compactions(),
        permission_mode: summary.permission_mode.clone(),
        version: summary.version.clone(),
        entrypoint: summary.entrypoint.clone(),
        ..outlined(file, Outline::of(summary), projects)
    }
}

/// A session by what its transcript held at a moment of the past; a title beside the transcript has no time.
pub(crate) fn describe_then(file: &TranscriptFile, then: &Then, projects: &mut Projects) -> Session {
    let file = TranscriptFile { has_side_folder: false, ..file.clone() };
    let session = describe(&file, &then.summary, projects);
    Session { last_modified: then.summary.last_at, file_size: then.bytes, ..session }
}

/// The best name: the person's own, the CLI's model's, an old summary, else a prompt.
fn title(file: &TranscriptFile, summary: &Summary) -> Option<String> {
    let titles = &summary.titles;
    titles
        .custom_title()
        .map(ToOwned::to_owned)
        .or_else(|| file.side_title())
        .or_else(|| titles.given().map(ToOwned::to_owned))
        .or_else(|| summary.first_prompt.clone())
        .or_else(|| titles.stand_in().map(ToOwned::to_owned))
}

/// A marker without an entry in a registry still says which agent began the session.
fn origin(marker: Option<&str>) -> Origin {
    let agent = marker.and_then(transcript::marked_agent);
    match agent.and_then(|agent| agent.parse().ok()) {
        Some(agent) => Origin::OpenClaw { agent, label: None },
        None => Origin::Native,
    }
}

/// A sub-agent as its session shows it.
pub(crate) fn subagent(id: &str, file: PathBuf, agent: Agent) -> Subagent {
    Subagent { id: id.to_owned(), agent_type: agent.kind, description: agent.description, file }
}

/// Marks the sessions that live processes hold, with what those say they are doing.
pub(crate) fn mark_running<'a>(sessions: impl Iterator<Item = &'a mut Session>, live: &[Live]) {
    let holders: HashMap<&SessionId, &Live> = live.iter().map(|live| (&live.session, live)).collect();
    for session in sessions {
        if let Some(live) = holders.get(&session.id) {
            session.is_running = true;
            session.activity = activity(live);
        }
    }
}

fn activity(live: &Live) -> Option<Activity> {
    let waiting_for = live.waiting_for.as_deref();
    let (state, detail) = match live.status? {
        LiveStatus::Busy => (State::Thinking, None),
        LiveStatus::Idle => (State::WaitingInput, None),
        LiveStatus::Waiting if waiting_for == Some("permission prompt") => (State::WaitingPermission, None),
        LiveStatus::Waiting if waiting_for == Some("input needed") => (State::WaitingInput, Some("question")),
        LiveStatus::Waiting => (State::WaitingInput, waiting_for),
    };
    Some(Activity {
        state,
        evidence: Evidence::Registry,
        since: live.status_since,
        tool: None,
        detail: detail.map(transcript::cut),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_process_says_what_it_does() {
        let check = |status, waiting_for: Option<&str>, expected: Option<(State, Option<&str>)>| {
            let live = Live {
                pid: 1,
                session: "s".parse().unwrap(),
                cwd: None,
                status,
                waiting_for: waiting_for.map(Into::into),
                status_since: None,
                kind: None,
                entrypoint: None,
                name: None,
                process_start: None,
            };
            let mut sessions = [blank("s".parse().unwrap()), blank("t".parse().unwrap())];
            mark_running(sessions.iter_mut(), &[live]);
            assert!(sessions[0].is_running && !sessions[1].is_running);
            let found =
                sessions[0].activity.as_ref().map(|activity| (activity.state, activity.detail.as_deref()));
            assert_eq!(found, expected);
        };
        check(Some(LiveStatus::Busy), None, Some((State::Thinking, None)));
        check(Some(LiveStatus::Idle), None, Some((State::WaitingInput, None)));
        let waiting = Some(LiveStatus::Waiting);
        check(waiting, Some("permission prompt"), Some((State::WaitingPermission, None)));
        check(waiting, Some("input needed"), Some((State::WaitingInput, Some("question"))));
        check(waiting, Some("dialog open"), Some((State::WaitingInput, Some("dialog open"))));
        check(None, None, None);
    }
}
