//! `search`: what was said or done in past sessions.

use app::search::{Answer, Request, search};
use app::{Context, Error};
use rmcp::model::JsonObject;

use super::paging;
use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, lean, schema};

/// How many sessions an answer has without a limit.
const LIMIT: usize = 5;
/// The most that one call finds.
const MOST: usize = 50;

pub(super) const TOOL: Tool = Tool {
    name: "search",
    title: "Search past sessions",
    description: "Finds where something was said or done in past Claude Code sessions on this machine: prompts, answers, \
commands, file names, error messages, commits. Matches words and meaning. Each hit is one session with the line that answers \
best; read on with read_session {\"session\": <session_id>, \"around_offset\": <offset>}. Filters may stand in the query: \
`project:web role:user file:auth.rs since:2w`. Call it before you solve a problem that may have been solved before.\n\
Example: {\"query\": \"refresh token race\", \"project\": \"web\", \"since\": \"30d\"}",
    effect: Effect::Nothing,
    patience: Patience::Works,
    input: || schema::with_limit(schema::paged_input::<Request>(), LIMIT, MOST),
    output,
    run,
};

fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    lean::HIT.apply_to_schema(&mut schema);
    schema::add_paging(&mut schema);
    schema::add_notice(&mut schema);
    schema
}

fn run(context: &Context, mut given: JsonObject) -> Result<Reply, Error> {
    let start = arguments::take_cursor(&mut given)?;
    let request: Request = arguments::parse(given)?;
    let limit = request.limit.unwrap_or(LIMIT).clamp(1, MOST);
    let request = Request { limit: Some(start.saturating_add(limit + 1).min(500)), ..request };
    let mut answer = value(&search(context, &request)?)?;
    lean::HIT.apply(&mut answer, "/hits");
    paging::cut(&mut answer, "/hits", start, limit);
    Ok(Reply::Answer(answer))
}
