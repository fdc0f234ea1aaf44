//! The facts of every file: what is kept where nothing changed, what is new read and kept.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use system::FileStamp;
use transcript::Problem;

use crate::facts::{Facts, Owner};
use crate::pack::{Packed, pack};
use crate::scan::{Job, Read, scan};
use crate::summary_cache::SummaryCache;
use crate::types::{ByPath, Detail, Found, Progress, Work};

/// How many files are kept at a time: what an interrupted reading loses is little.
const BATCH: usize = 256;

/// A file whose facts are wanted.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its stamp now.
    pub(crate) stamp: FileStamp,
    /// Whose it is.
    pub(crate) owner: Owner,
}

/// The files whose facts the catalog is put together from.
pub(crate) fn wanted(found: &Found) -> Vec<Wanted> {
    let file = |path: &Path, stamp, owner| Wanted { path: path.to_owned(), stamp, owner };
    let mut wanted = Vec::new();
    for session in &found.sessions {
        wanted.push(file(&session.path, session.stamp, Owner::Session(session.id.clone())));
        let owner = || Owner::Subagent(Some(session.id.clone()));
        wanted.extend(session.subagents.iter().map(|agent| file(&agent.path, agent.stamp, owner())));
    }
    wanted.extend(found.unattached().map(|agent| file(&agent.path, agent.stamp, Owner::Subagent(None))));
    wanted
}

/// What is kept of all files, and where.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    cache: SummaryCache,
    detail: Detail,
    facts: ByPath<Facts>,
}

impl Kept {
    /// Loads what is kept in the database at `path`.
    pub(crate) fn load(path: Option<&Path>, detail: Detail) -> Self {
        let mut cache = SummaryCache::open(path);
        let facts = cache.load(detail);
        Self { cache, detail, facts }
    }
}

/// What came of a reading.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The facts of each file that could be read.
    pub(crate) facts: ByPath<Facts>,
    /// Those that could not.
    pub(crate) problems: Vec<Problem>,
    /// Those that do not go on from what was kept of them.
    pub(crate) replaced: Vec<PathBuf>,
    /// What it took.
    pub(crate) work: Work,
}

impl Reading {
    /// Gets the facts of all wanted files; files below `walked` that are gone are forgotten.
    pub(crate) fn new(
        kept: Kept,
        detail: Detail,
        wanted: Vec<Wanted>,
        walked: &[PathBuf],
        threads: usize,
        progress: impl FnMut(Progress),
    ) -> (Self, SummaryCache) {
        let Kept { mut cache, detail: loaded, facts } = kept;
        let mut known = Known::new(facts);
        let is_enough = loaded == Detail::Spending || detail == Detail::Facts && known.is_current(&wanted);
        if !is_enough {
            // What has changed is written again, and whole.
            known = Known::new(cache.load(Detail::Spending));
        }
        let reading = Self::with(known, wanted, walked, &mut cache, threads, progress);
        (reading, cache)
    }

    /// Gets the facts of a few files; what is kept of all others is neither looked at nor forgotten.
    pub(crate) fn of_some(
        detail: Detail,
        wanted: Vec<Wanted>,
        cache: &mut SummaryCache,
        threads: usize,
    ) -> Self {
        let mut load =
            |detail| Known::new(cache.load_some(detail, wanted.iter().map(|file| file.path.as_path())));
        let mut known = load(detail);
        if detail == Detail::Facts && !known.is_current(&wanted) {
            known = load(Detail::Spending);
        }
        Self::with(known, wanted, &[], cache, threads, |_| ())
    }

    fn with(
        mut known: Known,
        wanted: Vec<Wanted>,
        walked: &[PathBuf],
        cache: &mut SummaryCache,
        threads: usize,
        progress: impl FnMut(Progress),
    ) -> Self {
        let mut reading = Self::default();
        let mut jobs = Vec::new();
        let mut moved = Vec::new();
        for file in wanted {
            match known.take(&file) {
                Some(Taken { facts, moved: has_moved }) if facts.stamp == file.stamp => {
                    if has_moved {
                        moved.extend(pack(&facts).map(|packed| (file.path.clone(), packed)));
                    }
                    reading.facts.insert(file.path.into_os_string(), facts);
                }
                known => {
                    let known = known.map(|taken| taken.facts);
                    jobs.push(Job { path: file.path, size: file.stamp.size, owner: file.owner, known });
                }
            }
        }
        reading.keep(cache, &mut moved);
        reading.read(jobs, cache, threads, progress);
        let gone = known.gone(walked, &reading);
        if !gone.is_empty() {
            reading.work.rows += cache.forget(&gone);
        }
        reading
    }

