//! Errors as models get them: a code, what failed, and what to call next.

use app::Error;
use rmcp::model::{CallToolResult, ErrorData};
use serde_json::{Value, json};

use crate::bounds::cut_texts;
use crate::next_step::as_tool_call;

/// The longest message, in bytes: it may repeat an argument.
const LONGEST: usize = 1_000;

/// The result of a tool that failed.
pub(crate) fn failed(error: &Error) -> CallToolResult {
    CallToolResult::structured_error(payload(error))
}

/// The same error where a resource or a prompt was asked for.
pub(crate) fn refused(error: &Error) -> ErrorData {
    let data = payload(error);
    let message = data["message"].as_str().unwrap_or_default().to_owned();
    let data = Some(data);
    match error.kind {
        app::Kind::NotFound => ErrorData::resource_not_found(message, data),
        app::Kind::Usage | app::Kind::Ambiguous | app::Kind::TooLarge => {
            ErrorData::invalid_params(message, data)
        }
        app::Kind::Settings
        | app::Kind::Unavailable
        | app::Kind::Held
        | app::Kind::Forbidden
        | app::Kind::Cancelled
        | app::Kind::Internal => ErrorData::internal_error(message, data),
    }
}

/// The error as every interface tells it, with its next steps as calls.
fn payload(error: &Error) -> Value {
    let mut payload = serde_json::to_value(error).unwrap_or_else(|_| json!({}));
    payload["next_steps"] = error.next_steps.iter().map(as_tool_call).collect();
    cut_texts(&mut payload, LONGEST, "");
    payload
}

/// A message of an error, without most of a long argument that it repeats.
pub(crate) fn bounded(message: String) -> String {
    let mut value = Value::String(message);
    cut_texts(&mut value, LONGEST, "");
    value.as_str().unwrap_or_default().to_owned()
}

/// A name that a client has made up, as a message repeats it.
pub(crate) fn named(name: &str) -> String {
    let end = name.floor_char_boundary(100);
    if end == name.len() { name.to_owned() } else { format!("{}…", &name[..end]) }
}
