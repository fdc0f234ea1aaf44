//! Errors as models get them: a code, what failed, and what to call next.

use app::Error;
use rmcp::model::{CallToolResult, ErrorData};
use serde_json::{Value, json};

use crate::next_step::as_tool_call;

/// The result of a tool that failed.
pub(crate) fn failed(error: &Error) -> CallToolResult {
    CallToolResult::structured_error(payload(error))
}

/// The same error where a resource or a prompt was asked for.
pub(crate) fn refused(error: &Error) -> ErrorData {
    let data = Some(payload(error));
    match error.kind {
        app::Kind::NotFound => ErrorData::resource_not_found(error.message.clone(), data),
        app::Kind::Usage | app::Kind::Ambiguous | app::Kind::TooLarge => {
            ErrorData::invalid_params(error.message.clone(), data)
        }
        app::Kind::Settings
        | app::Kind::Unavailable
        | app::Kind::Held
        | app::Kind::Forbidden
        | app::Kind::Cancelled
        | app::Kind::Internal => ErrorData::internal_error(error.message.clone(), data),
    }
}

/// The error as every interface tells it, with its next steps as calls.
fn payload(error: &Error) -> Value {
    let mut payload = serde_json::to_value(error).unwrap_or_else(|_| json!({}));
    payload["next_steps"] = error.next_steps.iter().map(as_tool_call).collect();
    payload
}
