//! `message_worker`: sends workers a message.

use app::workers::message::message;

use super::asking;
use crate::tool::{Effect, Tool};

pub(super) fn tool() -> Tool {
    Tool::new("message_worker", "Send workers a message", DESCRIPTION, message)
        .effect(Effect::Starts)
        .waiting()
        .quoting()
        .shrinking()
        .shaped(|answer| asking::add_commands(answer, "/waited/workers"))
}

const DESCRIPTION: &str = "Sends one or several workers a message, which begins their next turn, and waits for it if wait_mode is any or all. \
A session that nobody has open can be named too: a worker resumes it.\n\
Example: {\"workers\": [3, 4], \"message\": \"Also update the changelog.\", \"wait_mode\": \"all\", \"timeout_seconds\": 300}";
