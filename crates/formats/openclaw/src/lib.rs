//! OpenClaw's files: where its state is, its agents, what they started, what they remember.
//!
//! `record` alone writes, into the registry of the sessions an agent started. Reading never fails whole: what cannot be
//! read is told beside what can.

mod agents;
mod config;
mod conversations;
mod entry;
mod file;
mod lock;
mod memory;
mod paths;
mod problem;
mod record;
mod registry;
mod settings;
mod sqlite;

pub use agents::{Agent, Agents, folder_for};
pub use config::{Config, SessionSelection};
pub use conversations::Conversation;
pub use entry::{Entry, Said, Unreadable};
pub use memory::{AgentMemory, Memory, MemoryFile, TranscriptFile};
pub use paths::StateFolders;
pub use problem::Problem;
pub use record::{AgentRun, enter};
pub use registry::{Registry, RegistryEntry, Task};
pub use settings::{ClaudeSessions, MemorySettings};
pub use sqlite::Database;
