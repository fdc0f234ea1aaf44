//! `project_status`: shows the state of a repository.

use app::repository::status::status;

use crate::fields;
use crate::tool::Tool;

pub(super) fn tool() -> Tool {
    Tool::new("project_status", "State of a project", DESCRIPTION, status)
        .fields(&fields::SESSION, &["/sessions/active", "/sessions/recent", "/sessions/own_recent"])
        .quoting()
        .truncating()
}

const DESCRIPTION: &str = "Shows the state of a repository: branch, uncommitted changes, recent commits, open pull requests, documents, running and \
recent sessions, and the files that running sessions are writing now. Call it before working in a repository that others may be \
working in.\n\
Example: {\"repo\": \"web\"}";
