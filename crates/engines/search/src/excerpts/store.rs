//! The vectors of excerpts: a file of vectors that only grows, and a note of how many of them count and of which files of the list they
//! are.

use std::fs;
use std::path::{Path, PathBuf};

use embedding::{Vector, VectorKey, VectorModel, VectorWriter, Vectors};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, io_failed};

/// Raised when the fields of the note change, or which texts of a session are its excerpts.
const FORMAT: u32 = 1;
/// The largest note that is read, in bytes: some million files.
const LARGEST_NOTE: u64 = 64 << 20;

/// The folder of the excerpts of an index.
pub(crate) fn folder(index: &Path) -> PathBuf {
    index.join("excerpts")
}

/// What is committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    format: u32,
    /// The hash of the model.
    model: u64,
    dimensions: usize,
    /// The list of files that the keys are numbers of.
    list: u64,
    /// The number of the file of vectors.
    file: u64,
    rows: u64,
    /// How many chunks each file had when its excerpts were chosen.
    chunks: FxHashMap<u32, u64>,
}

/// The excerpts of one model for one list of files.
#[derive(Debug)]
pub(crate) struct ExcerptVectors {
    folder: PathBuf,
    note: Note,
}

impl ExcerptVectors {
    /// What was committed of this model for this list; `None` where there is nothing.
    pub(crate) fn find(index: &Path, model: VectorModel, list: u64) -> Option<Self> {
        Self::read(index).filter(|kept| kept.model() == model && kept.note.list == list)
    }

    fn read(index: &Path) -> Option<Self> {
        let folder = folder(index);
        let bytes = system::read_small(&note_file(&folder), LARGEST_NOTE).ok()?;
        let note: Note = postcard::from_bytes(&bytes).ok()?;
        (note.format == FORMAT).then_some(Self { folder, note })
    }

    /// The vectors.
    pub(crate) fn vectors(&self) -> Option<Vectors> {
        Vectors::open(&self.path(), self.model(), self.note.rows).ok()
    }

    /// How many chunks a file had when its excerpts were chosen; `None` where they never were.
    pub(crate) fn chunks_of(&self, file: u64) -> Option<u64> {
        u32::try_from(file).ok().and_then(|file| self.note.chunks.get(&file)).copied()
    }

    fn model(&self) -> VectorModel {
        VectorModel { hash: self.note.model, dimensions: self.note.dimensions }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("vectors-{}.bin", self.note.file))
    }
}

fn note_file(folder: &Path) -> PathBuf {
    folder.join("note.bin")
}

/// Adds excerpts. The caller holds the lock.
pub(crate) struct ExcerptWriter {
    kept: ExcerptVectors,
    writer: VectorWriter,
}

impl ExcerptWriter {
    /// Goes on behind what was committed, without the files that `is_kept` leaves out; or begins.
    pub(crate) fn open(
        index: &Path,
        model: VectorModel,
        list: u64,
        is_kept: impl Fn(u64, u64) -> bool,
    ) -> Result<Self, Error> {
        let Some(kept) = ExcerptVectors::find(index, model, list) else {
            return Self::begin(index, model, list);
        };
        match kept.vectors() {
            Some(vectors) => Self::without(kept, &vectors, is_kept),
            None => Self::begin(index, model, list),
        }
    }

    fn without(
        mut kept: ExcerptVectors,
        vectors: &Vectors,
        is_kept: impl Fn(u64, u64) -> bool,
    ) -> Result<Self, Error> {
        let before = kept.note.chunks.len();
        kept.note.chunks.retain(|file, chunks| is_kept(u64::from(*file), *chunks));
        if kept.note.chunks.len() == before {
            let writer = VectorWriter::open(&kept.path(), kept.model(), kept.note.rows)?;
            return Ok(Self { kept, writer });
        }
        let old = kept.path();
        kept.note.file += 1;
        let mut writer = VectorWriter::create(&kept.path(), kept.model())?;
        writer.add_all(vectors, |key| kept.note.chunks.contains_key(&key.file))?;
        let mut compacted = Self { kept, writer };
        compacted.commit()?;
        fs::remove_file(&old).map_err(io_failed("remove", &old))?;
        Ok(compacted)
    }

