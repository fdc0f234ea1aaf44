//! `answer`: what a worker asks is answered from elsewhere.

use schemars::JsonSchema;
use serde::Deserialize;
use workers::{Command, PermissionReply};

use crate::workers::control::tell;
use crate::workers::table::{self, open_recovered};
use crate::workers::unredact;
use crate::workers::worker_name::{self, WorkerName};
use crate::{Caller, Context, Error};

/// The answer to a permission request or a question of a worker.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AnswerRequest")]
pub struct Request {
    /// The worker's number, or its session's id or the beginning of it.
    #[serde(deserialize_with = "worker_name::one")]
    #[schemars(with = "WorkerName")]
    pub worker: String,
    /// The id of what it asks.
    pub request: String,
    /// The answer to the request.
    pub reply: PermissionReply,
}

/// Answers what a worker asks.
pub fn answer(context: &Context, request: &Request) -> Result<(), Error> {
    require_answerer(context, &request.reply)?;
    let table = open_recovered(context)?;
    let worker = table::find(context, &table, &request.worker)?;
    let command = Command::Answer { request: request.request.clone(), reply: request.reply.clone() };
    tell(context, &worker, &unredact::command(context, worker.id, command))
}

/// Refuses everybody but the person, and the model that they let answer for them. A rule that allows more from then on
/// is the person's alone.
fn require_answerer(context: &Context, reply: &PermissionReply) -> Result<(), Error> {
    if context.caller == Caller::Assistant && context.config().settings.mcp.answer_permissions {
        return match reply {
            PermissionReply::Allow { always: true, .. } => {
                context.require_person("a rule that always allows")
            }
            PermissionReply::Allow { .. }
            | PermissionReply::Answers { .. }
            | PermissionReply::Deny { .. } => Ok(()),
        };
    }
    let refused = context.require_person("answering what workers ask");
    refused.map_err(|error| match context.caller {
        Caller::Assistant => {
            error.hint("the person can answer, or allow it with the setting `mcp.answer_permissions`")
        }
        _ => error,
    })
}
