//! Parses frames of `claude --output-format stream-json` and formats those it reads.
//!
//! Unknown frames are ignored, as newer releases may send more.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{Event, PermissionMode, PermissionRequest, TurnResult, TurnStarted};

/// Maximum length of a tool result in an event, in characters.
const MAX_TOOL_RESULT: usize = 2000;

/// The content of one line of output.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    /// Events to pass on unchanged.
    Events(Vec<Event>),
    /// A turn begins.
    Started(TurnStarted),
    /// The permission mode changed to this one, as Claude Code names it.
    Mode(String),
    /// The model was given the message with this id.
    Accepted(String),
    /// Whether a turn is running (`true`) or over.
    Busy(bool),
    /// A request to the user.
    Asked(PermissionRequest),
    /// The request with this id no longer needs an answer.
    Withdrawn(String),
    /// A hook callback with this id; Backstory registers none.
    Hook(String),
    /// An unknown request: its id and name.
    Unknown(String, String),
    /// The answer to a request of ours: its id, and the error if it failed.
    Response(String, Option<String>),
    /// A turn ended; with the id of the message that it answers, where the release says it.
    Result(TurnResult, Option<String>),
    /// A frame that needs no action.
    Other,
    /// A line that is no JSON, such as a warning.
    NotJson,
}

impl Frame {
    /// Parses a line.
    pub(crate) fn read(line: &[u8]) -> Self {
        let Ok(frame) = serde_json::from_slice::<Value>(line) else { return Self::NotJson };
        match frame["type"].as_str() {
            Some("assistant") => Self::Events(assistant_events(&frame)),
            Some("user") => user(&frame),
            Some("stream_event") => delta(&frame),
            Some("system") => system(&frame),
            Some("result") => Self::Result(result(&frame), text(&frame["user_message_uuid"])),
            Some("control_request") => asked(&frame),
            Some("control_cancel_request") => id(&frame).map_or(Self::Other, Self::Withdrawn),
            Some("control_response") => response(&frame["response"]),
            Some(_) => Self::Other,
            None => Self::NotJson,
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn id(frame: &Value) -> Option<String> {
    text(&frame["request_id"])
}

fn assistant_events(frame: &Value) -> Vec<Event> {
    let agent = text(&frame["parent_tool_use_id"]);
    let blocks = frame["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let event = |block: &Value| {
        let agent = agent.clone();
        Some(match block["type"].as_str()? {
            "text" => Event::Text { text: text(&block["text"])?, agent, streamed: false },
            "thinking" => Event::Thinking { text: text(&block["thinking"])?, agent },
            "tool_use" => Event::Tool {
                id: text(&block["id"])?,
                name: text(&block["name"])?,
                input: block["input"].clone(),
                agent,
            },
            _ => return None,
        })
    };
    blocks.iter().filter_map(event).collect()
}

fn user(frame: &Value) -> Frame {
    if frame["isReplay"] == true {
        return text(&frame["uuid"]).map_or(Frame::Other, Frame::Accepted);
    }
    let agent = text(&frame["parent_tool_use_id"]);
    let blocks = frame["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let event = |block: &Value| {
        let id = text(&block["tool_use_id"])?;
        let is_error = block["is_error"] == true;
        Some(Event::ToolResult { id, text: beginning(&block["content"]), is_error, agent: agent.clone() })
    };
    Frame::Events(blocks.iter().filter_map(event).collect())
}

/// The beginning of a content, which is a text or a list of blocks.
fn beginning(content: &Value) -> String {
    let cut = |text: &str| text.chars().take(MAX_TOOL_RESULT).collect::<String>();
    match content {
        Value::String(whole) => cut(whole),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            cut(&texts.join("\n"))
        }
        _ => String::new(),
    }
}

fn delta(frame: &Value) -> Frame {
    let piece = &frame["event"]["delta"];
    let is_ours = frame["parent_tool_use_id"].is_null() && piece["type"] == "text_delta";
    match piece["text"].as_str() {
        Some(piece) if is_ours => Frame::Events(vec![Event::Delta { text: piece.to_owned() }]),
        _ => Frame::Other,
    }
}

fn system(frame: &Value) -> Frame {
    let word = |name: &str| text(&frame[name]).unwrap_or_default();
    let number = |name: &str| frame[name].as_f64().filter(|number| *number >= 0.0).map_or(0, whole);
    let event = match frame["subtype"].as_str() {
        Some("init") => return started(frame),
        Some("session_state_changed") => return Frame::Busy(frame["state"] != "idle"),
        Some("api_retry") => Event::Retry {
            attempt: number("attempt"),
            of: number("max_retries"),
            delay_ms: number("retry_delay_ms"),
            error: retry_error(frame),
        },
        Some("permission_denied") => Event::Refused { tool: word("tool_name"), message: word("message") },
        Some("task_started") => Event::TaskStarted {
            id: word("task_id"),
            description: word("description"),
            kind: word("task_type"),
        },
        Some("task_notification") => {
            Event::TaskEnded { id: word("task_id"), outcome: word("status"), summary: word("summary") }
        }
        Some("status") if frame["status"] == "compacting" => {
            Event::Note { text: "Claude Code compacts the conversation".to_owned() }
        }
        Some("status") => return text(&frame["permissionMode"]).map_or(Frame::Other, Frame::Mode),
        _ => return Frame::Other,
    };
    Frame::Events(vec![event])
}

fn retry_error(frame: &Value) -> String {
    let status = frame["error_status"].as_u64().map(|status| format!("status {status}"));
    let error = text(&frame["error"]);
    [status, error].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count, checked to be positive"
)]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

fn started(frame: &Value) -> Frame {
    let Some(session_id) = frame["session_id"].as_str().and_then(|id| id.parse().ok()) else {
        return Frame::Other;
    };
    Frame::Started(TurnStarted {
        session_id,
        model: text(&frame["model"]),
        version: text(&frame["claude_code_version"]),
        permission_mode: text(&frame["permissionMode"]),
        cwd: text(&frame["cwd"]).map(PathBuf::from),
    })
}

fn asked(frame: &Value) -> Frame {
    let Some(id) = id(frame) else { return Frame::Other };
    let request = &frame["request"];
    let subtype = request["subtype"].as_str().unwrap_or_default();
    match subtype {
        "can_use_tool" => match PermissionRequest::read(&id, request) {
            Some(request) => Frame::Asked(request),
            None => Frame::Unknown(id, subtype.to_owned()),
        },
        "hook_callback" => Frame::Hook(id),
        other => Frame::Unknown(id, other.to_owned()),
    }
}

fn response(response: &Value) -> Frame {
    let Some(id) = id(response) else { return Frame::Other };
    let error = (response["subtype"] == "error")
        .then(|| text(&response["error"]).unwrap_or_else(|| "an error without a word".to_owned()));
    Frame::Response(id, error)
}

fn result(frame: &Value) -> TurnResult {
    let list = |value: &Value, of: fn(&Value) -> Option<String>| {
        value.as_array().map(|all| all.iter().filter_map(of).collect()).unwrap_or_default()
    };
    TurnResult {
        // Anything but a clear "no" is an error.
        is_error: frame["is_error"] != false,
        subtype: text(&frame["subtype"]).unwrap_or_default(),
        terminal_reason: text(&frame["terminal_reason"]),
        text: text(&frame["result"]).unwrap_or_default(),
        errors: list(&frame["errors"], text),
        turns: frame["num_turns"].as_u64().unwrap_or_default(),
        cost_usd: since_last_result(frame),
        session_cost_usd: dollars(&frame["total_cost_usd"]).unwrap_or_default(),
        duration_ms: frame["duration_ms"].as_u64().unwrap_or_default(),
        denied: list(&frame["permission_denials"], |denial| text(&denial["tool_name"])),
    }
}

/// Cost of the turn in US dollars; `-1` if the release does not report it and it must be derived from the
/// totals.
fn since_last_result(frame: &Value) -> f64 {
    let models = frame["model_usage_since_last_result"].as_object();
    // The sum of no numbers is -0.0, which is not a price.
    let sum = |models: &serde_json::Map<String, Value>| {
        models.values().filter_map(|usage| dollars(&usage["costUSD"])).sum::<f64>().abs()
    };
    models.map_or(-1.0, sum)
}

fn dollars(value: &Value) -> Option<f64> {
    value.as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0)
}

