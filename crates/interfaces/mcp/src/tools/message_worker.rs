//! `message_worker`: sends workers a message.

use app::workers::message::{Answer, Request, message};
use app::{Context, Error};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::bounds;
use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, schema};

pub(super) const TOOL: Tool = Tool {
    name: "message_worker",
    title: "Send workers a message",
    description: "Sends one or several workers a message, which begins their next turn, and waits for it if wait_mode is any or all. \
A session that nobody has open can be named too: a worker resumes it.\n\
Example: {\"workers\": [3, 4], \"message\": \"Also update the changelog.\", \"wait_mode\": \"all\", \"timeout_seconds\": 300}",
    effect: Effect::Starts,
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
    let mut answer = value(&message(context, &request)?)?;
    let is_shorter = bounds::shrink(&mut answer);
    answer["truncated"] = json!(is_shorter);
    Ok(Reply::Answer(answer))
}
