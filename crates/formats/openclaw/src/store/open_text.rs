//! The text of a file that is held open, and read in pieces where they are wanted, as long as it is not changed.
//!
//! If another process replaces the file, this one stays as it was.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use system::FileStamp;

use crate::Problem;

/// The largest value that is read into memory.
const LARGEST_VALUE: u64 = 256 << 20;
/// How much is handed over at once.
const PIECE: usize = 256 << 10;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// An open file; its clones share it.
#[derive(Debug, Clone)]
pub(crate) struct OpenText(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
    /// The state of the file when it was opened.
    stamp: FileStamp,
    /// Where the text begins, behind a byte order mark.
    start: u64,
}

impl OpenText {
    /// The text of a file that was opened at this path.
    pub(crate) fn new(file: File, path: &Path) -> io::Result<Self> {
        let stamp = FileStamp::from_metadata(&file.metadata()?);
        let mut first = [0; BYTE_ORDER_MARK.len()];
        let is_marked = match file.read_exact_at(&mut first, 0) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
            read => read.map(|()| first == BYTE_ORDER_MARK)?,
        };
        let start = if is_marked { BYTE_ORDER_MARK.len() as u64 } else { 0 };
        Ok(Self(Arc::new(Opened { file, path: path.to_owned(), stamp, start })))
    }

    /// The state of the file when it was opened.
    pub(crate) fn stamp(&self) -> FileStamp {
        self.0.stamp
    }

    /// How many bytes the text has.
    pub(crate) fn length(&self) -> u64 {
        self.0.stamp.size.saturating_sub(self.0.start)
    }

    /// Fails where the file is not as it was when it was opened.
    pub(crate) fn ensure_unchanged(&self) -> Result<(), Problem> {
        let found = self.0.file.metadata().map_err(|error| self.unreadable(&error))?;
        if FileStamp::from_metadata(&found) == self.0.stamp { Ok(()) } else { Err(self.changed()) }
    }

    /// A part of the text, piece by piece.
    pub(crate) fn reader(&self, range: Range<u64>) -> impl Read + '_ {
        PartReader { file: &self.0.file, range: range.start + self.0.start..range.end + self.0.start }
    }

    /// A part of the text; what in it is no UTF-8 is replaced.
    pub(crate) fn read(&self, range: Range<u64>) -> Result<String, Problem> {
        let length = range.end.saturating_sub(range.start);
        if length > LARGEST_VALUE {
            let limit = LARGEST_VALUE >> 20;
            let what = format!("has an entry of {} MiB; more than {limit} MiB are not read", length >> 20);
            return Err(Problem::new(&self.0.path, what, "Remove that entry from it."));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        self.reader(range).read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        self.ensure_unchanged()?;
        Ok(lossy(bytes))
    }

    /// The whole text, if it has at most so many bytes.
    pub(crate) fn read_whole(&self, limit: u64) -> Result<Option<Vec<u8>>, Problem> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.length().min(limit)).unwrap_or_default() + 1);
        let read = self.reader(0..limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| self.unreadable(&error))?;
        Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= limit))
    }

    /// Hands over a part of the text piece by piece, whatever its size, until one is enough.
    pub(crate) fn pieces<E: From<Problem>>(
        &self,
        range: Range<u64>,
        mut is_enough: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut left = range.end.saturating_sub(range.start);
        let mut reader = self.reader(range);
        let mut piece = vec![0; usize::try_from(left).map_or(PIECE, |left| left.min(PIECE))];
        while left > 0 {
            match reader.read(&mut piece) {
                Ok(0) => return Err(self.changed().into()),
                Ok(read) if is_enough(&piece[..read])? => break,
                Ok(read) => left = left.saturating_sub(read as u64),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(&error).into()),
            }
        }
        Ok(())
    }

    /// That the file is not as it was.
    pub(crate) fn changed(&self) -> Problem {
        Problem::new(&self.0.path, "was changed in place while it was read", "Try again.")
    }

    fn unreadable(&self, error: &io::Error) -> Problem {
        let next = "Make it a file that this user can read.";
        Problem::new(&self.0.path, format!("cannot be read: {error}"), next)
    }
}

/// Bytes as a text; what is no UTF-8 is replaced.
pub(super) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Reads a part of a file, wherever others read in it.
struct PartReader<'a> {
    file: &'a File,
    range: Range<u64>,
}

impl Read for PartReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.range.end.saturating_sub(self.range.start)).unwrap_or(usize::MAX);
        let length = out.len().min(left);
        let read = self.file.read_at(&mut out[..length], self.range.start)?;
        self.range.start += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beyond_the_limit_is_not_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        let file = File::create_new(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let text = OpenText::new(File::open(&path).unwrap(), &path).unwrap();
        assert_eq!(text.read(5..7).unwrap(), "\0\0");
        let refused = text.read(0..text.length()).unwrap_err().what;
        assert_eq!(refused, "has an entry of 1048576 MiB; more than 256 MiB are not read");
        assert_eq!(text.read_whole(100).unwrap(), None);
        file.set_len(1).unwrap();
        assert_eq!(text.read(5..7).unwrap_err(), text.changed());
    }
}
