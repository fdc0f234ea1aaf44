//! Where the archive keeps the files of a projects folder, and finding the sessions that only it still has.
//!
//! `<archive>/<n>/projects` mirrors the projects folder that `<archive>/<n>/folder` names; each file is a copy of
//! `sealed`'s. `<archive>/forgotten` lists the ids of sessions that are not to be found anywhere any more.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use model::SessionId;
use system::in_parallel;

use crate::files::{FolderContents, ReadProblem, SubagentFile, TranscriptFile};
use crate::walk::SUBAGENT_DEPTH;

/// The longest path of a folder, and the largest list of forgotten sessions, that are read.
const LONGEST: u64 = 64 << 20;

/// The archive's mirror of one projects folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedFolder {
    root: PathBuf,
    projects: PathBuf,
}

impl ArchivedFolder {
    /// Every mirror in an archive.
    pub fn all(archive: &Path) -> Vec<Self> {
        let entries = fs::read_dir(archive).into_iter().flatten().flatten();
        let mut all: Vec<Self> = entries.filter_map(|entry| Self::at(&entry.path())).collect();
        all.sort_by(|one, other| one.root.cmp(&other.root));
        all
    }

    fn at(root: &Path) -> Option<Self> {
        let bytes = system::read_small(&root.join("folder"), LONGEST).ok()?;
        Some(Self { root: root.to_owned(), projects: OsString::from_vec(bytes).into() })
    }

    /// The mirror of a projects folder, which is made where there is none yet.
    pub fn make(archive: &Path, projects: &Path) -> io::Result<Self> {
        let all = Self::all(archive);
        if let Some(known) = all.into_iter().find(|folder| folder.projects == projects) {
            return Ok(known);
        }
        let is_free = |root: &PathBuf| !root.join("folder").exists();
        let roots = (0_u32..).map(|number| archive.join(number.to_string()));
        let root = roots.into_iter().find(is_free).ok_or(io::ErrorKind::StorageFull)?;
        system::create_private_folder(&root)?;
        system::replace_private_file(&root.join("folder"), projects.as_os_str().as_bytes())?;
        Ok(Self { root, projects: projects.to_owned() })
    }

    /// The projects folder that is mirrored.
    pub fn original(&self) -> &Path {
        &self.projects
    }

