//! The text index, open for writing: one writer across all processes, and commits that survive any crash.
//!
//! Every chunk has the number of the commit that added it. The list of files is committed after the text index; after
//! a crash between the two, the chunks of the commit that the list does not know are deleted, and their files are
//! read again.

use std::collections::HashSet;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use database::WriterLock;
use embedding::VectorKey;
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::NoMergePolicy;
use tantivy::query::RangeQuery;
use tantivy::schema::Field;
use tantivy::{Index, IndexWriter, Term};

use crate::document::Chunk;
use crate::error::{Error, index_failed, io_failed};
use crate::excerpts;
use crate::files::{Changes, FileList, list_file};
use crate::kept_sessions;
use crate::model_vectors::{self, models_folder};
use crate::record_owners::RecordOwners;
use crate::schema::{Fields, register};
use crate::segment_runs;
use crate::vectors::{self, VectorStore};

/// The memory tantivy may use before it writes a segment, in bytes per thread.
const HEAP: usize = 32 << 20;
/// Threads that turn text into postings.
const THREADS: usize = 2;
/// Below this share of all chunks a segment is small.
const SMALL: usize = 20;
/// The vectors of deleted files are removed when they are more than one in this many.
const DEAD: u64 = 10;
/// The number of small segments from which they are merged.
const MERGE_AT: usize = 10;
/// A segment with no more chunks is written again without those that were deleted, which takes a moment.
const LIGHT: u32 = 20_000;

/// What becomes of the words of deleted chunks, which stay in their segment's files until it is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Erasure {
    /// They are gone from every file, however long that takes.
    Complete,
    /// They may stay in large segments.
    Light,
}

/// The index, locked by this process.
pub(crate) struct Writer {
    folder: PathBuf,
    pub(crate) meanings: VectorStore,
    index: Index,
    text: IndexWriter<Chunk>,
    pub(crate) fields: Fields,
    pub(crate) list: FileList,
    pub(crate) generation: u64,
    /// Whether something was taken out.
    has_removed: bool,
    _lock: WriterLock,
}

/// The folder of the text index.
pub(crate) fn text_folder(folder: &Path) -> PathBuf {
    folder.join("text")
}

impl Writer {
    /// Opens the index for writing; `None` where another process is writing it. `large` says that much will be
    /// written.
    pub(crate) fn open(folder: &Path, large: bool) -> Result<Option<Self>, Error> {
        create_private(folder)?;
        let Some(lock) = WriterLock::try_acquire(&folder.join("writer.lock"))? else { return Ok(None) };
        let text = text_folder(folder);
        create_private(&text)?;
        sweep(&text);
        let fields = Fields::new();
        let index = open_or_create(&text, &fields)?;
        let threads = if large { THREADS } else { 1 };
        let heap = if large { HEAP } else { 16 << 20 };
        let opened =
            index.writer_with_num_threads(threads, heap * threads).map_err(index_failed("write", &text))?;
        opened.set_merge_policy(Box::new(NoMergePolicy));
        let list = FileList::open(&list_file(folder))?;
        let (meanings, complete) = VectorStore::open(folder, list.vectors()?)?;
        let folder = text;
        let mut writer = Self {
            folder,
            meanings,
            index,
            text: opened,
            fields,
            list,
            generation: 0,
            has_removed: false,
            _lock: lock,
        };
        writer.recover(complete)?;
        Ok(Some(writer))
    }

    /// Adds a chunk to the commit that is being made.
    pub(crate) fn add(&self, document: Chunk) -> Result<(), Error> {
        self.text.add_document(document).map_err(index_failed("write", &self.folder)).map(drop)
    }

    /// Takes out what is indexed of a file.
    pub(crate) fn remove(&mut self, file: u64) -> Result<(), Error> {
        self.has_removed = true;
        self.remove_all(self.fields.file, file)
    }

    /// Takes out the chunks with this number: so seldom that a look at every chunk is cheaper than a list.
    fn remove_all(&self, field: Field, number: u64) -> Result<(), Error> {
        let is = || Bound::Included(Term::from_field_u64(field, number));
        let query = RangeQuery::new(is(), is());
        self.text.delete_query(Box::new(query)).map_err(index_failed("write", &self.folder)).map(drop)
    }

