//! A session that could be resumed, with the facts the choice looks at.

use std::sync::Arc;

use jiff::Timestamp;
use model::{AgentId, Origin, Session, SessionId};

/// Who wants to begin a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// The person at the machine, to whom sessions that no agent began belong.
    Person,
    /// An OpenClaw agent, to whom its own sessions belong.
    Agent(AgentId),
}

impl Asker {
    /// Whether a session is one of the asker's own.
    pub fn owns(&self, session: &Session) -> bool {
        match (self, session.origin.agent()) {
            (Self::Person, None) => true,
            (Self::Agent(agent), Some(owner)) => agent == owner,
            _ => false,
        }
    }
}

/// The most a session may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// No budget is set.
    None,
    /// In US dollars; more than zero.
    Dollars(f64),
}

/// What currently holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occupancy {
    /// No process uses the session.
    Free,
    /// A run that a program started and that occupies the repository's one place for such runs.
    Worker,
    /// A process on a person's terminal.
    Person,
}

impl Occupancy {
    /// Determines what holds a session.
    pub fn from_session(session: &Session) -> Self {
        match (session.is_running, &session.origin) {
            (false, _) => Self::Free,
            (true, Origin::OpenClaw { .. }) => Self::Worker,
            (true, Origin::Native | Origin::Archived | Origin::Ghost) => Self::Person,
        }
    }
}

/// A session as an input of the choice.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact that is there or not")]
pub struct Candidate {
    /// The session's id.
    pub id: SessionId,
    /// The session's branch.
    pub branch: Option<Arc<str>>,
    /// The session's subject: its latest task, else its first message.
    pub about: Option<Arc<str>>,
    /// The time of its last activity.
    pub last_active: Option<Timestamp>,
    /// The time of the last message of its conversation, in seconds since 1970.
    pub last_message: Option<i64>,
    /// Whether the person left it with `/exit`.
    pub was_exited: bool,
    /// Whether it was run in another work tree of the repository than the task.
    pub is_in_other_tree: bool,
    /// Lines of its transcript.
    pub lines: u64,
    /// The transcript's size, in bytes.
    pub bytes: u64,
    /// Input and output tokens; the cache's are not among them.
    pub tokens: u64,
    /// The number of times its context was compacted.
    pub compactions: u64,
    /// Cost over budget, in percent, where both are known.
    pub budget_used_pct: Option<f64>,
    /// The name it was given: OpenClaw's label, else its title.
    pub label: Option<Arc<str>>,
    /// What currently holds it.
    pub hold: Occupancy,
    /// Whether its transcript is there.
    pub has_transcript: bool,
    /// Whether a worker of Backstory's has it and is idle.
    pub is_idle_worker: bool,
}

impl AsRef<Self> for Candidate {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Candidate {
    /// The facts of a session, with the budget that is set for the task.
    pub fn from_session(session: &Session, budget: Budget) -> Self {
        let label = match &session.origin {
            Origin::OpenClaw { label, .. } => label.as_deref().map(Arc::from),
            Origin::Native | Origin::Archived | Origin::Ghost => session.title.clone(),
        };
        Self {
            id: session.id.clone(),
            branch: session.branch.clone(),
            about: session.last_task.clone().or_else(|| session.first_message.clone()),
            last_active: session.last_modified,
            last_message: session.beginnings.last_message(),
            was_exited: session.was_exited,
            is_in_other_tree: false,
            lines: session.message_count,
            bytes: session.file_size,
            tokens: session.usage.input.saturating_add(session.usage.output),
            compactions: session.compactions,
            budget_used_pct: budget_used(session, budget),
            label,
            hold: Occupancy::from_session(session),
            has_transcript: session.file.is_some(),
            is_idle_worker: false,
        }
    }

    /// Hours since the last activity; `None` where that time is unknown.
    pub fn age_hours(&self, now: Timestamp) -> Option<f64> {
        let then = self.last_active?;
        Some((now.as_millisecond() - then.as_millisecond()) as f64 / 3_600_000.0)
    }

    /// Hours since the last message, else since the last activity.
    pub fn silent_hours(&self, now: Timestamp) -> Option<f64> {
        let said = self.last_message.map(|then| (now.as_second() - then) as f64 / 3600.0);
        said.or_else(|| self.age_hours(now))
    }
}

/// The share of the budget that was used, in percent, by the known cost, else by the estimate.
fn budget_used(session: &Session, budget: Budget) -> Option<f64> {
    match budget {
        Budget::None => session.budget_used_pct,
        Budget::Dollars(budget) => {
            session.registry_cost_usd.or(session.cost_usd).map(|cost| model::budget_used(cost, budget))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A moment, in seconds from the one all tests begin at.
    pub(crate) fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + second).unwrap()
    }

    /// A small session without any obstacle, used at that moment.
    pub(crate) fn candidate(id: &str) -> Candidate {
        Candidate {
            branch: Some("main".into()),
            about: Some("refresh token rotation".into()),
            last_active: Some(at(0)),
            lines: 40,
            bytes: 100_000,
            tokens: 4000,
            has_transcript: true,
            ..Candidate::from_session(&Session::new(id.parse().unwrap()), Budget::None)
        }
    }
}
