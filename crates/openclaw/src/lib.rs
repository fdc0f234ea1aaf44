//! OpenClaw's files, as far as a listing needs them: where its state is, its agents, what they started.
//!
//! Nothing here writes, and nothing here fails whole: what cannot be read is told beside what can.

mod agents;
mod config;
mod file;
mod paths;
mod problem;
mod registry;

pub use agents::{Agent, Agents};
pub use config::{Config, SessionSelection};
pub use paths::StateFolders;
pub use problem::Problem;
pub use registry::{Registry, RegistryEntry, Task};
