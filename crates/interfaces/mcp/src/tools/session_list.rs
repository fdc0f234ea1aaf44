//! `session_list`: the sessions there are.

use app::sessions::list::list;

use crate::lean;
use crate::tool::Tool;

pub(super) fn tool() -> Tool {
    Tool::new("session_list", "List sessions", DESCRIPTION, list)
        .lean(&lean::SESSION, &["/sessions"])
        .listing("/sessions", 20, 100)
}

const DESCRIPTION: &str = "Lists Claude Code sessions, running ones first, then the newest: id, title, project, branch, what each is \
doing, its size and price. Use it to see what runs now, or to find the id of a session you know something about; use search \
for what was said.\n\
Example: {\"project\": \"web\", \"since\": \"7d\", \"limit\": 10}";
