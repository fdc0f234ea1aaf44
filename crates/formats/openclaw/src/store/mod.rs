//! The sessions of OpenClaw's agents: `sessions.json`, the transcripts beside it, and the rules by which both change.

pub(crate) mod agent_store;
pub(crate) mod claude_mapping;
pub(crate) mod conversation_log;
pub(crate) mod database_copies;
pub(crate) mod delivery;
pub(crate) mod entry;
pub(crate) mod json_object;
mod lenient;
pub(crate) mod lifecycle;
pub(crate) mod log_line;
pub(crate) mod maintenance;
pub(crate) mod record_updates;
pub(crate) mod reset_policy;
pub(crate) mod send_policy;
pub(crate) mod session_config;
pub(crate) mod session_database;
pub(crate) mod session_key;
pub(crate) mod session_row;
pub(crate) mod session_store;
pub(crate) mod store_cache;
pub(crate) mod store_error;
pub(crate) mod store_text;
