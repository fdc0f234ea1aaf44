//! Reads lines from a pipe or socket as soon as they arrive and skips lines over a limit without buffering
//! them.

use std::io::{self, BufRead as _, BufReader, Read};

/// Size of a read in bytes.
const CHUNK: usize = 32 << 10;

/// A line that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A complete line without its newline.
    Whole(Vec<u8>),
    /// A line over the limit.
    TooLong,
}

/// A reader of lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    source: BufReader<R>,
    cap: usize,
}

impl<R: Read> Lines<R> {
    /// Reads lines of at most `cap` bytes.
    pub(crate) fn new(source: R, cap: usize) -> Self {
        Self { source: BufReader::with_capacity(CHUNK, source), cap }
    }

    /// The next line; the last may lack a newline. `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let (mut any, mut too_long) = (false, false);
        loop {
            let bytes = match self.source.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Ok(any.then(|| done(line, too_long)));
            }
            any = true;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            too_long |= line.len() + piece.len() > self.cap;
            if too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(piece);
            }
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.source.consume(used);
            if end.is_some() {
                return Ok(Some(done(line, too_long)));
            }
        }
    }
}

fn done(line: Vec<u8>, too_long: bool) -> Line {
    if too_long { Line::TooLong } else { Line::Whole(line) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn check(text: &[u8], expected: &[Option<&[u8]>]) {
        let mut lines = Lines::new(text, 5);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(line);
        }
        let wanted: Vec<_> = expected
            .iter()
            .map(|line| line.map_or(Line::TooLong, |line| Line::Whole(line.to_vec())))
            .collect();
        assert_eq!(found, wanted, "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn lines_are_bounded_and_the_last_needs_no_newline() {
        check(b"", &[]);
        check(b"a\n\nb", &[Some(b"a"), Some(b""), Some(b"b")]);
        check(b"12345\n123456\n7\n", &[Some(b"12345"), None, Some(b"7")]);
        check(&vec![b'x'; 100_000], &[None]);
    }

    #[test]
    fn a_line_is_returned_before_the_next_is_written() {
        let (read, mut write) = io::pipe().unwrap();
        let mut lines = Lines::new(read, 100);
        write.write_all(b"one\ntw").unwrap();
        assert_eq!(lines.next_line().unwrap(), Some(Line::Whole(b"one".to_vec())));
        write.write_all(b"o\n").unwrap();
        assert_eq!(lines.next_line().unwrap(), Some(Line::Whole(b"two".to_vec())));
        drop(write);
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
