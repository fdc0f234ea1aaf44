//! Records what identifies the directories of sessions while they exist, so that they are recognized after a move.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use project::RepoIdentity;
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::repository::target::RepoTarget;

/// The largest file of notes that is read.
const LARGEST: u64 = 64 << 20;
/// How many directories are asked about in one pass; the others are in later ones.
const AT_ONCE: usize = 50;

/// What identifies a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectoryIdentity {
    /// The device and the number of the directory: a rename leaves them.
    pub(crate) identity: (u64, u64),
    /// The root of the repository's work tree; `None` outside of a repository.
    pub(crate) root: Option<PathBuf>,
    /// The device and the number of the root.
    pub(crate) root_identity: (u64, u64),
    /// The repository's first commits.
    pub(crate) first_commits: BTreeSet<String>,
    /// Host and path of its remotes.
    pub(crate) remotes: BTreeSet<String>,
}

/// The recorded identities by directory.
pub(crate) type DirectoryIdentities = BTreeMap<PathBuf, DirectoryIdentity>;

impl DirectoryIdentity {
    /// Reads the identity of an existing directory.
    pub(crate) fn read(context: &Context, directory: &Path) -> Option<Self> {
        let identity = identity(directory)?;
        let target = RepoTarget { directory: directory.to_owned(), root: directory.to_owned() };
        let Some(RepoIdentity { root, first_commits, remotes }) = project::identity(&target.place(context))
        else {
            return Some(Self { identity, ..Self::default() });
        };
        let root_identity = self::identity(&root).unwrap_or_default();
        Some(Self { identity, root: Some(root), root_identity, first_commits, remotes })
    }

    /// Whether both are of one repository: they have a first commit in common, and their remotes do not differ.
    pub(crate) fn is_same_repository(&self, other: &Self) -> bool {
        !self.first_commits.is_disjoint(&other.first_commits)
    }

    /// Whether they have a remote in common.
    pub(crate) fn has_same_remote(&self, other: &Self) -> bool {
        !self.remotes.is_disjoint(&other.remotes)
    }
}

/// The device and the number of a directory that is there.
pub(crate) fn identity(directory: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(directory).ok().filter(fs::Metadata::is_dir)?;
    Some((found.dev(), found.ino()))
}

/// All recorded identities; empty if they cannot be read.
pub(crate) fn directory_identities(context: &Context) -> DirectoryIdentities {
    let bytes = system::read_small(&file(context), LARGEST).unwrap_or_default();
    serde_json::from_slice::<Vec<(PathBuf, DirectoryIdentity)>>(&bytes)
        .unwrap_or_default()
        .into_iter()
        .collect()
}

/// Records the identities of these directories where they are new; failures are retried by the next pass.
pub(crate) fn record<'a>(context: &Context, directories: impl Iterator<Item = &'a Path>) {
    let mut known = directory_identities(context);
    let all: BTreeSet<&Path> = directories.collect();
    let is_new = |directory: &&Path| {
        identity(directory).is_some_and(|now| known.get(*directory).is_none_or(|noted| noted.identity != now))
    };
    let new: Vec<&Path> = all.into_iter().filter(is_new).take(AT_ONCE).collect();
    let found = new.iter().filter_map(|directory| {
        Some(((*directory).to_owned(), DirectoryIdentity::read(context, directory)?))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return;
    }
    known.extend(found);
    let listed: Vec<(&PathBuf, &DirectoryIdentity)> =
        known.iter().filter(|(path, _)| path.to_str().is_some()).collect();
    let Ok(bytes) = serde_json::to_vec(&listed) else { return };
    let _ = system::create_private_folder(&folder(context))
        .and_then(|()| system::replace_private_file(&file(context), &bytes));
}

fn file(context: &Context) -> PathBuf {
    folder(context).join("directories.json")
}

fn folder(context: &Context) -> PathBuf {
    context.config().state.join("archive")
}
