//! Decides in order: a label first, then whether the directory is taken, then the rule.

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Candidate, Considered, Occupancy, Weights};

/// The most considered sessions a decision lists, best first.
pub const MAX_CONSIDERED: usize = 200;

/// A task and its circumstances.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// The text of the task.
    pub text: &'a str,
    /// The branch that is checked out; `None` on a detached head.
    pub branch: Option<&'a str>,
    /// The name of the session it must go to.
    pub label: Option<&'a str>,
    /// A run that has the directory's one place for runs.
    pub taken_by: Option<Occupant>,
    /// The current time.
    pub now: Timestamp,
}

/// A run that has the directory's one place for runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupant {
    /// The run of a session that the asker may know.
    Session(SessionId),
    /// The run of a session that the asker may not know.
    Another,
}

/// What a chance is enough for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bars {
    /// From this chance on resuming is advised, below it a fresh session.
    pub resume_from: f64,
    /// Chances at which the advice is too often wrong to be followed without asking.
    pub ask_from: f64,
    /// The end of these chances, itself not one of them.
    pub ask_below: f64,
}

impl Bars {
    /// The bars of the settings' defaults (docs/selection-quality.md).
    pub const DEFAULT: Self = Self { resume_from: 0.5, ask_from: 0.3, ask_below: 0.8 };

    /// Whether the person should be asked at this chance.
    pub fn leave_open(&self, chance: f64) -> bool {
        (self.ask_from..self.ask_below).contains(&chance)
    }
}

/// The rule that chooses a session.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
pub enum Rule {
    /// By the chance that the person resumes it.
    Calibrated(Bars),
    /// A sum of five factors.
    Seed {
        /// The weight of each factor.
        weights: Weights,
        /// A score from here on is enough.
        threshold: f64,
    },
}

impl Rule {
    /// Its name in `--weights`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Calibrated(_) => "calibrated",
            Self::Seed { weights, .. } => weights.name,
        }
    }

    /// A score from here on is enough.
    pub fn threshold(&self) -> f64 {
        match self {
            Self::Calibrated(bars) => bars.resume_from,
            Self::Seed { threshold, .. } => *threshold,
        }
    }
}

/// What to do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Continue a session.
    Resume,
    /// Begin a new one.
    Fresh,
    /// Wait for a run that has the directory.
    Queue,
}

impl Action {
    /// The name used in JSON and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Fresh => "fresh",
            Self::Queue => "queue",
        }
    }
}

/// A decision and its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The advised action.
    pub action: Action,
    /// Whether the person should rather be asked: go on with the best-ranked session, or start fresh?
    pub ask: bool,
    /// The session to resume, or the one to wait for.
    pub session: Option<SessionId>,
    /// The chance that the person resumes the best-ranked session; `None` where it is unknown.
    pub chance: Option<f64>,
    /// What the rule alone would advise, where something overrode it.
    pub overridden: Option<Action>,
    /// Why, in one line.
    pub reason: String,
    /// The changes that would lead to another decision, one line each.
    pub changes: Vec<String>,
    /// The best of the sessions that were considered, at most [`MAX_CONSIDERED`].
    pub considered: Vec<Considered>,
}

impl Decision {
    /// A decision that no session had to be considered for.
    pub(crate) fn without_candidates(
        action: Action,
        session: Option<SessionId>,
        reason: impl Into<String>,
        change: impl Into<String>,
    ) -> Self {
        Self {
            action,
            ask: false,
            session,
            chance: None,
            overridden: None,
            reason: reason.into(),
            changes: vec![change.into()],
            considered: Vec::new(),
        }
    }
}

/// The decision where no rule has to be asked: a label, a directory that is taken, or no sessions.
pub fn forced_decision(task: &Task<'_>, candidates: &[impl AsRef<Candidate>]) -> Option<Decision> {
    if let Some(label) = task.label {
        return Some(labelled(label, candidates));
    }
    if let Some(occupant) = &task.taken_by {
        let (session, runs, end) = match occupant {
            Occupant::Session(id) => {
                let name = format!("session {}", id.short());
                (Some(id.clone()), format!("{name} is"), format!("the end of {name}"))
            }
            Occupant::Another => (None, "another run is".to_owned(), "the end of that run".to_owned()),
        };
        let reason = format!("{runs} at work here, and only one run at a time may work in a directory");
        return Some(Decision::without_candidates(Action::Queue, session, reason, end));
    }
    candidates.is_empty().then(no_sessions)
}

/// The decision where there is no session.
pub fn no_sessions() -> Decision {
    let (reason, change) = ("this repository has no earlier sessions", "a session of this repository");
    Decision::without_candidates(Action::Fresh, None, reason, change)
}

fn labelled(label: &str, candidates: &[impl AsRef<Candidate>]) -> Decision {
    let called = candidates
        .iter()
        .map(AsRef::as_ref)
        .filter(|one: &&Candidate| one.label.as_deref() == Some(label) && one.has_transcript);
    let Some(found) = called.max_by_key(|one| one.last_active) else {
        let reason = format!("no session is called `{label}` yet");
        return Decision::without_candidates(
            Action::Fresh,
            None,
            reason,
            format!("a session called `{label}`"),
        );
    };
    let (action, id, reason, change) = match found.hold {
        Occupancy::Free => (
            Action::Resume,
            Some(found.id.clone()),
            format!("it is called `{label}`"),
            "no label: then the task itself decides",
        ),
        Occupancy::Worker => {
            (Action::Queue, Some(found.id.clone()), format!("`{label}` is running"), "the end of its run")
        }
        Occupancy::Person => (
            Action::Fresh,
            None,
            format!("`{label}` is open in another process; you could fork it"),
            "the end of that process",
        ),
    };
    Decision::without_candidates(action, id, reason, change)
}
