//! Notes on OpenClaw's conversation databases (2026.8 and newer), which are not read.

use openclaw::AgentDatabase;

use crate::Context;

/// What is still found of an agent whose conversations are not read.
pub(crate) const STILL_FOUND: &str =
    "its notes, older transcripts and Claude Code's sessions are still found";

/// The databases of OpenClaw's agents that are not read, a sentence for each.
pub(crate) fn unread(context: &Context) -> Vec<String> {
    AgentDatabase::find(&context.config().openclaw_folders).iter().map(said).collect()
}

/// Says of a database that it is not read.
pub(crate) fn said(database: &AgentDatabase) -> String {
    let schema = database.schema.map_or_else(String::new, |schema| format!(" (schema {schema})"));
    let path = database.path.display();
    format!(
        "OpenClaw keeps conversations in SQLite, which Backstory does not read yet: {path}{schema}; {STILL_FOUND}"
    )
}
