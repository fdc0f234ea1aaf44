//! `list_workers`: the workers there are.

use app::workers::list::{Answer, Request, list};
use app::{Context, Error};
use rmcp::model::JsonObject;

use super::paging;
use crate::bounds::cut_texts;
use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, schema};

/// How many workers an answer has without a limit.
const LIMIT: usize = 10;
/// The most that one call lists.
const MOST: usize = 50;
/// The longest text of a worker's, in bytes.
const LONGEST: usize = 1_000;

pub(super) const TOOL: Tool = Tool {
    name: "list_workers",
    title: "List workers",
    description: "Lists the workers that Backstory has started, newest first: state, task, directory, session, cost, and under \
`requests` what a worker with the status waiting_permission asks for. The person answers that.\n\
Example: {\"active\": true, \"project\": \"web\"}",
    effect: Effect::Nothing,
    patience: Patience::Works,
    input: || schema::with_limit(schema::paged_input::<Request>(), LIMIT, MOST),
    output,
    run,
};

fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
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
    cut_texts(&mut answer, LONGEST, "");
    paging::cut(&mut answer, "/workers", start, limit);
    Ok(Reply::Answer(answer))
}
