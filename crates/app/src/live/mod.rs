//! What sessions do from now on, and the hooks that say more of it.

mod facts;
pub mod hooks;
mod play;
pub mod watch;
