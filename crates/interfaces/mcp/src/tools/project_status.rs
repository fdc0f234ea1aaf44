//! `project_status`: the state of a repository.

use app::repository::status::status;

use crate::lean;
use crate::tool::Tool;

pub(super) fn tool() -> Tool {
    Tool::new("project_status", "State of a project", DESCRIPTION, status)
        .lean(&lean::SESSION, &["/sessions/active", "/sessions/recent", "/sessions/own_recent"])
        .quoting()
        .shrinking()
}

const DESCRIPTION: &str = "Tells the state of a repository: branch, uncommitted changes, recent commits, open pull requests, documents, its \
running and newest sessions, and which files live sessions are writing to right now. Call it before you begin to work in a \
repository that others may be working in.\n\
Example: {\"repo\": \"web\"}";
