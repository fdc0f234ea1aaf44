//! Keeping sessions: copying what Claude Code deletes, putting one back, erasing one for good, and moving those whose
//! directory was moved.

pub mod archive;
pub(crate) mod backups;
pub mod deadline;
pub(crate) mod directory_identities;
pub(crate) mod exported;
pub mod forget;
pub mod ghosts;
pub mod heal;
pub mod holdings;
mod new_directory;
pub mod restore;
pub mod upkeep;
