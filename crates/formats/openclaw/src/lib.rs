//! OpenClaw's files: its state folders, agents, registries and memory.
//!
//! `record` writes into the registry of the sessions that an agent started, `store` into an agent's session store, both
//! under OpenClaw's lock. Reading never fails as a whole: problems are returned with what could be read.
//!
//! # The session store
//!
//! A session of an agent is an [`Entry`] under a [`SessionKey`] in an [`AgentStore`].
//!
//! ```
//! use std::path::Path;
//!
//! use jiff::Timestamp;
//! use model::AgentId;
//! use openclaw::{AgentStore, Entry, ResetOptions, SessionKey, UsageUpdate};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let state = tempfile::tempdir()?;
//! let clock = || Timestamp::UNIX_EPOCH;
//! let store = AgentStore::find(&[state.path().to_owned()], None, Path::new("/home/ana"), &AgentId::main(), &|_| None);
//! assert!(store.path().ends_with("agents/main/sessions/sessions.json"));
//!
//! // Each change is made under OpenClaw's lock, and written at once.
//! let key = SessionKey::main(&AgentId::main(), "main");
//! store.create(&key, &Entry { label: Some("tour".into()), ..Entry::default() }, &clock)?;
//! store.record_usage(&key, &UsageUpdate { input: 1000, output: 200, ..UsageUpdate::default() }, &clock)?;
//! let entry = store.load().store.get(&key)?.ok_or("it was made")?;
//! assert_eq!((entry.label.as_deref(), entry.total_tokens), (Some("tour"), Some(1200)));
//!
//! // A reset gives the key a new conversation.
//! let ended = store.reset(&key, ResetOptions::default(), &clock)?.value;
//! assert_ne!(ended.after.and_then(|after| after.session_id), entry.session_id);
//! # Ok(())
//! # }
//! ```
//!
//! What may be sent is decided by [`resolve_send_policy`]:
//!
//! ```
//! use openclaw::{DecidedBy, Entry, Generation, SendDecision, SendStrategy, SendTarget, resolve_send_policy};
//!
//! let entry = Entry { send_policy: Some(SendDecision::Deny), ..Entry::default() };
//! let target = SendTarget { key: "agent:main:main", entry: Some(&entry), generation: Generation::File };
//! let verdict = resolve_send_policy(None, &target, SendStrategy::DenyWins);
//! assert_eq!((verdict.decision, verdict.by), (SendDecision::Deny, DecidedBy::Session));
//! ```

mod agent_notes;
mod agents;
mod config;
mod conversation_file;
mod conversations;
mod file;
mod json5_text;
mod left_over;
mod lock;
mod memory;
mod paths;
mod problem;
mod record;
mod registry;
mod rewrite;
mod roster;
mod settings;
mod sqlite;
mod store;
mod transcript_entry;

pub use agent_notes::{AgentNote, agent_notes};
pub use agents::{Agent, Agents, folder_for};
pub use config::{OpenClawConfig, SessionSelection};
pub use conversation_file::ConversationFile;
pub use conversations::{StoredConversation, agent_conversations};
pub use lock::{LockState, LockTimes};
pub use memory::{AgentMemory, Memory, MemoryFile};
pub use paths::StateFolders;
pub use problem::Problem;
pub use record::{AgentRun, record_run};
pub use registry::{AssignedTask, Registry, RegistryEntry};
pub use settings::{ClaudeSessions, MemorySettings};
pub use sqlite::AgentDatabase;
pub use store::agent_store::{AgentStore, LoadedStore, Updated};
pub use store::claude_mapping::claude_session;
pub use store::conversation_log::{ConversationLog, LogTarget, append};
pub use store::database_copies::copy_conversations;
pub use store::delivery::{ChatType, DeliveryContext, SessionOrigin, ThreadId};
pub use store::entry::{
    DirectSpelling, Entry, GroupActivation, OverrideSource, QueueDrop, ResponseUsage, SendDecision, mistyped,
};
pub use store::generation::Generation;
pub use store::lifecycle::{EndedSession, Mirrored, OldTranscript, ResetOptions};
pub use store::log_line::{LogHeader, LogLine};
pub use store::maintenance::MaintenanceReport;
pub use store::new_line::NewLine;
pub use store::record_updates::{InboundGroup, InboundMessage, RouteUpdate, UsageUpdate, delivery_of};
pub use store::reset_policy::{Freshness, ResetPolicy, reset_type};
pub use store::send_policy::{DecidedBy, SendStrategy, SendTarget, SendVerdict, resolve_send_policy};
pub use store::session_config::{
    MaintenanceConfig, MaintenanceMode, ResetConfig, ResetMode, ResetRule, ResetType, SendRule, SendRules,
    SessionConfig, WriteLockConfig,
};
pub use store::session_database::{DatabaseConversation, DatabaseSession, SessionDatabase};
pub use store::session_key::{DmScope, InvalidKey, KeyKind, KeyRules, Peer, SessionKey};
pub use store::session_row::SessionRow;
pub use store::session_store::SessionStore;
pub use store::store_cache::StoreCache;
pub use store::store_error::StoreError;
pub use transcript_entry::{EntryPart, TranscriptEntry, UnreadableEntry};
