//! `openclaw_conversation_context` and `openclaw_session_info`: what a worker is to do, for whom and with which budget.

use std::path::PathBuf;

use model::AgentId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::bridge::Bridge;
use crate::bridge::spending::Spending;
use crate::{Context, Error};

/// Tells the model that the conversation has more than the task.
const NOTE: &str = "The task is all of the conversation that this session was given. Use openclaw_memory_search to search what \
                    the agent remembers of it.";

/// What a worker is to do, for whom and with which budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationContext {
    /// The task that the worker was started with.
    pub task: String,
    /// The agent that it works for.
    pub agent_id: AgentId,
    /// The directory it works in.
    #[serde(serialize_with = "model::path")]
    pub repo: PathBuf,
    /// What else there is to know.
    pub note: &'static str,
    /// What is left of its budget, such as `$1.25`, or `unlimited`.
    pub budget_remaining: String,
}

/// What a session has cost and may cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCost {
    /// The agent that it works for.
    pub agent_id: AgentId,
    /// The directory it works in.
    #[serde(serialize_with = "model::path")]
    pub repo: PathBuf,
    /// The task that the worker was started with.
    pub task: String,
    /// What the session has cost over all its runs, in US dollars.
    pub cost_accumulated_usd: f64,
    /// The most it may cost, in US dollars; `null` for no limit.
    pub budget_max_usd: Option<f64>,
    /// What is left of that, in US dollars; `null` for no limit.
    pub budget_remaining_usd: Option<f64>,
}

/// What the worker is to do, for whom and with which budget.
pub fn conversation_context(context: &Context, bridge: &Bridge) -> Result<ConversationContext, Error> {
    let worker = bridge.row(context)?;
    let remaining = Spending::of(context, &worker)?.remaining();
    Ok(ConversationContext {
        task: context.secrets.redacted(worker.task.into()),
        agent_id: bridge.agent.clone(),
        repo: worker.directory,
        note: NOTE,
        budget_remaining: remaining.map_or_else(|| "unlimited".to_owned(), |left| format!("${left:.2}")),
    })
}

/// What the worker's session has cost and may cost.
pub fn session_info(context: &Context, bridge: &Bridge) -> Result<SessionCost, Error> {
    let worker = bridge.row(context)?;
    let spending = Spending::of(context, &worker)?;
    Ok(SessionCost {
        agent_id: bridge.agent.clone(),
        task: context.secrets.redacted(worker.task.into()),
        repo: worker.directory,
        cost_accumulated_usd: spending.cost_usd,
        budget_max_usd: spending.budget_usd,
        budget_remaining_usd: spending.remaining(),
    })
}
