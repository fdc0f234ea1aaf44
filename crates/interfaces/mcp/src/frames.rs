//! Decodes a line from a client as a message of the protocol, or as the error to answer with.
//!
//! The file uses nothing else of this crate: a fuzz target compiles it alone.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId};
use serde_json::{Value, json};

/// The longest message that is read, in bytes.
pub(crate) const LONGEST: usize = 4 << 20;

/// The next step for an invalid message.
const ONE_MESSAGE: &str = "send one JSON-RPC 2.0 message at a time, such as {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}";

/// A decoded line.
#[derive(Debug)]
pub(crate) enum Frame {
    /// A request, a notification or a response, for the service.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing to answer.
    Nothing,
    /// An invalid message.
    Invalid {
        /// The id of the request, as far as it can be read.
        id: Option<RequestId>,
        /// What is wrong with it.
        error: ErrorData,
    },
}

/// Decodes a line; never fails.
pub(crate) fn decode(line: &[u8]) -> Frame {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Frame::Nothing;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let error = ErrorData::parse_error(format!("the message is not valid JSON: {error}"), None);
            return Frame::Invalid { id: None, error: with_next_step(error, ONE_MESSAGE) };
        }
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_notification = value.get("id").is_none() && value["method"].is_string();
    let what = if value.is_array() {
        "the protocol no longer has batches of messages"
    } else {
        "the message is not a JSON-RPC 2.0 request, notification or response"
    };
    match serde_json::from_value(value) {
        Ok(message) => Frame::Message(Box::new(message)),
        // A notification is never answered.
        Err(_) if is_notification => Frame::Nothing,
        Err(_) => {
            Frame::Invalid { id, error: with_next_step(ErrorData::invalid_request(what, None), ONE_MESSAGE) }
        }
    }
}

/// An error of the protocol with a next step.
pub(crate) fn with_next_step(error: ErrorData, step: &str) -> ErrorData {
    ErrorData { data: Some(json!({"next_steps": [step]})), ..error }
}

/// The answer to a message that is too long to be read.
pub(crate) fn too_long() -> ErrorData {
    let error = ErrorData::invalid_request(format!("the message is longer than {} MB", LONGEST >> 20), None);
    with_next_step(error, "send less at a time: a file is named by its path, not sent")
}

/// The answer to a request with the id of one that is not answered yet.
pub(crate) fn id_in_use() -> ErrorData {
    let error = ErrorData::invalid_request("a request with this id was not answered", None);
    with_next_step(error, "give each request an id of its own")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(line: &str) -> String {
        match decode(line.as_bytes()) {
            Frame::Message(_) => "message".to_owned(),
            Frame::Nothing => "nothing".to_owned(),
            Frame::Invalid { id, error } => format!("{} {id:?}", error.code.0),
        }
    }

    #[test]
    fn lines_of_every_kind() {
        let check = |line: &str, expected: &str| assert_eq!(kind_of(line), expected, "{line}");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "message");
        check("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\"}\r", "message");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{}}"#, "message");
        check(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "message");
        check("", "nothing");
        check("  \t", "nothing");
        check("{", "-32700 None");
        check("nonsense", "-32700 None");
        check("\u{0}", "-32700 None");
        check("[]", "-32600 None");
        check("7", "-32600 None");
        check("{}", "-32600 None");
        check(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, "-32600 Some(Number(7))");
        check(r#"{"id":"x","method":"ping"}"#, r#"-32600 Some(String("x"))"#);
        check(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "-32600 None");
        check(&"[".repeat(100_000), "-32700 None");
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_a_message_or_answered(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
            cut in 0_usize..120,
        ) {
            let whole = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}"#;
            let torn = [&whole[..cut.min(whole.len())], &bytes[..]].concat();
            for line in [&bytes, &torn] {
                if let Frame::Invalid { error, .. } = decode(line) {
                    assert!(matches!(error.code.0, -32700 | -32600), "{error:?}");
                }
            }
        }
    }
}
