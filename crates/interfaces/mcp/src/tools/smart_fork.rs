//! `smart_fork`: the sessions that know most about an intent, and a worker in a fork of one.

use app::proceed::fork_request::{Answer, ForkSessions, Request, forks};
use app::quoting::neutralize;
use app::{Context, Error, Kind};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::instructions::NOTICE;
use crate::next_step::as_tool_call;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{bounds, schema};

pub(super) fn tool() -> Tool {
    Tool::replying::<Request, ForkSessions>("smart_fork", "Find and fork a session", DESCRIPTION, reply)
        .effect(Effect::Starts)
        .input(input)
        .output(output)
}

const DESCRIPTION: &str = "Ranks the past sessions that know most about what is to be done, so that their context can be inherited. With \
auto_fork, fork_index (from 0) or fork_rank (from 1) a worker in the background works on the intent in a fork of that session, \
which itself stays as it is; follow it with wait_workers and worker_log. Without them nothing is started.\n\
Example: {\"intent\": \"add rate limits to the upload API\", \"limit\": 3}";

fn input() -> JsonObject {
    let mut schema = schema::input::<Request>();
    // Without an intent there is nothing to rank by; only a terminal asks for the last session.
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("last");
        properties["intent"]["type"] = json!("string");
    }
    schema.insert("required".to_owned(), json!(["intent"]));
    schema
}

fn output() -> JsonObject {
    let mut schema = schema::output::<ForkSessions>();
    schema::add_truncated(&mut schema);
    schema::add_notice(&mut schema);
    schema
}

fn reply(context: &Context, request: &Request) -> Result<Reply, Error> {
    if request.intent.trim().is_empty() {
        return Err(Error::new(Kind::Usage, "`intent` is missing: say what is to be done"));
    }
    let answer = forks(context, request)?.worded(as_tool_call);
    let mut shown = value(&answer)?;
    let list = match &answer {
        Answer::ForkSessions(_) => "/results",
        Answer::Nothing(_) => "/fallback_sessions",
    };
    neutralize(&mut shown);
    shown["notice"] = json!(NOTICE);
    let before = shown.pointer(list).and_then(Value::as_array).map_or(0, Vec::len);
    let left = bounds::fit(&mut shown, list);
    shown["truncated"] = json!(left < before);
    Ok(match answer {
        Answer::ForkSessions(_) => Reply::Answer(shown),
        Answer::Nothing(_) => Reply::Guidance(shown),
    })
}
