//! OpenClaw's files: its state folders, agents, registries and memory.
//!
//! Only `record` writes, into the registry of the sessions an agent started. Reading never fails as a whole: problems
//! are returned with what could be read.

mod agent_notes;
mod agents;
mod config;
mod conversations;
mod file;
mod lock;
mod memory;
mod paths;
mod problem;
mod record;
mod registry;
mod rewrite;
mod settings;
mod sqlite;
mod transcript_entry;

pub use agent_notes::{AgentNote, agent_notes};
pub use agents::{Agent, Agents, folder_for};
pub use config::{OpenClawConfig, SessionSelection};
pub use conversations::StoredConversation;
pub use memory::{AgentMemory, ConversationFile, Memory, MemoryFile};
pub use paths::StateFolders;
pub use problem::Problem;
pub use record::{AgentRun, record_run};
pub use registry::{AssignedTask, Registry, RegistryEntry};
pub use settings::{ClaudeSessions, MemorySettings};
pub use sqlite::AgentDatabase;
pub use transcript_entry::{EntryPart, TranscriptEntry, UnreadableEntry};
