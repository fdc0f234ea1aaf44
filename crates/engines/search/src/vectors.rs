//! The vectors of the indexed text, next to the text index: written with the chunks, committed by the list of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use embedding::{DIMENSIONS, Embedder, TokenTable, VectorKey, VectorModel, VectorWriter, Vectors};

use crate::files::VectorFile;
use crate::unit::Unit;

/// The table in the binary.
static TABLE: LazyLock<TokenTable> = LazyLock::new(TokenTable::built_in);

/// The path of a file of vectors; each compaction begins a new file.
fn file(folder: &Path, number: u64) -> PathBuf {
    if number == 0 { folder.join("vectors.bin") } else { folder.join(format!("vectors-{number}.bin")) }
}

fn model() -> VectorModel {
    VectorModel { hash: TABLE.hash(), dimensions: DIMENSIONS }
}

/// Begins to embed, with the table in the binary.
pub(crate) fn embedder() -> Embedder<'static> {
    TABLE.embedder()
}

/// Whether a text can be embedded: asks the table once.
pub fn can_embed() -> bool {
    embedder().embed("token refresh").is_some()
}

/// Opens the vectors that count; `None` when there are none, or of another model.
pub(crate) fn open(folder: &Path, kept: VectorFile) -> Option<Vectors> {
    if kept.rows == 0 { None } else { Vectors::open(&file(folder, kept.file), model(), kept.rows).ok() }
}

/// The file of the vectors that count, where they are not what was written.
pub(crate) fn damaged(folder: &Path, kept: VectorFile) -> Option<PathBuf> {
    let expected = kept.checksum.filter(|_| kept.rows > 0)?;
    // Of another model, or lost: that is seen, and mended, wherever they are opened.
    let vectors = open(folder, kept)?;
    let is_whole = vectors.checksum().is_ok_and(|checksum| checksum == expected);
    (!is_whole).then(|| file(folder, kept.file))
}

/// Whether all vectors that count are among those that were opened.
pub(crate) fn are_there(opened: Option<&Vectors>, kept: VectorFile) -> bool {
    kept.rows == 0 || opened.is_some()
}

/// The vectors, open for adding to them.
pub(crate) struct VectorStore {
    embedder: Embedder<'static>,
    vectors: VectorWriter,
    folder: PathBuf,
    /// The number of their file.
    number: u64,
    /// The checksum of the rows that were there when it was opened; `None` where it is unknown.
    before: Option<u64>,
}

impl VectorStore {
    /// Opens the vectors that count, and whether they are there: when they are lost, or of another model, it
    /// begins with none.
    pub(crate) fn open(folder: &Path, kept: VectorFile) -> Result<(Self, bool), embedding::Error> {
        let path = file(folder, kept.file);
        let opened = if kept.rows == 0 { None } else { VectorWriter::open(&path, model(), kept.rows).ok() };
        let complete = kept.rows == 0 || opened.is_some();
        let vectors = match opened {
            Some(vectors) => vectors,
            None => VectorWriter::create(&path, model())?,
        };
        sweep(folder, &path);
        let before = if kept.rows == 0 || !complete { Some(0) } else { kept.checksum };
        let folder = folder.to_owned();
        Ok((Self { embedder: embedder(), vectors, folder, number: kept.file, before }, complete))
    }

    /// Removes all vectors.
    pub(crate) fn clear(&mut self) -> Result<(), embedding::Error> {
        self.begin()
    }

    /// Writes the vectors for which `is_listed` is true to a new file, and returns its state: once that is committed,
    /// [`VectorStore::forget_before`] removes the old file.
    pub(crate) fn compacted(
        &mut self,
        all: &Vectors,
        is_listed: impl Fn(VectorKey) -> bool,
    ) -> Result<VectorFile, embedding::Error> {
        self.number += 1;
        self.begin()?;
        self.vectors.add_all(all, is_listed)?;
        self.sync()
    }

    /// Removes files of vectors that count no more.
    pub(crate) fn forget_before(&self) {
        sweep(&self.folder, &file(&self.folder, self.number));
    }

    /// Adds what a unit of a record means, piece by piece.
    pub(crate) fn add(&mut self, unit: &Unit<'_>, file: u64, record: u64) -> Result<(), embedding::Error> {
        // No list holds more files.
        let Ok(file) = u32::try_from(file) else { return Ok(()) };
        for piece in unit.pieces() {
            if let Some(vector) = self.embedder.embed_for_index(piece) {
                self.vectors.add(VectorKey { file, place: record }, &vector)?;
            }
        }
        Ok(())
    }

    /// Makes all that was added durable; returns what is to be committed.
    pub(crate) fn sync(&mut self) -> Result<VectorFile, embedding::Error> {
        let rows = self.vectors.sync()?;
        let checksum = self.before.map(|before| before.wrapping_add(self.vectors.added_checksum()));
        Ok(VectorFile { rows, file: self.number, checksum })
    }

    /// Begins a file without vectors.
    fn begin(&mut self) -> Result<(), embedding::Error> {
        self.vectors = VectorWriter::create(&file(&self.folder, self.number), model())?;
        self.before = Some(0);
        Ok(())
    }
}

/// Removes every file of vectors but one. What cannot be removed uses disk space, nothing else.
fn sweep(folder: &Path, kept: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("vectors") && name.ends_with(".bin") && entry.path() != kept {
            let _ = fs::remove_file(entry.path());
        }
    }
}
