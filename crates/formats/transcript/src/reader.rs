//! Reads lines of a file of any size in constant memory.
//!
//! Only whole lines are returned: text after the last newline is still being written, unless it is a whole JSON
//! object. A line over the cap is counted and skipped, and bytes that are not UTF-8 are replaced, as Claude Code
//! does. `record` interprets the lines.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::io::Errno;

use crate::copies::{Written, WrittenRecords};
use crate::line_text::{BYTE_ORDER_MARK, content, place_in, replace_invalid_utf8};
use crate::long_lines::{LongLines, Turn};
use crate::open_transcript::OpenTranscript;
use crate::read_buffer::ReadBuffer;
use crate::record::{Record, SkipReason, behind_torn, behind_whole, is_object, parse, parse_text};

/// The longest line that is held in memory, in bytes; longer ones are counted and skipped.
pub const LINE_CAP: usize = 64 << 20;

/// A line with more bytes than this in memory is a long one.
const LONG: usize = 8 << 20;

/// How many bytes are read at a time.
const CHUNK: usize = 128 << 10;

/// A whole line and its position, or what is on a line behind its first record.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Bytes from the beginning of the file to the line's first byte.
    pub offset: u64,
    /// The number of the line, from 1.
    pub number: u64,
    /// The line without its newline (and without a carriage return before it).
    pub bytes: &'a [u8],
    /// The same as text, unless it is not UTF-8.
    pub text: Option<&'a str>,
    /// Whether bytes that were not UTF-8 were replaced by U+FFFD.
    pub is_mended: bool,
    /// Whether another record is before it on its line.
    pub is_rest: bool,
    reading: Option<&'a Reading>,
}

/// What the records that were read say of those that follow.
#[derive(Debug, Default)]
struct Reading {
    /// Where in the latest line what is behind its first record begins; 0 where nothing is.
    rest: Cell<usize>,
    written: RefCell<WrittenRecords>,
    /// What was read of the file before, if that is known.
    earlier: RefCell<Option<EarlierPart>>,
}

/// The part of a file that another reader has read.
#[derive(Debug)]
struct EarlierPart {
    path: PathBuf,
    end: u64,
    /// The time of its latest record.
    newest: Option<Timestamp>,
}

impl Reading {
    /// Reads the records of the earlier part when the first one comes that may be in it.
    fn look_back(&self, record: &Record<'_>) {
        let may_be_copy = |earlier: &mut EarlierPart| {
            record.kind().is_in_tree()
                && record.timestamp().zip(earlier.newest).is_some_and(|(at, newest)| at <= newest)
        };
        let Some(earlier) = self.earlier.borrow_mut().take_if(may_be_copy) else { return };
        let Ok(mut reader) = Reader::open(&earlier.path) else { return };
        while let Ok(Some(line)) = reader.next_line() {
            if line.offset >= earlier.end {
                break;
            }
            // Copies are told by what this remembers.
            let _ = line.record();
        }
        self.written.borrow_mut().add_earlier(reader.reading.written.into_inner());
    }
}

impl<'a> Line<'a> {
    /// A line that is in no file.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self { offset: 0, number: 0, bytes, text: None, is_mended: false, is_rest: false, reading: None }
    }

    /// The first record in the line, or why there is none; what is behind it is the next line. A record that the
    /// reader has read before is a copy.
    #[inline]
    pub fn record(&self) -> Result<Record<'a>, SkipReason> {
        let record = self.text.map_or_else(|| parse(self.bytes), parse_text);
        let Some(reading) = self.reading else { return record };
        let rest = match &record {
            Ok(record) if record.behind() == 0 => None,
            Ok(record) => behind_whole(self.bytes, record.behind()),
            Err(SkipReason::Blank | SkipReason::Unread | SkipReason::Copy) => None,
            Err(SkipReason::Nul | SkipReason::NotUtf8 | SkipReason::NotJson) => behind_torn(self.bytes),
        };
        reading.rest.set(rest.unwrap_or_default());
        let record = record?;
        reading.look_back(&record);
        match reading.written.borrow_mut().take(&record, self.offset) {
            Written::New => Ok(record),
            Written::BehindCopies => Ok(record.behind_copies()),
            Written::Again => Err(SkipReason::Copy),
        }
    }
}

