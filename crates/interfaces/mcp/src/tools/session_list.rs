//! `session_list`: lists sessions.

use app::sessions::list::list;

use crate::fields;
use crate::tool::Tool;

pub(super) fn tool() -> Tool {
    Tool::new("session_list", "List sessions", DESCRIPTION, list)
        .fields(&fields::SESSION, &["/sessions"])
        .paged("/sessions", 20, 100)
}

const DESCRIPTION: &str = "Lists Claude Code sessions, running ones first, then the newest: id, title, project, branch, activity, size and cost. \
Shows what is running now, and finds the id of a session; to find what was said, use search.\n\
Example: {\"project\": \"web\", \"since\": \"7d\", \"limit\": 10}";
