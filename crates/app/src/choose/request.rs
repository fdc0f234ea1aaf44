//! The request of `pick`.

use jiff::Timestamp;
use model::AgentId;

use crate::config::settings::RuleName;

/// A task, its repository and its asker.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The task.
    pub task: String,
    /// A path or a project's name; `None` is the request's directory.
    pub repo: Option<String>,
    /// The name of the session it must go to.
    pub label: Option<String>,
    /// The OpenClaw agent that asks; the person without one.
    pub agent: Option<AgentId>,
    /// What a session may cost, in US dollars.
    pub budget: Option<f64>,
    /// The branch, where it is not the one that is checked out.
    pub branch: Option<String>,
    /// The rule, if it is not the one in the settings.
    pub weights: Option<RuleName>,
    /// The moment of the past to choose at, from what there was then.
    pub as_of: Option<Timestamp>,
    /// Whether the choice is carried out at once: then a task queues behind Backstory's own workers, and what the person
    /// does next is not recorded as the outcome.
    pub is_carried_out: bool,
}
