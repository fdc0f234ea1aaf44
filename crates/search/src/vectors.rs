//! The vectors of what was said, beside the text index: added with the chunks, counted by the list of files.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use embedding::{DIMENSIONS, Embedder, Key, Model, Table, VectorWriter, Vectors};

use crate::chunk::Unit;

/// The table in the binary.
static TABLE: LazyLock<Table> = LazyLock::new(Table::built_in);

/// Where the vectors lie.
fn file(folder: &Path) -> PathBuf {
    folder.join("vectors.bin")
}

fn model() -> Model {
    Model { hash: TABLE.hash(), dimensions: DIMENSIONS }
}

/// Begins to embed, with the table in the binary.
pub(crate) fn embedder() -> Embedder<'static> {
    TABLE.embedder()
}

/// Opens the vectors of which `rows` count; `None` when there are none, or of another model.
pub(crate) fn open(folder: &Path, rows: u64) -> Option<Vectors> {
    if rows == 0 { None } else { Vectors::open(&file(folder), model(), rows).ok() }
}

/// The vectors, open for adding to them.
pub(crate) struct Meanings {
    embedder: Embedder<'static>,
    vectors: VectorWriter,
}

impl Meanings {
    /// Opens the vectors of which `rows` count, and whether they are there: when they are lost, or of another
    /// model, it begins with none.
    pub(crate) fn open(folder: &Path, rows: u64) -> Result<(Self, bool), embedding::Error> {
        let kept = if rows == 0 { None } else { VectorWriter::open(&file(folder), model(), rows).ok() };
        let complete = rows == 0 || kept.is_some();
        let vectors = match kept {
            Some(vectors) => vectors,
            None => VectorWriter::create(&file(folder), model())?,
        };
        Ok((Self { embedder: embedder(), vectors }, complete))
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self, folder: &Path) -> Result<(), embedding::Error> {
        self.vectors = VectorWriter::create(&file(folder), model())?;
        Ok(())
    }

    /// Adds what a unit of a record means, piece by piece.
    pub(crate) fn add(&mut self, unit: &Unit<'_>, file: u64, record: u64) -> Result<(), embedding::Error> {
        // No list holds more files.
        let Ok(file) = u32::try_from(file) else { return Ok(()) };
        for piece in unit.pieces() {
            if let Some(vector) = self.embedder.embed(piece) {
                self.vectors.add(Key { file, place: record }, &vector.in_bytes())?;
            }
        }
        Ok(())
    }

    /// Makes all that was added durable; returns how many rows there are.
    pub(crate) fn sync(&mut self) -> Result<u64, embedding::Error> {
        self.vectors.sync()
    }
}
