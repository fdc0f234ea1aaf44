//! What the list of files says of sessions, kept in one file until the next commit: every search needs all of it, and to
//! put it together from thousands of rows takes as long as to answer.
//!
//! Derived: it is made again when the list of sessions has changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use system::Snapshot;

use crate::error::Error;
use crate::files::FileList;
use crate::sessions::Sessions;

/// Which fields the bytes were made of.
pub(crate) const FORMAT: u32 = 2;

/// The sessions of the list in an index's folder.
pub(crate) fn sessions(folder: &Path, list: &FileList) -> Result<Sessions, Error> {
    let state = list.state()?;
    if let Some(kept) = load(folder, state) {
        return Ok(kept);
    }
    let sessions = Sessions::from_list(list)?;
    // Somebody may have written between the two.
    if list.state()? == state {
        save(folder, state, &sessions);
    }
    Ok(sessions)
}

/// Removes what was kept, which names sessions that are not in the list any more.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(file(folder)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("sessions.bin")
}

/// The state of the list, see [`FileList::state`], as one number.
fn fingerprint((list, commit): (u64, u64)) -> u128 {
    u128::from(list) << 64 | u128::from(commit)
}

fn load(folder: &Path, state: (u64, u64)) -> Option<Sessions> {
    let snapshot = Snapshot::open(&file(folder), FORMAT, fingerprint(state))?;
    let mut bytes = Vec::new();
    snapshot.read_section(0, &mut bytes)?;
    postcard::from_bytes(&bytes).ok()
}

/// Keeps them; where that cannot be they are put together again the next time.
fn save(folder: &Path, state: (u64, u64), sessions: &Sessions) {
    let Ok(bytes) = postcard::to_stdvec(sessions) else { return };
    // Nothing is lost but time.
    let _ = Snapshot::write(&file(folder), FORMAT, fingerprint(state), &[bytes]);
}

#[cfg(test)]
mod tests {
    use system::FileStamp;
    use transcript::Checkpoint;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::files::{Changes, FileRow, SharedRecord};
    use crate::source::SourceKind;

    fn row(id: u64, session: Option<&str>) -> FileRow {
        FileRow {
            id,
            path: format!("/{id}").into(),
            source: if id == 3 { SourceKind::Memory } else { SourceKind::ClaudeSessions },
            session: session.map(|session| session.parse().unwrap()),
            subagent: false,
            stamp: FileStamp::default(),
            mark: Checkpoint::default(),
            chunks: 2,
            spoken: 100 * id,
            gone: false,
            text: 7,
        }
    }

    #[test]
    fn what_is_kept_is_what_the_list_says() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = FileList::open(&folder.path().join("files.sqlite")).unwrap();
        let check = |list: &FileList, what: &str| {
            let expected = Sessions::from_list(list).unwrap();
            assert_eq!(sessions(folder.path(), list).unwrap(), expected, "{what}");
            assert_eq!(load(folder.path(), list.state().unwrap()), Some(expected), "{what}, kept");
        };
        check(&list, "nothing");
        let shared = vec![SharedRecord { record: u64::MAX, owner: 1, file: 2 }];
        let files = vec![row(1, Some("s1")), row(2, Some("s2")), row(3, Some("s1")), row(9, None)];
        list.commit(&Changes { files, shared, ..Changes::default() }, 1).unwrap();
        check(&list, "four files");
        list.commit(&Changes { files: vec![row(2, Some("s3"))], ..Changes::default() }, 2).unwrap();
        check(&list, "a file is another session's");
        list.commit(&Changes { forgotten: vec![1], removed: vec![1], ..Changes::default() }, 3).unwrap();
        check(&list, "a file is gone");
        list.forget_all().unwrap();
        check(&list, "another list");
        fs::remove_file(file(folder.path())).unwrap();
        check(&list, "the file was taken away");
    }

    #[test]
    fn what_is_damaged_or_older_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = FileList::open(&folder.path().join("files.sqlite")).unwrap();
        list.commit(&Changes { files: vec![row(1, Some("s1"))], ..Changes::default() }, 1).unwrap();
        let state = list.state().unwrap();
        sessions(folder.path(), &list).unwrap();
        assert!(load(folder.path(), state).is_some());
        assert!(load(folder.path(), (state.0, state.1 + 1)).is_none(), "of another commit");
        fs::write(file(folder.path()), b"damaged").unwrap();
        assert!(load(folder.path(), state).is_none());
    }

    #[test]
    fn the_bytes_are_those_of_this_format() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = FileList::open(&folder.path().join("files.sqlite")).unwrap();
        let shared = vec![SharedRecord { record: 5, owner: 1, file: 2 }];
        let files = vec![row(1, Some("s1")), row(2, Some("s2"))];
        list.commit(&Changes { files, shared, ..Changes::default() }, 1).unwrap();
        let bytes = postcard::to_stdvec(&Sessions::from_list(&list).unwrap()).unwrap();
        assert_eq!(
            (FORMAT, xxh3_64(&bytes)),
            (2, 10_706_243_773_718_577_839),
            "a field has changed: raise FORMAT, then put the new figure here"
        );
    }
}
