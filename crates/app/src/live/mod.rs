//! Live activity of sessions, the hooks that report more of it, and the status line.

pub mod annotation_watch;
mod facts;
pub mod hooks;
mod play;
pub mod status_line;
pub mod watch;
