//! Turns a record into events, one for each thing said or done.

use model::{ConversationEvent, SOURCE, SessionId, SessionInfo};
use transcript::record::Record;
use transcript::{TurnEnd, TurnSignal, turn_signals};

/// The events of a record.
pub(crate) fn moments(session: &SessionId, record: &Record<'_>) -> Vec<ConversationEvent> {
    let moment =
        |event_type: &'static str, tool_name: Option<&str>, detail: Option<String>| ConversationEvent {
            session_id: session.clone(),
            session_key: SessionInfo::key(session),
            event_type,
            source: SOURCE,
            tool_name: tool_name.map(ToOwned::to_owned),
            detail,
            hook_name: None,
            at: record.timestamp(),
        };
    let of_sign = |sign: &TurnSignal<'_>| match sign {
        TurnSignal::Begins { .. } => Some(moment("user_message", None, None)),
        TurnSignal::Thinks { .. } => Some(moment("thinking", None, None)),
        TurnSignal::Says { .. } => Some(moment("assistant_text", None, None)),
        TurnSignal::Calls(call) => Some(moment("tool_use", Some(call.name), call.detail())),
        TurnSignal::Answered { failed, .. } => {
            Some(moment("tool_result", None, failed.then(|| "failed".to_owned())))
        }
        TurnSignal::Progress { tool, .. } => Some(moment("progress", *tool, None)),
        TurnSignal::Over { how: TurnEnd::Interrupted, .. } => Some(moment("interrupted", None, None)),
        TurnSignal::Over { how: TurnEnd::Failed, .. } => Some(moment("error", None, None)),
        TurnSignal::Over { how: TurnEnd::Done, .. } => Some(moment("turn_complete", None, None)),
        // The end of a turn after Stop hooks is in another record.
        TurnSignal::StopHooks { .. }
        | TurnSignal::Fails { .. }
        | TurnSignal::Over { how: TurnEnd::Left, .. }
        | TurnSignal::GoesOn
        | TurnSignal::Notified { .. } => None,
    };
    turn_signals(record).iter().filter_map(of_sign).collect()
}
