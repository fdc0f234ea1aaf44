//! The default rule: picks the session by branch, then age, and estimates the chance that the person continues it.
//!
//! Two separate questions. *Which session?* The newest of the branch that is checked out, else the newest: that is
//! the right one in nineteen of twenty cases in which people continued a session (docs/selection-quality.md).
//! *Continue it or start a fresh one?* The chance decides; where it is unknown, a fresh one.

mod explain;
mod named;
mod record;

use std::cmp::Reverse;

use named::NamedSessions;
pub use record::{SettledDecision, TrackRecord};

use crate::chance::{
    BranchRelation, ChanceModel, Habit, LatestMessages, Opening, QuietPeriod, ResumeFacts, TaskText,
    branch_relation, points_back,
};
use crate::factors::factors;
use crate::{
    Action, Bars, Candidate, Ceiling, Considered, Decision, MAX_CONSIDERED, Relevance, ResumeEstimate,
    ResumeObstacle, Task, Weights, decision,
};

/// The number of best-ranked sessions whose latest messages are read.
pub const MAX_READ: usize = 5;
/// The similarity from which a task that opens like a request is close enough to the latest messages.
const NEAR: f64 = 0.5;

/// What is known of the person and the sessions besides the candidates.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// How often the person continues a session.
    pub habit: Habit,
    /// How often the rule was right for this person, where that was observed.
    pub record: TrackRecord,
    /// The latest messages of the best-ranked sessions, in their order.
    pub said: Vec<LatestMessages>,
    /// What a chance is enough for.
    pub bars: Bars,
    /// The coefficients that estimate the chance.
    pub model: ChanceModel,
}

/// The candidates by rank, as their places in the list: what the task names, what is on the branch, then the newest.
pub fn rank(candidates: &[impl AsRef<Candidate>], task: &Task<'_>) -> Vec<usize> {
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    let named = NamedSessions::parse(task.text);
    places.sort_by_cached_key(|place| {
        let one = candidates[*place].as_ref();
        let is_named = named.contains(one);
        let is_same = branch_relation(one, task.branch) == BranchRelation::Same;
        let last = one.last_message.or_else(|| one.last_active.map(jiff::Timestamp::as_second));
        (!is_named, !one.has_transcript, !is_same, Reverse(last), one.id.clone())
    });
    places
}

/// Decides where a task goes. `ranked` are the candidates by [`rank`].
pub fn decide(
    task: &Task<'_>,
    candidates: &[impl AsRef<Candidate>],
    relevance: impl Fn(usize) -> Relevance,
    ranked: &[usize],
    known: &Calibration,
) -> Decision {
    if let Some(decision) = decision::forced_decision(task, candidates) {
        return decision;
    }
    let candidate = |place: usize| candidates[place].as_ref();
    let quiet = quiet_since(task, candidates.iter().map(AsRef::as_ref));
    let text = TaskText::new(task.text);
    let considered: Vec<Considered> = ranked
        .iter()
        .take(MAX_CONSIDERED)
        .enumerate()
        .map(|(rank, place)| {
            let one = candidate(*place);
            let estimate = known.said.get(rank).map(|said| {
                let facts = ResumeFacts::new(one, task.branch, &text, said, known.habit, task.now);
                ResumeEstimate { chance: known.model.coefficients(quiet).chance(&facts), facts }
            });
            considered(task, one, relevance(*place), estimate)
        })
        .collect();
    let Some((first, best)) = ranked.first().map(|place| candidate(*place)).zip(considered.first()) else {
        return decision::no_sessions();
    };
    let others = ranked.iter().skip(1).map(|place| candidate(*place));
    let is_alone = others.into_iter().all(|other| quiet_since(task, [other]) != QuietPeriod::No);
    let verdict = Verdict::decide(task, first, best, (quiet, is_alone), known);
    let ask = verdict.is_open(best, &known.bars, names_it(task, first));
    let explained = explain::explain(&verdict, ask, &considered, first, quiet, known);
    let action = verdict.action();
    Decision {
        action,
        ask,
        session: (action == Action::Resume).then(|| best.session_id.clone()),
        chance: best.score.filter(|_| verdict != Verdict::NotQuiet),
        overridden: (verdict == Verdict::BadRecord).then_some(Action::Resume),
        reason: explained.reason,
        changes: explained.changes,
        considered,
    }
}

