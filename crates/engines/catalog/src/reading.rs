//! The facts of every file: cached ones if nothing changed, otherwise read and cached.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use system::FileStamp;
use transcript::ReadProblem;

use crate::facts::{FileFacts, Owner};
use crate::pack::{Packed, pack};
use crate::scan::{ScanJob, ScanResult, scan};
use crate::summary_cache::SummaryCache;
use crate::types::{ByPath, Detail, Discovery, IoStats, ReadProgress};

/// How many files are written to the cache at a time: an interrupted reading loses at most these.
const BATCH: usize = 256;

/// A file whose facts are requested.
#[derive(Debug)]
pub(crate) struct FileRequest {
    /// The requested file.
    pub(crate) path: PathBuf,
    /// Its stamp now.
    pub(crate) stamp: FileStamp,
    /// The session or sub-agent it belongs to.
    pub(crate) owner: Owner,
}

/// The files from which the catalog is built.
pub(crate) fn file_requests(found: &Discovery) -> Vec<FileRequest> {
    let file = |path: &Path, stamp, owner| FileRequest { path: path.to_owned(), stamp, owner };
    let mut wanted = Vec::new();
    for session in &found.sessions {
        wanted.push(file(&session.path, session.stamp, Owner::Session(session.id.clone())));
        let same = || Owner::Session(session.id.clone());
        wanted.extend(session.diverged.iter().map(|other| file(&other.path, other.stamp, same())));
        let owner = || Owner::Subagent(Some(session.id.clone()));
        wanted.extend(session.subagents.iter().map(|agent| file(&agent.path, agent.stamp, owner())));
    }
    wanted.extend(found.unattached().map(|agent| file(&agent.path, agent.stamp, Owner::Subagent(None))));
    wanted
}

/// The cache, open, with all facts loaded from it.
#[derive(Debug, Default)]
pub(crate) struct LoadedCache {
    cache: SummaryCache,
    detail: Detail,
    facts: ByPath<FileFacts>,
}

impl LoadedCache {
    /// Loads what is kept in the database at `path`.
    pub(crate) fn load(path: Option<&Path>, detail: Detail) -> Self {
        let mut cache = SummaryCache::open(path);
        let facts = cache.load(detail);
        Self { cache, detail, facts }
    }
}

/// The facts of the requested files, from the cache or read.
#[derive(Debug, Default)]
pub(crate) struct ReadFacts {
    /// The facts of each file that could be read.
    pub(crate) facts: ByPath<FileFacts>,
    /// The files that could not be read.
    pub(crate) problems: Vec<ReadProblem>,
    /// The files whose cached facts could not be continued, because their content was replaced.
    pub(crate) replaced: Vec<PathBuf>,
    /// The I/O this took.
    pub(crate) work: IoStats,
    /// Whether reading was ended before all files were read.
    pub(crate) is_interrupted: bool,
}

impl ReadFacts {
    /// Gets the facts of all wanted files; files below `walked` that are gone are forgotten.
    pub(crate) fn new(
        kept: LoadedCache,
        detail: Detail,
        wanted: Vec<FileRequest>,
        walked: &[PathBuf],
        threads: usize,
        progress: impl FnMut(ReadProgress) -> bool,
    ) -> (Self, SummaryCache) {
        let LoadedCache { mut cache, detail: loaded, facts } = kept;
        let mut known = CachedFacts::new(facts);
        let is_enough = loaded == Detail::Spending || detail == Detail::Facts && known.is_current(&wanted);
        if !is_enough {
            // A changed file is written again as a whole.
            known = CachedFacts::new(cache.load(Detail::Spending));
        }
        let reading = Self::with(known, wanted, walked, &mut cache, threads, progress);
        (reading, cache)
    }

    /// Gets the facts of a few files; what is kept of all others is neither looked at nor forgotten.
    pub(crate) fn load_some(
        detail: Detail,
        wanted: Vec<FileRequest>,
        cache: &mut SummaryCache,
        threads: usize,
        progress: impl FnMut(ReadProgress) -> bool,
    ) -> Self {
        let mut load =
            |detail| CachedFacts::new(cache.load_some(detail, wanted.iter().map(|file| file.path.as_path())));
        let mut known = load(detail);
        if detail == Detail::Facts && !known.is_current(&wanted) {
            known = load(Detail::Spending);
        }
        Self::with(known, wanted, &[], cache, threads, progress)
    }

