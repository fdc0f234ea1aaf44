//! Errors as models get them: a code, what failed, and what to call next.

use app::Error;
use rmcp::model::{CallToolResult, ErrorData};
use serde::Serialize;
use serde_json::{Value, json};

use crate::next_step::as_tool_call;

/// An error as the result of a tool.
#[derive(Debug, Serialize)]
struct Failure<'a> {
    error: &'static str,
    message: &'a str,
    next_steps: Vec<String>,
}

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

fn payload(error: &Error) -> Value {
    let next_steps = error.next_steps.iter().map(as_tool_call).collect();
    let failure = Failure { error: error.kind.code(), message: &error.message, next_steps };
    serde_json::to_value(failure).unwrap_or_else(|_| json!({"error": "internal"}))
}