/// Reads whole lines from a file, from the beginning or from where an earlier reader stopped.
#[derive(Debug)]
pub struct Reader<R = OpenTranscript> {
    source: R,
    buffer: ReadBuffer,
    /// The part of the buffer that is read but not yet returned.
    pending: std::ops::Range<usize>,
    /// Where in `pending` the search for a newline continues.
    searched: usize,
    /// The file offset of `pending.start`.
    offset: u64,
    lines: u64,
    /// The latest line: where it is in the buffer and in the file.
    latest: (std::ops::Range<usize>, u64),
    reading: Reading,
    cap: usize,
    too_long: u64,
    /// Whether a line over the cap is being skipped.
    is_skipping: bool,
    /// Skips a hole in a sparse file and returns its length.
    skip_hole: Option<fn(&mut R) -> io::Result<u64>>,
    /// The latest line that was not UTF-8, repaired.
    repaired: String,
    /// The permission for long lines that it shares with other readers, and whether it has it.
    long_lines: Option<LongLines>,
    turn: Option<Turn>,
    ended: bool,
}

impl Reader {
    /// Opens a transcript from its beginning; where it is gone, the archive's copy.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_at(path, 0, 0)
    }

    /// Opens a transcript where an earlier reader stopped: at `offset`, after `lines` lines.
    pub fn open_at(path: &Path, offset: u64, lines: u64) -> io::Result<Self> {
        Self::at(OpenTranscript::open(path)?, offset, lines)
    }

    /// Reads an open transcript from where an earlier reader stopped: at `offset`, after `lines` lines.
    pub fn at(mut file: OpenTranscript, offset: u64, lines: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { offset, lines, skip_hole: Some(skip_hole), ..Self::new(file) })
    }

    /// Takes records for copies that are in the part of the file before, whose latest one is of this time.
    pub(crate) fn remember(&mut self, path: &Path, newest: Option<Timestamp>) {
        let earlier = EarlierPart { path: path.to_owned(), end: self.offset, newest };
        self.reading.earlier.replace(Some(earlier).filter(|earlier| earlier.end > 0));
    }

    /// The transcript that is read.
    pub(crate) fn source(&mut self) -> &mut OpenTranscript {
        &mut self.source
    }
}

impl<R: Read> Reader<R> {
    /// Reads lines from anything.
    pub fn new(source: R) -> Self {
        Self {
            source,
            buffer: ReadBuffer::take(),
            pending: 0..0,
            searched: 0,
            offset: 0,
            lines: 0,
            latest: (0..0, 0),
            reading: Reading::default(),
            cap: LINE_CAP,
            too_long: 0,
            is_skipping: false,
            skip_hole: None,
            repaired: String::new(),
            long_lines: None,
            turn: None,
            ended: false,
        }
    }

    /// Sets the longest line that is held in memory, in bytes.
    #[must_use]
    pub fn with_cap(mut self, cap: usize) -> Self {
        self.cap = cap;
        self
    }

    /// Takes turns at long lines with other readers.
    #[must_use]
    pub fn taking_turns(mut self, long_lines: &LongLines) -> Self {
        self.long_lines = Some(long_lines.clone());
        self
    }