    /// Makes all that was added and removed durable; returns the rows written to the list.
    pub(crate) fn commit(&mut self, changes: Changes) -> Result<u64, Error> {
        let vectors = self.meanings.sync()?;
        self.commit_text()?;
        let rows = self.list.commit(&Changes { vectors, ..changes }, self.generation)?;
        self.generation += 1;
        Ok(rows)
    }

    /// Joins small segments, so that live appends do not pile them up, and leaves out what was deleted and the vectors of
    /// files that were taken out.
    pub(crate) fn tidy(mut self, erasure: Erasure) -> Result<(), Error> {
        if self.has_removed || erasure == Erasure::Complete {
            self.compact_vectors(erasure)?;
        }
        let small = self.small_segments()?;
        if small.len() >= MERGE_AT {
            self.text.merge(&small).wait().map_err(index_failed("tidy", &self.folder))?;
        }
        self.erase_deleted(erasure)?;
        if erasure == Erasure::Complete {
            let index = self.folder.parent().unwrap_or(&self.folder);
            kept_sessions::remove(index).map_err(io_failed("remove", index))?;
            self.list.truncate_log()?;
        }
        self.text.wait_merging_threads().map_err(index_failed("tidy", &self.folder))?;
        let metas = self.index.searchable_segment_metas().map_err(index_failed("read", &self.folder))?;
        let segments = metas.iter().map(|meta| meta.id().uuid_string()).collect();
        segment_runs::retain(&segment_runs::folder(self.folder.parent().unwrap_or(&self.folder)), &segments);
        make_private(&self.folder);
        Ok(())
    }

    /// The segments that are small beside all of them.
    fn small_segments(&self) -> Result<Vec<SegmentId>, Error> {
        let metas = self.index.searchable_segment_metas().map_err(index_failed("read", &self.folder))?;
        let total: usize = metas.iter().map(|meta| meta.num_docs() as usize).sum();
        let small = metas.iter().filter(|meta| (meta.num_docs() as usize) * SMALL < total);
        Ok(small.map(SegmentMeta::id).collect())
    }

    /// Writes segments again without the chunks that were deleted, and removes the files of before.
    fn erase_deleted(&mut self, erasure: Erasure) -> Result<(), Error> {
        let failed = || index_failed("tidy", &self.folder);
        let is_due = |meta: &SegmentMeta| {
            meta.num_deleted_docs() > 0 && (erasure == Erasure::Complete || meta.max_doc() <= LIGHT)
        };
        // No description of a segment may be left: its files would stay.
        let metas = self.index.searchable_segment_metas().map_err(failed())?;
        let due: Vec<SegmentId> = metas.into_iter().filter(is_due).map(|meta| meta.id()).collect();
        for segment in due {
            self.text.merge(&[segment]).wait().map_err(failed())?;
        }
        if erasure == Erasure::Complete {
            self.text.garbage_collect_files().wait().map_err(failed())?;
        }
        Ok(())
    }

    /// Removes the vectors of files that are no longer listed, once they are many, or where all have to go.
    fn compact_vectors(&mut self, erasure: Erasure) -> Result<(), Error> {
        let listed: HashSet<u64> = self.list.all()?.iter().map(|file| file.id).collect();
        let is_listed = |key: VectorKey| listed.contains(&u64::from(key.file));
        let index = self.folder.parent().unwrap_or(&self.folder);
        if erasure == Erasure::Complete {
            model_vectors::retain(index, self.list.identity()?, is_listed)?;
            excerpts::retain(index, |file| listed.contains(&file))?;
        }
        let Some(all) = vectors::open(index, self.list.vectors()?) else { return Ok(()) };
        let mut dead = 0;
        all.each_key(|key| dead += u64::from(!is_listed(key)))?;
        if dead > 0 && (erasure == Erasure::Complete || dead * DEAD > all.rows()) {
            let kept = self.meanings.compacted(&all, is_listed)?;
            self.list.switch_vectors(kept)?;
            self.meanings.forget_before();
        }
        Ok(())
    }

    /// The file that owns each record.
    pub(crate) fn records(&self) -> Result<RecordOwners, Error> {
        let failed = || index_failed("read", &self.folder);
        let reader = self.index.reader().map_err(failed())?;
        RecordOwners::new(reader.searcher()).map_err(failed())
    }

    fn commit_text(&mut self) -> Result<(), Error> {
        let failed = || index_failed("write", &self.folder);
        let mut prepared = self.text.prepare_commit().map_err(failed())?;
        prepared.set_payload(&self.generation.to_string());
        prepared.commit().map_err(failed())?;
        make_private(&self.folder);
        Ok(())
    }

