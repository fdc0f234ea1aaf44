//! `smart_fork`: ranks sessions for an intent, and starts a worker in a fork of one.

use app::proceed::fork_request::{Answer, ForkSessions, Request, forks};
use app::quoting::neutralize;
use app::{Context, Error, Kind};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::instructions::NOTICE;
use crate::next_step::as_tool_call;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{schema, size};

pub(super) fn tool() -> Tool {
    Tool::with_reply::<Request, ForkSessions>("smart_fork", "Find and fork a session", DESCRIPTION, reply)
        .effect(Effect::Starts)
        .input(input)
        .output(output)
}

const DESCRIPTION: &str = "Ranks the past sessions that know most about a task, so that a fork can inherit their context. With auto_fork, \
fork_index or fork_rank a background worker starts on the intent in a fork of that session, which itself stays unchanged; follow it \
with wait_workers and worker_log. Without them nothing starts.\n\
Example: {\"intent\": \"add rate limits to the upload API\", \"limit\": 3}";

fn input() -> JsonObject {
    let mut schema = schema::input::<Request>();
    // Only a terminal asks for the last session; a tool needs an intent to rank by.
    schema::remove(&mut schema, "last");
    schema::unset(&mut schema, "intent", "default");
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
        return Err(Error::new(Kind::Usage, "`intent` is missing: say what is to be done")
            .hint("the tool's description ends with an example"));
    }
    if request.last {
        return Err(Error::new(Kind::Usage, "smart_fork has no argument `last`: it ranks sessions by an intent").hint(
            "fork the last session: spawn_worker {\"task\": …, \"continue_session\": true, \"fork_session\": true}",
        ));
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
    let left = size::truncate_list(&mut shown, list);
    shown["truncated"] = json!(left < before);
    Ok(match answer {
        Answer::ForkSessions(_) => Reply::Answer(shown),
        Answer::Nothing(_) => Reply::Guidance(shown),
    })
}