    /// The mirror of the projects folder.
    pub fn mirror(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// The folder of earlier versions of rewritten files; it has the form of the mirror.
    pub fn versions(&self) -> PathBuf {
        self.root.join("versions")
    }

    /// The copies of the sessions whose ids are wanted, with their sub-agents, and those of sub-agents beside sessions whose
    /// files are not `living`, on `threads` threads.
    pub fn find(
        &self,
        is_wanted: impl Fn(&SessionId) -> bool + Sync,
        is_living: impl Fn(&Path) -> bool + Sync,
        threads: usize,
    ) -> FolderContents {
        let folders = entries(&self.mirror()).into_iter().filter(|(_, is_folder)| *is_folder);
        let parts = in_parallel(threads, folders.collect::<Vec<_>>(), |(slug, _)| {
            let mut found = FolderContents::default();
            self.find_in(&self.mirror().join(slug), (&is_wanted, &is_living), &mut found);
            found
        });
        let mut found = FolderContents::default();
        for part in parts {
            found.add(part);
        }
        found
    }

    fn find_in(
        &self,
        folder: &Path,
        (is_wanted, is_living): (&impl Fn(&SessionId) -> bool, &impl Fn(&Path) -> bool),
        found: &mut FolderContents,
    ) {
        for (name, is_folder) in entries(folder) {
            let Some(stem) = stem_of_copy(&name) else { continue };
            let path = folder.join(format!("{stem}.jsonl"));
            if is_folder {
                continue;
            }
            if let Some(agent) = stem.strip_prefix("agent-") {
                if !self.original_of(&path).is_some_and(|original| is_living(&original)) {
                    found.flat_subagents.extend(subagent(agent, path, &mut found.problems));
                }
                continue;
            }
            let Some(id) = SessionId::from_file_stem(stem).ok().filter(is_wanted) else { continue };
            match sealed::source_of(&path) {
                Ok(source) => {
                    let side = path.with_extension("");
                    let mut subagents = Vec::new();
                    find_subagents(&side.join("subagents"), 0, &mut subagents, &mut found.problems);
                    found.transcripts.push(TranscriptFile {
                        has_side_folder: side.is_dir(),
                        subagents,
                        archived: true,
                        missing: source.missing(),
                        ..TranscriptFile::new(id, path, source.stamp)
                    });
                }
                Err(error) => found.problems.push(ReadProblem::unreadable(path, error)),
            }
        }
    }

    /// The ids of the sessions that have a copy, each with the projects' folder of its transcript.
    pub fn sessions(&self) -> Vec<(SessionId, PathBuf)> {
        let mut all = Vec::new();
        for (slug, _) in entries(&self.mirror()).into_iter().filter(|(_, is_folder)| *is_folder) {
            let copies = entries(&self.mirror().join(&slug));
            let ids = copies.iter().filter_map(|(name, _)| stem_of_copy(name)?.parse().ok());
            all.extend(ids.map(|id| (id, self.projects.join(&slug))));
        }
        all
    }

    /// The copy of a file, where there is one.
    pub fn copy_of(&self, original: &Path) -> Option<PathBuf> {
        let copy = self.mirror().join(original.strip_prefix(&self.projects).ok()?);
        sealed::files_of(&copy)[1].is_file().then_some(copy)
    }

    /// The folder because of which nobody knows whether the file is gone that a copy is of.
    pub fn unreadable_folder(&self, copy: &Path) -> Option<PathBuf> {
        let original = self.original_of(copy)?;
        if is_gone(&original) { None } else { original.parent().map(Path::to_owned) }
    }

    /// Where the file was that a copy is of.
    pub fn original_of(&self, copy: &Path) -> Option<PathBuf> {
        Some(self.projects.join(copy.strip_prefix(self.mirror()).ok()?))
    }
}

/// Whether there is no such file. What is in a folder that cannot be read may be there still.
pub fn is_gone(file: &Path) -> bool {
    let gone =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    file.symlink_metadata().is_err_and(|error| gone(&error))
}

/// The ids of the sessions that are not to be found any more.
pub fn forgotten_sessions(archive: &Path) -> HashSet<SessionId> {
    let bytes = system::read_small(&forgotten_list(archive), LONGEST).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter_map(|line| line.parse().ok()).collect()
}

/// The file that lists the sessions that are not to be found any more.
pub fn forgotten_list(archive: &Path) -> PathBuf {
    archive.join("forgotten")
}

/// The stem of the transcript that a file in the archive holds the end of.
fn stem_of_copy(name: &OsString) -> Option<&str> {
    sealed::name_of_tail(name.to_str()?)?.strip_suffix(".jsonl")
}

fn find_subagents(
    folder: &Path,
    depth: usize,
    found: &mut Vec<SubagentFile>,
    problems: &mut Vec<ReadProblem>,
) {
    if depth >= SUBAGENT_DEPTH {
        return;
    }
    for (name, is_folder) in entries(folder) {
        if is_folder {
            find_subagents(&folder.join(name), depth + 1, found, problems);
            continue;
        }
        let Some(name) = name.to_str().and_then(sealed::name_of_tail) else { continue };
        if let Some(id) = name.strip_prefix("agent-").and_then(|rest| rest.strip_suffix(".jsonl")) {
            found.extend(subagent(id, folder.join(name), problems));
        }
    }
}

fn subagent(id: &str, path: PathBuf, problems: &mut Vec<ReadProblem>) -> Option<SubagentFile> {
    match sealed::source_of(&path) {
        Ok(source) => Some(SubagentFile { id: id.to_owned(), path, stamp: source.stamp }),
        Err(error) => {
            problems.push(ReadProblem::unreadable(path, error));
            None
        }
    }
}

/// The names in a folder, and which of them are folders; none where it cannot be listed.
fn entries(folder: &Path) -> Vec<(OsString, bool)> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    listed.map(|entry| (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir()))).collect()
}
