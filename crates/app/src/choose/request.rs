//! What `pick` is asked.

use jiff::Timestamp;
use model::AgentId;

use crate::config::settings::RuleName;

/// A task, and who wants it done where.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What is to be done.
    pub task: String,
    /// A path or a project's name; the directory the person stands in without it.
    pub repo: Option<String>,
    /// The name of the session it must go to.
    pub label: Option<String>,
    /// The OpenClaw agent that asks; the person without one.
    pub agent: Option<AgentId>,
    /// What a session may cost, in US dollars.
    pub budget: Option<f64>,
    /// The branch, where it is not the one that is checked out.
    pub branch: Option<String>,
    /// By which rule, where it is not the setting's.
    pub weights: Option<RuleName>,
    /// The moment of the past to choose at, from what there was then.
    pub as_of: Option<Timestamp>,
    /// Whether what is chosen is done at once: then Backstory's own workers are waited for, and what the person does next
    /// says nothing of the choice.
    pub is_carried_out: bool,
}
