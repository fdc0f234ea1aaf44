//! Opens a transcript wherever it is: the file itself or, where that is gone, the archive's copy under the same name.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use sealed::SealedReader;
use system::FileStamp;

/// An open transcript, or another file that the archive may keep.
#[derive(Debug)]
pub enum OpenTranscript {
    /// The file itself.
    Living(File),
    /// The archive's copy.
    Archived(Box<SealedReader>),
}

impl OpenTranscript {
    /// Opens a transcript by its path; the last component must not be a symbolic link.
    pub fn open(path: &Path) -> io::Result<Self> {
        match system::open_regular(path) {
            Ok(file) => Ok(Self::Living(file)),
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => match SealedReader::open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(gone),
                opened => Ok(Self::Archived(Box::new(opened?))),
            },
            Err(error) => Err(error),
        }
    }

    /// Whether a transcript is there, or a copy of it.
    pub fn is_there(path: &Path) -> bool {
        path.is_file() || sealed::files_of(path)[1].is_file()
    }

    /// Reads a whole side file of at most `limit` bytes.
    pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match Self::open(path)? {
            Self::Living(file) => system::read_limited(file, limit),
            Self::Archived(mut copy) if copy.length() <= limit => {
                let mut bytes = Vec::new();
                copy.read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Self::Archived(_) => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    /// The stamp of the file; of a copy, that of the file when it was copied last.
    pub fn stamp(&self) -> io::Result<FileStamp> {
        match self {
            Self::Living(file) => Ok(FileStamp::from_metadata(&file.metadata()?)),
            Self::Archived(copy) => Ok(copy.source().stamp),
        }
    }

    /// Reads what is at `offset`: less than `out` holds only at the end.
    pub fn read_at(&mut self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < out.len() {
            let (rest, at) = (&mut out[filled..], offset + filled as u64);
            let read = match self {
                Self::Living(file) => file.read_at(rest, at)?,
                Self::Archived(copy) => copy.read_at(rest, at)?,
            };
            if read == 0 {
                break;
            }
            filled += read;
        }
        Ok(filled)
    }

    /// Fills `out` with what is at `offset`.
    pub fn read_exact_at(&mut self, out: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::Living(file) => file.read_exact_at(out, offset),
            Self::Archived(copy) => copy.read_exact_at(out, offset),
        }
    }
}

impl Read for OpenTranscript {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Living(file) => file.read(out),
            Self::Archived(copy) => copy.read(out),
        }
    }
}

impl Seek for OpenTranscript {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Living(file) => file.seek(to),
            Self::Archived(copy) => copy.seek(to),
        }
    }
}
