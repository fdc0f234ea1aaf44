//! The request of `pick`.

use jiff::Timestamp;
use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::settings::RuleName;
use crate::{Context, Error, Kind, Moment};

/// Which session a task should go to.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "PickRequest")]
pub struct Request {
    /// The task; may be empty only with `label`.
    pub task: String,
    /// A path or a project's name; by default the current directory's repository.
    pub repo: Option<String>,
    /// Only the session with this label.
    pub label: Option<String>,
    /// Choose among this OpenClaw agent's sessions; by default among those that no agent started.
    pub agent: Option<AgentId>,
    /// The most a session may cost, in US dollars; one that has used 70% of it is not resumed.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub budget_usd: Option<f64>,
    /// The branch; by default the one that is checked out.
    pub branch: Option<String>,
    /// The scoring rule: the chance that the user continues a session (`calibrated`), or OpenClaw's five factors (`seed`); by default
    /// the one in the settings.
    pub weights: Option<RuleName>,
    /// Choose as of this past time, from what was known then.
    pub as_of: Option<Moment>,
}

impl Request {
    /// The question that it asks, once its values are found to be valid.
    pub(crate) fn question(&self, context: &Context) -> Result<Question, Error> {
        Ok(Question {
            task: self.task.clone(),
            repo: self.repo.clone(),
            label: self.label.clone(),
            agent: self.agent.clone(),
            budget: positive(self.budget_usd)?,
            branch: self.branch.clone(),
            weights: self.weights,
            as_of: self.as_of.as_ref().map(|moment| moment.at(context)).transpose()?,
            is_carried_out: false,
        })
    }
}

/// The budget; an error if it is not positive.
pub(crate) fn positive(budget: Option<f64>) -> Result<Option<f64>, Error> {
    match budget {
        Some(budget) if budget <= 0.0 || !budget.is_finite() => {
            Err(Error::new(Kind::Usage, "the budget must be a positive amount of US dollars"))
        }
        budget => Ok(budget),
    }
}

/// A task, its repository and its asker.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    /// The task.
    pub(crate) task: String,
    /// A path or a project's name; `None` is the request's directory.
    pub(crate) repo: Option<String>,
    /// The name of the session it must go to.
    pub(crate) label: Option<String>,
    /// The OpenClaw agent that asks; the person without one.
    pub(crate) agent: Option<AgentId>,
    /// What a session may cost, in US dollars.
    pub(crate) budget: Option<f64>,
    /// The branch, where it is not the one that is checked out.
    pub(crate) branch: Option<String>,
    /// The rule, if it is not the one in the settings.
    pub(crate) weights: Option<RuleName>,
    /// The moment of the past to choose at, from what there was then.
    pub(crate) as_of: Option<Timestamp>,
    /// Whether the choice is carried out at once: then a task queues behind Backstory's own workers, and what the
    /// person does next is not recorded as the outcome.
    pub(crate) is_carried_out: bool,
}
