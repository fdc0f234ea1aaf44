//! `send`: sends a message to a session's worker, or to a new worker that resumes the session.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::store::continue_key::BareReset;
pub use crate::store::continue_key::KeyAnswer;
use crate::store::{claude_behind, continue_key};
use crate::workers::deliver;
pub use crate::workers::deliver::Answer;
use crate::workers::instruction::require_message;
use crate::workers::table::{lookup, open_recovered};
use crate::{Context, Error, Kind};

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
    require_message(&request.message)?;
    let Some((key, agent)) = claude_behind::as_key(&request.to) else {
        return deliver::to_session(context, &request.to, &request.message, None);
    };
    let sent = continue_key::send(context, &key, &agent, &request.message, BareReset::IsRefused)?.sent;
    sent.ok_or_else(|| Error::new(Kind::Internal, "the message was given to nobody"))
}

/// Sends a message to the key of a session of OpenClaw's; `None` where it is to somebody else. A message that only asks
/// for a new conversation begins one.
pub fn send_to_key(context: &Context, request: &Request) -> Result<Option<KeyAnswer>, Error> {
    require_message(&request.message)?;
    let Some((key, agent)) = claude_behind::as_key(&request.to) else { return Ok(None) };
    continue_key::send(context, &key, &agent, &request.message, BareReset::Resets).map(Some)
}

/// Whether the recipient of a message acts without asking: the session's living worker, or a new one, which continues
/// with the options of the last.
pub fn acts_without_asking(context: &Context, to: &str) -> Result<bool, Error> {
    let session = match claude_behind::claude_behind(context, to) {
        Ok(session) => session.map(|session| session.to_string()),
        // A new session is started, whose worker asks.
        Err(error) if error.kind == Kind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let table = open_recovered(context)?;
    let worker = lookup(context, &table, session.as_deref().unwrap_or(to))?;
    Ok(worker.is_some_and(|worker| worker.spec.options.acts_without_asking()))
}
