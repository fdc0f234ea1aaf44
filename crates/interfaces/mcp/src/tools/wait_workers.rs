//! `wait_workers`: waits until workers have finished or ask something.

use app::workers::wait::{Answer, wait};

use super::{truncated_workers, worker_requests};
use crate::tool::Tool;

pub(super) fn tool() -> Tool {
    Tool::new("wait_workers", "Wait for workers", DESCRIPTION, wait)
        .waiting()
        .quoting()
        .output(truncated_workers::output::<Answer>)
        .shaped(|answer| {
            worker_requests::add_commands(answer, "/workers");
            truncated_workers::shorten(answer, "/workers");
        })
}

const DESCRIPTION: &str = "Waits until all workers, or any one, have finished their turn, failed, or ask the person something, and reports on each: \
`text` is the beginning of its answer, `more` how to read what was cut. If `timed_out` is true, call it again; if `asking` names \
workers, give the person the command in `person_runs`.\n\
Example: {\"workers\": [3, 4], \"mode\": \"any\", \"timeout_seconds\": 300}";
