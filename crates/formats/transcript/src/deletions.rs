//! When the transcripts that only the archive still has were deleted.
//!
//! `<archive>/deleted` has a line for each of them: the session's id, and the time in seconds by which it was gone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;

/// The largest list that is read.
const LARGEST: u64 = 64 << 20;

/// The sessions whose transcripts were deleted, and by when. Invalid lines are skipped.
pub fn deletions(archive: &Path) -> HashMap<SessionId, Timestamp> {
    let bytes = system::read_small(&deletion_list(archive), LARGEST).unwrap_or_default();
    let of_line = |line: &str| {
        let (id, second) = line.split_once(' ')?;
        Some((id.parse().ok()?, Timestamp::from_second(second.parse().ok()?).ok()?))
    };
    String::from_utf8_lossy(&bytes).lines().filter_map(of_line).collect()
}

/// The file that lists them.
pub fn deletion_list(archive: &Path) -> PathBuf {
    archive.join("deleted")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn invalid_lines_are_skipped() {
        let scratch = tempfile::tempdir().unwrap();
        assert!(deletions(scratch.path()).is_empty());
        fs::write(deletion_list(scratch.path()), b"s1 86400\nnothing\ns2 soon\n../x 1\n\xff 1\ns3 9e18")
            .unwrap();
        let known = deletions(scratch.path());
        assert_eq!(known, HashMap::from([("s1".parse().unwrap(), "1970-01-02T00:00:00Z".parse().unwrap())]));
    }
}
