//! Reads what is new in a file since it was last read, whatever happened to it in between.
//!
//! A file is the same when its device, its inode and the bytes just before the checkpoint's offset are the same;
//! anything else (replaced, truncated, rewritten) means that it is read again from the beginning.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use system::FileStamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::long_lines::LongLines;
use crate::open_transcript::OpenTranscript;
use crate::reader::{LINE_CAP, Line, Reader};

/// How many bytes before the offset are remembered as a hash.
const TAIL_HASH_LENGTH: usize = 1024;

/// How far a file was read, and how to recognize it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The device number.
    pub dev: u64,
    /// The inode; a rename to another folder keeps it.
    pub ino: u64,
    /// The offset after the last line that was read; the newline of a whole record may be missing there.
    pub offset: u64,
    /// The number of lines read.
    pub lines: u64,
    /// A hash of the bytes just before the offset.
    #[serde(rename = "witness")]
    pub tail_hash: u64,
}

/// How a file changed since its checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// The file was not read before.
    New,
    /// Nothing, or only the beginning of a line.
    None,
    /// Bytes were appended.
    Appended,
    /// It is another file, or its content was rewritten or truncated: what was read before is no longer valid.
    Replaced,
}

/// An open file with the lines that are new in it.
#[derive(Debug)]
pub struct Tail {
    change: FileChange,
    from: u64,
    checked: u64,
    reader: Reader,
    stamp: FileStamp,
}

impl Tail {
    /// Opens a file and finds out what has happened to it since `mark`.
    pub fn open(path: &Path, mark: Option<&Checkpoint>) -> io::Result<Self> {
        let mut file = OpenTranscript::open(path)?;
        let stamp = file.stamp()?;
        let Some(mark) = mark else {
            let reader = Reader::at(file, 0, 0)?;
            return Ok(Self { change: FileChange::New, from: 0, checked: 0, reader, stamp });
        };
        let same = (mark.dev, mark.ino) == (stamp.dev, stamp.ino)
            && mark.offset <= stamp.size
            && tail_hash(&mut file, mark.offset)? == mark.tail_hash;
        if !same {
            let reader = Reader::at(file, 0, 0)?;
            return Ok(Self {
                change: FileChange::Replaced,
                from: 0,
                checked: TAIL_HASH_LENGTH as u64,
                reader,
                stamp,
            });
        }
        let change = if stamp.size == mark.offset { FileChange::None } else { FileChange::Appended };
        let from = mark.offset + late_newline(&mut file, mark.offset)?;
        let reader = Reader::at(file, from, mark.lines)?;
        Ok(Self { change, from, checked: mark.offset.min(TAIL_HASH_LENGTH as u64), reader, stamp })
    }

    /// Opens a file at the first line that begins within its last `window` bytes, as if it began there; a little
    /// earlier where none does, at its end where the last line is over the cap. Lines are counted from there.
    pub fn open_last(path: &Path, mut window: u64) -> io::Result<Self> {
        loop {
            let file = OpenTranscript::open(path)?;
            let stamp = file.stamp()?;
            let opened = |reader, from| Self { change: FileChange::New, from, checked: 0, reader, stamp };
            let start = stamp.size.saturating_sub(window);
            if start == 0 {
                return Ok(opened(Reader::at(file, 0, 0)?, 0));
            }
            // One byte earlier: when that is a newline, a line begins exactly there.
            let mut reader = Reader::at(file, start - 1, 0)?;
            if reader.next_line()?.is_some() {
                let from = reader.offset();
                return Ok(opened(reader, from));
            }
            if window >= LINE_CAP as u64 {
                return Ok(opened(Reader::open_at(path, stamp.size, 0)?, stamp.size));
            }
            window = window.saturating_mul(8);
        }
    }

    /// How the file changed; on [`FileChange::Replaced`], discard all that was known of it first.
    pub fn change(&self) -> FileChange {
        self.change
    }

    /// Takes turns at long lines with others who read.
    #[must_use]
    pub fn taking_turns(mut self, long_lines: &LongLines) -> Self {
        self.reader = self.reader.taking_turns(long_lines);
        self
    }

