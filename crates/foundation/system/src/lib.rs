//! What the operating system offers, made safe to use: bounded reads of files that others write, private files,
//! atomic replacement, snapshots, stamps of files, bounded commands, processes, threads, and the wording of errors.
//!
//! It knows nothing of sessions, transcripts or any other part of Backstory.

mod command;
mod error_chain;
mod parallel;
mod private;
mod process;
mod read;
mod replace;
mod snapshot;
mod stamp;

pub use command::{CommandError, CommandLimits, CommandOutput, run_command};
pub use error_chain::error_chain;
pub use parallel::{fold_in_parallel, in_parallel, join};
pub use private::{create_private_folder, ensure_own_folder, private_file};
pub use process::{
    ProcessStat, boot_id, has_process_stats, has_variable, pid_namespace, process_exists, process_ids,
};
pub use read::{open_regular, open_regular_following_links, read_limited, read_small};
pub use replace::{PreparedFile, replace_file, replace_private_file};
pub use snapshot::Snapshot;
pub use stamp::{FileStamp, fingerprint};
