//! Going on with a session on the terminal: in its own file, or in a fork of it.

pub mod background;
pub(crate) mod claude;
pub(crate) mod copy;
pub mod fork;
pub mod fork_request;
pub(crate) mod location;
pub mod resume;

pub use claude::path as claude_path;
pub use workers::CommandLine;
