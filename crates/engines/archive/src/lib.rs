//! Keeps what Claude Code deletes: copies of transcripts and their side files, made as they grow.
//!
//! `transcript` knows where copies are and reads them; this crate creates, restores and erases them.

mod complete;
mod deletions;
mod forget;
mod keep;
mod leave_out;
mod pass;
mod prune;
mod redacting;
mod relocate;
mod restore;
mod status;

pub use complete::last_complete_pass;
pub use forget::ForgottenFiles;
pub use leave_out::{LeftOut, leave_secrets_out};
pub use pass::{PassReport, Rules, Uncopied, pass, uncopied};
pub use prune::prune;
pub use relocate::{Relocation, Unmoved};
pub use restore::{RestoreError, RestorePlan, RestoredFile};
pub use status::{ArchiveSize, IncompleteCopy, check, incomplete, size};

pub use forget::forget;
pub use relocate::{relocate, undo_relocation};
pub use restore::{plan, restore};
