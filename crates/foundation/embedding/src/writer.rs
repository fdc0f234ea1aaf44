//! Appends vectors to their file.
//!
//! The caller's lock allows one writer at a time. A writer that was killed leaves rows that were never committed; the
//! next one removes them.

use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, io_failed};
use crate::rows::{VectorKey, VectorModel, checksum, push};
use crate::vector::QuantizedVector;
use crate::vectors::{Vectors, check_file};

/// The number of bytes written at a time.
const BUFFER: usize = 1 << 20;

/// A file of vectors, open for adding to it.
#[derive(Debug)]
pub struct VectorWriter {
    path: PathBuf,
    file: File,
    model: VectorModel,
    rows: u64,
    /// The checksum of the rows that were added since the file was opened.
    added: u64,
    buffer: Vec<u8>,
}

impl VectorWriter {
    /// Makes an empty file, in place of one that is there.
    pub fn create(path: &Path, model: VectorModel) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(path).map_err(io_failed("create", path))?;
        Ok(Self { path: path.to_owned(), file, model, rows: 0, added: 0, buffer: model.header().to_vec() })
    }

    /// Opens a file with `rows` committed rows and removes anything after them.
    pub fn open(path: &Path, model: VectorModel, rows: u64) -> Result<Self, Error> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(io_failed("open", path))?;
        check_file(&file, path, model, rows)?;
        file.set_len(model.offset(rows)).map_err(io_failed("shorten", path))?;
        (&file).seek(SeekFrom::End(0)).map_err(io_failed("open", path))?;
        Ok(Self { path: path.to_owned(), file, model, rows, added: 0, buffer: Vec::new() })
    }

    /// Adds a vector, which must have the model's dimensions: else nothing is added, and false returned.
    pub fn add(&mut self, key: VectorKey, vector: &QuantizedVector) -> Result<bool, Error> {
        if vector.numbers.len() != self.model.dimensions {
            return Ok(false);
        }
        let start = self.buffer.len();
        push(&mut self.buffer, key, vector);
        self.count(start);
        self.write_if(self.buffer.len() >= BUFFER)?;
        Ok(true)
    }

    /// Appends the vectors of another file of the same model that `keep` accepts.
    pub fn add_all(&mut self, others: &Vectors, keep: impl Fn(VectorKey) -> bool) -> Result<(), Error> {
        if others.model() != self.model {
            return Err(Error::OtherModel { path: others.path().to_owned() });
        }
        others.each(|key, row| {
            if keep(key) {
                let start = self.buffer.len();
                self.buffer.extend_from_slice(row);
                self.count(start);
            }
            self.write_if(self.buffer.len() >= BUFFER)
        })
    }

    /// Writes everything to disk and returns the number of rows to commit.
    pub fn sync(&mut self) -> Result<u64, Error> {
        self.write_if(true)?;
        self.file.sync_data().map_err(io_failed("write", &self.path))?;
        Ok(self.rows)
    }

    /// The checksum of the rows that were added since the file was created or opened: with that of the rows before, it is
    /// what [`Vectors::checksum`] returns.
    pub fn added_checksum(&self) -> u64 {
        self.added
    }

    /// Counts the row that begins there in the buffer.
    fn count(&mut self, start: usize) {
        self.rows += 1;
        self.added = self.added.wrapping_add(checksum(self.buffer.get(start..).unwrap_or_default()));
    }

    fn write_if(&mut self, due: bool) -> Result<(), Error> {
        if due {
            self.file.write_all(&self.buffer).map_err(io_failed("write", &self.path))?;
            self.buffer.clear();
        }
        Ok(())
    }
}
