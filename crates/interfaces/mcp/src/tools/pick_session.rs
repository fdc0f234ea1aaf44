//! `pick_session`: chooses a session for a task.

use app::choose::pick::pick;
use app::choose::request::Request;

use crate::tool::Tool;

/// How many scored sessions an answer has.
const SHOWN: usize = 3;

pub(super) fn tool() -> Tool {
    Tool::new("pick_session", "Choose a session for a task", DESCRIPTION, |context, request: &Request| {
        let mut answer = pick(context, request)?;
        answer.scores.truncate(SHOWN);
        Ok(answer)
    })
    .quoting()
    .truncating()
}

const DESCRIPTION: &str = "Decides whether a task should resume one of its repository's sessions, start a fresh one or wait, and says why: \
`action` is resume, fresh or queue. With `ask: true` the facts do not decide: ask the user whether to go on with `offered` or to start fresh, \
and start fresh if you cannot ask. It starts nothing; spawn_worker does.\n\
Example: {\"task\": \"fix the flaky login test\", \"repo\": \"web\"}";
