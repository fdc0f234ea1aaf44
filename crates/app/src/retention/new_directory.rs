//! Where a directory that is gone is now: by its inode, by its repository's first commits and remotes, by the commits
//! in its sessions' records, by the same path in this home, or as the repository of a work tree that was removed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::Session;
use transcript::work_log;

use crate::proceed::location::TranscriptLocation;
use crate::repository::target::RepoTarget;
use crate::retention::directory_identities::{
    DirectoryIdentities, DirectoryIdentity, directory_identities, identity,
};
use crate::{Context, Error, Kind};

/// How many directories are looked at.
const MOST: usize = 400;
/// How deep below the nearest directory that is still there.
const DEPTH: usize = 3;
/// How many sessions are read for the commits in them, and how many commits are asked for.
const READ: usize = 20;
const COMMITS: usize = 20;

/// A session whose directory is gone.
#[derive(Debug, Clone)]
pub(crate) struct Orphan {
    pub(crate) session: Session,
    pub(crate) place: TranscriptLocation,
}

/// Where a lost directory is now, as far as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewDirectory {
    /// The new directory.
    pub(crate) now: Option<PathBuf>,
    /// Why that one, or why none.
    pub(crate) reason: String,
    /// Those among which only the person can decide.
    pub(crate) candidates: Vec<PathBuf>,
}

impl NewDirectory {
    /// The directory that the person named.
    pub(crate) fn named(context: &Context, to: &Path) -> Result<Self, Error> {
        let path = context.path(to);
        let physical = path.canonicalize().ok().filter(|path| path.is_dir());
        let now = physical
            .ok_or_else(|| Error::new(Kind::Usage, format!("{} is not a directory", path.display())))?;
        Ok(Self { now: Some(now), reason: "as you said".to_owned(), candidates: Vec::new() })
    }

    fn found(now: PathBuf, reason: impl Into<String>) -> Self {
        Self { now: Some(now), reason: reason.into(), candidates: Vec::new() }
    }

    fn not_found(reason: &str) -> Self {
        Self { now: None, reason: reason.to_owned(), candidates: Vec::new() }
    }

    /// One of several with the same evidence is not enough.
    fn only_one_of(mut found: Vec<PathBuf>, reason: &str) -> Option<Self> {
        match found.len() {
            0 => None,
            1 => Some(Self::found(found.remove(0), reason)),
            _ => {
                let several = format!("several directories are possible: {reason}");
                Some(Self { now: None, reason: several, candidates: found })
            }
        }
    }
}

/// Finds the directory; the strongest evidence decides.
pub(crate) fn find(context: &Context, gone: &Path, orphans: &[Orphan]) -> NewDirectory {
    let known = directory_identities(context);
    let noted = known.get(gone);
    let candidates = candidates(context, gone, &known);
    if let Some(noted) = noted {
        if let Some(found) = by_inode(noted, gone, &candidates) {
            return found;
        }
        if let Some(found) = by_repository(context, noted, gone, &candidates) {
            return found;
        }
    }
    if let Some(found) = of_work_tree(gone, orphans) {
        return found;
    }
    if noted.is_none_or(|noted| noted.first_commits.is_empty()) {
        if let Some(found) = by_commits(context, gone, orphans, &candidates) {
            return found;
        }
        if let Some(now) = in_this_home(&context.config().home, gone) {
            return NewDirectory::found(now, "it is the same path in your home");
        }
    }
    NewDirectory::not_found("no directory was found that is the same repository")
}

/// The same directory under another name.
fn by_inode(noted: &DirectoryIdentity, gone: &Path, candidates: &BTreeSet<PathBuf>) -> Option<NewDirectory> {
    let is = |wanted: (u64, u64)| {
        candidates.iter().find(move |path| wanted != (0, 0) && identity(path) == Some(wanted)).cloned()
    };
    if let Some(now) = is(noted.identity) {
        return Some(NewDirectory::found(now, "it is the same directory, renamed"));
    }
    let root = noted.root.as_deref()?;
    let now = inside(&is(noted.root_identity)?, root, gone)?;
    Some(NewDirectory::found(now, "its repository is the same directory, renamed"))
}

fn by_repository(
    context: &Context,
    noted: &DirectoryIdentity,
    gone: &Path,
    candidates: &BTreeSet<PathBuf>,
) -> Option<NewDirectory> {
    let old_root = noted.root.as_deref()?;
    let mut same: Vec<(bool, PathBuf)> = Vec::new();
    for root in repositories(candidates) {
        let Some(identity) = DirectoryIdentity::read(context, root) else { continue };
        if identity.is_same_repository(noted)
            && let Some(now) = inside(root, old_root, gone)
        {
            same.push((identity.has_same_remote(noted), now));
        }
    }
    let with_remote: Vec<PathBuf> =
        same.iter().filter(|(remote, _)| *remote).map(|(_, now)| now.clone()).collect();
    if with_remote.is_empty() {
        let all = same.into_iter().map(|(_, now)| now).collect();
        return NewDirectory::only_one_of(all, "its repository begins with the same commit");
    }
    NewDirectory::only_one_of(
        with_remote,
        "its repository has the same remote and begins with the same commit",
    )
}