    fn recover(&mut self, vectors_complete: bool) -> Result<(), Error> {
        let failed = || index_failed("read", &self.folder);
        let listed = self.list.generation()?;
        let meta = self.index.load_metas().map_err(failed())?;
        let committed: u64 = meta.payload.and_then(|payload| payload.parse().ok()).unwrap_or(0);
        self.generation = listed.max(committed) + 1;
        if listed == committed && vectors_complete {
            return Ok(());
        }
        if listed == 0 || committed < listed || !vectors_complete {
            // One of the three was lost: start over.
            self.meanings.clear()?;
            self.text.delete_all_documents().map_err(failed())?;
            let forgotten = self.list.all()?.iter().map(|file| file.id).collect();
            self.commit_text()?;
            // No commit may vouch for rows of which nothing is indexed, whenever this process is killed.
            self.list.forget_all()?;
            self.list.commit(&Changes { forgotten, ..Changes::default() }, self.generation)?;
        } else {
            for generation in listed + 1..=committed {
                self.remove_all(self.fields.generation, generation)?;
            }
            self.commit_text()?;
            let vectors = self.list.vectors()?;
            self.list.commit(&Changes { vectors, ..Changes::default() }, self.generation)?;
        }
        self.generation += 1;
        Ok(())
    }
}

/// Opens the text index; one of another version, or a damaged one, is replaced by an empty one.
fn open_or_create(text: &Path, fields: &Fields) -> Result<Index, Error> {
    let usable = || Index::open_in_dir(text).ok().filter(|index| index.schema() == fields.schema);
    if let Some(index) = text.join("meta.json").exists().then(usable).flatten() {
        register(&index);
        return Ok(index);
    }
    for entry in fs::read_dir(text).map_err(io_failed("read", text))?.filter_map(Result::ok) {
        let path = entry.path();
        fs::remove_file(&path).map_err(io_failed("remove", &path))?;
    }
    let index = Index::create_in_dir(text, fields.schema.clone()).map_err(index_failed("create", text))?;
    register(&index);
    Ok(index)
}

/// Deletes an index, so that the next pass rebuilds it. Fails at once where another process is writing it.
pub fn discard(folder: &Path) -> Result<(), Error> {
    remove(folder, |list| {
        for suffix in ["", "-wal", "-shm"] {
            let path = list.with_extension(format!("sqlite{suffix}"));
            remove_if_there(fs::remove_file(&path)).map_err(io_failed("remove", &path))?;
        }
        Ok(())
    })
}

/// Sets the list of a damaged index aside and deletes the rest, so that the next pass rebuilds it. Fails at once where
/// another process is writing it.
pub fn set_aside(folder: &Path) -> Result<(), Error> {
    remove(folder, |list| {
        database::set_aside(list)?;
        Ok(())
    })
}

fn remove(folder: &Path, remove_list: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    if !folder.exists() {
        return Ok(());
    }
    let busy = || std::io::Error::new(std::io::ErrorKind::WouldBlock, "another process is writing it");
    let lock = WriterLock::try_acquire(&folder.join("writer.lock"))?;
    let _lock = lock.ok_or_else(busy).map_err(io_failed("remove", folder))?;
    // The list goes first: a text index without its list is recreated.
    remove_list(&list_file(folder))?;
    let parts =
        [text_folder(folder), segment_runs::folder(folder), models_folder(folder), excerpts::folder(folder)];
    for part in parts {
        remove_if_there(fs::remove_dir_all(&part)).map_err(io_failed("remove", &part))?;
    }
    Ok(())
}

fn remove_if_there(outcome: std::io::Result<()>) -> std::io::Result<()> {
    outcome.or_else(|error| if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Restricts the library's files to their owner.
fn make_private(text: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(entries) = fs::read_dir(text) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_open =
            |metadata: &fs::Metadata| metadata.is_file() && metadata.permissions().mode() & 0o077 != 0;
        if entry.metadata().is_ok_and(|metadata| is_open(&metadata)) {
            // A file that a merge has removed meanwhile is no matter; the folder is private in any case.
            let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o600));
        }
    }
}

/// Removes the temporary files that a killed writer leaves behind.
fn sweep(text: &Path) {
    let Ok(entries) = fs::read_dir(text) else { return };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(".tmp") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn create_private(folder: &Path) -> Result<(), Error> {
    system::create_private_folder(folder).map_err(io_failed("create", folder))
}
