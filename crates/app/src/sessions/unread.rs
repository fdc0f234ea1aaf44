//! Notes on OpenClaw's conversation databases (2026.8 and newer), which are not read.

use model::AgentId;
use openclaw::AgentDatabase;

use crate::Context;

/// What is still found of an agent whose conversations are not read.
pub(crate) const STILL_FOUND: &str =
    "its notes, older transcripts and Claude Code's sessions are still found";

/// The databases that are not read of the OpenClaw agents that the caller may see, a sentence for each.
pub(crate) fn unread(context: &Context) -> Vec<String> {
    let all = AgentDatabase::find(&context.config().openclaw_folders);
    all.iter().filter(|database| may_see(context, database)).map(said).collect()
}

/// Whether the caller may know of a database, which is below its agent's folder.
fn may_see(context: &Context, database: &AgentDatabase) -> bool {
    let below = |agent: &AgentId| database.path.iter().any(|folder| folder == agent.as_str());
    context.may_see_conversations() && context.caller.agent().is_none_or(below)
}

/// Says of a database that it is not read.
pub(crate) fn said(database: &AgentDatabase) -> String {
    let schema = database.schema.map_or_else(String::new, |schema| format!(" (schema {schema})"));
    let path = database.path.display();
    format!(
        "OpenClaw keeps conversations in SQLite, which Backstory does not read yet: {path}{schema}; {STILL_FOUND}"
    )
}
