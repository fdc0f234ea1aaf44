//! Searches a projects folder for transcripts.
//!
//! It never opens a file and never fails: oddities become [`ReadProblem`]s for `doctor` to show. A project's folder may be
//! a link, as programs that manage dotfiles make it; no other link out of the projects folder is followed.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use model::SessionId;
use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags, Stat, open, statat};
use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};
use system::{FileStamp, in_parallel};

use crate::files::{FolderContents, ReadProblem, SubagentFile, TranscriptFile};

/// How deep below a session's folder sub-agents' files may be (workflows nest them).
pub(crate) const SUBAGENT_DEPTH: usize = 4;
/// How many entries of one folder a thread takes at a time.
const AT_A_TIME: usize = 256;

/// Finds the files below a projects folder, in the order of its listing, on `threads` threads.
pub(crate) fn find(projects: &Path, threads: usize) -> FolderContents {
    let mut found = FolderContents::default();
    let root = match fs::canonicalize(projects) {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return found,
        Err(error) => {
            found.problems.push(ReadProblem::unreadable(projects.to_owned(), error));
            return found;
        }
    };
    let mut walk = Walk::new(&root);
    let folders = walk.listed(&root, Walk::folder);
    found.add(walk.found);
    join(&mut found, in_parallel(threads, &folders, |folder| project(&root, folder, threads)));
    found
}

/// The transcripts of one session, which may be in several project folders, with their stamps; of all others not even
/// the names are read.
pub(crate) fn find_session(projects: &Path, id: &SessionId) -> Vec<(PathBuf, FileStamp)> {
    let Ok(root) = fs::canonicalize(projects) else { return Vec::new() };
    let folders = Walk::new(&root).listed(&root, Walk::folder);
    let transcript = |folder: PathBuf| {
        let path = folder.join(format!("{id}.jsonl"));
        let found = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((path, FileStamp::from_metadata(&found)))
    };
    folders.into_iter().filter_map(transcript).collect()
}

/// The sub-agents' files below a transcript's side folder.
pub fn subagents_of(transcript: &Path) -> Vec<SubagentFile> {
    let side = transcript.with_extension("");
    Walk::new(&side).subagents(&side.join("subagents"), 0)
}

