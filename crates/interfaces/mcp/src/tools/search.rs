//! `search`: what was said or done in past sessions.

use app::search::{Request, search};

use crate::lean;
use crate::tool::Tool;

/// As far as a list goes on; the app ranks all that comes before.
const DEEPEST: usize = 500;

pub(super) fn tool() -> Tool {
    Tool::new("search", "Search past sessions", DESCRIPTION, |context, request: &Request| {
        let limit = request.limit.map(|limit| limit.min(DEEPEST));
        search(context, &Request { limit, ..request.clone() })
    })
    .lean(&lean::HIT, &["/hits"])
    .listing("/hits", 5, 50)
}

const DESCRIPTION: &str = "Finds where something was said or done in past Claude Code sessions on this machine: prompts, answers, \
commands, file names, error messages, commits. Matches words and meaning. Each hit is one session with the line that answers \
best; read on with read_session {\"session\": <session_id>, \"around_offset\": <offset>}. Filters can be part of the query: \
`project:web role:user file:auth.rs since:2w`. Call it before you solve a problem that may have been solved before.\n\
Example: {\"query\": \"refresh token race\", \"project\": \"web\", \"since\": \"30d\"}";