    fn begin(index: &Path, model: VectorModel, list: u64) -> Result<Self, Error> {
        let folder = folder(index);
        for old in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            if old.path().extension().is_some_and(|ending| ending == "bin") {
                fs::remove_file(old.path()).map_err(io_failed("remove", &old.path()))?;
            }
        }
        let VectorModel { hash, dimensions } = model;
        let note = Note {
            format: FORMAT,
            model: hash,
            dimensions,
            list,
            file: 0,
            rows: 0,
            chunks: FxHashMap::default(),
        };
        let kept = ExcerptVectors { folder, note };
        let writer = VectorWriter::create(&kept.path(), model)?;
        Ok(Self { kept, writer })
    }

    /// How many chunks a file had when its excerpts were chosen; `None` where they never were.
    pub(crate) fn chunks_of(&self, file: u64) -> Option<u64> {
        self.kept.chunks_of(file)
    }

    /// Adds the excerpts of a file that has so many chunks, each with the record that it is from.
    pub(crate) fn add(&mut self, file: u32, chunks: u64, excerpts: &[(u64, Vector)]) -> Result<(), Error> {
        for (place, vector) in excerpts {
            self.writer.add(VectorKey { file, place: *place }, &vector.quantize())?;
        }
        self.kept.note.chunks.insert(file, chunks);
        Ok(())
    }

    /// Makes what was added durable: the rows first, then the note of how many count.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        self.kept.note.rows = self.writer.sync()?;
        let path = note_file(&self.kept.folder);
        let bytes = postcard::to_stdvec(&self.kept.note).map_err(std::io::Error::other);
        bytes.and_then(|bytes| system::replace_private_file(&path, &bytes)).map_err(io_failed("write", &path))
    }
}

/// Leaves only the excerpts of listed files: what a person deleted leaves nothing.
pub(crate) fn retain(index: &Path, is_listed: impl Fn(u64) -> bool) -> Result<(), Error> {
    let Some(kept) = ExcerptVectors::read(index) else { return Ok(()) };
    let Some(vectors) = kept.vectors() else { return Ok(()) };
    ExcerptWriter::without(kept, &vectors, |file, _| is_listed(file)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: VectorModel = VectorModel { hash: 7, dimensions: 3 };

    fn vector(number: f32) -> Vector {
        Vector::normalized(vec![number, 1.0, 0.5]).unwrap()
    }

    fn opened(index: &Path, is_kept: impl Fn(u64, u64) -> bool) -> ExcerptWriter {
        ExcerptWriter::open(index, MODEL, 1, is_kept).unwrap()
    }

    fn files(index: &Path) -> Vec<u32> {
        let mut files = Vec::new();
        let kept = ExcerptVectors::find(index, MODEL, 1).unwrap();
        kept.vectors().unwrap().each_key(|key| files.push(key.file)).unwrap();
        files
    }

    #[test]
    fn what_was_committed_is_gone_on_with_and_nothing_else() {
        let index = tempfile::tempdir().unwrap();
        fs::create_dir(folder(index.path())).unwrap();
        let mut writer = opened(index.path(), |_, _| true);
        writer.add(1, 4, &[(10, vector(1.0)), (11, vector(2.0))]).unwrap();
        writer.commit().unwrap();
        writer.add(2, 4, &[(12, vector(3.0))]).unwrap();
        drop(writer);
        assert_eq!(files(index.path()), [1, 1]);
        let mut writer = opened(index.path(), |_, _| true);
        assert_eq!((writer.chunks_of(1), writer.chunks_of(2)), (Some(4), None));
        writer.add(3, 9, &[(12, vector(3.0))]).unwrap();
        writer.commit().unwrap();
        assert_eq!(files(index.path()), [1, 1, 3]);
        assert!(ExcerptVectors::find(index.path(), MODEL, 2).is_none(), "the list was made again");
        let other = VectorModel { hash: 8, ..MODEL };
        assert!(ExcerptVectors::find(index.path(), other, 1).is_none(), "another model");
    }

    #[test]
    fn what_was_deleted_leaves_nothing() {
        let index = tempfile::tempdir().unwrap();
        fs::create_dir(folder(index.path())).unwrap();
        let mut writer = opened(index.path(), |_, _| true);
        for file in 1..4 {
            writer.add(file, 1, &[(1, vector(1.0))]).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        retain(index.path(), |file| file != 2).unwrap();
        assert_eq!(files(index.path()), [1, 3]);
        drop(opened(index.path(), |file, _| file == 3));
        assert_eq!(files(index.path()), [3]);
        assert_eq!(fs::read_dir(folder(index.path())).unwrap().count(), 2);
    }
}
