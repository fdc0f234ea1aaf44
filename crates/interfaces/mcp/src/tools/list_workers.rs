//! `list_workers`: the workers there are.

use app::workers::list::list;

use super::asking;
use crate::tool::Tool;

/// The longest text of a worker's, in bytes.
const LONGEST: usize = 1_000;

pub(super) fn tool() -> Tool {
    Tool::new("list_workers", "List workers", DESCRIPTION, list)
        .texts(LONGEST)
        .listing("/workers", 10, 50)
        .shaped(|answer| asking::add_commands(answer, "/workers"))
}

const DESCRIPTION: &str = "Lists the workers that Backstory has started, newest first: state, task, directory, session, cost, and under \
`requests` what a worker with the status waiting_permission asks for. The person answers that, with the command in `person_runs`.\n\
Example: {\"active\": true, \"project\": \"web\"}";
