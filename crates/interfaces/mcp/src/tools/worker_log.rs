//! `worker_log`: shows what a worker has said and done.

use app::quoting::neutralize;
use app::workers::log::{Answer, Request, log};
use serde_json::Value;

use super::{message_page, worker_requests};
use crate::schema;
use crate::size::{MAX_ANSWER, size, truncate_texts};
use crate::tool::{Reply, Tool, value};

/// The longest text of a message, in bytes.
const LONGEST: usize = 4_000;

pub(super) fn tool() -> Tool {
    Tool::with_reply::<Request, Answer>("worker_log", "Read what a worker did", DESCRIPTION, reply)
        .output(|| {
            let mut schema = schema::output::<Answer>();
            schema::add_truncated(&mut schema);
            schema
        })
        .limit(message_page::MESSAGES, 500)
        .quoting()
        .shaped(|answer| worker_requests::add_commands(answer, "/worker"))
}

const DESCRIPTION: &str = "Shows a worker's status, what it asks if it waits for a permission or an answer, and the last messages of its session in \
`page`, which is null until it has started. To page, give `page.older` as `before`; to see what is new, give `page.newer` as \
`after`.\n\
Example: {\"worker\": 3, \"limit\": 5, \"tools\": true}";

/// How to read the rest of a text.
const HOW: &str =
    "; read_session of its session shows it: the message's `offset` as \"around_offset\", \"limit\": 1";

/// The last messages, as many as fit.
fn reply(context: &app::Context, request: &Request) -> Result<Reply, app::Error> {
    let wanted = request.limit.unwrap_or(message_page::MESSAGES).max(1);
    let mut limit = wanted;
    loop {
        let mut answer = value(&log(context, &Request { limit: Some(limit), ..request.clone() })?)?;
        neutralize(&mut answer);
        let whole = size(&answer);
        let inputs = worker_requests::whole_inputs(&answer["worker"]);
        truncate_texts(&mut answer, LONGEST, HOW);
        worker_requests::put_back(&mut answer["worker"], inputs);
        let is_cut = size(&answer) != whole;
        let count = answer.pointer("/page/messages").and_then(Value::as_array).map_or(0, Vec::len);
        if size(&answer) <= MAX_ANSWER - 1_500 || count <= 1 {
            answer["truncated"] = (limit < wanted || is_cut).into();
            return Ok(Reply::Answer(answer));
        }
        limit = (count / 2).max(1);
    }
}
