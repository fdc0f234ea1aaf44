//! `worker_log`: what a worker has said and done.

use app::workers::log::{Answer, Request, log};
use app::{Context, Error};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::transcript;
use crate::bounds::{LIMIT, cut_texts, size};
use crate::call::Patience;
use crate::instructions::NOTICE;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, schema};

/// The longest text of a message, in bytes.
const LONGEST: usize = 4_000;

pub(super) const TOOL: Tool = Tool {
    name: "worker_log",
    title: "Read what a worker did",
    description: "Tells a worker's state, what it asks for if it waits for a permission or an answer, and the last messages of \
its session; `page.older` given as `before` goes back, `page.newer` given as `after` shows what is new since. `page` is null until \
it has begun.\n\
Example: {\"worker\": 3, \"limit\": 5, \"tools\": true}",
    effect: Effect::Nothing,
    patience: Patience::Works,
    input: || schema::with_limit(schema::input::<Request>(), transcript::MESSAGES, 500),
    output,
    run,
};

fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    schema::add_truncated(&mut schema);
    schema::add_notice(&mut schema);
    schema
}

fn run(context: &Context, given: JsonObject) -> Result<Reply, Error> {
    let request: Request = arguments::parse(given)?;
    let wanted = request.limit.unwrap_or(transcript::MESSAGES).max(1);
    let mut limit = wanted;
    loop {
        let mut answer = value(&log(context, &Request { limit: Some(limit), ..request.clone() })?)?;
        cut_texts(&mut answer, LONGEST, "");
        let count = answer.pointer("/page/messages").and_then(Value::as_array).map_or(0, Vec::len);
        if size(&answer) <= LIMIT - 500 || count <= 1 {
            answer["notice"] = NOTICE.into();
            answer["truncated"] = (limit < wanted).into();
            return Ok(Reply::Answer(answer));
        }
        limit = (count / 2).max(1);
    }
}
