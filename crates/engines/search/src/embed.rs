//! Embeds all indexed text with a chosen model, in small durable steps, newest sessions first.
//!
//! It holds no lock of the index: queries are answered and new lines are indexed meanwhile. A killed pass loses its
//! last step only.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use database::WriterLock;
use embedding::{ChosenModel, VectorKey};
use rustc_hash::FxHashMap;

use crate::columns::{ChunkAt, RecordKey};
use crate::error::{Error, io_failed};
use crate::files::FileRow;
use crate::model_vectors::{ModelVectorsWriter, models_folder};
use crate::searcher::Searcher;
use crate::snippet::{PassageLocation, text_at};

/// How many texts are embedded between two commits.
const STEP: usize = 64;
/// The rows of deleted files are removed when they make up one in this many.
const DEAD: u64 = 10;

/// The result of an embedding pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EmbedReport {
    /// Pieces of text that have vectors of the model now.
    pub done: u64,
    /// Pieces that could have.
    pub of: u64,
    /// Pieces embedded by this pass.
    pub added: u64,
    /// Pieces whose text could not be read.
    pub unread: u64,
    /// Another process is embedding.
    pub busy: bool,
}

/// The chunks of one record that still want vectors.
struct Todo {
    key: VectorKey,
    file: usize,
    chunks: Vec<ChunkAt>,
}

struct Plan {
    todo: Vec<Todo>,
    of: u64,
    missing: u64,
}

/// Embeds the indexed text with `model` while `keep_going` returns true; `pause` waits before a busy endpoint is
/// asked again.
pub fn embed(
    folder: &Path,
    model: &ChosenModel,
    threads: usize,
    keep_going: &mut dyn FnMut(&EmbedReport) -> bool,
    pause: fn(Duration) -> bool,
) -> Result<EmbedReport, Error> {
    let Some(searcher) = Searcher::open(folder)? else { return Ok(EmbedReport::default()) };
    let models = models_folder(folder);
    std::fs::create_dir_all(&models).map_err(io_failed("create", &models))?;
    let Some(_lock) = WriterLock::try_acquire(&models.join("writer.lock"))? else {
        return Ok(EmbedReport { busy: true, ..EmbedReport::default() });
    };
    let mut files = searcher.list.all()?;
    files.sort_by_key(|file| std::cmp::Reverse(file.stamp.mtime));
    let mut keeping = ModelVectorsWriter::open(folder, model.hash(), searcher.list.identity()?)?;
    let counts = without_dead(&mut keeping, &files)?;
    let plan = plan(&searcher, &files, &counts);
    keeping.expect(plan.of, searcher.rows());
    let mut embedded = EmbedReport { done: plan.of - plan.missing, of: plan.of, ..EmbedReport::default() };
    keeping.commit()?;
    let mut todo = plan.todo.into_iter().peekable();
    while todo.peek().is_some() && keep_going(&embedded) {
        let step = step(&searcher, &files, &mut todo, &mut embedded);
        let texts: Vec<&str> = step.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = model.embed(&texts, threads, pause)?;
        for ((key, _), vector) in step.iter().zip(&vectors) {
            if !keeping.add(*key, vector.as_ref())? {
                return Err(Error::Lengths { model: model.name().to_owned() });
            }
        }
        keeping.commit()?;
        embedded.added += step.len() as u64;
        embedded.done += step.len() as u64;
    }
    if todo.peek().is_none() {
        keeping.remove_others(folder);
    }
    Ok(embedded)
}

/// The number of rows of each record, after removing those of deleted files.
fn without_dead(
    keeping: &mut ModelVectorsWriter,
    files: &[FileRow],
) -> Result<FxHashMap<VectorKey, u32>, Error> {
    let listed: HashSet<u64> = files.iter().map(|file| file.id).collect();
    let is_listed = |key: VectorKey| listed.contains(&u64::from(key.file));
    let mut counts = keeping.counts()?;
    let total: u64 = counts.values().map(|count| u64::from(*count)).sum();
    counts.retain(|key, _| is_listed(*key));
    let living: u64 = counts.values().map(|count| u64::from(*count)).sum();
    if (total - living) * DEAD > total {
        keeping.compact(is_listed)?;
    }
    Ok(counts)
}

/// The records that need vectors and can be read: newest files first, each in the order of its lines. Of a record
/// with some rows, only the rest is listed: all records of a file without an id share one key, and it only grows.
fn plan(searcher: &Searcher, files: &[FileRow], counts: &FxHashMap<VectorKey, u32>) -> Plan {
    let at: FxHashMap<u64, usize> = files.iter().enumerate().map(|(at, file)| (file.id, at)).collect();
    let mut records: FxHashMap<RecordKey, Vec<(u64, u64, ChunkAt)>> = FxHashMap::default();
    for (segment, (columns, reader)) in
        searcher.columns.iter().zip(searcher.text.segment_readers()).enumerate()
    {
        for document in reader.doc_ids_alive() {
            if let Some((_, place)) = columns.meaning(document) {
                let [offset, _, piece] = columns.location(document);
                records.entry(place).or_default().push((offset, piece, ChunkAt { segment, document }));
            }
        }
    }
    let mut plan = Plan { todo: Vec::new(), of: 0, missing: 0 };
    for (place, mut chunks) in records {
        let Some(file) = at.get(&place.file).copied() else { continue };
        let Ok(number) = u32::try_from(place.file) else { continue };
        let key = VectorKey { file: number, place: place.record };
        let has = counts.get(&key).map_or(0, |count| *count as usize).min(chunks.len());
        // What cannot be read again keeps the vectors it has.
        let wanted = if files[file].gone { has } else { chunks.len() };
        plan.of += wanted as u64;
        plan.missing += (wanted - has) as u64;
        chunks.sort_unstable_by_key(|(offset, piece, _)| (*offset, *piece));
        let rest: Vec<ChunkAt> = chunks[has..wanted].iter().map(|(_, _, chunk)| *chunk).collect();
        if !rest.is_empty() {
            plan.todo.push(Todo { key, file, chunks: rest });
        }
    }
    plan.todo.sort_unstable_by_key(|todo| {
        (todo.file, todo.chunks.first().map(|chunk| (chunk.segment, chunk.document)))
    });
    plan
}

/// The texts of the next records. A record with a piece that cannot be read is left to a later pass from that piece
/// on.
fn step(
    searcher: &Searcher,
    files: &[FileRow],
    todo: &mut impl Iterator<Item = Todo>,
    embedded: &mut EmbedReport,
) -> Vec<(VectorKey, String)> {
    let mut texts = Vec::new();
    while texts.len() < STEP
        && let Some(next) = todo.next()
    {
        for (at, chunk) in next.chunks.iter().enumerate() {
            let Some(text) =
                text_at(&PassageLocation::of(&searcher.columns, *chunk, &files[next.file], false))
            else {
                embedded.unread += (next.chunks.len() - at) as u64;
                break;
            };
            texts.push((next.key, text));
        }
    }
    texts
}
