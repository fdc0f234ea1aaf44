//! OpenClaw's files: where its state is, its agents, what they started, what they remember.
//!
//! Nothing here writes, and nothing here fails whole: what cannot be read is told beside what can.

mod agents;
mod config;
mod conversations;
mod entry;
mod file;
mod memory;
mod paths;
mod problem;
mod registry;
mod settings;

pub use agents::{Agent, Agents};
pub use config::{Config, SessionSelection};
pub use conversations::Conversation;
pub use entry::{Entry, Said, Unreadable};
pub use memory::{AgentMemory, Memory, MemoryFile, TranscriptFile};
pub use paths::StateFolders;
pub use problem::Problem;
pub use registry::{Registry, RegistryEntry, Task};
pub use settings::{ClaudeSessions, MemorySettings};
