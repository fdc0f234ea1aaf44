//! `worker_log`: what a worker has said and done.

use app::workers::log::{Answer, Request, log};
use serde_json::Value;

use super::transcript;
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
}

const DESCRIPTION: &str = "Tells a worker's state, what it asks for if it waits for a permission or an answer, and the last messages of \
its session; `page.older` given as `before` goes back, `page.newer` given as `after` shows what is new since. `page` is null until \
it has begun.\n\
Example: {\"worker\": 3, \"limit\": 5, \"tools\": true}";

/// As many of the last messages as fit.
fn reply(context: &app::Context, request: &Request) -> Result<Reply, app::Error> {
    let wanted = request.limit.unwrap_or(transcript::MESSAGES).max(1);
    let mut limit = wanted;
    loop {
        let mut answer = value(&log(context, &Request { limit: Some(limit), ..request.clone() })?)?;
        cut_texts(&mut answer, LONGEST, "");
        let count = answer.pointer("/page/messages").and_then(Value::as_array).map_or(0, Vec::len);
        if size(&answer) <= LIMIT - 500 || count <= 1 {
            answer["truncated"] = (limit < wanted).into();
            return Ok(Reply::Answer(answer));
        }
        limit = (count / 2).max(1);
    }
}
