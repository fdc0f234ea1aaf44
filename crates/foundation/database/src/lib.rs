//! Opens Backstory's SQLite databases and reports what was necessary to open them.
//!
//! There are two kinds: derived ones (`open_derived`: an index, a cache) can be rebuilt and always open in some form;
//! precious ones (`open_precious`: `state.sqlite`) are never dropped. The callers define the tables.

mod backup;
mod connection;
mod derived;
mod error;
mod files;
mod lock;
mod migrate;
mod precious;
mod read_only;

pub use backup::{Backup, back_up_regularly, remove_backups, verify};
pub use derived::{Condition, DerivedDatabase, open_derived, set_aside};
pub use error::{Error, is_corruption};
pub use lock::WriterLock;
pub use precious::{PreciousDatabase, open_precious};
pub use read_only::{open_foreign, open_read_only};
pub use rusqlite;
