//! When excerpts were last looked for, and in which state of the index: so that answers do not start a pass that finds nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, io_failed};

/// The largest note, in bytes.
const LARGEST: u64 = 256;

/// The last pass.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Looked {
    /// When it began, in seconds since 1970.
    at: i64,
    /// The state of the list of files that it went through, once it was through.
    state: Option<(u64, u64)>,
}

fn file(folder: &Path) -> PathBuf {
    folder.join("looked.json")
}

/// Notes that a pass begins.
pub(super) fn begin(folder: &Path, at: i64) -> Result<(), Error> {
    write(folder, &Looked { at, state: None })
}

/// Notes that a pass is through.
pub(super) fn finish(folder: &Path, at: i64, state: (u64, u64)) -> Result<(), Error> {
    write(folder, &Looked { at, state: Some(state) })
}

fn write(folder: &Path, looked: &Looked) -> Result<(), Error> {
    let path = file(folder);
    let text = serde_json::to_vec(looked).map_err(std::io::Error::from);
    text.and_then(|text| system::replace_private_file(&path, &text)).map_err(io_failed("write", &path))
}

/// Whether another pass may find something: the index has another state than the last one went through, and that one began `pause`
/// seconds ago.
pub(crate) fn is_due(folder: &Path, now: i64, pause: i64, state: (u64, u64)) -> bool {
    let text = system::read_small(&file(folder), LARGEST).unwrap_or_default();
    let Ok(Looked { at, state: seen }) = serde_json::from_slice(&text) else { return true };
    seen != Some(state) && !(at..at.saturating_add(pause)).contains(&now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_due_where_the_index_has_changed_since_a_while_ago() {
        let folder = tempfile::tempdir().unwrap();
        let due = |now, state| is_due(folder.path(), now, 300, state);
        assert!(due(0, (1, 1)), "there was none");
        begin(folder.path(), 1000).unwrap();
        assert!(!due(1299, (1, 1)) && due(1300, (1, 1)), "it may have been killed");
        finish(folder.path(), 1000, (1, 1)).unwrap();
        assert!(!due(2000, (1, 1)) && due(2000, (1, 2)) && !due(1200, (1, 2)));
        assert!(due(5, (1, 2)), "the clock was put back");
    }
}
