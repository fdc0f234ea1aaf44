//! `wait_workers`: until workers have finished, or ask for something.

use app::workers::wait::wait;

use super::asking;
use crate::tool::Tool;

pub(super) fn tool() -> Tool {
    Tool::new("wait_workers", "Wait for workers", DESCRIPTION, wait)
        .waiting()
        .quoting()
        .shrinking()
        .shaped(|answer| asking::add_commands(answer, "/workers"))
}

const DESCRIPTION: &str = "Waits until all of the workers, or any one, have finished their turn, failed, or ask the person for something, and \
tells what became of each: `text` is the beginning of its answer. When `timed_out` is true, call it again; when `asking` \
names workers, give the person the command in `person_runs`.\n\
Example: {\"workers\": [3, 4], \"mode\": \"any\", \"timeout_seconds\": 300}";
