//! `search`: finds what was said or done in past sessions.

use app::search::{Answer, Request, search};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::next_step::as_tool_call;
use crate::places::{add_reads, add_to_schema};
use crate::tool::{Reply, Tool, value};
use crate::{fields, schema};

/// How deep paging goes; each page ranks all hits before it again.
const DEEPEST: usize = 500;

pub(super) fn tool() -> Tool {
    let reply = |context: &app::Context, request: &Request| {
        let limit = request.limit.map(|limit| limit.min(DEEPEST));
        let found = search(context, &Request { limit, ..request.clone() })?;
        let hint = found.hint.as_ref().map(|hint| as_tool_call(&hint.next_step));
        let mut answer = value(&found)?;
        add_reads(&mut answer);
        if let Some(hint) = hint {
            answer["hint"]["next_step"] = json!(hint);
        }
        Ok(Reply::Answer(answer))
    };
    Tool::with_reply::<Request, Answer>("search", "Search past sessions", DESCRIPTION, reply)
        .input(input)
        .output(output)
        .fields(&fields::HIT, &["/hits"])
        .paged("/hits", 5, 50)
}

fn input() -> JsonObject {
    let mut schema = schema::input::<Request>();
    // The plugin's pane gives it; to a model it is of no use.
    schema::remove(&mut schema, "max_age_seconds");
    schema
}

/// The step that a hint names is worded as a call.
fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    let step = schema.get_mut("$defs").and_then(|all| all.pointer_mut("/SearchHint/properties/next_step"));
    if let Some(step) = step {
        *step = json!({"type": "string"});
    }
    add_to_schema(&mut schema);
    schema
}

const DESCRIPTION: &str = "Finds where something was said or done in past Claude Code sessions on this machine: prompts, answers, commands, \
file names, errors, commits. Matches words and meaning. Each hit is a session with the line that answers best; `later` is the last \
place in it that answers about as well, and may correct it. To read a place, call read_session with its `read` as the arguments. \
Search before solving a problem that may have been solved before.\n\
Example: {\"query\": \"refresh token race\", \"project\": \"web\", \"since\": \"30d\"}";
