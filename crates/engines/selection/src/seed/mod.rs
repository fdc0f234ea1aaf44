//! The seed's rule: five factors with fixed weights, ceilings, and a threshold (document 000, phase 5).

mod reason;

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::decision::{self, forced_decision};
use crate::factors::{Factors, factors};
use crate::relevance::{Judgement, Relevance};
use crate::{
    Action, Candidate, Ceiling, Considered, Decision, MAX_CONSIDERED, ResumeObstacle, Task, Weights,
};

/// The weights, and the score that is enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seed {
    /// The weight of each factor.
    pub weights: Weights,
    /// A score from here on is enough.
    pub threshold: f64,
}

/// Whether the decision depends on anybody's relevance.
pub fn needs_relevance(task: &Task<'_>, candidates: &[impl AsRef<Candidate>]) -> bool {
    task.label.is_none()
        && task.taken_by.is_none()
        && candidates.iter().any(|one| Ceiling::hard(one.as_ref()).is_none())
}

/// Decides where a task goes. `judged` holds the candidates' relevance, in their order.
pub fn choose(
    task: &Task<'_>,
    seed: &Seed,
    candidates: &[impl AsRef<Candidate>],
    judged: &Judgement,
) -> Decision {
    if let Some(decision) = forced_decision(task, candidates) {
        return decision;
    }
    let candidate = |at: usize| candidates[at].as_ref();
    let scored = |at: usize| Scored::new(task, &seed.weights, candidate(at), &judged.relevance[at]);
    // There are thousands: find the best by their scores alone, and build the full answer only for those.
    let mut ranked: Vec<(Rank, usize)> = (0..candidates.len().min(judged.relevance.len()))
        .map(|at| (Rank::new(&scored(at), candidate(at)), at))
        .collect();
    ranked.sort_unstable_by(|(ours, one), (theirs, other)| {
        theirs.cmp(ours).then_with(|| candidate(*one).id.cmp(&candidate(*other).id))
    });
    let best = ranked.iter().take(MAX_CONSIDERED).map(|(_, at)| scored(*at).considered(candidate(*at)));
    decision(seed, best.collect(), ranked.first().map(|(_, at)| candidate(*at)))
}

fn decision(seed: &Seed, considered: Vec<Considered>, first: Option<&Candidate>) -> Decision {
    let Some((first, best)) = first.zip(considered.first()) else { return decision::no_sessions() };
    let score = best.score.unwrap_or_default();
    let resumes = best.is_eligible() && score >= seed.threshold;
    let (action, session) =
        if resumes { (Action::Resume, Some(best.session_id.clone())) } else { (Action::Fresh, None) };
    Decision {
        action,
        ask: false,
        session,
        chance: None,
        overridden: None,
        reason: reason::decided(best, resumes),
        changes: reason::changes(seed, first, &considered, resumes),
        considered,
    }
}

/// A candidate's factors, and what forbids it.
struct Scored {
    factors: Factors,
    relevance: Relevance,
    ceiling: Option<Ceiling>,
    obstacle: Option<ResumeObstacle>,
}

impl Scored {
    fn new(task: &Task<'_>, weights: &Weights, candidate: &Candidate, relevance: &Relevance) -> Self {
        Self {
            factors: factors(candidate, task.branch, relevance.score, task.now, weights),
            ceiling: Ceiling::hard(candidate).or_else(|| Ceiling::soft(candidate, relevance.score)),
            obstacle: ResumeObstacle::find(candidate),
            relevance: relevance.clone(),
        }
    }

    fn score(&self) -> f64 {
        if self.ceiling.is_some() { 0.0 } else { self.factors.score() }
    }

    fn considered(self, candidate: &Candidate) -> Considered {
        Considered {
            session_id: candidate.id.clone(),
            title: None,
            branch: candidate.branch.as_deref().map(ToOwned::to_owned),
            last_active: candidate.last_active,
            score: Some(self.score()),
            estimate: None,
            reason: reason::words(&self, candidate),
            factors: self.factors,
            relevance: self.relevance,
            ceiling: self.ceiling,
            obstacle: self.obstacle,
        }
    }
}

/// The sort key of a candidate; the greatest is the best.
struct Rank {
    is_eligible: bool,
    score: f64,
    relevance: f64,
    last_active: Option<Timestamp>,
}

impl Rank {
    fn new(one: &Scored, candidate: &Candidate) -> Self {
        Self {
            is_eligible: one.ceiling.is_none() && one.obstacle.is_none(),
            score: one.score(),
            relevance: one.relevance.score,
            last_active: candidate.last_active,
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = || self.score.total_cmp(&other.score);
        let by_relevance = || self.relevance.total_cmp(&other.relevance);
        let by_time = || self.last_active.cmp(&other.last_active);
        self.is_eligible
            .cmp(&other.is_eligible)
            .then_with(by_score)
            .then_with(by_relevance)
            .then_with(by_time)
    }
}
