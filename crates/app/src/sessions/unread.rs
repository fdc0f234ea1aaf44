//! Notes on OpenClaw's conversation databases (2026.8 and newer) that cannot be read.

use model::AgentId;
use openclaw::AgentDatabase;

use crate::Context;

/// What is still found of an agent whose conversations are not read.
pub(crate) const STILL_FOUND: &str =
    "its notes, older transcripts and Claude Code's sessions are still found";

/// The databases that cannot be read of the OpenClaw agents that the caller may see, a sentence for each.
pub(crate) fn unread(context: &Context) -> Vec<String> {
    unreadable_databases(context).iter().filter(|database| may_see(context, database)).map(describe).collect()
}

/// The databases that cannot be read.
pub(crate) fn unreadable_databases(context: &Context) -> Vec<AgentDatabase> {
    let mut all = AgentDatabase::find(&context.config().openclaw_folders);
    all.retain(|database| !database.open().is_ok_and(|open| open.sessions().is_ok()));
    all
}

/// Whether the caller may know of a database, which is below its agent's folder.
fn may_see(context: &Context, database: &AgentDatabase) -> bool {
    let below = |agent: &AgentId| database.path.iter().any(|folder| folder == agent.as_str());
    context.may_see_conversations() && context.caller.agent().is_none_or(below)
}

/// Says of a database that it cannot be read.
pub(crate) fn describe(database: &AgentDatabase) -> String {
    let schema = database.schema.map_or_else(String::new, |schema| format!(" (schema {schema})"));
    let path = database.path.display();
    format!(
        "OpenClaw keeps conversations in SQLite, in a database that cannot be read: {path}{schema}; {STILL_FOUND}"
    )
}
