//! `send`: a message goes to the worker of a session, or to a new one that resumes it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::store::{claude_behind, continue_key};
use crate::workers::deliver;
pub use crate::workers::deliver::Answer;
use crate::{Context, Error};

/// A message, and to whom it goes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SendRequest")]
pub struct Request {
    /// The worker's number, a session's id or the beginning of it, or the key of a session of OpenClaw's.
    pub to: String,
    /// The text to send.
    pub message: String,
}

/// Sends a message to a living worker of the session; where there is none, the session is resumed for it by a
/// worker that outlives this process.
///
/// The key of a session of OpenClaw's names the Claude session behind it; where there is none, one is started.
pub fn send(context: &Context, request: &Request) -> Result<Answer, Error> {
    match claude_behind::as_key(&request.to) {
        Some((key, agent)) => continue_key::send(context, &key, &agent, &request.message),
        None => deliver::to_session(context, &request.to, &request.message, None),
    }
}
