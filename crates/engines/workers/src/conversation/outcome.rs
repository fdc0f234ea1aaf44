//! How a turn or a worker ended, as states and as texts for the user.

use std::time::Duration;

use crate::{FailureReason, TurnResult, WorkerState};

/// Maximum length of kept texts in characters.
pub(super) const MAX_TEXT: usize = 2000;

/// A time limit for display.
pub(super) fn seconds(limit: Duration) -> String {
    if limit.subsec_millis() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{:.1} s", limit.as_secs_f64())
    }
}

/// The state of a worker that failed.
pub(super) fn failed(why: FailureReason, message: String) -> WorkerState {
    WorkerState::Failed { reason: why, message }
}

/// The state of a worker whose last turn failed.
pub(super) fn failed_turn(last: &TurnResult, stderr: &str) -> WorkerState {
    let why = match last.terminal_reason.as_deref() {
        Some("api_error") => FailureReason::Api,
        _ if last.text.starts_with("API Error") => FailureReason::Api,
        _ => FailureReason::Turn,
    };
    failed(why, failure_text(last, stderr))
}

/// Describes a failed turn.
pub(super) fn failure_text(last: &TurnResult, stderr: &str) -> String {
    let errors = last.errors.join("; ");
    let all = [last.text.as_str(), &errors, stderr, &last.subtype];
    let first = all.into_iter().find(|text| !text.is_empty());
    first.unwrap_or_default().chars().take(MAX_TEXT).collect()
}

/// The beginning of an answer, or of what ended a turn without one.
pub(super) fn outcome_text(last: &TurnResult) -> String {
    if last.is_error { failure_text(last, "") } else { beginning(&last.text) }
}

/// The beginning of an answer, as far as a state holds it.
pub(super) fn beginning(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// Describes an exhausted budget.
pub(super) fn out_of_budget(budget: Option<f64>, cost: f64) -> String {
    match budget {
        Some(budget) => format!("the budget is used up: ${cost:.4} of the ${budget:.4} that were left"),
        None => format!("Claude Code says that the budget is used up, after ${cost:.4}"),
    }
}
