//! `answer`: answers a worker's permission request or question.

use schemars::JsonSchema;
use serde::Deserialize;
use workers::{Command, PermissionReply};

use crate::workers::control::send_command;
use crate::workers::instruction::require_short;
use crate::workers::table::{self, open_recovered};
use crate::workers::unredact;
use crate::workers::worker_name::{self, WorkerName};
use crate::{Caller, Context, Error};

/// The answer to a permission request or a question of a worker.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AnswerRequest")]
pub struct Request {
    /// The worker's number, or its session's id or a prefix of it.
    #[serde(deserialize_with = "worker_name::deserialize")]
    #[schemars(with = "WorkerName")]
    pub worker: String,
    /// The id of its request, or a prefix of it.
    pub request: String,
    /// The answer to the request.
    pub reply: PermissionReply,
}

/// Answers a request of a worker.
pub fn answer(context: &Context, request: &Request) -> Result<(), Error> {
    require_answerer(context, &request.reply)?;
    require_short_reply(&request.reply)?;
    let table = open_recovered(context)?;
    let worker = table::find(context, &table, &request.worker)?;
    let command = Command::Answer { request: request.request.clone(), reply: request.reply.clone() };
    send_command(context, &worker, &unredact::command(context, worker.id, command))
}

/// Refuses words for the model that would fill a session by themselves.
fn require_short_reply(reply: &PermissionReply) -> Result<(), Error> {
    match reply {
        PermissionReply::Deny { message, .. } => require_short("a reason", message),
        PermissionReply::Answers { answers } => {
            answers.values().try_for_each(|answer| require_short("an answer", answer))
        }
        // What a tool is given can be a whole file.
        PermissionReply::Allow { .. } => Ok(()),
    }
}

/// Allows the person, and a model if the settings let it answer for them. What allows more from then on is the
/// person's alone.
fn require_answerer(context: &Context, reply: &PermissionReply) -> Result<(), Error> {
    if context.caller == Caller::Assistant && context.config().settings.mcp.answer_permissions {
        return match reply.grant() {
            Some(_) => context.require_person("an answer that allows more from then on"),
            None => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn reasons_and_answers_have_a_maximum_length() {
        let check = |reply: PermissionReply, expected: Option<&str>| {
            let found = require_short_reply(&reply).err().map(|error| (error.kind, error.message));
            assert_eq!(found, expected.map(|text| (Kind::TooLarge, text.to_owned())));
        };
        let deny = |length: usize| PermissionReply::Deny { message: "x".repeat(length), interrupt: false };
        check(deny(100_000), None);
        check(deny(100_001), Some("a reason may have at most 100 kB; this one has 101 kB"));
        let said = |length: usize| PermissionReply::Answers {
            answers: [("Which?".to_owned(), "Red".to_owned()), ("Why?".to_owned(), "x".repeat(length))]
                .into(),
        };
        check(said(100_000), None);
        check(said(100_001), Some("an answer may have at most 100 kB; this one has 101 kB"));
        let input = serde_json::json!({ "content": "x".repeat(200_000) });
        check(PermissionReply::Allow { input: Some(input), grant: None }, None);
    }
}