    /// The next whole line, or what is behind the record that was read; `None` at the end of what is written so far.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let rest = self.reading.rest.take();
        if rest > 0 {
            return Ok(Some(self.rest_of_line(rest)));
        }
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..self.pending.end]) {
                let end = self.searched + at;
                let length = end - self.pending.start;
                if std::mem::take(&mut self.is_skipping) || length > self.cap {
                    self.take(end, 1);
                    self.too_long += 1;
                    continue;
                }
                return Ok(Some(self.line(end, 1)));
            }
            self.searched = self.pending.end;
            if self.pending.len() > self.cap {
                self.is_skipping = true;
            }
            if self.is_skipping {
                self.skip_long_line()?;
            }
            if self.ended || !self.fill()? {
                return Ok(self.is_last_whole().then(|| self.line(self.pending.end, 0)));
            }
        }
    }

    /// Whether what follows the last newline is a whole record: some programs leave the last newline out.
    fn is_last_whole(&self) -> bool {
        !self.is_skipping && is_object(content(self.unfinished(), self.offset))
    }

    /// Takes the line that ends at `end` in the buffer, followed by a newline of `newline` bytes.
    fn take(&mut self, end: usize, newline: usize) {
        self.offset += (end + newline - self.pending.start) as u64;
        self.pending.start = end + newline;
        self.searched = self.pending.start;
        self.lines += 1;
    }

    fn line(&mut self, end: usize, newline: usize) -> Line<'_> {
        let (start, offset) = (self.pending.start, self.offset);
        self.take(end, newline);
        self.latest = (start..end, offset);
        self.latest_line(false)
    }

    /// The part of the latest line from `rest` on.
    fn rest_of_line(&mut self, rest: usize) -> Line<'_> {
        let rest = self.place_of_rest(rest);
        self.latest.0.start += rest;
        self.latest.1 += rest as u64;
        self.latest_line(true)
    }

    /// Where in the latest line, as it is in the file, its rest begins.
    fn place_of_rest(&self, rest: usize) -> usize {
        let (range, offset) = &self.latest;
        let line = &self.buffer[range.clone()];
        let mark = if *offset == 0 && line.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        mark + if self.repaired.is_empty() { rest } else { place_in(&line[mark..], rest) }
    }

    fn latest_line(&mut self, is_rest: bool) -> Line<'_> {
        let (range, offset) = (self.latest.0.clone(), self.latest.1);
        let bytes = content(&self.buffer[range], offset);
        let (number, reading) = (self.lines, Some(&self.reading));
        self.repaired = String::new();
        let text = simdutf8::basic::from_utf8(bytes).ok();
        let line = Line { offset, number, bytes, text, is_mended: false, is_rest, reading };
        if text.is_none() && replace_invalid_utf8(bytes, self.cap, &mut self.repaired) {
            let text = self.repaired.as_str();
            return Line { bytes: text.as_bytes(), text: Some(text), is_mended: true, ..line };
        }
        line
    }

    /// Discards the part of a line over the cap that was read.
    fn skip_long_line(&mut self) -> io::Result<()> {
        let is_empty = self.unfinished().iter().all(|byte| *byte == 0);
        self.offset += self.pending.len() as u64;
        self.pending = 0..0;
        self.searched = 0;
        if let Some(skip) = self.skip_hole.filter(|_| is_empty) {
            self.offset += skip(&mut self.source)?;
        }
        Ok(())
    }

    /// The offset after what was read of whole lines, where a later reader continues.
    ///
    /// When the file ends inside a line over the cap, the offset is inside that line, and its rest is one more line
    /// that is not JSON.
    pub fn offset(&self) -> u64 {
        match self.reading.rest.get() {
            0 => self.offset,
            rest => self.latest.1 + self.place_of_rest(rest) as u64,
        }
    }

    /// The number of lines so far, including skipped ones.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The number of lines that were skipped because they were longer than the cap.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// The bytes after the last line that was returned.
    pub fn unfinished(&self) -> &[u8] {
        &self.buffer[self.pending.clone()]
    }

    /// Reads more behind what is pending; false at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        if self.pending.start > 0 {
            self.buffer.copy_within(self.pending.clone(), 0);
            self.searched -= self.pending.start;
            self.pending = 0..self.pending.len();
        }
        if self.buffer.capacity() > 4 * CHUNK && self.pending.len() < CHUNK {
            // A long line was returned: free its buffer.
            self.buffer.shrink(2 * CHUNK);
            self.turn = None;
        }
        if self.pending.len() > LONG && self.turn.is_none() {
            self.turn = self.long_lines.as_ref().map(LongLines::wait);
        }
        // Twice as much each time, and never more room than the longest line needs.
        let most = CHUNK + self.cap.saturating_sub(self.pending.len());
        let wanted = self.pending.len().clamp(CHUNK, most);
        // In whole steps, or every line a little longer than those before would move it all; two at once,
        // because the second chunk follows the rest of the first.
        self.buffer.reserve((self.pending.end + wanted).next_multiple_of(2 * CHUNK));
        let before = self.pending.end;
        self.ended = !self.read_until(before + wanted)?;
        Ok(self.pending.end > before)
    }

    /// Reads behind what is pending until the buffer holds `end` bytes; false at the end of the file.
    fn read_until(&mut self, end: usize) -> io::Result<bool> {
        while self.pending.end < end {
            let from = self.pending.end;
            // No further than is read: what is set takes memory.
            let to = end.min(from + CHUNK);
            self.buffer.grow(to);
            match self.source.read(&mut self.buffer[from..to]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.pending.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Continues at the next data of a sparse file, or at its end.
fn skip_hole(transcript: &mut OpenTranscript) -> io::Result<u64> {
    let OpenTranscript::Living(file) = transcript else { return Ok(0) };
    let at = file.stream_position()?;
    match rustix::fs::seek(&*file, rustix::fs::SeekFrom::Data(at)) {
        Ok(next) => Ok(next.saturating_sub(at)),
        Err(Errno::NXIO) => Ok(file.seek(SeekFrom::End(0))?.saturating_sub(at)),
        // Not every file system supports holes.
        Err(_) => file.seek(SeekFrom::Start(at)).map(|_| 0),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn all<R: Read>(mut reader: Reader<R>) -> (Vec<(u64, String)>, u64, u64) {
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push((line.offset, String::from_utf8_lossy(line.bytes).into_owned()));
        }
        (lines, reader.offset(), reader.too_long())
    }

    fn check(input: &[u8], expected: &[(u64, &str)], offset: u64) {
        let (lines, end, _) = all(Reader::new(input));
        let lines: Vec<_> = lines.iter().map(|(at, text)| (*at, text.as_str())).collect();
        assert_eq!(lines, expected);
        assert_eq!(end, offset);
    }

    #[test]
    fn only_complete_lines_are_returned() {
        check(b"", &[], 0);
        check(b"a\nbc\n", &[(0, "a"), (2, "bc")], 5);
        check(b"a\nbc", &[(0, "a")], 2);
        check(b"\n\na\r\n", &[(0, ""), (1, ""), (2, "a")], 5);
        check(b"\xef\xbb\xbfa\n", &[(0, "a")], 5);
    }

    #[test]
    fn a_complete_record_without_a_newline_is_a_line() {
        check(b"a\n{\"b\":1}", &[(0, "a"), (2, "{\"b\":1}")], 9);
        check(b"{\"b\":1}", &[(0, "{\"b\":1}")], 7);
        check(b"\xef\xbb\xbf{}", &[(0, "{}")], 5);
        check(b"{\"b\":\"\xff\"}", &[(0, "{\"b\":\"\u{fffd}\"}")], 9);
        check(b"{\"b\":1", &[], 0);
        check(b"{\"b\":{}", &[], 0);
        check(b"{} x", &[], 0);
        check(b"[1]", &[], 0);
        check(b"{\"type\":\"api-request\",\"params\":{", &[], 0);
        check(b"{\"type\":\"api-request\"}", &[(0, "{\"type\":\"api-request\"}")], 22);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced_as_node_does() {
        let repaired = |input: &[u8]| {
            let mut reader = Reader::new(input);
            let line = reader.next_line().unwrap().unwrap();
            (String::from_utf8_lossy(line.bytes).into_owned(), line.is_mended, line.bytes.len())
        };
        assert_eq!(repaired(b"{\"a\":\"\xe4\"}\n"), ("{\"a\":\"\u{fffd}\"}".to_owned(), true, 11));
        assert_eq!(repaired(b"{\"a\":\"\xe2\x82\"}\n").0, "{\"a\":\"\u{fffd}\"}");
        assert_eq!(repaired(b"{\"a\":\"\xff\xfe\"}\n").0, "{\"a\":\"\u{fffd}\u{fffd}\"}");
        assert!(!repaired("{\"a\":\"ä\"}\n".as_bytes()).1);
        assert!(!repaired(b"\x89PNG\n").1);
        // What would grow over the cap stays as it is.
        let many = [b"{\"a\":\"".as_slice(), &[0xff; 100], b"\"}\n"].concat();
        let mut reader = Reader::new(&many[..]).with_cap(200);
        assert!(!reader.next_line().unwrap().unwrap().is_mended);
    }

    #[test]
    fn holes_in_sparse_files_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        let file = File::create(&path).unwrap();
        let size = 1 << 40;
        file.set_len(size).unwrap();
        let mut reader = Reader::open(&path).unwrap().with_cap(CHUNK);
        assert!(reader.next_line().unwrap().is_none());
        assert_eq!((reader.offset(), reader.lines()), (size, 0));
        std::os::unix::fs::FileExt::write_all_at(&file, b"\n{}\n", size).unwrap();
        let mut reader = Reader::open(&path).unwrap().with_cap(CHUNK);
        let line = reader.next_line().unwrap().unwrap();
        assert_eq!((line.offset, line.number, line.bytes), (size + 1, 2, &b"{}"[..]));
        assert_eq!(reader.too_long(), 1);
    }

    #[test]
    fn a_line_over_the_cap_is_skipped() {
        let mut input = b"first\n".to_vec();
        input.extend(std::iter::repeat_n(b'x', 3 * CHUNK));
        input.extend(b"\nlast\n");
        let (lines, end, too_long) = all(Reader::new(&input[..]).with_cap(CHUNK));
        assert_eq!(lines.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["first", "last"]);
        assert_eq!((end, too_long), (input.len() as u64, 1));
    }

    #[test]
    fn memory_is_bounded_by_the_cap_not_by_the_line() {
        let endless = io::repeat(b'x').take(64 << 20);
        let mut reader = Reader::new(endless).with_cap(1 << 20);
        assert!(reader.next_line().unwrap().is_none());
        assert!(reader.buffer.capacity() <= 3 << 20, "{}", reader.buffer.capacity());
    }

    #[test]
    fn the_buffer_of_a_long_line_is_freed() {
        let mut input = vec![b'x'; 8 << 20];
        input.push(b'\n');
        input.extend("short\n".repeat(4_000_000).into_bytes());
        let mut reader = Reader::new(&input[..]);
        while reader.next_line().unwrap().is_some() {}
        assert!(reader.buffer.capacity() <= 8 * CHUNK, "{}", reader.buffer.capacity());
    }

    /// Returns as many bytes as the next number says.
    struct Pieces<'a>(&'a [u8], Vec<usize>);

    impl Read for Pieces<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let size = self.1.pop().unwrap_or(7).clamp(1, out.len()).min(self.0.len());
            out[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    proptest::proptest! {
        #[test]
        fn the_result_does_not_depend_on_read_sizes(
            input in "[a\n\r]{0,300}",
            pieces in proptest::collection::vec(1_usize..40, 0..60),
            cap in 1_usize..50,
        ) {
            let whole = all(Reader::new(input.as_bytes()).with_cap(LINE_CAP));
            let cut = all(Reader::new(Pieces(input.as_bytes(), pieces)).with_cap(LINE_CAP));
            proptest::prop_assert_eq!(whole, cut);
            let (lines, _, _) = all(Reader::new(input.as_bytes()).with_cap(cap));
            proptest::prop_assert!(lines.len() <= input.matches('\n').count());
        }
    }
}