/// How long these sessions had been quiet before the task.
fn quiet_since<'a>(task: &Task<'_>, sessions: impl IntoIterator<Item = &'a Candidate>) -> QuietPeriod {
    let hours = sessions.into_iter().filter_map(|one| one.silent_hours(task.now));
    QuietPeriod::from_minutes(hours.min_by(f64::total_cmp).map(|hours| hours * 60.0))
}

fn considered(
    task: &Task<'_>,
    candidate: &Candidate,
    relevance: Relevance,
    estimate: Option<ResumeEstimate>,
) -> Considered {
    let (ceiling, obstacle) = (Ceiling::hard(candidate), ResumeObstacle::find(candidate));
    Considered {
        session_id: candidate.id.clone(),
        title: None,
        branch: candidate.branch.as_deref().map(ToOwned::to_owned),
        last_active: candidate.last_active,
        score: estimate.as_ref().map(|estimate| estimate.chance.value),
        factors: factors(candidate, task.branch, relevance.score, task.now, &Weights::SEED),
        reason: explain::session(candidate, estimate.as_ref(), ceiling, obstacle, task),
        relevance,
        estimate,
        ceiling,
        obstacle,
    }
}

/// Whether the task names this session.
fn names_it(task: &Task<'_>, session: &Candidate) -> bool {
    NamedSessions::parse(task.text).contains(session)
}

/// What to do with the best-ranked session, and the reason.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    /// The chance is high enough.
    Likely,
    /// The chance is too low.
    Unlikely,
    /// A ceiling forbids it.
    Forbidden(Ceiling),
    /// The session cannot be resumed.
    Kept(ResumeObstacle),
    /// A message was written less than five minutes ago, and the task does not plainly follow it.
    NotQuiet,
    /// The task asks for something that shares neither words nor meaning with it, and does not point back.
    Unrelated,
    /// The chance is high enough, but the rule was wrong too often for this person.
    BadRecord,
}

impl Verdict {
    /// `is_alone`: whether no other session here was used in the last minutes.
    fn decide(
        task: &Task<'_>,
        first: &Candidate,
        best: &Considered,
        (quiet, is_alone): (QuietPeriod, bool),
        known: &Calibration,
    ) -> Self {
        if let Some(obstacle) = best.obstacle {
            return Self::Kept(obstacle);
        }
        if let Some(ceiling) = best.ceiling {
            return Self::Forbidden(ceiling);
        }
        let Some(ResumeEstimate { chance, facts }) = &best.estimate else { return Self::Unlikely };
        let names_it = names_it(task, first);
        let is_near = facts.nearness.is_some_and(|nearness| nearness >= NEAR);
        let follows = facts.shares_words() || is_near || points_back(task.text);
        // There are no data on this case; a task that follows the last message, with no other session active, needs
        // none.
        let goes_on = is_alone && (follows || facts.opening == Opening::Continuation);
        if quiet == QuietPeriod::No && !names_it && !first.is_idle_worker && !goes_on {
            return Self::NotQuiet;
        }
        if facts.opening == Opening::Request && !follows && !names_it {
            return Self::Unrelated;
        }
        match chance.value >= known.bars.resume_from || names_it {
            true if names_it || known.record.may_resume() => Self::Likely,
            true => Self::BadRecord,
            false => Self::Unlikely,
        }
    }

    /// Whether the person should be asked: nothing but the chance decides, and it is neither high nor low, or not known.
    fn is_open(self, best: &Considered, bars: &Bars, names_it: bool) -> bool {
        match self {
            Self::NotQuiet => true,
            Self::Likely | Self::Unlikely => {
                !names_it && best.score.is_some_and(|chance| bars.leave_open(chance))
            }
            Self::Forbidden(_) | Self::Kept(_) | Self::Unrelated | Self::BadRecord => false,
        }
    }

    fn action(self) -> Action {
        if self == Self::Likely { Action::Resume } else { Action::Fresh }
    }
}
