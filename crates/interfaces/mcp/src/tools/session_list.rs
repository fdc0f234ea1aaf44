//! `session_list`: the sessions there are.

use app::sessions::list::{Answer, Request, list};
use app::{Context, Error};
use rmcp::model::JsonObject;

use super::paging;
use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, lean, schema};

/// How many sessions an answer has without a limit.
const LIMIT: usize = 20;
/// The most that one call lists.
const MOST: usize = 100;

pub(super) const TOOL: Tool = Tool {
    name: "session_list",
    title: "List sessions",
    description: "Lists Claude Code sessions, running ones first, then the newest: id, title, project, branch, what each is \
doing, its size and price. Use it to see what runs now, or to find the id of a session you know something about; use search \
for what was said.\n\
Example: {\"project\": \"web\", \"since\": \"7d\", \"limit\": 10}",
    effect: Effect::Nothing,
    patience: Patience::Works,
    input: || schema::with_limit(schema::paged_input::<Request>(), LIMIT, MOST),
    output,
    run,
};

fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    lean::SESSION.apply_to_schema(&mut schema);
    schema::add_paging(&mut schema);
    schema::add_notice(&mut schema);
    schema
}

fn run(context: &Context, mut given: JsonObject) -> Result<Reply, Error> {
    let start = arguments::take_cursor(&mut given)?;
    let request: Request = arguments::parse(given)?;
    let limit = request.limit.unwrap_or(LIMIT).clamp(1, MOST);
    let request = Request { limit: Some(start.saturating_add(limit).saturating_add(1)), ..request };
    let mut answer = value(&list(context, &request)?)?;
    lean::SESSION.apply(&mut answer, "/sessions");
    // One more was asked for than is shown.
    let found = answer["sessions"].as_array().map_or(0, Vec::len);
    let beyond = found.saturating_sub(start + limit);
    answer["more"] = (answer["more"].as_u64().unwrap_or_default() + beyond as u64).into();
    paging::cut(&mut answer, "/sessions", start, limit);
    Ok(Reply::Answer(answer))
}
