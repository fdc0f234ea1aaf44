//! What this machine holds, in a few numbers: said once, beside the answer to the first command that
//! a person gives.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::retention::deadline::Due;
use crate::retention::{archive, ghosts};
use crate::sessions::cost::{self, GroupBy};
use crate::sessions::select;
use crate::{Context, Error};

/// Within how many days sessions that are to be deleted are counted.
const SOON: i64 = 7;
/// Of how many months the cost is said.
const MONTHS: usize = 3;

/// The numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Holdings {
    /// Sessions.
    pub sessions: usize,
    /// The repositories and directories that they are of.
    pub projects: usize,
    /// Transcripts of sub-agents.
    pub subagents: usize,
    /// When the first session began.
    pub since: Option<Timestamp>,
    /// When something happened last.
    pub until: Option<Timestamp>,
    /// Sessions that Claude Code deletes within a week.
    pub due: usize,
    /// Whether Backstory keeps copies.
    pub is_kept: bool,
    /// Sessions that are deleted, of which prompts or other traces are left.
    pub ghosts: usize,
    /// The last months with what they cost in US dollars, the newest last.
    pub months: Vec<(String, f64)>,
}

/// What to say to a person who has not been told yet; `None` from then on, and where there are no sessions.
pub fn welcome(context: &Context) -> Option<Holdings> {
    if context.config().is_demo || context.is_limited() {
        return None;
    }
    let mark = context.config().state.join("welcomed");
    if mark.exists() {
        return None;
    }
    let holdings = holdings(context).ok().flatten()?;
    // If the mark cannot be written, it is not said with every command.
    system::create_private_folder(&context.config().state)
        .and_then(|()| system::replace_private_file(&mark, b""))
        .ok()?;
    Some(holdings)
}

/// Counts what there is; `None` where there are no sessions.
fn holdings(context: &Context) -> Result<Option<Holdings>, Error> {
    let all = select::all(context)?;
    if all.sessions.is_empty() {
        return Ok(None);
    }
    let projects: BTreeSet<&Path> =
        all.sessions.iter().filter_map(|session| session.repo_path.as_deref()).collect();
    let soon = context.now.checked_add(SignedDuration::from_hours(24 * SOON)).unwrap_or(Timestamp::MAX);
    let costs = cost::cost(context, &cost::Request { by: GroupBy::Month, ..cost::Request::default() })?;
    let months = costs.rows.into_iter().filter(|row| !row.key.is_empty());
    let mut months: Vec<_> = months.filter_map(|row| Some((row.key, row.cost_usd?))).collect();
    months.drain(..months.len().saturating_sub(MONTHS));
    Ok(Some(Holdings {
        sessions: all.sessions.len(),
        projects: projects.len(),
        subagents: all.subagents,
        since: all.sessions.iter().filter_map(|session| session.created).min(),
        until: all.sessions.iter().filter_map(|session| session.last_modified).max(),
        due: Due::find(context, soon).iter().map(|due| due.files.len()).sum(),
        is_kept: archive::is_enabled(context),
        ghosts: ghosts::all(context).len(),
        months,
    }))
}