/// One project folder; of a large one the first entries are looked at while the next are listed.
fn project(root: &Path, folder: &Path, threads: usize) -> FolderContents {
    let mut walk = Walk::new(root);
    let Some(mut listing) = walk.open(folder) else { return walk.found };
    // The listing continues while its entries are processed.
    let beside = match listing.folder.fd().and_then(|open| fcntl_dupfd_cloexec(open, 0)) {
        Ok(beside) => beside,
        Err(error) => {
            walk.found.problems.push(ReadProblem::unreadable(folder.to_owned(), error));
            return walk.found;
        }
    };
    let folder = Folder { path: folder, open: beside.as_fd() };
    let first: Vec<_> = listing.by_ref().take(2).collect();
    let threads = if first.len() > 1 { threads } else { 1 };
    let looked_at = in_parallel(threads, first.into_iter().chain(listing), |entries| {
        let mut walk = Walk::new(root);
        for entry in entries {
            match entry {
                Ok(entry) => walk.entry(&folder, &entry),
                Err(error) => {
                    walk.found.problems.push(ReadProblem::unreadable(folder.path.to_owned(), error));
                }
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
    for side in side_folders.into_values() {
        let lone = walk.subagents(&side.join("subagents"), 0);
        walk.found.lone_subagents.extend(lone);
    }
    walk.found.lone_subagents.sort_by(|one, other| one.path.cmp(&other.path));
    walk.found
}

/// An open folder: looking up its entries relative to it is faster than by whole paths.
struct Folder<'a> {
    path: &'a Path,
    open: BorrowedFd<'a>,
}

impl Folder<'_> {
    fn path_of(&self, entry: &DirEntry) -> PathBuf {
        self.path.join(OsStr::from_bytes(entry.file_name().to_bytes()))
    }

    /// The metadata of an entry, a link not followed.
    fn stat(&self, entry: &DirEntry) -> Result<Stat, Errno> {
        statat(self.open, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
    }

    /// The type of an entry; not every file system includes it in its listing.
    fn kind(&self, entry: &DirEntry) -> Result<FileType, Errno> {
        match entry.file_type() {
            FileType::Unknown => self.stat(entry).map(|stat| FileType::from_raw_mode(stat.st_mode)),
            kind => Ok(kind),
        }
    }
}

/// A folder's entries, a few at a time.
struct Listing {
    folder: Dir,
    is_done: bool,
}

impl Listing {
    /// The next entry. After the last one the system is not asked again.
    fn next_entry(&mut self) -> Option<Result<DirEntry, Errno>> {
        let is_named = |entry: &DirEntry| !matches!(entry.file_name().to_bytes(), b"." | b"..");
        while !self.is_done {
            match self.folder.read() {
                Some(Ok(entry)) if !is_named(&entry) => {}
                Some(read) => return Some(read),
                None => self.is_done = true,
            }
        }
        None
    }
}

impl Iterator for Listing {
    type Item = Vec<Result<DirEntry, Errno>>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch: Vec<_> = std::iter::from_fn(|| self.next_entry()).take(AT_A_TIME).collect();
        (!batch.is_empty()).then_some(batch)
    }
}

/// Appends all parts to what was found before. Thousands of entries are moved once, those of a single part never.
fn join(found: &mut FolderContents, parts: Vec<FolderContents>) {
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
    found: FolderContents,
    side_folders: HashMap<String, PathBuf>,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Path) -> Self {
        Self { root, found: FolderContents::default(), side_folders: HashMap::new() }
    }

    /// An entry of the projects folder, where it is a folder.
    fn folder(&mut self, projects: &Folder<'_>, entry: &DirEntry) -> Option<PathBuf> {
        let path = projects.path_of(entry);
        match projects.kind(entry) {
            Ok(FileType::Directory) => Some(path),
            Ok(FileType::Symlink) if self.is_project_elsewhere(&path) => Some(path),
            Ok(FileType::Symlink) => {
                self.link(path);
                None
            }
            _ => None,
        }
    }

    /// Whether a link in the projects folder leads to a folder that is neither below that folder, where it is found
    /// anyway, nor above it, where it would go round for ever.
    fn is_project_elsewhere(&self, link: &Path) -> bool {
        let target = fs::canonicalize(link).ok().filter(|target| target.is_dir());
        target.is_some_and(|target| !target.starts_with(self.root) && !self.root.starts_with(target))
    }

    /// An entry of a project folder.
    fn entry(&mut self, folder: &Folder<'_>, entry: &DirEntry) {
        let Ok(name) = entry.file_name().to_str() else { return };
        if let Some(stem) = name.strip_suffix(".jsonl") {
            self.transcript(folder, entry, stem);
        } else if name.parse::<SessionId>().is_ok() && folder.kind(entry) == Ok(FileType::Directory) {
            self.side_folders.insert(name.to_owned(), folder.path_of(entry));
        }
    }

    fn transcript(&mut self, folder: &Folder<'_>, entry: &DirEntry, stem: &str) {
        let Some((path, stamp)) = self.file(folder, entry) else { return };
        if let Some(id) = stem.strip_prefix("agent-") {
            self.found.flat_subagents.push(SubagentFile { id: id.to_owned(), path, stamp });
            return;
        }
        match SessionId::from_file_stem(stem) {
            Ok(id) => self.found.transcripts.push(TranscriptFile::new(id, path, stamp)),
            Err(error) => self.report(path, format!("its name is no session's: {error}")),
        }
    }

    fn subagents(&mut self, folder: &Path, depth: usize) -> Vec<SubagentFile> {
        if depth >= SUBAGENT_DEPTH {
            return Vec::new();
        }
        let agents = self.listed(folder, |walk, folder, entry| {
            let name = entry.file_name().to_str().ok();
            match name.and_then(|name| name.strip_prefix("agent-")?.strip_suffix(".jsonl")) {
                Some(id) => {
                    let (path, stamp) = walk.file(folder, entry)?;
                    Some(vec![SubagentFile { id: id.to_owned(), path, stamp }])
                }
                None if folder.kind(entry) == Ok(FileType::Directory) => {
                    Some(walk.subagents(&folder.path_of(entry), depth + 1))
                }
                None => None,
            }
        });
        agents.into_iter().flatten().collect()
    }

    /// The entry as a regular file, else a problem.
    fn file(&mut self, folder: &Folder<'_>, entry: &DirEntry) -> Option<(PathBuf, FileStamp)> {
        let path = folder.path_of(entry);
        let stat = match folder.stat(entry) {
            Ok(stat) => stat,
            // It vanished between the listing and the look: not there is not a problem.
            Err(Errno::NOENT) => return None,
            Err(error) => {
                self.found.problems.push(ReadProblem::unreadable(path, error));
                return None;
            }
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => return Some((path, FileStamp::from_stat(&stat))),
            FileType::Symlink => self.link(path),
            kind => self.report(path, format!("it is {}, not a file", kind_name(kind))),
        }
        None
    }

    /// A link out of the projects folder is a problem; one to what the walk finds anyway adds nothing, and could make
    /// it go round for ever.
    fn link(&mut self, path: PathBuf) {
        match fs::canonicalize(&path) {
            Ok(target) if target.starts_with(self.root) => {}
            Ok(target) => {
                self.report(
                    path,
                    format!("it is a link out of the projects folder, to {}", target.display()),
                );
            }
            Err(error) => self.found.problems.push(ReadProblem::unreadable(path, error)),
        }
    }

    /// Calls `take` for each entry of a folder and collects the results.
    fn listed<T>(
        &mut self,
        path: &Path,
        mut take: impl FnMut(&mut Self, &Folder<'_>, &DirEntry) -> Option<T>,
    ) -> Vec<T> {
        let Some(mut listing) = self.open(path) else { return Vec::new() };
        let entries: Vec<_> = std::iter::from_fn(|| listing.next_entry()).collect();
        let open = match listing.folder.fd() {
            Ok(open) => open,
            Err(error) => {
                self.found.problems.push(ReadProblem::unreadable(path.to_owned(), error));
                return Vec::new();
            }
        };
        let (folder, mut taken) = (Folder { path, open }, Vec::new());
        for entry in entries {
            match entry {
                Ok(entry) => taken.extend(take(self, &folder, &entry)),
                Err(error) => self.found.problems.push(ReadProblem::unreadable(path.to_owned(), error)),
            }
        }
        taken
    }

    /// The listing of a folder that is there and can be read.
    fn open(&mut self, path: &Path) -> Option<Listing> {
        let flags = OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let is_project = path.parent() == Some(self.root);
        let may_follow = is_project && path.is_symlink() && self.is_project_elsewhere(path);
        let flags = if may_follow { flags } else { flags | OFlags::NOFOLLOW };
        match retry_on_intr(|| open(path, flags, Mode::empty())).and_then(Dir::new) {
            Ok(folder) => Some(Listing { folder, is_done: false }),
            Err(Errno::NOENT) => None,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                if path.is_symlink() {
                    self.link(path.to_owned());
                }
                None
            }
            Err(error) => {
                self.found.problems.push(ReadProblem::unreadable(path.to_owned(), error));
                None
            }
        }
    }

    fn report(&mut self, path: PathBuf, what: String) {
        self.found.problems.push(ReadProblem { path, what, is_unreadable: false });
    }
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}