    fn with(
        mut known: CachedFacts,
        wanted: Vec<FileRequest>,
        walked: &[PathBuf],
        cache: &mut SummaryCache,
        threads: usize,
        progress: impl FnMut(ReadProgress) -> bool,
    ) -> Self {
        let mut reading = Self::default();
        let mut jobs = Vec::new();
        let mut moved = Vec::new();
        for file in wanted {
            match known.take(&file) {
                Some(CachedFile { facts, moved: has_moved }) if facts.stamp == file.stamp => {
                    if has_moved {
                        moved.extend(pack(&facts).map(|packed| (file.path.clone(), packed)));
                    }
                    reading.facts.insert(file.path.into_os_string(), facts);
                }
                known => {
                    let known = known.map(|taken| taken.facts);
                    jobs.push(ScanJob { path: file.path, size: file.stamp.size, owner: file.owner, known });
                }
            }
        }
        reading.keep(cache, &mut moved);
        reading.read(jobs, cache, threads, progress);
        let gone = known.gone(walked, &reading);
        if !gone.is_empty() && !reading.is_interrupted {
            reading.work.rows += cache.forget(&gone);
        }
        reading
    }

    fn read(
        &mut self,
        jobs: Vec<ScanJob>,
        cache: &mut SummaryCache,
        threads: usize,
        mut progress: impl FnMut(ReadProgress) -> bool,
    ) {
        let mut so_far = ReadProgress {
            of_files: jobs.len(),
            of_bytes: jobs.iter().map(ScanJob::new_bytes).sum(),
            ..ReadProgress::default()
        };
        let mut fresh = Vec::new();
        scan(jobs, threads, |read| {
            so_far.files += 1;
            so_far.bytes += read.bytes;
            fresh.extend(self.take(read));
            if fresh.len() >= BATCH {
                self.keep(cache, &mut fresh);
            }
            self.is_interrupted = !progress(so_far);
            !self.is_interrupted
        });
        self.keep(cache, &mut fresh);
    }

    fn take(&mut self, read: ScanResult) -> Option<(PathBuf, Packed)> {
        self.work.opened += 1;
        self.work.bytes += read.bytes;
        if read.replaced {
            self.replaced.push(read.path.clone());
        }
        match read.facts {
            Ok(facts) => {
                self.facts.insert(read.path.clone().into_os_string(), facts);
                return Some((read.path, read.packed?));
            }
            // It vanished after it was listed: a missing file is not a problem.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                self.problems.push(ReadProblem::unreadable(read.path, error));
            }
        }
        None
    }

    fn keep(&mut self, cache: &mut SummaryCache, rows: &mut Vec<(PathBuf, Packed)>) {
        if !rows.is_empty() {
            self.work.rows += cache.save(rows);
            rows.clear();
        }
    }
}

/// Cached facts, found by path or, for a file that moved, by its inode.
struct CachedFacts {
    facts: ByPath<FileFacts>,
    /// The path of each inode, by device and inode number.
    places: FxHashMap<(u64, u64), OsString>,
    /// Changed files, by the paths they were cached under.
    changed: Vec<OsString>,
}

/// Cached facts of a file, and whether it has moved since.
struct CachedFile {
    facts: FileFacts,
    moved: bool,
}

impl CachedFacts {
    fn new(facts: ByPath<FileFacts>) -> Self {
        Self { places: FxHashMap::default(), changed: Vec::new(), facts }
    }

    /// The path of each inode; built only when a file is not at its cached path.
    fn places(&mut self) -> &FxHashMap<(u64, u64), OsString> {
        if self.places.is_empty() {
            let place =
                |(path, facts): (&OsString, &FileFacts)| ((facts.stamp.dev, facts.stamp.ino), path.clone());
            self.places = self.facts.iter().map(place).collect();
        }
        &self.places
    }

    /// A session's file keeps its name when it moves; one that was renamed is another session's.
    fn take(&mut self, file: &FileRequest) -> Option<CachedFile> {
        if let Some(facts) = self.facts.remove(file.path.as_os_str()) {
            if facts.stamp != file.stamp {
                self.changed.push(file.path.clone().into_os_string());
            }
            return Some(CachedFile { facts, moved: false });
        }
        let before = Path::new(self.places().get(&(file.stamp.dev, file.stamp.ino))?).to_owned();
        let moved = before.file_name() == file.path.file_name() && !before.exists();
        let facts = if moved { self.facts.remove(before.as_os_str()) } else { None }?;
        self.changed.push(before.into_os_string());
        Some(CachedFile { facts, moved: true })
    }

    /// Whether every file is unchanged or new.
    fn is_current(&mut self, wanted: &[FileRequest]) -> bool {
        wanted.iter().all(|file| match self.facts.get(file.path.as_os_str()) {
            Some(facts) => facts.stamp == file.stamp,
            None => !self.places().contains_key(&(file.stamp.dev, file.stamp.ino)),
        })
    }

    /// Cached files that no longer exist; files in folders that were not searched are left out.
    fn gone(self, walked: &[PathBuf], reading: &ReadFacts) -> Vec<PathBuf> {
        let looked_into = |path: &PathBuf| walked.iter().any(|folder| path.starts_with(folder));
        let left = self.facts.into_keys().chain(self.changed);
        left.filter(|path| !reading.facts.contains_key(path))
            .map(PathBuf::from)
            .filter(|path| looked_into(path) && !path.exists())
            .collect()
    }
}
