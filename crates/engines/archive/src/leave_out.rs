//! Removes secrets from copies that were made with them.

use std::io;
use std::path::{Path, PathBuf};

use transcript::ArchivedFolder;

use crate::keep;
use crate::pass::locked;
use crate::status::copies;

/// What leaving secrets out did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Copies that were made again without secrets.
    pub copies: u64,
    /// Copies that could not be, and why.
    pub failed: Vec<(PathBuf, String)>,
}

/// Makes every copy again without secrets, earlier versions included, until `keep_going` returns false.
pub fn leave_secrets_out(archive: &Path, keep_going: &dyn Fn() -> bool) -> io::Result<LeftOut> {
    let mut done = LeftOut::default();
    let folders = ArchivedFolder::all(archive);
    if folders.is_empty() {
        return Ok(done);
    }
    let Some(_lock) = locked(archive)? else { return Ok(done) };
    for folder in folders {
        for copy in copies(&folder.mirror()).into_iter().chain(copies(&folder.versions())) {
            if !keep_going() {
                return Ok(done);
            }
            match keep::leave_secrets_out(&copy) {
                Ok(is_new) => done.copies += u64::from(is_new),
                Err(error) => done.failed.push((copy, error.to_string())),
            }
        }
    }
    Ok(done)
}
