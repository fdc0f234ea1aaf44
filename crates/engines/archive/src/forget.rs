//! Erases sessions from the archive, and records that they must not be found any more.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::SessionId;
use transcript::{ArchivedFolder, SubagentFile, forgotten_list, forgotten_sessions};

use crate::deletions;
use crate::pass::files_below;
use crate::relocate::forget_relocations;

/// What the name of the file with a copy's last frame ends in.
const TAIL: &str = ".tail.zst";

/// What was erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ForgottenFiles {
    /// How many copies, earlier versions included.
    pub files: u64,
    /// The room that they took, in bytes.
    pub bytes: u64,
}

/// Erases all copies of these sessions. They are recorded as forgotten first: if killed in between, the next call
/// continues.
#[expect(clippy::implicit_hasher, reason = "the caller has the usual one")]
pub fn forget(archive: &Path, sessions: &HashSet<SessionId>) -> io::Result<ForgottenFiles> {
    system::create_private_folder(archive)?;
    note(archive, sessions)?;
    let mut erased = ForgottenFiles::default();
    for folder in ArchivedFolder::all(archive) {
        for root in [folder.mirror(), folder.versions()] {
            let mut files = Vec::new();
            files_below(&root, 0, &mut files);
            files.retain(|file| is_of(file, sessions));
            // A copy without its last frame counts as missing; in the other order it would count as damaged.
            files.sort_by_key(|file| !file.to_string_lossy().ends_with(TAIL));
            for file in files {
                erased.files += u64::from(file.to_string_lossy().ends_with(TAIL));
                erased.bytes += file.symlink_metadata().map_or(0, |found| found.len());
                fs::remove_file(&file)?;
            }
            remove_empty_folders(&root, 0);
        }
    }
    deletions::forget(archive, sessions)?;
    forget_relocations(archive, |id| sessions.contains(id))?;
    Ok(erased)
}

/// Adds the sessions to the list of those that are forgotten.
fn note(archive: &Path, sessions: &HashSet<SessionId>) -> io::Result<()> {
    let mut all: Vec<String> =
        forgotten_sessions(archive).union(sessions).map(|id| id.as_str().to_owned()).collect();
    all.sort_unstable();
    system::replace_private_file(&forgotten_list(archive), (all.join("\n") + "\n").as_bytes())
}

/// Whether a file in the archive is of one of the sessions: by its name, its folder's, or, of a sub-agent's that is
/// next to the sessions, by its records.
fn is_of(file: &Path, sessions: &HashSet<SessionId>) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // The last kind is left over from an interrupted copy.
    let Some(copy) = [TAIL, ".zst", ".tail.new"].iter().find_map(|end| name.strip_suffix(end)) else {
        return false;
    };
    let without_number = |name: &str| match name.split_once('.') {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
        _ => name.to_owned(),
    };
    let stem = without_number(copy);
    let stem = stem.strip_suffix(".jsonl").unwrap_or(&stem).to_owned();
    let holds = |text: &str| text.parse::<SessionId>().is_ok_and(|id| sessions.contains(&id));
    let folders = file.ancestors().skip(1).filter_map(|path| path.file_name()?.to_str());
    if holds(&stem) || folders.into_iter().any(holds) {
        return true;
    }
    stem.starts_with("agent-") && {
        let path: PathBuf = file.with_file_name(copy);
        let agent = SubagentFile { id: stem, path, stamp: system::FileStamp::default() };
        agent.session().is_some_and(|id| sessions.contains(&id))
    }
}

fn remove_empty_folders(folder: &Path, depth: usize) {
    const DEPTH: usize = 8;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if depth < DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty_folders(&entry.path(), depth + 1);
            // One that holds something stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
}
