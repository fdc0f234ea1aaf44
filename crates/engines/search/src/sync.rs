//! Brings the index up to date: new content is read, newest sessions first.
//!
//! An unchanged file costs its `stat`, an appended one its new bytes. Work can be stopped at any line and is kept;
//! the next pass continues from there.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use model::SessionId;
use openclaw::TranscriptEntry;
use system::{FileStamp, fingerprint};
use transcript::record::{Record, RecordKind, SkipReason};
use transcript::{Checkpoint, FileChange, Tail};
use xxhash_rust::xxh3::xxh3_64;

use crate::chunk::units;
use crate::document::{Documents, LinePosition, Origin};
use crate::error::Error;
use crate::files::{Changes, FileList, FileRow, SharedRecord, VectorFile, list_file};
use crate::kind::ChunkKind;
use crate::own_records::OwnRecords;
use crate::plan::{Plan, Todo, plan};
use crate::record_owners::RecordOwners;
use crate::schema::is_current;
use crate::snippet::own_record_of;
use crate::source::{SourceFile, SourceKind};
use crate::unit::Unit;
use crate::writer::{Erasure, Writer, text_folder};
use crate::{conversation, notes, vectors};

/// How many bytes of transcripts are indexed between two commits.
const COMMIT_EVERY: u64 = 2 << 30;
/// How many bytes are read between two calls of `keep_going`.
const ASK_EVERY: u64 = 1 << 20;
/// The number of bytes from which all threads are used.
const LARGE: u64 = 8 << 20;

/// How far a pass has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexProgress {
    /// The number of files finished.
    pub files_done: u64,
    /// Files with something new.
    pub files: u64,
    /// The number of bytes read.
    pub bytes_done: u64,
    /// The number of bytes to read.
    pub bytes: u64,
}

/// The result of a pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncReport {
    /// How much was read, and how much remains.
    pub progress: IndexProgress,
    /// Files with something that is not indexed yet.
    pub pending_files: u64,
    /// The new bytes in those files.
    pub pending_bytes: u64,
    /// Another process was writing the index.
    pub busy: bool,
    /// Bytes of transcripts that were looked at.
    pub bytes_read: u64,
    /// Rows written to the list of files.
    pub rows_written: u64,
    /// The number of chunks added.
    pub chunks_added: u64,
    /// Lines with content that could not be read.
    pub unreadable_lines: u64,
    /// Files that could not be read, and why.
    pub failed: Vec<(PathBuf, String)>,
}

/// The new content to index; changes nothing.
pub fn pending(folder: &Path, sources: &[SourceFile]) -> Result<IndexProgress, Error> {
    let rows = match FileList::open_read_only(&list_file(folder))? {
        Some(list) if is_current(&text_folder(folder)) => list.all()?,
        _ => Vec::new(),
    };
    let plan = plan(rows, sources);
    Ok(IndexProgress { files: plan.todo.len() as u64, bytes: plan.bytes, ..IndexProgress::default() })
}

/// Indexes new content while `keep_going` returns true.
pub fn sync(
    folder: &Path,
    sources: &[SourceFile],
    keep_going: &mut dyn FnMut(&IndexProgress) -> bool,
) -> Result<SyncReport, Error> {
    let (state, rows) = match FileList::open_read_only(&list_file(folder)) {
        // What another release wrote, or what is lost, is made again from the beginning.
        Ok(Some(list)) if !is_current(&text_folder(folder)) || !are_there(folder, list.vectors()?) => {
            (None, Vec::new())
        }
        Ok(Some(list)) if is_fresh(&list, sources)? => return Ok(SyncReport::default()),
        Ok(Some(list)) => (Some(list.state()?), list.all()?),
        Ok(None) | Err(_) => (None, Vec::new()),
    };
    let first_look = plan(rows, sources);
    if first_look.is_empty() {
        return Ok(SyncReport::default());
    }
    let left = SyncReport {
        pending_files: first_look.todo.len() as u64,
        pending_bytes: first_look.bytes,
        ..SyncReport::default()
    };
    if !keep_going(&IndexProgress {
        files: left.pending_files,
        bytes: left.pending_bytes,
        ..IndexProgress::default()
    }) {
        return Ok(left);
    }
    let Some(writer) = Writer::open(folder, first_look.bytes >= LARGE)? else {
        return Ok(SyncReport { busy: true, ..left });
    };
    // Now that nobody else writes: another process may have done it meanwhile.
    let is_as_it_was = state == Some(writer.list.state()?);
    let plan = if is_as_it_was { first_look } else { plan(writer.list.all()?, sources) };
    SyncPass::new(writer)?.run(plan, keep_going)
}