    /// Tells copies of records from new ones also where the first was read before; the latest of those is of this time.
    #[must_use]
    pub fn remembering(mut self, path: &Path, newest: Option<Timestamp>) -> Self {
        self.reader.remember(path, newest);
        self
    }

    /// The file's stamp when it was opened.
    pub fn stamp(&self) -> FileStamp {
        self.stamp
    }

    /// The next new whole line.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.reader.next_line()
    }

    /// How many bytes of the file were read.
    pub fn bytes_read(&self) -> u64 {
        self.checked + (self.reader.offset() - self.from) + self.reader.unfinished().len() as u64
    }

    /// Lines over the cap among those read.
    pub fn too_long(&self) -> u64 {
        self.reader.too_long()
    }

    /// The checkpoint from which to continue later.
    pub fn mark(&mut self) -> io::Result<Checkpoint> {
        let offset = self.reader.offset();
        Ok(Checkpoint {
            dev: self.stamp.dev,
            ino: self.stamp.ino,
            offset,
            lines: self.reader.lines(),
            tail_hash: tail_hash(self.reader.source(), offset)?,
        })
    }
}

/// The length of a newline that was added after the record before `offset` had been read without one.
fn late_newline(file: &mut OpenTranscript, offset: u64) -> io::Result<u64> {
    let mut bytes = [0; 3];
    let Some(start) = offset.checked_sub(1) else { return Ok(0) };
    let read = file.read_at(&mut bytes, start)?;
    Ok(match &bytes[..read] {
        [b'\n', ..] => 0,
        [_, b'\n', ..] => 1,
        [_, b'\r', b'\n'] => 2,
        _ => 0,
    })
}

