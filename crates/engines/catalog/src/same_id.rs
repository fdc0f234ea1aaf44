//! Settles which of several files with one id is the session's transcript.
//!
//! People copy project folders, and programs synchronize them. Where one file begins with the other, the longer one is
//! the session, whichever was written last: a copy may be cut. Where both went on after the copy, both are read.

use std::cmp::Reverse;
use std::path::Path;

use system::FileStamp;
use transcript::OpenTranscript;

/// How much of two files is compared at the beginning of both and at the end of the shorter one, in bytes.
const COMPARED: u64 = 4096;

/// The files of one id: that of the session, those in which it went on otherwise, and copies.
pub(crate) struct Settled<T> {
    pub(crate) main: T,
    pub(crate) diverged: Vec<T>,
    /// Those that one of these begins with.
    pub(crate) copies: Vec<T>,
}

/// Settles the files of one id; `place` says where one is. `None` where there is none.
pub(crate) fn settle<T>(mut files: Vec<T>, place: impl Fn(&T) -> (&Path, FileStamp)) -> Option<Settled<T>> {
    files.sort_by(|one, other| {
        let ((path, stamp), (other_path, other_stamp)) = (place(one), place(other));
        let key = |stamp: FileStamp| Reverse((stamp.size, stamp.mtime));
        key(stamp).cmp(&key(other_stamp)).then_with(|| path.cmp(other_path))
    });
    let (mut kept, mut copies): (Vec<T>, Vec<T>) = (Vec::with_capacity(1), Vec::new());
    for file in files {
        let is_copy = kept.iter().any(|longer| begins_with(place(longer), place(&file)));
        if is_copy { &mut copies } else { &mut kept }.push(file);
    }
    // Of several, Claude Code was in the newest one last.
    let newest = (0..kept.len()).max_by_key(|at| {
        let (path, stamp) = place(&kept[*at]);
        (stamp.mtime, stamp.size, Reverse(path.to_owned()))
    })?;
    let main = kept.remove(newest);
    Some(Settled { main, diverged: kept, copies })
}

/// Whether a file begins with what is in a shorter one, but for line ends and NUL bytes at its end. Records have ids and
/// times of their own, so that the ends tell.
fn begins_with((longer, _): (&Path, FileStamp), (shorter, stamp): (&Path, FileStamp)) -> bool {
    let part = COMPARED.min(stamp.size);
    let is_same = |offset: u64| {
        let mut wanted = read(shorter, offset, part)?;
        if offset + part == stamp.size {
            let padding =
                wanted.iter().rev().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0).count();
            wanted.truncate(wanted.len() - padding);
        }
        Some(read(longer, offset, part)?.starts_with(&wanted))
    };
    is_same(stamp.size - part).unwrap_or(false) && is_same(0).unwrap_or(false)
}

fn read(path: &Path, offset: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let read = OpenTranscript::open(path).ok()?.read_at(&mut bytes, offset).ok()?;
    bytes.truncate(read);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Files by name and content, the last written last; the session's, and those that diverge from it.
    fn check(files: &[(&str, &str)], expected: &str) {
        let scratch = tempfile::tempdir().unwrap();
        let placed = files.iter().zip(1..).map(|((name, content), mtime)| {
            let path = scratch.path().join(name);
            fs::write(&path, content).unwrap();
            let size = content.len() as u64;
            (path, FileStamp { size, mtime, ..FileStamp::default() })
        });
        let Settled { main, diverged, .. } =
            settle(placed.collect(), |(path, stamp)| (path, *stamp)).unwrap();
        let all = std::iter::once(main).chain(diverged);
        let names = all.map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned());
        assert_eq!(names.collect::<Vec<_>>().join(" "), expected, "{files:?}");
    }

    #[test]
    fn the_longer_of_two_copies_is_the_session_and_of_others_both() {
        check(&[("a", "1\n2\n"), ("b", "1\n")], "a");
        check(&[("a", "1\n"), ("b", "1\n2\n")], "b");
        check(&[("a", "1\n2\n"), ("b", "1\n2\n")], "b");
        check(&[("a", "1\n2\n"), ("b", "")], "a");
        check(&[("a", "1\n2\n"), ("b", "1\n3\n")], "b a");
        check(&[("a", "1\n2\n3\n"), ("b", "1\n4\n")], "b a");
        check(&[("a", "1\n2\n3\n"), ("b", "1\n4\n"), ("c", "1\n2\n")], "b a");
        check(&[("a", "1\0\n2\n"), ("b", "1\n")], "a");
        check(&[("a", "1\n2\n"), ("b", "1\0\0")], "a");
        let long = "x".repeat(10_000);
        check(&[("a", &format!("{long}1")), ("b", &long)], "a");
        check(&[("a", &format!("1{long}1")), ("b", &format!("2{long}"))], "b a");
    }
}