/// Takes everything of these sessions out of the index, and their words out of its files. Returns false where another
/// process is writing it.
#[expect(clippy::implicit_hasher, reason = "the caller has the usual one")]
pub fn forget(folder: &Path, sessions: &HashSet<SessionId>) -> Result<bool, Error> {
    if !list_file(folder).exists() {
        return Ok(true);
    }
    let Some(writer) = Writer::open(folder, false)? else { return Ok(false) };
    let is_meant = |row: &FileRow| row.session.as_ref().is_some_and(|session| sessions.contains(session));
    let removed: Vec<FileRow> = writer.list.all()?.into_iter().filter(is_meant).collect();
    // Also where there is nothing left to take out: whoever did that may have been killed before it was erased.
    let plan = Plan { removed, ..Plan::default() };
    SyncPass::new(writer)?.erasing().run(plan, &mut |_| true)?;
    Ok(true)
}

/// Whether all vectors that count can be read by this program.
fn are_there(folder: &Path, kept: VectorFile) -> bool {
    vectors::are_there(vectors::open(folder, kept).as_ref(), kept)
}

/// Whether nothing has changed since nothing was left to read: what most questions find.
fn is_fresh(list: &FileList, sources: &[SourceFile]) -> Result<bool, Error> {
    Ok(list.fresh_at()? == Some(fingerprint_of(sources)))
}

/// A number that changes when any of the sources does; those of other sources can be added to it.
pub fn fingerprint_of(sources: &[SourceFile]) -> u64 {
    fingerprint(sources.iter().map(|source| (source.path.as_path(), &source.stamp)))
}

/// One pass over what is new.
pub(crate) struct SyncPass {
    writer: Writer,
    documents: Documents,
    records: RecordOwners,
    next_file: u64,
    changes: Changes,
    synced: SyncReport,
    since_commit: u64,
    since_asked: u64,
    stopped: bool,
    erasure: Erasure,
}

impl SyncPass {
    fn new(writer: Writer) -> Result<Self, Error> {
        let next_file = writer.list.last_file()? + 1;
        Ok(Self {
            documents: Documents::new(writer.fields.clone()),
            records: writer.records()?,
            next_file,
            changes: Changes::default(),
            synced: SyncReport::default(),
            since_commit: 0,
            since_asked: 0,
            stopped: false,
            erasure: Erasure::Light,
            writer,
        })
    }

    /// The same, after which nothing is left of what was ever taken out.
    fn erasing(self) -> Self {
        Self { erasure: Erasure::Complete, ..self }
    }

    fn run(
        mut self,
        plan: Plan,
        keep_going: &mut dyn FnMut(&IndexProgress) -> bool,
    ) -> Result<SyncReport, Error> {
        self.synced.progress =
            IndexProgress { files: plan.todo.len() as u64, bytes: plan.bytes, ..IndexProgress::default() };
        self.changes.files.extend(plan.gone);
        self.changes.files.extend(plan.back);
        let mut todo: VecDeque<Todo> = plan.todo.into();
        if !plan.removed.is_empty() {
            // A person, or OpenClaw, deleted it: nothing of it may stay.
            self.erasure = Erasure::Complete;
        }
        for row in plan.removed {
            self.changes.removed.push(row.id);
            self.take_out(row.id, &mut todo)?;
        }
        while let Some(next) = todo.pop_front() {
            if self.stopped {
                self.synced.pending_files += 1;
                self.synced.pending_bytes += next.new_bytes();
                continue;
            }
            let expected = next.new_bytes();
            let read = self.file(&next, keep_going, &mut todo)?;
            if self.stopped {
                self.synced.pending_files += 1;
                self.synced.pending_bytes += expected.saturating_sub(read);
            }
            self.synced.progress.files_done += 1;
            if self.since_commit >= COMMIT_EVERY {
                self.commit()?;
            }
        }
        self.commit()?;
        if !self.stopped && self.synced.failed.is_empty() {
            self.writer.list.note_fresh()?;
        }
        // What is open is not removed.
        drop(self.records);
        self.writer.tidy(self.erasure)?;
        Ok(self.synced)
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.since_commit = 0;
        let changes = std::mem::take(&mut self.changes);
        self.synced.rows_written += self.writer.commit(changes)?;
        Ok(())
    }

