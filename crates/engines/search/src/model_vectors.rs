//! The vectors of a model that a person chose, besides those of the built-in table. Each model has a folder with a
//! file of vectors that only grows and a note that says how much of it is committed.
//!
//! Their keys are numbers of one list of files: with another list, the vectors are computed again.

use std::fs;
use std::path::{Path, PathBuf};

use embedding::{VectorKey, VectorModel, VectorWriter, Vectors};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, io_failed};

/// The largest note that is read, in bytes.
const LONGEST_NOTE: u64 = 4096;

/// The stored vectors of one model.
#[derive(Debug, Clone)]
pub(crate) struct ModelVectors {
    folder: PathBuf,
    note: Note,
}

/// The committed state of a file of vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
struct Note {
    /// The hash of the model.
    model: u64,
    dimensions: usize,
    /// The list of files that the keys are numbers of.
    list: u64,
    /// The number of the file of vectors.
    file: u64,
    rows: u64,
    /// The number of rows if everything were embedded, when that was last counted.
    of: u64,
    /// The number of rows of the built-in table's vectors at that time.
    beside: u64,
}

/// The folder that contains the folders of all models.
pub(crate) fn models_folder(index: &Path) -> PathBuf {
    index.join("models")
}

fn folder_of(index: &Path, model: u64) -> PathBuf {
    models_folder(index).join(format!("{model:016x}"))
}

impl ModelVectors {
    /// The stored vectors of a model for a list of files; `None` where there are none.
    pub(crate) fn find(index: &Path, model: u64, list: u64) -> Option<Self> {
        let folder = folder_of(index, model);
        let text = system::read_small(&folder.join("note.json"), LONGEST_NOTE).ok()?;
        let note: Note = serde_json::from_slice(&text).ok()?;
        (note.model == model && note.list == list).then_some(Self { folder, note })
    }

    /// The share of the indexed text that has vectors, from 0 to 1, when the built-in table has `beside` rows.
    pub(crate) fn share(&self, beside: u64) -> f64 {
        let of = self.note.of.saturating_add(beside.saturating_sub(self.note.beside));
        if of == 0 { 0.0 } else { (self.note.rows as f64 / of as f64).min(1.0) }
    }

    /// The vectors, if they are of that model.
    pub(crate) fn vectors(&self, model: u64, dimensions: usize) -> Option<Vectors> {
        if (model, dimensions) != (self.note.model, self.note.dimensions) {
            return None;
        }
        Vectors::open(&self.path(), VectorModel { hash: model, dimensions }, self.note.rows).ok()
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("vectors-{}.bin", self.note.file))
    }
}

/// Adds vectors of a model. The caller holds the lock.
pub(crate) struct ModelVectorsWriter {
    kept: ModelVectors,
    writer: Option<VectorWriter>,
}

impl ModelVectorsWriter {
    /// Continues where the last writer stopped, or begins; `list` identifies the list of files whose numbers the keys
    /// are.
    pub(crate) fn open(index: &Path, model: u64, list: u64) -> Result<Self, Error> {
        let folder = folder_of(index, model);
        system::create_private_folder(&folder).map_err(io_failed("create", &folder))?;
        let fresh = ModelVectors { folder, note: Note { model, list, ..Note::default() } };
        let Some(kept) = ModelVectors::find(index, model, list) else {
            return Ok(Self { kept: fresh, writer: None });
        };
        let of = VectorModel { hash: model, dimensions: kept.note.dimensions };
        let writer = VectorWriter::open(&kept.path(), of, kept.note.rows).ok();
        // A file that was lost or damaged is begun again.
        let kept = if writer.is_some() || kept.note.rows == 0 { kept } else { fresh };
        Ok(Self { kept, writer })
    }

    /// The number of rows of each record.
    pub(crate) fn counts(&self) -> Result<FxHashMap<VectorKey, u32>, Error> {
        let mut counts = FxHashMap::default();
        if let Some(vectors) = self.kept.vectors(self.kept.note.model, self.kept.note.dimensions) {
            vectors.each_key(|key| *counts.entry(key).or_default() += 1)?;
        }
        Ok(counts)
    }

    /// Leaves out the rows of files that are not listed any more.
    pub(crate) fn compact(&mut self, is_listed: impl Fn(VectorKey) -> bool) -> Result<(), Error> {
        let note = &self.kept.note;
        let Some(all) = self.kept.vectors(note.model, note.dimensions) else { return Ok(()) };
        let before = self.kept.path();
        self.kept.note.file += 1;
        let mut writer = VectorWriter::create(&self.kept.path(), all.model())?;
        writer.add_all(&all, is_listed)?;
        self.writer = Some(writer);
        self.commit()?;
        fs::remove_file(&before).map_err(io_failed("remove", &before))
    }

    /// Notes how much there is to embed in all, and how many rows the table has.
    pub(crate) fn expect(&mut self, of: u64, beside: u64) {
        (self.kept.note.of, self.kept.note.beside) = (of, beside);
    }

