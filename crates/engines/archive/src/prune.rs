//! Keeps the archive within its limits: what only it still has goes, earlier versions first, then the oldest sessions.

use std::fs;
use std::io::{self, ErrorKind::NotFound};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use transcript::ArchivedFolder;

use crate::pass::files_below;
use crate::status::copies;

/// Removes copies until the archive takes at most `most` bytes, and all that were changed last before `oldest`.
///
/// A copy stays whose file is still there, since it would be made again, or out of reach. Returns how many copies were removed.
pub fn prune(archive: &Path, most: Option<u64>, oldest: Option<Timestamp>) -> io::Result<u64> {
    if most.is_none() && oldest.is_none() {
        return Ok(0);
    }
    let mut room = 0;
    // Ordered by what goes first: versions, then sessions by their age.
    let mut spare: Vec<(bool, i64, Vec<PathBuf>)> = Vec::new();
    for folder in ArchivedFolder::all(archive) {
        for copy in copies(&folder.versions()) {
            room += sealed::disk_size(&copy);
            let changed = sealed::source_of(&copy).map_or(0, |source| source.stamp.mtime);
            spare.push((false, changed, vec![copy]));
        }
        for copy in copies(&folder.mirror()) {
            room += sealed::disk_size(&copy);
            let below = copy.strip_prefix(folder.mirror()).unwrap_or(&copy);
            let is_transcript = below.components().count() == 2;
            if is_transcript && folder.original_of(&copy).is_some_and(|file| is_deleted(&file)) {
                let changed = sealed::source_of(&copy).map_or(0, |source| source.stamp.mtime);
                let mut beside = Vec::new();
                files_below(&copy.with_extension(""), 0, &mut beside);
                let side = beside.iter().filter_map(|file| {
                    let name = sealed::name_of_tail(file.file_name()?.to_str()?)?;
                    Some(file.with_file_name(name))
                });
                spare.push((true, changed, side.chain([copy.clone()]).collect()));
            }
        }
    }
    spare.sort_by_key(|one| (one.0, one.1));
    let oldest = oldest.map_or(i64::MIN, |at| i64::try_from(at.as_nanosecond()).unwrap_or(i64::MIN));
    let mut removed = 0;
    for (_, changed, files) in spare {
        if most.is_none_or(|most| room <= most) && changed >= oldest {
            continue;
        }
        for file in files {
            room = room.saturating_sub(sealed::disk_size(&file));
            sealed::remove(&file)?;
            removed += 1;
            // The folder of a session whose last file this was.
            if let Some(folder) = file.parent() {
                let _ = fs::remove_dir(folder);
            }
        }
    }
    Ok(removed)
}

/// Whether a transcript is gone from a folder that can be read. Where a disk is not mounted there is nothing, or a
/// folder with nothing in it: then nobody knows.
fn is_deleted(transcript: &Path) -> bool {
    let is_absent = |path: &Path| path.symlink_metadata().is_err_and(|error| error.kind() == NotFound);
    let Some(folder) = transcript.parent() else { return false };
    if !is_absent(folder) {
        return is_absent(transcript) && fs::read_dir(folder).is_ok();
    }
    // Claude Code removes a project's folder with its last transcript.
    let others = folder.parent().map(fs::read_dir);
    others.is_some_and(|others| others.is_ok_and(|mut others| others.next().is_some_and(|one| one.is_ok())))
}