/// A request of ours as a line.
fn request(id: &str, request: &Value) -> String {
    line(&json!({"type": "control_request", "request_id": id, "request": request}))
}

/// The first line; without it, newer releases ignore what follows.
pub(crate) fn initialize(id: &str) -> String {
    request(id, &json!({"subtype": "initialize"}))
}

/// Ends the turn.
pub(crate) fn interrupt(id: &str) -> String {
    request(id, &json!({"subtype": "interrupt"}))
}

/// Withdraws a message that no turn has started on yet; has no effect on any other message.
pub(crate) fn withdraw(id: &str, message: &str) -> String {
    request(id, &json!({"subtype": "cancel_async_message", "message_uuid": message}))
}

/// Changes the permission mode.
pub(crate) fn set_mode(id: &str, mode: PermissionMode) -> String {
    request(id, &json!({"subtype": "set_permission_mode", "mode": mode.as_str()}))
}

/// Changes the model.
pub(crate) fn set_model(id: &str, model: &str) -> String {
    request(id, &json!({"subtype": "set_model", "model": model}))
}

/// A message to the model.
pub(crate) fn message(id: &str, text: &str) -> String {
    line(&json!({
        "type": "user",
        "uuid": id,
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "session_id": "",
    }))
}

/// The answer to a request from `claude`.
pub(crate) fn answer(id: &str, response: &Value) -> String {
    let response = json!({"subtype": "success", "request_id": id, "response": response});
    line(&json!({"type": "control_response", "response": response}))
}

