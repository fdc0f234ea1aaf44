//! Records when a transcript that the archive has a copy of is found deleted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use system::FileStamp;
use transcript::{ArchivedFolder, deletion_list, deletions, is_gone};

/// What a pass found of the folders that the archive mirrors.
pub(crate) struct PassFindings<'a> {
    /// The projects folders that were looked through: of others nothing is known.
    pub(crate) walked: HashSet<PathBuf>,
    /// The sessions that are there.
    pub(crate) living: HashSet<SessionId>,
    /// The sessions that are not to be found any more.
    pub(crate) forgotten: &'a HashSet<SessionId>,
}

/// Records the sessions with copies that are neither present nor forgotten, and removes those that are back.
/// Writes only where something changed.
pub(crate) fn record(archive: &Path, found: &PassFindings<'_>, now: Timestamp) -> io::Result<()> {
    let known = deletions(archive);
    let mut all = BTreeMap::new();
    for mirror in ArchivedFolder::all(archive) {
        let is_walked = found.walked.contains(mirror.original());
        for (id, folder) in mirror.sessions() {
            let is_known = found.living.contains(&id) || found.forgotten.contains(&id);
            // What is in a folder that cannot be read may be there still.
            if is_known || !is_gone(&folder.join(format!("{id}.jsonl"))) {
                continue;
            }
            let at =
                known.get(&id).copied().or_else(|| is_walked.then(|| latest_deletion_time(&folder, now)));
            at.map(|at| all.entry(id.as_str().to_owned()).or_insert(at.as_second()));
        }
    }
    replace(archive, &known, &all)
}

/// Removes sessions from the list.
pub(crate) fn forget(archive: &Path, sessions: &HashSet<SessionId>) -> io::Result<()> {
    let known = deletions(archive);
    let left = known.iter().filter(|(id, _)| !sessions.contains(*id));
    let left = left.map(|(id, at)| (id.as_str().to_owned(), at.as_second())).collect();
    replace(archive, &known, &left)
}

fn replace(
    archive: &Path,
    known: &HashMap<SessionId, Timestamp>,
    all: &BTreeMap<String, i64>,
) -> io::Result<()> {
    let is_same = |(id, at): (&SessionId, &Timestamp)| all.get(id.as_str()) == Some(&at.as_second());
    if all.len() == known.len() && known.iter().all(is_same) {
        return Ok(());
    }
    let lines: Vec<String> = all.iter().map(|(id, second)| format!("{id} {second}\n")).collect();
    system::replace_private_file(&deletion_list(archive), lines.concat().as_bytes())
}

/// The time by which a file of this folder was deleted: the folder's last change, which may be later.
fn latest_deletion_time(folder: &Path, now: Timestamp) -> Timestamp {
    let changed = folder.symlink_metadata().map(|found| FileStamp::from_metadata(&found).mtime);
    let changed = changed.ok().and_then(|mtime| Timestamp::from_nanosecond(mtime.into()).ok());
    changed.map_or(now, |changed| changed.min(now))
}
