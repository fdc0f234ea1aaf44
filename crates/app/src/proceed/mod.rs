//! Continues sessions on the terminal: `resume` in the session's own file, `fork` in a copy.

pub mod background;
pub(crate) mod claude;
pub(crate) mod copy;
pub mod fork;
pub mod fork_request;
pub(crate) mod location;
pub mod resume;

pub use claude::path as claude_path;
pub use workers::CommandLine;
