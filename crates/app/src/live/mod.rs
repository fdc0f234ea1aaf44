//! What sessions do from now on, and the hooks that say more of it.

pub mod annotated;
mod facts;
pub mod hooks;
mod play;
pub mod status_line;
pub mod watch;
