//! Writes a copy: full frames are appended to the one file, then the other is replaced.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::format::{FRAME, SourceStamp, TAIL_HEAD, TailHead, pack};
use crate::{SealedReader, files_of};

/// What the name of the file that replaces another ends in.
const NEW: &str = "new";

/// A copy that is being written. Until [`finish`](Self::finish), readers see it as it was.
///
/// Only one at a time may write to a copy.
#[derive(Debug)]
pub struct Appender {
    full: PathBuf,
    tail: PathBuf,
    /// The file with the full frames, once there is one to write.
    out: Option<File>,
    /// How many bytes of it count.
    full_length: u64,
    /// Where in the copied file the frame begins that is not written yet.
    begins: u64,
    /// What it holds so far.
    pending: Vec<u8>,
    written: u64,
}

impl Appender {
    /// Begins a copy in place of the one that may be there.
    pub fn create(path: &Path) -> Self {
        let [full, tail] = files_of(path);
        Self { full, tail, out: None, full_length: 0, begins: 0, pending: Vec::new(), written: 0 }
    }

    /// Continues the copy that is there.
    pub fn resume(path: &Path) -> io::Result<Self> {
        let mut reader = SealedReader::open(path)?;
        let full_length = reader.full_length();
        let (begins, last) = reader.last_frame()?;
        Ok(Self { begins, pending: last.to_vec(), full_length, ..Self::create(path) })
    }

    /// The length of the copy with all that was written to it.
    pub fn length(&self) -> u64 {
        self.begins + self.pending.len() as u64
    }

    /// The last bytes of the copy: those of the frame that is not full.
    pub fn last(&self) -> (u64, &[u8]) {
        (self.begins, &self.pending)
    }

    /// Appends bytes.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = FRAME - self.pending.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == FRAME {
                self.write_full_frame()?;
            }
        }
        Ok(())
    }

    /// Makes what was written the copy, and returns how many bytes that took. With `sync` it is on the disk
    /// afterwards, else the system writes it when it likes.
    ///
    /// `source` says what the copied file was; its size becomes the length of the copy. The file with the last frame
    /// gets the time `mark`, by which a later look recognizes what was copied.
    pub fn finish(mut self, source: SourceStamp, mark: i64, sync: bool) -> io::Result<u64> {
        let mut source = source;
        source.stamp.size = self.length();
        let head = TailHead { source, full: self.full_length, frame_at: TAIL_HEAD as u64 };
        let mut bytes = head.to_bytes().to_vec();
        pack(self.begins, &self.pending, &mut bytes)?;
        if let Some(out) = &self.out {
            // The last frame says that these count: they have to be there before it is.
            out.sync_data()?;
        }
        let new = self.tail.with_extension(NEW);
        let mut file = system::private_file().write(true).create(true).truncate(true).open(&new)?;
        file.write_all(&bytes)?;
        let mark = Duration::from_nanos(mark.unsigned_abs());
        file.set_modified(UNIX_EPOCH + mark)?;
        if sync {
            file.sync_all()?;
        }
        fs::rename(&new, &self.tail)?;
        self.written += bytes.len() as u64;
        if self.full_length == 0 {
            // Of a copy that was here before.
            crate::remove_file(&self.full)?;
        }
        Ok(self.written)
    }

    /// Writes a full frame.
    fn write_full_frame(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        pack(self.begins, &self.pending, &mut bytes)?;
        let length = self.full_length;
        let out = match &mut self.out {
            Some(out) => out,
            none => {
                let mut file =
                    system::private_file().write(true).create(true).truncate(false).open(&self.full)?;
                // The rest was written by a process that ended before it finished.
                file.set_len(length)?;
                file.seek(SeekFrom::End(0))?;
                none.insert(file)
            }
        };
        out.write_all(&bytes)?;
        self.full_length += bytes.len() as u64;
        self.written += bytes.len() as u64;
        self.begins += FRAME as u64;
        self.pending.clear();
        Ok(())
    }
}
