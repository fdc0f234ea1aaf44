//! What a person did after a decision, as their sessions show it.

use jiff::{SignedDuration, Timestamp};
use model::SessionId;
use selection::Action;

use crate::choose::candidates::{CandidateSet, RepoCandidate};

/// How long after a decision a session counts as its outcome.
pub(super) const WINDOW: SignedDuration = SignedDuration::from_mins(30);

/// What a rule advised, and for which session.
#[derive(Debug, Clone)]
pub(crate) struct RuleAdvice {
    /// What it advised.
    pub(crate) action: Action,
    /// The session that ranked first.
    pub(crate) candidate: Option<SessionId>,
}

/// What a person did after a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// They resumed this session.
    Resumed(SessionId),
    /// They started a fresh session.
    BeganFresh,
    /// Nothing that could be seen.
    Nothing,
}

/// The first session that was started or resumed here within [`WINDOW`] of a moment; `None` if there is none yet.
pub(super) fn after(candidates: &CandidateSet, moment: Timestamp) -> Option<Outcome> {
    let from = moment.as_second();
    let window = from..from + WINDOW.as_secs();
    let begun = candidates.own.iter().filter_map(|one| begun_within(one, &window));
    begun.min_by_key(|(at, _)| *at).map(|(_, did)| did)
}

fn begun_within(one: &RepoCandidate, window: &std::ops::Range<i64>) -> Option<(i64, Outcome)> {
    let fresh = one.beginnings.first().filter(|at| window.contains(at) && !one.is_copy);
    let resumed = || one.beginnings.resumed().map(|one| one.at).find(|at| window.contains(at));
    let id = || one.candidate.id.clone();
    fresh.map(|at| (at, Outcome::BeganFresh)).or_else(|| resumed().map(|at| (at, Outcome::Resumed(id()))))
}
