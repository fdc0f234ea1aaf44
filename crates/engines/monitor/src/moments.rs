//! Turns a record into events, one for each thing said or done.

use model::{Moment, SOURCE, SessionId, SessionInfo};
use transcript::record::Record;
use transcript::{Ending, Sign, signs};

/// The events of a record.
pub(crate) fn moments(session: &SessionId, record: &Record<'_>) -> Vec<Moment> {
    let moment = |event_type: &'static str, tool_name: Option<&str>, detail: Option<String>| Moment {
        session_id: session.clone(),
        session_key: SessionInfo::key(session),
        event_type,
        source: SOURCE,
        tool_name: tool_name.map(ToOwned::to_owned),
        detail,
        hook_name: None,
        at: record.timestamp(),
    };
    let of_sign = |sign: &Sign<'_>| match sign {
        Sign::Begins { .. } => Some(moment("user_message", None, None)),
        Sign::Thinks { .. } => Some(moment("thinking", None, None)),
        Sign::Says { .. } => Some(moment("assistant_text", None, None)),
        Sign::Calls(call) => Some(moment("tool_use", Some(call.name), call.detail())),
        Sign::Answered { failed, .. } => {
            Some(moment("tool_result", None, failed.then(|| "failed".to_owned())))
        }
        Sign::Progress { tool, .. } => Some(moment("progress", *tool, None)),
        Sign::Over { how: Ending::Interrupted, .. } => Some(moment("interrupted", None, None)),
        Sign::Over { how: Ending::Failed, .. } => Some(moment("error", None, None)),
        Sign::Over { how: Ending::Done, .. } => Some(moment("turn_complete", None, None)),
        // Where the turn is over after Stop hooks, another record says so.
        Sign::StopHooks { .. }
        | Sign::Over { how: Ending::Left, .. }
        | Sign::GoesOn
        | Sign::Notified { .. } => None,
    };
    signs(record).iter().filter_map(of_sign).collect()
}