/// A hash of the last bytes before `offset`.
fn tail_hash(file: &mut OpenTranscript, offset: u64) -> io::Result<u64> {
    let mut bytes = [0; TAIL_HASH_LENGTH];
    let size = usize::try_from(offset).unwrap_or(TAIL_HASH_LENGTH).min(TAIL_HASH_LENGTH);
    let bytes = &mut bytes[..size];
    match file.read_exact_at(bytes, offset - size as u64) {
        Ok(()) => Ok(xxh3_64(bytes)),
        // Cut in this moment: no hash, so the next look sees a replaced file.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;

    struct Scratch {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    fn scratch(content: &[u8]) -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, content).unwrap();
        Scratch { _folder: folder, path }
    }

    fn append(path: &Path, bytes: &[u8]) {
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
    }

    fn read(path: &Path, mark: Option<&Checkpoint>) -> (FileChange, Vec<String>, Checkpoint) {
        let mut tail = Tail::open(path, mark).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = tail.next_line().unwrap() {
            lines.push(String::from_utf8_lossy(line.bytes).into_owned());
        }
        (tail.change(), lines, tail.mark().unwrap())
    }

    #[test]
    fn only_new_complete_lines_are_read() {
        let file = scratch(b"one\ntwo\nthr");
        let (change, lines, mark) = read(&file.path, None);
        assert_eq!((change, lines), (FileChange::New, vec!["one".into(), "two".into()]));
        let (change, lines, mark) = read(&file.path, Some(&mark));
        assert_eq!((change, lines.len(), mark.offset), (FileChange::Appended, 0, 8));
        append(&file.path, b"ee\n");
        let (change, lines, mark) = read(&file.path, Some(&mark));
        assert_eq!((change, lines, mark.lines), (FileChange::Appended, vec!["three".into()], 3));
        let (change, lines, _) = read(&file.path, Some(&mark));
        assert_eq!((change, lines.len()), (FileChange::None, 0));
    }

    #[test]
    fn a_record_without_a_newline_is_read_once() {
        for newline in ["\n", "\r\n"] {
            let file = scratch(b"one\n{\"a\":1}");
            let (_, lines, mark) = read(&file.path, None);
            assert_eq!((lines, mark.lines), (vec!["one".into(), "{\"a\":1}".into()], 2));
            assert_eq!(read(&file.path, Some(&mark)).1.len(), 0);
            append(&file.path, newline.as_bytes());
            let (_, lines, after) = read(&file.path, Some(&mark));
            assert_eq!((lines.len(), after.lines), (0, 2));
            append(&file.path, b"three\n\n");
            // However much of it is new.
            for mark in [mark, after] {
                let (change, lines, mark) = read(&file.path, Some(&mark));
                assert_eq!((change, mark.lines), (FileChange::Appended, 4));
                assert_eq!(lines, ["three", ""]);
            }
        }
        // A line that is longer after all is two.
        let file = scratch(b"{}");
        let (_, _, mark) = read(&file.path, None);
        append(&file.path, b"{}\n");
        assert_eq!(read(&file.path, Some(&mark)).1, ["{}"]);
    }

    #[test]
    fn the_end_of_a_file_without_lines_is_empty() {
        let file = scratch(b"");
        fs::OpenOptions::new().write(true).open(&file.path).unwrap().set_len(1 << 40).unwrap();
        let mut tail = Tail::open_last(&file.path, 1 << 20).unwrap();
        assert!(tail.next_line().unwrap().is_none());
        assert_eq!(tail.mark().unwrap().offset, 1 << 40);
    }

    fn check_replaced(damage: impl FnOnce(&Path)) {
        let file = scratch(b"one\ntwo\n");
        let (_, _, mark) = read(&file.path, None);
        damage(&file.path);
        let (change, lines, _) = read(&file.path, Some(&mark));
        assert_eq!((change, lines), (FileChange::Replaced, vec!["new".to_owned(), "new2".to_owned()]));
    }

    #[test]
    fn truncation_replacement_and_rewriting_are_noticed() {
        check_replaced(|path| fs::write(path, "new\nnew2\n").unwrap());
        check_replaced(|path| {
            fs::remove_file(path).unwrap();
            fs::write(path, "new\nnew2\n").unwrap();
        });
        check_replaced(|path| {
            let other = path.with_extension("tmp");
            fs::write(&other, "new\nnew2\n").unwrap();
            fs::rename(other, path).unwrap();
        });
    }

    #[test]
    fn shrinking_to_nothing_is_a_replacement() {
        let file = scratch(b"one\ntwo\n");
        let (_, _, mark) = read(&file.path, None);
        fs::write(&file.path, "").unwrap();
        assert_eq!(read(&file.path, Some(&mark)).0, FileChange::Replaced);
    }

    #[test]
    fn a_file_that_moved_to_another_folder_is_the_same_file() {
        let file = scratch(b"one\n");
        let (_, _, mark) = read(&file.path, None);
        let moved = file.path.with_file_name("b.jsonl");
        fs::rename(&file.path, &moved).unwrap();
        append(&moved, b"two\n");
        let (change, lines, _) = read(&moved, Some(&mark));
        assert_eq!((change, lines), (FileChange::Appended, vec!["two".into()]));
    }

    #[test]
    fn the_end_of_a_file_is_read_in_complete_lines() {
        let check = |window: u64, expected: &[&str]| {
            let file = scratch(b"one\ntwo\nthree\nfo");
            let mut tail = Tail::open_last(&file.path, window).unwrap();
            let mut lines = Vec::new();
            while let Some(line) = tail.next_line().unwrap() {
                lines.push(String::from_utf8_lossy(line.bytes).into_owned());
            }
            assert_eq!(lines, expected, "{window}");
            let mark = tail.mark().unwrap();
            append(&file.path, b"ur\n");
            let (change, lines, _) = read(&file.path, Some(&mark));
            assert_eq!((change, lines), (FileChange::Appended, vec!["four".to_owned()]), "{window}");
        };
        check(100, &["one", "two", "three"]);
        check(16, &["one", "two", "three"]);
        check(15, &["two", "three"]);
        check(12, &["two", "three"]);
        check(11, &["three"]);
        check(8, &["three"]);
        check(7, &[]);
        check(1, &["three"]);
    }

    #[test]
    fn an_appended_line_costs_its_own_bytes() {
        let file = scratch(&b"x".repeat(1000).into_iter().chain(*b"\n").collect::<Vec<_>>().repeat(5000));
        let (_, _, mark) = read(&file.path, None);
        append(&file.path, b"news\n");
        let mut tail = Tail::open(&file.path, Some(&mark)).unwrap();
        while tail.next_line().unwrap().is_some() {}
        assert_eq!(tail.bytes_read(), TAIL_HASH_LENGTH as u64 + 5);
    }
}
