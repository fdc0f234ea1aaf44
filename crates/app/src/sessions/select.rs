//! The sessions that meet a filter, as they are known inside this crate; `list` answers with them.

use catalog::SessionFilter;
use model::Session;
use transcript::ReadProblem;

use crate::repository::target::with_project;
use crate::sessions::{activity, totals};
use crate::workers::reports;
use crate::{Context, Error};

/// Sessions, and what is not among them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The sessions that meet the filter, running first, then pinned ones, then newest.
    pub(crate) sessions: Vec<Session>,
    /// How many more meet it beyond the limit.
    pub(crate) more: usize,
    /// How many sessions there are in all.
    pub(crate) known: usize,
    /// Sub-agents' files, which are no sessions.
    pub(crate) subagents: usize,
    /// What could not be read.
    pub(crate) problems: Vec<ReadProblem>,
    /// Why the next listing will read everything again, where it will.
    pub(crate) not_cached: Option<String>,
}

fn is_pinned(session: &Session) -> bool {
    session.annotations.as_deref().is_some_and(|annotations| annotations.pinned)
}

/// Every session that the caller may see.
pub(crate) fn all(context: &Context) -> Result<Listing, Error> {
    select(context, &SessionFilter::default(), None)
}

/// The sessions that meet a filter, at most `limit`.
pub(crate) fn select(
    context: &Context,
    filter: &SessionFilter,
    limit: Option<usize>,
) -> Result<Listing, Error> {
    let mut catalog = totals::with_totals(context)?;
    let reports = reports::all(context);
    catalog.mark_running(|id| reports.contains_key(id));
    let known = catalog.sessions.len();
    let filter = with_project(context, filter, &catalog.sessions.iter().map(|entry| &*entry.session));
    let all = catalog.sessions.into_iter().map(|entry| entry.session);
    let mut matching: Vec<Box<Session>> = all.filter(|session| filter.matches(session)).collect();
    // The sort is stable: within each group the newest stay first.
    matching.sort_by_key(|session| (!session.is_running, !is_pinned(session)));
    let more = limit.map_or(0, |limit| matching.len().saturating_sub(limit));
    matching.truncate(matching.len() - more);
    let mut sessions: Vec<Session> = matching.into_iter().map(|session| *session).collect();
    activity::enter(context, &mut sessions, reports);
    context.redact_sessions(&mut sessions);
    Ok(Listing {
        sessions,
        more,
        known,
        subagents: catalog.subagents,
        problems: catalog.problems,
        not_cached: catalog.not_kept,
    })
}
