//! `search`: what was said or done in past sessions.

use app::search::{Answer, Request, search};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::next_step::as_tool_call;
use crate::tool::{Reply, Tool, value};
use crate::{lean, schema};

/// As far as a list goes on; the app ranks all that comes before.
const DEEPEST: usize = 500;

pub(super) fn tool() -> Tool {
    let reply = |context: &app::Context, request: &Request| {
        let limit = request.limit.map(|limit| limit.min(DEEPEST));
        let found = search(context, &Request { limit, ..request.clone() })?;
        let hint = found.hint.as_ref().map(|hint| as_tool_call(&hint.next_step));
        let mut answer = value(&found)?;
        if let Some(hint) = hint {
            answer["hint"]["next_step"] = json!(hint);
        }
        Ok(Reply::Answer(answer))
    };
    Tool::replying::<Request, Answer>("search", "Search past sessions", DESCRIPTION, reply)
        .output(output)
        .lean(&lean::HIT, &["/hits"])
        .listing("/hits", 5, 50)
}

/// The step that a hint names is worded as a call.
fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    let step = schema.get_mut("$defs").and_then(|all| all.pointer_mut("/SearchHint/properties/next_step"));
    if let Some(step) = step {
        *step = json!({"type": "string"});
    }
    schema
}

const DESCRIPTION: &str = "Finds where something was said or done in past Claude Code sessions on this machine: prompts, answers, \
commands, file names, error messages, commits. Matches words and meaning. Each hit is one session with the line that answers \
best; `later` is the last place in it that is about as good, where it may have been corrected. Read on with read_session \
{\"session\": <session_id>, \"around_offset\": <offset>}. Filters can be part of the query: \
`project:web role:user file:auth.rs since:2w`. Call it before you solve a problem that may have been solved before.\n\
Example: {\"query\": \"refresh token race\", \"project\": \"web\", \"since\": \"30d\"}";
