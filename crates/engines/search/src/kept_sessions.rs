//! What the list of files says of sessions, kept in one file until the next commit: every search needs all of it, and to
//! put it together from thousands of rows takes as long as to answer.
//!
//! Ours to lose: what is not of the list as it is now is put together anew.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Error;
use crate::files::FileList;
use crate::sessions::Sessions;

/// Which fields the bytes were made of.
pub(crate) const FORMAT: u32 = 1;
/// The longest file that is read, in bytes: that of some million sessions.
const CAP: u64 = 256 << 20;
/// Before the rest stands its hash, as a little-endian number: a power cut can leave a file of zeros.
const HASH: usize = size_of::<u64>();

#[derive(Serialize, Deserialize)]
struct Kept<S> {
    format: u32,
    /// That of the list, see [`FileList::state`].
    state: (u64, u64),
    sessions: S,
}

/// The sessions of the list in an index's folder.
pub(crate) fn sessions(folder: &Path, list: &FileList) -> Result<Sessions, Error> {
    let state = list.state()?;
    if let Some(kept) = load(folder, state) {
        return Ok(kept);
    }
    let sessions = Sessions::of(list)?;
    // Somebody may have written between the two.
    if list.state()? == state {
        save(folder, state, &sessions);
    }
    Ok(sessions)
}

fn file(folder: &Path) -> PathBuf {
    folder.join("sessions.bin")
}

fn load(folder: &Path, state: (u64, u64)) -> Option<Sessions> {
    let bytes = system::read_small(&file(folder), CAP).ok()?;
    let (hash, rest) = bytes.split_first_chunk::<HASH>()?;
    if u64::from_le_bytes(*hash) != xxh3_64(rest) {
        return None;
    }
    let (format, behind) = postcard::take_from_bytes::<u32>(rest).ok()?;
    let (of, _) = postcard::take_from_bytes::<(u64, u64)>(behind).ok()?;
    if (format, of) != (FORMAT, state) {
        return None;
    }
    postcard::from_bytes::<Kept<Sessions>>(rest).ok().map(|kept| kept.sessions)
}

/// Keeps them whole or not at all; where that cannot be they are put together again the next time.
fn save(folder: &Path, state: (u64, u64), sessions: &Sessions) {
    let Ok(rest) = postcard::to_stdvec(&Kept { format: FORMAT, state, sessions }) else { return };
    let written = NamedTempFile::new_in(folder).and_then(|mut scratch| {
        scratch.write_all(&xxh3_64(&rest).to_le_bytes())?;
        scratch.write_all(&rest)?;
        scratch.persist(file(folder)).map_err(|error| error.error).map(drop)
    });
    // Nothing is lost but time.
    let _ = written;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use transcript::{FileStamp, Mark};

    use super::*;
    use crate::files::{Changes, FileRow, Shared};
    use crate::source::SourceKind;

    fn row(id: u64, session: Option<&str>) -> FileRow {
        FileRow {
            id,
            path: format!("/{id}").into(),
            source: if id == 3 { SourceKind::Memory } else { SourceKind::ClaudeSessions },
            session: session.map(|session| session.parse().unwrap()),
            subagent: false,
            stamp: FileStamp::default(),
            mark: Mark::default(),
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
            let expected = Sessions::of(list).unwrap();
            assert_eq!(sessions(folder.path(), list).unwrap(), expected, "{what}");
            assert_eq!(load(folder.path(), list.state().unwrap()), Some(expected), "{what}, kept");
        };
        check(&list, "nothing");
        let shared = vec![Shared { record: u64::MAX, owner: 1, file: 2 }];
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
        let whole = system::read_small(&file(folder.path()), CAP).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(file(folder.path()), &damaged).unwrap();
            assert!(load(folder.path(), state).is_none(), "byte {at}");
            fs::write(file(folder.path()), &whole[..at]).unwrap();
            assert!(load(folder.path(), state).is_none(), "cut at {at}");
        }
    }

    #[test]
    fn the_bytes_are_those_of_this_format() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = FileList::open(&folder.path().join("files.sqlite")).unwrap();
        let shared = vec![Shared { record: 5, owner: 1, file: 2 }];
        let files = vec![row(1, Some("s1")), row(2, Some("s2"))];
        list.commit(&Changes { files, shared, ..Changes::default() }, 1).unwrap();
        let bytes = postcard::to_stdvec(&Sessions::of(&list).unwrap()).unwrap();
        assert_eq!(
            (FORMAT, xxh3_64(&bytes)),
            (1, 10_706_243_773_718_577_839),
            "a field has changed: raise FORMAT, then put the new figure here"
        );
    }
}
