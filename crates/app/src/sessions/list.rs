//! `list`: sessions from every source, running first, then newest.

pub use catalog::SessionFilter;
use model::Session;
use transcript::ReadProblem;

use crate::repository::target::with_project;
use crate::sessions::{activity, totals};
use crate::workers::reports;
use crate::{Context, Error};

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What they have to be.
    pub filter: SessionFilter,
    /// At most so many; all without it.
    pub limit: Option<usize>,
}

/// The sessions, and what is not among them.
#[derive(Debug, Default)]
pub struct Answer {
    /// The sessions asked for.
    pub sessions: Vec<Session>,
    /// How many more met the filter and stand behind the limit.
    pub more: usize,
    /// How many sessions there are in all.
    pub known: usize,
    /// Sub-agents' files, which are no sessions.
    pub subagents_excluded: usize,
    /// What could not be read.
    pub problems: Vec<ReadProblem>,
    /// Why the next listing will read everything again, where it will.
    pub not_kept: Option<String>,
}

/// Lists sessions.
pub fn list(context: &Context, request: &Request) -> Result<Answer, Error> {
    let mut catalog = totals::with_totals(context)?;
    let spoken = reports::all(context);
    catalog.hold(|id| spoken.contains_key(id));
    let known = catalog.sessions.len();
    let filter =
        with_project(context, &request.filter, &catalog.sessions.iter().map(|entry| &*entry.session));
    let all = catalog.sessions.into_iter().map(|entry| entry.session);
    let mut asked_for: Vec<Box<Session>> = all.filter(|session| filter.matches(session)).collect();
    let more = request.limit.map_or(0, |limit| asked_for.len().saturating_sub(limit));
    asked_for.truncate(asked_for.len() - more);
    let mut sessions: Vec<Session> = asked_for.into_iter().map(|session| *session).collect();
    activity::enter(context, &mut sessions, spoken);
    for session in &mut sessions {
        context.redact_session(session);
    }
    Ok(Answer {
        sessions,
        more,
        known,
        subagents_excluded: catalog.subagents,
        problems: catalog.problems,
        not_kept: catalog.not_kept,
    })
}
