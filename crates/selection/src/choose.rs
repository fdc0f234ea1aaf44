//! The decision: a label first, then whether the place is taken, then the best score.

use std::cmp::Ordering;

use jiff::Timestamp;
use model::SessionId;
use serde::Serialize;

use crate::seed::reason;
use crate::{Candidate, Ceiling, Considered, Hold, Judged, Obstacle, Relevance, Weights, factors};

/// What is to be done, and under which circumstances.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// The branch that is checked out; `None` on a detached head.
    pub branch: Option<&'a str>,
    /// The name of the session it must go to.
    pub label: Option<&'a str>,
    /// A run that has the directory's one place for runs.
    pub taken_by: Option<SessionId>,
    /// The moment.
    pub now: Timestamp,
    /// A score from here on is enough.
    pub threshold: f64,
    /// How much each factor weighs.
    pub weights: Weights,
}

/// What to do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Go on with a session.
    Resume,
    /// Begin a new one.
    Fresh,
    /// Wait for a run that has the directory.
    Queue,
}

impl Action {
    /// The word used in JSON and for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Fresh => "fresh",
            Self::Queue => "queue",
        }
    }
}

/// What was decided, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// The session to resume, or the one to wait for.
    pub session: Option<SessionId>,
    /// Why, in one line.
    pub reason: String,
    /// What would change the answer, one line each.
    pub changes: Vec<String>,
    /// Every session that was looked at, those that can be resumed first, best first.
    pub considered: Vec<Considered>,
}

/// Whether the decision depends on anybody's relevance.
pub fn needs_relevance(task: &Task<'_>, candidates: &[impl AsRef<Candidate>]) -> bool {
    task.label.is_none()
        && task.taken_by.is_none()
        && candidates.iter().any(|one| Ceiling::hard(one.as_ref()).is_none())
}

/// Decides where a task goes. `judged` holds the candidates' relevance, in their order.
pub fn choose(task: &Task<'_>, candidates: &[impl AsRef<Candidate>], judged: &Judged) -> Decision {
    let short = |action, session, reason: String, change: String| Decision {
        action,
        session,
        reason,
        changes: vec![change],
        considered: Vec::new(),
    };
    if let Some(label) = task.label {
        return labelled(label, candidates, short);
    }
    if let Some(runs) = &task.taken_by {
        let reason = format!("session {} runs here, and one directory has one run at a time", runs.short());
        return short(
            Action::Queue,
            Some(runs.clone()),
            reason,
            format!("the end of session {}", runs.short()),
        );
    }
    if candidates.is_empty() {
        let (reason, change) = ("no previous sessions of this repository", "a session of this repository");
        return short(Action::Fresh, None, reason.to_owned(), change.to_owned());
    }
    best(task, candidates, judged)
}

fn labelled(
    label: &str,
    candidates: &[impl AsRef<Candidate>],
    short: impl Fn(Action, Option<SessionId>, String, String) -> Decision,
) -> Decision {
    let called = candidates
        .iter()
        .map(AsRef::as_ref)
        .filter(|one: &&Candidate| one.label.as_deref() == Some(label) && one.has_transcript);
    let Some(found) = called.max_by_key(|one| one.last_active) else {
        let change = format!("a session called `{label}`");
        return short(Action::Fresh, None, format!("no session is called `{label}` yet"), change);
    };
    let id = Some(found.id.clone());
    let unnamed = "no label: then the scores decide".to_owned();
    match found.hold {
        Hold::Free => short(Action::Resume, id, format!("it is called `{label}`"), unnamed),
        Hold::Worker => {
            short(Action::Queue, id, format!("`{label}` is running"), "the end of its run".to_owned())
        }
        Hold::Person => {
            let reason = format!("`{label}` is open in another process; a fork of it could go on");
            short(Action::Fresh, None, reason, "the end of that process".to_owned())
        }
    }
}

fn best(task: &Task<'_>, candidates: &[impl AsRef<Candidate>], judged: &Judged) -> Decision {
    let candidate = |at: usize| candidates[at].as_ref();
    let consider_at = |at: usize| consider(task, candidate(at), &judged.relevance[at]);
    // There are thousands: who is best is found by little of each, and all of each is reckoned again in that order.
    let mut ranked: Vec<(Rank, usize)> = (0..candidates.len().min(judged.relevance.len()))
        .map(|at| (Rank::of(&consider_at(at), candidate(at).last_active), at))
        .collect();
    ranked.sort_unstable_by(|(ours, one), (theirs, other)| {
        theirs.cmp(ours).then_with(|| candidate(*one).id.cmp(&candidate(*other).id))
    });
    let considered: Vec<Considered> = ranked.iter().map(|(_, at)| consider_at(*at)).collect();
    let first = ranked.first().zip(considered.first()).map(|((_, at), best)| (candidate(*at), best.clone()));
    let Some((first, best)) = first else {
        let reason = "no previous sessions of this repository".to_owned();
        return Decision { action: Action::Fresh, session: None, reason, changes: Vec::new(), considered };
    };
    let resumes = best.is_eligible() && best.score >= task.threshold;
    let changes = reason::changes(task, first, &considered, resumes);
    let (action, session) =
        if resumes { (Action::Resume, Some(best.session_id.clone())) } else { (Action::Fresh, None) };
    Decision { action, session, reason: reason::decided(&best, resumes), changes, considered }
}

/// How well a session does; the highest is the best.
struct Rank {
    is_eligible: bool,
    score: f64,
    relevance: f64,
    last_active: Option<Timestamp>,
}

impl Rank {
    fn of(one: &Considered, last_active: Option<Timestamp>) -> Self {
        let (score, relevance) = (one.score, one.relevance.score);
        Self { is_eligible: one.is_eligible(), score, relevance, last_active }
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

fn consider(task: &Task<'_>, candidate: &Candidate, relevance: &Relevance) -> Considered {
    let factors = factors(candidate, task.branch, relevance.score, task.now, &task.weights);
    let ceiling = Ceiling::hard(candidate).or_else(|| Ceiling::soft(candidate, relevance.score));
    let obstacle = match candidate.hold {
        _ if !candidate.has_transcript => Some(Obstacle::Gone),
        Hold::Free => None,
        Hold::Worker | Hold::Person => Some(Obstacle::Held),
    };
    let score = if ceiling.is_some() { 0.0 } else { factors.score() };
    Considered {
        session_id: candidate.id.clone(),
        score,
        factors,
        relevance: relevance.clone(),
        ceiling,
        obstacle,
        compactions: candidate.compactions,
        budget_used_pct: candidate.budget_used_pct,
    }
}
