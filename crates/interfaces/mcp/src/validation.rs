//! Checks requests before the library gets them, which does not report what is wrong: unknown methods and invalid parameters.

use rmcp::model::{
    CallToolRequestParams, ClientRequest, DiscoverRequestParams, ErrorCode, ErrorData, GetMeta as _,
    GetPromptRequestParams, InitializeRequestParams, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::arguments::what_is_wrong;
use crate::errors::{truncated, truncated_name};
use crate::frames::with_next_step;

const DISCOVER: &str = "server/discover";

/// Reports what is wrong with parameters.
type Check = fn(Value) -> Result<(), String>;

/// A method: how its parameters are checked, and the next step where they are invalid.
struct Method {
    check: Check,
    step: &'static str,
}

/// The method of this name, if the server has it.
fn method(name: &str) -> Option<Method> {
    let (check, step): (Check, _) = match name {
        "initialize" => (
            check::<InitializeRequestParams>,
            r#"send {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": …, "version": …}}"#,
        ),
        DISCOVER => (
            check::<DiscoverRequestParams>,
            r#"send {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}, or begin with `initialize`"#,
        ),
        "ping" => (check::<Value>, "send no parameters"),
        "tools/call" => (
            check::<CallToolRequestParams>,
            r#"send {"name": …, "arguments": {…}}, with the name of a tool of tools/list"#,
        ),
        "resources/read" => {
            (check::<ReadResourceRequestParams>, r#"send {"uri": …}, with one of resources/list"#)
        }
        "prompts/get" => (
            check::<GetPromptRequestParams>,
            r#"send {"name": …, "arguments": {…}}, with the name of a prompt of prompts/list"#,
        ),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => (
            check::<Option<PaginatedRequestParams>>,
            r#"send no parameters, or {"cursor": …} with the `nextCursor` of an answer"#,
        ),
        _ => return None,
    };
    Some(Method { check, step })
}

fn check<T: DeserializeOwned>(parameters: Value) -> Result<(), String> {
    serde_path_to_error::deserialize::<_, T>(parameters).map(drop).map_err(|error| what_is_wrong(&error))
}

/// The error of a request that is invalid.
pub(crate) fn validate(request: &ClientRequest) -> Option<ErrorData> {
    let name = request.method();
    let Some(method) = method(name) else {
        let message = format!("unknown method `{}`", truncated_name(name));
        let unknown = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
        return Some(with_next_step(unknown, "list the tools with tools/list, and call one with tools/call"));
    };
    let missing = missing_metadata(request);
    let what = match request {
        ClientRequest::CustomRequest(custom) => {
            let mut given = custom.params.clone().unwrap_or_else(|| json!({}));
            if let Some(fields) = given.as_object_mut() {
                fields.remove("_meta");
            }
            let invalid = (method.check)(given).err();
            invalid.or(missing).unwrap_or_else(|| "they have the wrong form".to_owned())
        }
        _ => missing?,
    };
    let message = truncated(&format!("invalid parameters of `{name}`: {what}"));
    Some(with_next_step(ErrorData::invalid_params(message, None), method.step))
}

/// What a request lacks that has to name its protocol revision itself.
fn missing_metadata(request: &ClientRequest) -> Option<String> {
    let missing = request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28);
    let is_incomplete = request.method() == DISCOVER && !missing.is_empty();
    is_incomplete.then(|| format!("`_meta` lacks `{}`", missing.join("` and `")))
}

/// The error for a cursor that no answer had.
pub(crate) fn invalid_cursor() -> ErrorData {
    let invalid = ErrorData::invalid_params("invalid cursor", None);
    with_next_step(invalid, "give the `nextCursor` of an answer, or none")
}

/// An error of the library with a next step, where it has none.
pub(crate) fn with_default_next_step(mut error: ErrorData) -> ErrorData {
    let step = match error.code {
        ErrorCode::METHOD_NOT_FOUND => "list the tools with tools/list, and call one with tools/call",
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => "name one of the supported versions",
        ErrorCode::HEADER_MISMATCH => {
            "send the header MCP-Protocol-Version with the version that `_meta` names"
        }
        ErrorCode::INVALID_PARAMS | ErrorCode::INVALID_REQUEST => {
            "correct what the message names, and send it again"
        }
        _ => "send it again; if it fails again, see what `backstory doctor` says",
    };
    match &mut error.data {
        None => with_next_step(error, step),
        Some(Value::Object(data)) => {
            data.entry("next_steps").or_insert_with(|| json!([step]));
            error
        }
        Some(_) => error,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ClientJsonRpcMessage;

    use super::*;

    /// The code of what is wrong with a request, and its message.
    fn wrong(method: &str, parameters: Option<Value>) -> Option<(i32, String)> {
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        if let Some(parameters) = parameters {
            message["params"] = parameters;
        }
        let ClientJsonRpcMessage::Request(request) = serde_json::from_value(message).unwrap() else {
            panic!("{method} is a request");
        };
        validate(&request.request).map(|error| {
            let steps = error.data.as_ref().and_then(|data| data["next_steps"].as_array());
            assert!(steps.is_some_and(|steps| !steps.is_empty()), "{method}: {error:?}");
            (error.code.0, error.message.into_owned())
        })
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |method: &str, parameters: Value, expected: &str| {
            let (code, message) = wrong(method, Some(parameters.clone())).unwrap_or_default();
            assert_eq!(code, -32602, "{method} {parameters}: {message}");
            assert!(message.ends_with(expected), "{method} {parameters}: {message}");
        };
        let client = json!({"name": "raw", "version": "1"});
        check("initialize", json!({}), ": missing field `protocolVersion`");
        check(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "clientInfo": client}),
            ": missing field `capabilities`",
        );
        check(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": 7, "version": "1"}}),
            ": `clientInfo.name`: invalid type: integer `7`, expected a string",
        );
        check(
            "initialize",
            json!({"protocolVersion": 7, "capabilities": {}, "clientInfo": client}),
            "a string",
        );
        check("tools/call", json!({"name": 7}), "`name`: invalid type: integer `7`, expected a string");
        check("tools/call", json!({"name": "search", "arguments": 7}), "expected an object");
        check("prompts/get", json!({}), ": missing field `name`");
        check("resources/read", json!({"url": "x"}), ": missing field `uri`");
        for parameters in [None, Some(json!({})), Some(json!({"_meta": {}}))] {
            let (code, message) = wrong("server/discover", parameters).unwrap();
            assert_eq!(code, -32602, "{message}");
            let key = "`_meta` lacks `io.modelcontextprotocol/protocolVersion`";
            assert!(message.contains(key), "{message}");
        }
        for method in ["no/such", "completion/complete", "logging/setLevel", "tasks/list"] {
            assert_eq!(wrong(method, Some(json!({}))).unwrap().0, -32601, "{method}");
        }
        assert_eq!(wrong("initialize", None).unwrap().0, -32602);
        for method in ["ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            assert_eq!(wrong(method, None), None, "{method}");
        }
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        assert_eq!(wrong("server/discover", Some(json!({"_meta": meta}))), None);
    }

    #[test]
    fn an_error_of_the_library_gets_a_next_step_and_keeps_its_data() {
        let data = |error| with_default_next_step(error).data.unwrap();
        let bare = ErrorData::invalid_params("no", None);
        assert!(data(bare)["next_steps"][0].is_string());
        let full = data(ErrorData::invalid_params("no", Some(json!({"supported": ["a"]}))));
        assert_eq!((&full["supported"][0], full["next_steps"][0].is_string()), (&json!("a"), true));
        let own = with_next_step(ErrorData::invalid_params("no", None), "do this");
        assert_eq!(data(own), json!({"next_steps": ["do this"]}));
    }
}