    /// Adds vectors of one length, or the sign that a text has none; false when the model gives another length
    /// than before.
    pub(crate) fn add(&mut self, key: VectorKey, vector: Option<&embedding::Vector>) -> Result<bool, Error> {
        if self.writer.is_none() {
            // A text without words does not tell how long the model's vectors are: the next one will.
            let Some(vector) = vector else { return Ok(true) };
            self.kept.note.dimensions = vector.numbers().len();
            let model = VectorModel { hash: self.kept.note.model, dimensions: self.kept.note.dimensions };
            self.writer = Some(VectorWriter::create(&self.kept.path(), model)?);
        }
        let Some(writer) = &mut self.writer else { return Ok(false) };
        let nothing = || embedding::QuantizedVector::empty(self.kept.note.dimensions);
        Ok(writer.add(key, &vector.map_or_else(nothing, embedding::Vector::quantize))?)
    }

    /// Makes what was added durable: the rows first, then the note of how many count.
    pub(crate) fn commit(&mut self) -> Result<u64, Error> {
        if let Some(writer) = &mut self.writer {
            self.kept.note.rows = writer.sync()?;
        }
        let path = self.kept.folder.join("note.json");
        let text = serde_json::to_vec(&self.kept.note).map_err(std::io::Error::from);
        text.and_then(|text| system::replace_private_file(&path, &text))
            .map_err(io_failed("write", &path))?;
        Ok(self.kept.note.rows)
    }

    /// Removes the vectors of all other models, and files of this one that count no more.
    pub(crate) fn remove_others(&self, index: &Path) {
        let own = self.kept.path();
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        for other in entries(&models_folder(index)).map(|entry| entry.path()) {
            if other.is_dir() && other != self.kept.folder {
                // What cannot be removed uses disk space, nothing else.
                let _ = fs::remove_dir_all(other);
            }
        }
        for file in entries(&self.kept.folder).map(|entry| entry.path()) {
            if file.extension().is_some_and(|ending| ending == "bin") && file != own {
                let _ = fs::remove_file(file);
            }
        }
    }
}

/// Leaves only the rows of listed files in the vectors of every model. The caller holds the lock.
pub(crate) fn retain(index: &Path, list: u64, is_listed: impl Fn(VectorKey) -> bool) -> Result<(), Error> {
    for folder in fs::read_dir(models_folder(index)).into_iter().flatten().filter_map(Result::ok) {
        let Ok(model) = u64::from_str_radix(&folder.file_name().to_string_lossy(), 16) else { continue };
        let mut kept = ModelVectorsWriter::open(index, model, list)?;
        if kept.counts()?.keys().any(|key| !is_listed(*key)) {
            kept.compact(&is_listed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use embedding::Vector;

    use super::*;

    fn key(file: u32, place: u64) -> VectorKey {
        VectorKey { file, place }
    }

    fn vector(number: f32) -> Vector {
        Vector::normalized(vec![number, 1.0, 0.5]).unwrap()
    }

    #[test]
    fn what_was_committed_is_gone_on_with_and_nothing_else() {
        let index = tempfile::tempdir().unwrap();
        let mut keeping = ModelVectorsWriter::open(index.path(), 7, 1).unwrap();
        keeping.add(key(1, 1), Some(&vector(1.0))).unwrap();
        keeping.add(key(1, 1), None).unwrap();
        keeping.expect(4, 10);
        assert_eq!(keeping.commit().unwrap(), 2);
        keeping.add(key(1, 2), Some(&vector(2.0))).unwrap();
        drop(keeping);
        let keeping = ModelVectorsWriter::open(index.path(), 7, 1).unwrap();
        assert_eq!(keeping.counts().unwrap(), FxHashMap::from_iter([(key(1, 1), 2)]));
        let kept = ModelVectors::find(index.path(), 7, 1).unwrap();
        for (beside, expected) in [(10, 0.5), (14, 0.25), (0, 0.5)] {
            assert!((kept.share(beside) - expected).abs() < 1e-9, "{beside}");
        }
        assert!(ModelVectors::find(index.path(), 7, 2).is_none(), "the list was made again");
        assert!(ModelVectors::find(index.path(), 8, 1).is_none(), "another model");
        assert!(kept.vectors(8, 3).is_none() && kept.vectors(7, 4).is_none());
    }

    #[test]
    fn what_is_not_listed_any_more_is_left_out_and_other_models_go() {
        let index = tempfile::tempdir().unwrap();
        for model in [7, 8] {
            let mut keeping = ModelVectorsWriter::open(index.path(), model, 1).unwrap();
            for file in 1..4 {
                keeping.add(key(file, 1), Some(&vector(1.0))).unwrap();
            }
            keeping.commit().unwrap();
        }
        let mut keeping = ModelVectorsWriter::open(index.path(), 7, 1).unwrap();
        keeping.compact(|key| key.file != 2).unwrap();
        assert!(!keeping.add(key(1, 1), Some(&Vector::normalized(vec![1.0]).unwrap())).unwrap());
        keeping.remove_others(index.path());
        let counts = ModelVectorsWriter::open(index.path(), 7, 1).unwrap().counts().unwrap();
        assert_eq!(counts, FxHashMap::from_iter([(key(1, 1), 1), (key(3, 1), 1)]));
        assert!(ModelVectors::find(index.path(), 8, 1).is_none());
        assert_eq!(fs::read_dir(folder_of(index.path(), 7)).unwrap().count(), 2);
    }
}
