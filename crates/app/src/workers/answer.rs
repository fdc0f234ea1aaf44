//! `answer`: what a worker asks is answered from elsewhere.

use schemars::JsonSchema;
use serde::Deserialize;
use workers::{Command, PermissionReply};

use crate::workers::control::tell;
use crate::workers::restore;
use crate::workers::table::{self, open_recovered};
use crate::{Context, Error};

/// The answer to a permission request or a question of a worker.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AnswerRequest")]
pub struct Request {
    /// The worker's number, or its session's id or the beginning of it.
    pub worker: String,
    /// The id of what it asks.
    pub request: String,
    /// The answer.
    pub reply: PermissionReply,
}

/// Answers what a worker asks.
pub fn answer(context: &Context, request: &Request) -> Result<(), Error> {
    context.require_person("answering what workers ask")?;
    let table = open_recovered(context)?;
    let worker = table::find(context, &table, &request.worker)?;
    let command = Command::Answer { request: request.request.clone(), reply: request.reply.clone() };
    tell(context, &worker, &restore::command(context, worker.id, command))
}
