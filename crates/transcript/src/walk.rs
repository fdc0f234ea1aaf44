//! Looking through a projects folder: which transcripts lie in it, and what could not be looked at.
//!
//! Walking never opens a file, never follows a link out of the projects folder, and never fails: what is
//! odd becomes a [`Problem`] for `doctor` to show.

use std::collections::HashMap;
use std::fs::{self, DirEntry, FileType, ReadDir};
use std::io;
use std::mem;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use model::SessionId;

use crate::home::{Found, Problem, SubagentFile, TranscriptFile};
use crate::parallel::in_parallel;
use crate::tail::FileStamp;

/// How deep under a session's folder sub-agents' files may lie (workflows nest them).
pub(crate) const SUBAGENT_DEPTH: usize = 4;
/// How many entries of one folder a thread takes at a time.
const AT_A_TIME: usize = 256;

/// Everything below a projects folder, in the order of its listing, by so many threads.
pub(crate) fn find(projects: &Path, threads: usize) -> Found {
    let mut found = Found::default();
    let root = match fs::canonicalize(projects) {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return found,
        Err(error) => {
            found.problems.push(unreadable(projects.to_owned(), &error));
            return found;
        }
    };
    let mut walk = Walk::new(&root);
    let mut folders = Vec::new();
    for entry in walk.entries(&root) {
        if let Some((path, kind)) = walk.inside(&entry)
            && kind.is_dir()
        {
            folders.push(path);
        }
    }
    found.add(walk.found);
    join(&mut found, in_parallel(threads, &folders, |folder| project(&root, folder, threads)));
    found
}

/// The sub-agents' files below a transcript's side folder.
pub fn subagents_of(transcript: &Path) -> Vec<SubagentFile> {
    let side = transcript.with_extension("");
    Walk::new(&side).subagents(&side.join("subagents"), 0)
}

/// One project folder; of a large one the first entries are looked at while the next are listed.
fn project(root: &Path, folder: &Path, threads: usize) -> Found {
    let mut walk = Walk::new(root);
    let Some(listing) = walk.listing(folder) else { return walk.found };
    let mut batches = Batches(listing);
    let first: Vec<_> = batches.by_ref().take(2).collect();
    let threads = if first.len() > 1 { threads } else { 1 };
    let looked_at = in_parallel(threads, first.into_iter().chain(batches), |entries| {
        let mut walk = Walk::new(root);
        for entry in entries {
            match entry {
                Ok(entry) => walk.entry(&entry),
                Err(error) => walk.found.problems.push(unreadable(folder.to_owned(), &error)),
            }
        }
        walk
    });
    let (parts, side_folders): (Vec<_>, Vec<_>) =
        looked_at.into_iter().map(|part| (part.found, part.side_folders)).unzip();
    let mut side_folders: HashMap<_, _> = side_folders.into_iter().flatten().collect();
    join(&mut walk.found, parts);
    let mut transcripts = mem::take(&mut walk.found.transcripts);
    for transcript in &mut transcripts {
        if let Some(side) = side_folders.remove(transcript.id.as_str()) {
            transcript.subagents = walk.subagents(&side.join("subagents"), 0);
            transcript.has_side_folder = true;
        }
    }
    walk.found.transcripts = transcripts;
    walk.found
}

/// A folder's entries, a few at a time.
struct Batches(ReadDir);

impl Iterator for Batches {
    type Item = Vec<io::Result<DirEntry>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = Vec::with_capacity(AT_A_TIME);
        batch.extend(self.0.by_ref().take(AT_A_TIME));
        (!batch.is_empty()).then_some(batch)
    }
}

/// All parts behind what was found before: thousands are moved once, those of a single part never.
fn join(found: &mut Found, parts: Vec<Found>) {
    if parts.iter().filter(|part| !part.transcripts.is_empty()).count() > 1 {
        found.transcripts.reserve_exact(parts.iter().map(|part| part.transcripts.len()).sum());
    }
    for part in parts {
        found.add(part);
    }
}

