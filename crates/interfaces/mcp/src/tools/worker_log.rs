//! `worker_log`: what a worker has said and done.

use app::quoting::neutralize;
use app::workers::log::{Answer, Request, log};
use serde_json::Value;

use super::{asking, transcript};
use crate::bounds::{LIMIT, cut_texts, size};
use crate::schema;
use crate::tool::{Reply, Tool, value};

/// The longest text of a message, in bytes.
const LONGEST: usize = 4_000;

pub(super) fn tool() -> Tool {
    Tool::replying::<Request, Answer>("worker_log", "Read what a worker did", DESCRIPTION, reply)
        .output(|| {
            let mut schema = schema::output::<Answer>();
            schema::add_truncated(&mut schema);
            schema
        })
        .limit(transcript::MESSAGES, 500)
        .quoting()
        .shaped(|answer| asking::add_commands(answer, "/worker"))
}

const DESCRIPTION: &str = "Tells a worker's state, what it asks for if it waits for a permission or an answer, and the last messages of \
its session; `page.older` given as `before` goes back, `page.newer` given as `after` shows what is new since. `page` is null until \
it has begun.\n\
Example: {\"worker\": 3, \"limit\": 5, \"tools\": true}";

/// How to read the rest of a text.
const HOW: &str =
    "; read_session of its session shows it: the message's `offset` as \"around_offset\", \"limit\": 1";

/// As many of the last messages as fit.
fn reply(context: &app::Context, request: &Request) -> Result<Reply, app::Error> {
    let wanted = request.limit.unwrap_or(transcript::MESSAGES).max(1);
    let mut limit = wanted;
    loop {
        let mut answer = value(&log(context, &Request { limit: Some(limit), ..request.clone() })?)?;
        neutralize(&mut answer);
        let whole = size(&answer);
        cut_texts(&mut answer, LONGEST, HOW);
        let is_cut = size(&answer) != whole;
        let count = answer.pointer("/page/messages").and_then(Value::as_array).map_or(0, Vec::len);
        if size(&answer) <= LIMIT - 1_500 || count <= 1 {
            answer["truncated"] = (limit < wanted || is_cut).into();
            return Ok(Reply::Answer(answer));
        }
        limit = (count / 2).max(1);
    }
}