    /// Reads what is new in one file; returns the bytes read.
    fn file(
        &mut self,
        next: &Todo,
        keep_going: &mut dyn FnMut(&IndexProgress) -> bool,
        todo: &mut VecDeque<Todo>,
    ) -> Result<u64, Error> {
        let source = &next.source;
        if source.kind == SourceKind::Memory {
            return self.notes(next, todo);
        }
        let mut tail = match Tail::open(&source.path, next.known.as_ref().map(|row| &row.mark)) {
            Ok(tail) => tail,
            // It vanished since it was listed; the next pass notes it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => {
                self.synced.failed.push((source.path.clone(), error.to_string()));
                return Ok(0);
            }
        };
        let mut row = self.row(next, tail.stamp());
        if tail.change() == FileChange::Replaced {
            self.forget(&mut row, todo)?;
        }
        let read = self.lines(&mut row, &mut tail, keep_going);
        if let Err(error) = read {
            self.synced.failed.push((source.path.clone(), error.to_string()));
        }
        let bytes = tail.bytes_read();
        self.synced.bytes_read += bytes;
        self.synced.unreadable_lines += tail.too_long();
        match tail.mark() {
            Ok(mark) => row.mark = mark,
            Err(error) => self.synced.failed.push((source.path.clone(), error.to_string())),
        }
        // Stopped in the middle: an old stamp makes the next pass go on here.
        row.stamp = if self.stopped {
            FileStamp { size: row.mark.offset, mtime: 0, ..tail.stamp() }
        } else {
            tail.stamp()
        };
        self.changes.files.push(row);
        Ok(bytes)
    }

    fn row(&mut self, next: &Todo, stamp: FileStamp) -> FileRow {
        let source = &next.source;
        if let Some(known) = &next.known {
            let session = source.session.clone().or_else(|| known.session.clone());
            return FileRow { path: source.path.clone(), session, gone: false, ..known.clone() };
        }
        let id = self.next_file;
        self.next_file += 1;
        FileRow {
            id,
            path: source.path.clone(),
            source: source.kind,
            session: source.session.clone(),
            subagent: source.subagent,
            stamp,
            mark: Checkpoint::default(),
            chunks: 0,
            spoken: 0,
            gone: false,
            text: 0,
        }
    }

    /// Deletes everything indexed of a file whose content was replaced. Files that share its records are read again
    /// from the beginning.
    fn forget(&mut self, row: &mut FileRow, todo: &mut VecDeque<Todo>) -> Result<(), Error> {
        let before = row.id;
        // Under a new number: vectors are never taken out, those of a number that is not listed do not count.
        row.id = self.next_file;
        self.next_file += 1;
        (row.chunks, row.spoken, row.text) = (0, 0, 0);
        self.take_out(before, todo)
    }

    /// Takes out the chunks of a file.
    fn take_out(&mut self, id: u64, todo: &mut VecDeque<Todo>) -> Result<(), Error> {
        self.writer.remove(id)?;
        self.records.forget(id);
        self.changes.forgotten.push(id);
        let leaning = self.writer.list.dependents_of(id)?;
        if leaning.is_empty() {
            return Ok(());
        }
        for file in
            self.writer.list.all()?.into_iter().filter(|file| leaning.contains(&file.id) && !file.gone)
        {
            let source = SourceFile {
                path: file.path.clone(),
                stamp: file.stamp,
                kind: file.source,
                session: file.session.clone(),
                subagent: file.subagent,
            };
            let mark = Checkpoint { tail_hash: !file.mark.tail_hash, ..file.mark };
            todo.retain(|other| other.source.path != source.path);
            todo.push_back(Todo { source, known: Some(FileRow { mark, ..file }) });
        }
        Ok(())
    }

    fn lines(
        &mut self,
        row: &mut FileRow,
        tail: &mut Tail,
        keep_going: &mut dyn FnMut(&IndexProgress) -> bool,
    ) -> io::Result<()> {
        let mut branch = None;
        let mut own = OwnRecords::of(&row.path);
        while let Some(line) = tail.next_line()? {
            let size = line.bytes.len() as u64 + 1;
            let place = LinePosition { offset: line.offset, line: line.number };
            if row.source == SourceKind::Sessions {
                self.entry(row, line.bytes, place);
            } else {
                match line.record() {
                    Ok(record) if is_of_others(&record, &mut own) => {}
                    Ok(record) => self.record(row, &record, place, &mut branch),
                    Err(SkipReason::Blank | SkipReason::Unread | SkipReason::Copy) => {}
                    Err(_) => self.synced.unreadable_lines += 1,
                }
            }
            self.synced.progress.bytes_done += size;
            self.since_commit += size;
            self.since_asked += size;
            if self.since_asked >= ASK_EVERY {
                self.since_asked = 0;
                if !keep_going(&self.synced.progress) {
                    self.stopped = true;
                    break;
                }
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        row: &mut FileRow,
        record: &Record<'_>,
        place: LinePosition,
        branch: &mut Option<String>,
    ) {
        if row.session.is_none() {
            row.session = record.session().and_then(|session| session.parse().ok());
        }
        if let Some((_, inner)) = record.agent_progress() {
            self.units(row, &inner, &units(&inner, true), place);
            return;
        }
        let mut found = units(record, row.subagent);
        if let Some(now) = record.branch().filter(|now| branch.as_deref() != Some(now.as_ref())) {
            *branch = Some(now.clone().into_owned());
            found.push(Unit::new(ChunkKind::Branch, now).redacted());
        }
        self.units(row, record, &found, place);
    }

    /// A line of one of OpenClaw's transcripts.
    fn entry(&mut self, row: &mut FileRow, line: &[u8], place: LinePosition) {
        match TranscriptEntry::parse(line) {
            Ok(entry) => {
                let conversation::EntryKey { record, time } = conversation::entry_key(&entry);
                self.chunks(row, (record, time), &conversation::units(entry), place);
            }
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(_) => self.synced.unreadable_lines += 1,
        }
    }

    /// Reads a file of notes, which may have changed anywhere, whole; returns the bytes read.
    fn notes(&mut self, next: &Todo, todo: &mut VecDeque<Todo>) -> Result<u64, Error> {
        let source = &next.source;
        let bytes = match system::read_small(&source.path, notes::CAP) {
            Ok(bytes) => bytes,
            // It vanished since it was listed; the next pass notes it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => {
                self.synced.failed.push((source.path.clone(), error.to_string()));
                return Ok(0);
            }
        };
        let mut row = self.row(next, source.stamp);
        let tail_hash = xxh3_64(&bytes);
        let is_known = next.known.is_some();
        if !is_known || row.mark.tail_hash != tail_hash {
            if is_known {
                self.forget(&mut row, todo)?;
            }
            let time = source.stamp.modified().map_or(0, |at| u64::try_from(at.as_second()).unwrap_or(0));
            for section in notes::sections(&String::from_utf8_lossy(&bytes)) {
                let place = LinePosition { offset: section.offset, line: section.line };
                self.chunks(&mut row, (section.record(), time), &[section.unit().redacted()], place);
            }
        }
        let size = bytes.len() as u64;
        row.stamp = source.stamp;
        row.mark = Checkpoint { dev: row.stamp.dev, ino: row.stamp.ino, offset: size, lines: 0, tail_hash };
        self.synced.bytes_read += size;
        self.synced.progress.bytes_done += size;
        self.since_commit += size;
        self.changes.files.push(row);
        Ok(size)
    }

    fn units(&mut self, row: &mut FileRow, record: &Record<'_>, units: &[Unit<'_>], place: LinePosition) {
        let id = own_record_of(record);
        let time = record.timestamp().map_or(0, |at| u64::try_from(at.as_second()).unwrap_or(0));
        self.chunks(row, (id, time), units, place);
    }

    /// Adds the texts of a record with this id hash and time; 0 where it has none.
    fn chunks(&mut self, row: &mut FileRow, (id, time): (u64, u64), units: &[Unit<'_>], place: LinePosition) {
        if units.is_empty() {
            return;
        }
        // Notes are each their own: one that says the same is no copy of a conversation.
        let is_own = id == 0 || row.source == SourceKind::Memory;
        let owner = if is_own { None } else { self.records.owner(id, row.id) };
        if owner == Some(row.id) {
            // It was written again.
            return;
        }
        let spoken =
            units.iter().filter(|unit| unit.kind.speaks_for_session()).map(|unit| unit.text.len() as u64);
        row.spoken += spoken.sum::<u64>();
        if let Some(owner) = owner {
            self.changes.shared.push(SharedRecord { record: id, owner, file: row.id });
            return;
        }
        let origin = Origin { file: row.id, record: id, place, time, generation: self.writer.generation };
        for (number, unit) in units.iter().enumerate() {
            row.text += unit.indexed_length();
            if unit.kind.has_meaning() {
                // As with the text index, a failed write is reported at the commit.
                let _ = self.writer.meanings.add(unit, row.id, id);
            }
            for document in self.documents.of_unit(unit, number, &origin) {
                row.chunks += u64::from(unit.kind.is_found_by_words());
                self.synced.chunks_added += 1;
                // The text index reports a failed thread at the commit as well; nothing is lost by going on.
                let _ = self.writer.add(document);
            }
        }
    }
}

/// Whether a record is a summary of another session.
fn is_of_others(record: &Record<'_>, own: &mut OwnRecords) -> bool {
    record.kind() == RecordKind::Summary && !record.leaf().is_some_and(|leaf| own.contain(leaf))
}
