//! `message_worker`: sends workers a message.

use app::workers::message::{Answer, message};

use super::{truncated_workers, worker_requests};
use crate::tool::{Effect, Tool};

pub(super) fn tool() -> Tool {
    Tool::new("message_worker", "Send workers a message", DESCRIPTION, message)
        .effect(Effect::Starts)
        .waiting()
        .quoting()
        .output(truncated_workers::output::<Answer>)
        .shaped(|answer| {
            worker_requests::add_commands(answer, "/waited/workers");
            truncated_workers::shorten(answer, "/waited/workers");
        })
}

const DESCRIPTION: &str = "Sends one or more workers a message, which starts their next turn; with wait_mode any or all it waits for that turn to \
end. A session that nobody has open can be named, too: a worker resumes it.\n\
Example: {\"workers\": [3, 4], \"message\": \"Also update the changelog.\", \"wait_mode\": \"all\", \"timeout_seconds\": 300}";
