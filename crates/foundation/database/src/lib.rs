//! Opens Backstory's SQLite files, and says what it had to do to open them.
//!
//! Two kinds: what is ours to lose (`open_derived`: an index, a cache) always opens, somehow; what is
//! precious (`open_precious`: `state.sqlite`) is never dropped. What the tables mean is the callers' business.

mod connection;
mod derived;
mod error;
mod files;
mod lock;
mod migrate;
mod precious;
mod read_only;

pub use derived::{Condition, Derived, open_derived, set_aside};
pub use error::{Error, is_corruption};
pub use lock::WriterLock;
pub use precious::{Precious, open_precious};
pub use read_only::open_read_only;
pub use rusqlite;
