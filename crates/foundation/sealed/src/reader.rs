//! Reads a copy like the file that was copied: from any offset, in constant memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::files_of;
use crate::format::{FRAME, FRAME_HEAD, FrameHead, SourceStamp, read_frame_head, read_tail_head, unpack};

/// An open copy.
#[derive(Debug)]
pub struct SealedReader {
    source: SourceStamp,
    full: Option<File>,
    /// How many bytes of that count.
    full_length: u64,
    tail: File,
    /// Where in it the last frame is.
    last_at: u64,
    /// The head of the last frame.
    last: FrameHead,
    /// The full frames passed so far: where each is in its file.
    known: Vec<u64>,
    /// Where the frame after these is.
    next: u64,
    /// The unpacked frame that was read last, and where it begins.
    unpacked: Option<(u64, Vec<u8>)>,
    position: u64,
}

impl SealedReader {
    /// Opens the copy of `path`. Fails with [`io::ErrorKind::NotFound`] where there is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        let [full, tail] = files_of(path);
        let tail = system::open_regular(&tail)?;
        let head = read_tail_head(&tail)?;
        let last = read_frame_head(&tail, head.frame_at, head.last_frame_offset())?;
        let full = if head.full > 0 { Some(system::open_regular(&full)?) } else { None };
        Ok(Self {
            source: head.source,
            full,
            full_length: head.full,
            tail,
            last_at: head.frame_at,
            last,
            known: Vec::new(),
            next: 0,
            unpacked: None,
            position: 0,
        })
    }

    /// What the copied file was when it was copied last.
    pub fn source(&self) -> SourceStamp {
        self.source
    }

    /// How many bytes of the file with the full frames count.
    pub(crate) fn full_length(&self) -> u64 {
        self.full_length
    }

    /// The length of what was copied.
    pub fn length(&self) -> u64 {
        self.last.offset + u64::from(self.last.length)
    }

    /// Reads what is at `offset`, at most to the end of a frame; nothing at the end.
    pub fn read_at(&mut self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let frame = self.frame_at(offset)?;
        let from = usize::try_from(offset - frame.0).unwrap_or(usize::MAX).min(frame.1.len());
        let rest = &frame.1[from..];
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    /// Fills `out` with what is at `offset`.
    pub fn read_exact_at(&mut self, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !out.is_empty() {
            match self.read_at(out, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => {
                    out = &mut out[length..];
                    offset += length as u64;
                }
            }
        }
        Ok(())
    }

    /// The last frame: where it begins, and what it holds.
    pub fn last_frame(&mut self) -> io::Result<(u64, &[u8])> {
        let frame = self.frame_at(self.last.offset)?;
        Ok((frame.0, &frame.1))
    }

    /// The frame that holds `offset`, or the last one, unpacked.
    fn frame_at(&mut self, offset: u64) -> io::Result<&(u64, Vec<u8>)> {
        let begins = (offset - offset % FRAME as u64).min(self.last.offset);
        if self.unpacked.as_ref().is_none_or(|(known, _)| *known != begins) {
            let bytes = if begins == self.last.offset {
                unpack(&self.tail, self.last_at, &self.last)?
            } else {
                self.full_frame(begins)?
            };
            self.unpacked = None;
            self.unpacked = Some((begins, bytes));
        }
        self.unpacked.as_ref().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// A full frame: those before it are passed by their heads.
    fn full_frame(&mut self, begins: u64) -> io::Result<Vec<u8>> {
        let file = self.full.as_ref().ok_or(io::ErrorKind::UnexpectedEof)?;
        let number = usize::try_from(begins / FRAME as u64).unwrap_or(usize::MAX);
        while self.known.len() <= number {
            let head = read_frame_head(file, self.next, (self.known.len() * FRAME) as u64)?;
            self.known.push(self.next);
            self.next += FRAME_HEAD as u64 + u64::from(head.packed);
        }
        let at = self.known[number];
        unpack(file, at, &read_frame_head(file, at, begins)?)
    }
}

impl Read for SealedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.read_at(out, self.position)?;
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for SealedReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.length().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
