//! Keeping sessions that Claude Code deletes: copying them, putting one back, and erasing one for good.

pub mod archive;
pub mod forget;
pub mod restore;