    fn read(
        &mut self,
        jobs: Vec<Job>,
        cache: &mut SummaryCache,
        threads: usize,
        mut progress: impl FnMut(Progress),
    ) {
        let mut so_far = Progress {
            of_files: jobs.len(),
            of_bytes: jobs.iter().map(Job::new_bytes).sum(),
            ..Progress::default()
        };
        let mut fresh = Vec::new();
        scan(jobs, threads, |read| {
            so_far.files += 1;
            so_far.bytes += read.bytes;
            progress(so_far);
            fresh.extend(self.take(read));
            if fresh.len() >= BATCH {
                self.keep(cache, &mut fresh);
            }
        });
        self.keep(cache, &mut fresh);
    }

    fn take(&mut self, read: Read) -> Option<(PathBuf, Packed)> {
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
            // It vanished between the listing and the look: not there is not a problem.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                self.problems.push(Problem { path: read.path, what: format!("it cannot be read: {error}") });
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

/// What was kept, found by path or, for a file that moved, by its inode.
struct Known {
    facts: ByPath<Facts>,
    /// Where each inode was.
    places: FxHashMap<(u64, u64), OsString>,
    /// Files that are not as they were kept, by the paths they were kept under.
    changed: Vec<OsString>,
}

/// Kept facts of a file, and whether it has moved since.
struct Taken {
    facts: Facts,
    moved: bool,
}

impl Known {
    fn new(facts: ByPath<Facts>) -> Self {
        Self { places: FxHashMap::default(), changed: Vec::new(), facts }
    }

    /// Where each inode was: asked for only when a file is not where it was.
    fn places(&mut self) -> &FxHashMap<(u64, u64), OsString> {
        if self.places.is_empty() {
            let place =
                |(path, facts): (&OsString, &Facts)| ((facts.stamp.dev, facts.stamp.ino), path.clone());
            self.places = self.facts.iter().map(place).collect();
        }
        &self.places
    }

    /// A session's file keeps its name when it moves; one that was renamed is another session's.
    fn take(&mut self, file: &Wanted) -> Option<Taken> {
        if let Some(facts) = self.facts.remove(file.path.as_os_str()) {
            if facts.stamp != file.stamp {
                self.changed.push(file.path.clone().into_os_string());
            }
            return Some(Taken { facts, moved: false });
        }
        let before = Path::new(self.places().get(&(file.stamp.dev, file.stamp.ino))?).to_owned();
        let moved = before.file_name() == file.path.file_name() && !before.exists();
        let facts = if moved { self.facts.remove(before.as_os_str()) } else { None }?;
        self.changed.push(before.into_os_string());
        Some(Taken { facts, moved: true })
    }

    /// Whether every file is as it was kept, or new.
    fn is_current(&mut self, wanted: &[Wanted]) -> bool {
        wanted.iter().all(|file| match self.facts.get(file.path.as_os_str()) {
            Some(facts) => facts.stamp == file.stamp,
            None => !self.places().contains_key(&(file.stamp.dev, file.stamp.ino)),
        })
    }

    /// Kept files that are no longer there; those of folders nobody looked into may well be.
    fn gone(self, walked: &[PathBuf], reading: &Reading) -> Vec<PathBuf> {
        let looked_into = |path: &PathBuf| walked.iter().any(|folder| path.starts_with(folder));
        let left = self.facts.into_keys().chain(self.changed);
        left.filter(|path| !reading.facts.contains_key(path))
            .map(PathBuf::from)
            .filter(|path| looked_into(path) && !path.exists())
            .collect()
    }
}