/// One thread's look around.
struct Walk<'a> {
    root: &'a Path,
    found: Found,
    side_folders: HashMap<String, PathBuf>,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Path) -> Self {
        Self { root, found: Found::default(), side_folders: HashMap::new() }
    }

    /// An entry of a project folder.
    fn entry(&mut self, entry: &DirEntry) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { return };
        if let Some(stem) = name.strip_suffix(".jsonl") {
            self.transcript(entry, stem);
        } else if name.parse::<SessionId>().is_ok() && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            self.side_folders.insert(name.to_owned(), entry.path());
        }
    }

    fn transcript(&mut self, entry: &DirEntry, stem: &str) {
        let Some((path, stamp, born)) = self.file(entry) else { return };
        if let Some(id) = stem.strip_prefix("agent-") {
            self.found.flat_subagents.push(SubagentFile { id: id.to_owned(), path, stamp });
            return;
        }
        match stem.parse() {
            Ok(id) => self.found.transcripts.push(TranscriptFile {
                id,
                path: path.into(),
                stamp,
                born,
                subagents: Vec::new(),
                has_side_folder: false,
            }),
            Err(error) => self.report(path, format!("its name is no session's: {error}")),
        }
    }

    fn subagents(&mut self, folder: &Path, depth: usize) -> Vec<SubagentFile> {
        let mut found = Vec::new();
        if depth >= SUBAGENT_DEPTH {
            return found;
        }
        for entry in self.entries(folder) {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_prefix("agent-")?.strip_suffix(".jsonl"));
            if let Some(id) = id {
                if let Some((path, stamp, _)) = self.file(&entry) {
                    found.push(SubagentFile { id: id.to_owned(), path, stamp });
                }
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.extend(self.subagents(&entry.path(), depth + 1));
            }
        }
        found
    }

    /// The entry as a regular file inside the projects folder, else a problem.
    fn file(&mut self, entry: &DirEntry) -> Option<(PathBuf, FileStamp, Option<i64>)> {
        let (path, kind) = self.inside(entry)?;
        if !kind.is_file() {
            self.report(path, format!("it is {}, not a file", kind_word(kind)));
            return None;
        }
        match entry.metadata() {
            Ok(metadata) => {
                let born = metadata.created().ok().and_then(|at| {
                    let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
                    i64::try_from(since.as_nanos()).ok()
                });
                Some((path, FileStamp::of(&metadata), born))
            }
            // It vanished between the listing and the look: not there is not a problem.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.found.problems.push(unreadable(path, &error));
                None
            }
        }
    }

    /// Where an entry really lies and what it is; a link out of the projects folder is a problem.
    fn inside(&mut self, entry: &DirEntry) -> Option<(PathBuf, FileType)> {
        let kind = entry.file_type().ok()?;
        if !kind.is_symlink() {
            return Some((entry.path(), kind));
        }
        match fs::canonicalize(entry.path()) {
            // A link to what the walk finds anyway adds nothing, and could make it go round for ever.
            Ok(target) if target.starts_with(self.root) => {}
            Ok(target) => self.report(
                entry.path(),
                format!("it is a link out of the projects folder, to {}", target.display()),
            ),
            Err(error) => self.found.problems.push(unreadable(entry.path(), &error)),
        }
        None
    }

    fn entries(&mut self, folder: &Path) -> Vec<DirEntry> {
        let listed = self.listing(folder).map(Iterator::collect::<io::Result<Vec<_>>>);
        match listed {
            Some(Ok(entries)) => entries,
            Some(Err(error)) => {
                self.found.problems.push(unreadable(folder.to_owned(), &error));
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// The listing of a folder that is there and can be read.
    fn listing(&mut self, folder: &Path) -> Option<ReadDir> {
        match fs::read_dir(folder) {
            Ok(listing) => Some(listing),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                None
            }
            Err(error) => {
                self.found.problems.push(unreadable(folder.to_owned(), &error));
                None
            }
        }
    }

    fn report(&mut self, path: PathBuf, what: String) {
        self.found.problems.push(Problem { path, what });
    }
}

fn unreadable(path: PathBuf, error: &io::Error) -> Problem {
    Problem { path, what: format!("it cannot be read: {error}") }
}

fn kind_word(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
