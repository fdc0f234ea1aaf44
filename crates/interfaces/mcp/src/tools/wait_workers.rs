//! `wait_workers`: until workers have finished, or ask for something.

use app::workers::wait::{Answer, Request, wait};
use app::{Context, Error};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::bounds;
use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, schema};

pub(super) const TOOL: Tool = Tool {
    name: "wait_workers",
    title: "Wait for workers",
    description: "Waits until all of the workers, or any one, have finished their turn or ask the person for something, and tells what \
became of each. When `timed_out` is true, call it again; when `asking` names workers, tell the person.\n\
Example: {\"workers\": [3, 4], \"mode\": \"any\", \"timeout_seconds\": 300}",
    effect: Effect::Nothing,
    patience: Patience::Waits,
    input: schema::input::<Request>,
    output,
    run,
};

fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    schema::add_truncated(&mut schema);
    schema
}

fn run(context: &Context, given: JsonObject) -> Result<Reply, Error> {
    let request: Request = arguments::parse(given)?;
    let mut answer = value(&wait(context, &request)?)?;
    let is_shorter = bounds::shrink(&mut answer);
    answer["truncated"] = json!(is_shorter);
    Ok(Reply::Answer(answer))
}