/// Claude Code's work trees are below the repository that they are of.
fn of_work_tree(gone: &Path, orphans: &[Orphan]) -> Option<NewDirectory> {
    let below =
        gone.to_str()?.split_once("/.claude/worktrees/").map(|(repository, _)| PathBuf::from(repository));
    let recorded =
        || orphans.iter().find_map(|orphan| orphan.session.repo_path.as_deref().map(Path::to_owned));
    let repository = below.or_else(recorded).filter(|path| path != gone && path.is_dir())?;
    Some(NewDirectory::found(
        repository,
        "it is the repository of the directory or work tree that was removed",
    ))
}

/// The repository that has the commits which git reported in the sessions.
fn by_commits(
    context: &Context,
    gone: &Path,
    orphans: &[Orphan],
    candidates: &BTreeSet<PathBuf>,
) -> Option<NewDirectory> {
    let mut commits: BTreeSet<String> = BTreeSet::new();
    for orphan in orphans.iter().take(READ) {
        let Ok(log) = work_log(&orphan.place.transcript) else { continue };
        let here = log.commits.into_iter().filter(|commit| Path::new(&commit.cwd).starts_with(gone));
        commits.extend(here.map(|commit| commit.hash).take(COMMITS));
    }
    let commits: Vec<String> = commits.into_iter().take(COMMITS).collect();
    if commits.is_empty() {
        return None;
    }
    let has = |root: &&Path| {
        let target = RepoTarget { directory: root.to_path_buf(), root: root.to_path_buf() };
        let repository = target.place(context);
        commits.iter().any(|hash| project::has_commit(&repository, hash))
    };
    let found = repositories(candidates).filter(has).map(Path::to_owned).collect();
    NewDirectory::only_one_of(found, "it has the commits that were made in its sessions")
}

/// The same path, where only the user's name or the place of the homes is another.
fn in_this_home(home: &Path, gone: &Path) -> Option<PathBuf> {
    let mut parts = gone.components();
    let is_homes = |part: &str| matches!(part, "home" | "Users");
    parts.next()?;
    let homes = parts.next()?.as_os_str().to_str()?.to_owned();
    if homes != "root" {
        parts.next().filter(|_| is_homes(&homes))?;
    }
    let rest = parts.as_path();
    let now = home.join(rest);
    (!rest.as_os_str().is_empty() && !gone.starts_with(home) && now.is_dir()).then_some(now)
}

/// The path of `gone` relative to the old root, below the new root.
fn inside(root: &Path, old_root: &Path, gone: &Path) -> Option<PathBuf> {
    let now = root.join(gone.strip_prefix(old_root).ok()?);
    let now = if now == *root { root.to_owned() } else { now };
    now.is_dir().then(|| now.canonicalize().unwrap_or(now))
}

fn repositories(candidates: &BTreeSet<PathBuf>) -> impl Iterator<Item = &Path> {
    candidates.iter().map(PathBuf::as_path).filter(|path| path.join(".git").exists())
}

/// Directories that may be it: where other sessions are, where the person is, and what is near the old place.
fn candidates(context: &Context, gone: &Path, known: &DirectoryIdentities) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut add = |path: &Path| {
        if let Ok(path) = path.canonicalize()
            && path.is_dir()
        {
            found.insert(path);
        }
    };
    context.directory.ancestors().filter(|path| path.join(".git").exists()).for_each(&mut add);
    add(&context.directory);
    known.keys().filter(|path| path.is_dir()).for_each(|path| add(path));
    known.values().filter_map(|identity| identity.root.as_deref()).for_each(&mut add);
    if let Some(near) = gone.ancestors().find(|path| path.is_dir()) {
        nearby(near, 0, &mut found);
    }
    let home = context.config().home.clone();
    if found.len() < MOST && !gone.starts_with(&home) {
        nearby(&home, 0, &mut found);
    }
    found
}

/// Directories below, without hidden ones and without looking into repositories.
fn nearby(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    if depth >= DEPTH || found.len() >= MOST {
        return;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_hidden(&entry.file_name()))
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    for path in &folders {
        if found.len() < MOST {
            found.insert(path.canonicalize().unwrap_or_else(|_| path.clone()));
        }
    }
    for path in folders.iter().filter(|path| !path.join(".git").exists()) {
        nearby(path, depth + 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_another_home_is_found_in_this_one() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().join("home/new");
        fs::create_dir_all(home.join("src/shop")).unwrap();
        let check = |gone: &str, expected: Option<&str>| {
            let expected = expected.map(|path| home.join(path));
            assert_eq!(in_this_home(&home, Path::new(gone)), expected, "{gone}");
        };
        check("/home/old/src/shop", Some("src/shop"));
        check("/Users/old/src/shop", Some("src/shop"));
        check("/root/src/shop", Some("src/shop"));
        check("/home/old/src/other", None);
        check("/srv/old/src/shop", None);
        check("/home/old", None);
    }
}