/// An error in answer to a request that is not supported.
pub(crate) fn refuse(id: &str, error: &str) -> String {
    let response = json!({"subtype": "error", "request_id": id, "error": error});
    line(&json!({"type": "control_response", "response": response}))
}

fn line(frame: &Value) -> String {
    format!("{frame}\n")
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "frames are written in place")]
mod tests {
    use super::*;

    fn check(line: &str, expected: Frame) {
        assert_eq!(Frame::read(line.as_bytes()), expected, "{line}");
    }

    #[test]
    fn lines_that_are_not_frames_are_skipped() {
        for line in ["", "{", "null", "[1]", "7", "Warning: something", "\u{0}\u{0}", r#"{"subtype":"x"}"#] {
            check(line, Frame::NotJson);
        }
        assert_eq!(Frame::read(b"\xff\xfe{}"), Frame::NotJson);
        check(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), Frame::NotJson);
        check(r#"{"type":"rate_limit_event"}"#, Frame::Other);
        check(r#"{"type":"assistant","message":{"content":"odd"}}"#, Frame::Events(vec![]));
        check(r#"{"type":"control_request","request":{"subtype":"can_use_tool"}}"#, Frame::Other);
        check(r#"{"type":"system","subtype":"init","session_id":"../../x"}"#, Frame::Other);
    }

    #[test]
    fn texts_and_tool_calls_become_events() {
        check(
            r#"{"type":"assistant","parent_tool_use_id":"t0","message":{"content":[{"type":"text","text":"Hi"},
               {"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}},{"type":"odd"}]}}"#,
            Frame::Events(vec![
                Event::Text { text: "Hi".into(), agent: Some("t0".into()), streamed: false },
                Event::Tool {
                    id: "t1".into(),
                    name: "Bash".into(),
                    input: json!({"command": "ls"}),
                    agent: Some("t0".into()),
                },
            ]),
        );
        let result = |text: &str, is_error| {
            Frame::Events(vec![Event::ToolResult {
                id: "t1".into(),
                text: text.into(),
                is_error,
                agent: None,
            }])
        };
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}}"#,
            result("out", false),
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,
               "content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}}"#,
            result("a\nb", true),
        );
        check(r#"{"type":"user","isReplay":true,"uuid":"u1"}"#, Frame::Accepted("u1".into()));
        check(
            r#"{"type":"stream_event","event":{"delta":{"type":"text_delta","text":"He"}}}"#,
            Frame::Events(vec![Event::Delta { text: "He".into() }]),
        );
        check(
            r#"{"type":"stream_event","parent_tool_use_id":"t0","event":{"delta":{"type":"text_delta","text":"x"}}}"#,
            Frame::Other,
        );
    }

    #[test]
    fn requests_and_answers_are_distinguished() {
        check(
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback"}}"#,
            Frame::Hook("r".into()),
        );
        check(
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message"}}"#,
            Frame::Unknown("r".into(), "mcp_message".into()),
        );
        check(r#"{"type":"control_cancel_request","request_id":"r"}"#, Frame::Withdrawn("r".into()));
        check(
            r#"{"type":"system","subtype":"status","status":null,"permissionMode":"acceptEdits"}"#,
            Frame::Mode("acceptEdits".into()),
        );
        check(r#"{"type":"system","subtype":"status","status":null}"#, Frame::Other);
        check(
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"b1"}}"#,
            Frame::Response("b1".into(), None),
        );
        check(
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"b1","error":"no such mode"}}"#,
            Frame::Response("b1".into(), Some("no such mode".into())),
        );
        check(r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#, Frame::Busy(false));
        check(
            r#"{"type":"system","subtype":"session_state_changed","state":"requires_action"}"#,
            Frame::Busy(true),
        );
    }

    #[test]
    fn a_result_is_an_error_unless_it_says_otherwise() {
        let read = |line: &str| match Frame::read(line.as_bytes()) {
            Frame::Result(result, _) => result,
            other => panic!("{other:?}"),
        };
        let fine = read(
            r#"{"type":"result","subtype":"success","is_error":false,"result":"Done","num_turns":2,
               "total_cost_usd":0.5,"model_usage_since_last_result":{"a":{"costUSD":0.1},"b":{"costUSD":0.2}},
               "permission_denials":[{"tool_name":"Bash"}]}"#,
        );
        assert!(!fine.is_error);
        assert!((fine.cost_usd - 0.3).abs() < 1e-9 && (fine.session_cost_usd - 0.5).abs() < 1e-9);
        assert_eq!((fine.text.as_str(), fine.turns, fine.denied), ("Done", 2, vec!["Bash".to_owned()]));
        let free = read(r#"{"type":"result","is_error":true,"model_usage_since_last_result":{}}"#);
        assert!(free.is_error && free.cost_usd.is_sign_positive(), "{free:?}");
        assert!(read(r#"{"type":"result","subtype":"success","is_error":true}"#).is_error);
        assert!(read(r#"{"type":"result","subtype":"success"}"#).is_error);
        assert!(read(r#"{"type":"result","is_error":"false","total_cost_usd":-5}"#).is_error);
    }
}
