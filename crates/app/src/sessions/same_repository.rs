//! Checkouts of one repository: a clone elsewhere and the one before a move count as one project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use model::is_same_path;

use crate::Context;
use crate::retention::directory_identities::{DirectoryIdentities, DirectoryIdentity, directory_identities};

/// For each of these repositories, by its path, the first that is the same: its own path where none is.
pub(crate) fn same_repositories<'a>(
    context: &Context,
    paths: impl Iterator<Item = &'a Path>,
) -> BTreeMap<PathBuf, PathBuf> {
    let paths: BTreeSet<&Path> = paths.collect();
    let noted = directory_identities(context);
    merged(paths.into_iter().map(|path| (path, identity_of(context, &noted, path))))
}

/// The identity of a repository: as it is now, else as it was recorded while it existed.
fn identity_of(context: &Context, noted: &DirectoryIdentities, root: &Path) -> DirectoryIdentity {
    let is_of = |identity: &&DirectoryIdentity| identity.root.as_deref() == Some(root);
    let note = || noted.get(root).or_else(|| noted.values().find(is_of)).cloned();
    note().or_else(|| DirectoryIdentity::read(context, root)).unwrap_or_default()
}

fn merged<'a>(all: impl Iterator<Item = (&'a Path, DirectoryIdentity)>) -> BTreeMap<PathBuf, PathBuf> {
    let mut first: Vec<(&Path, DirectoryIdentity)> = Vec::new();
    let mut same = BTreeMap::new();
    for (path, identity) in all {
        let is_it = |one: &&mut (&Path, DirectoryIdentity)| {
            is_same_path(one.0, path)
                || one.1.is_same_repository(&identity)
                || one.1.has_same_remote(&identity)
        };
        let known = first.iter_mut().find(is_it);
        let representative = known.map_or(path, |(first, known)| {
            known.first_commits.extend(identity.first_commits.iter().cloned());
            known.remotes.extend(identity.remotes.iter().cloned());
            first
        });
        same.insert(path.to_owned(), representative.to_owned());
        if representative == path {
            first.push((path, identity));
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkouts_of_one_repository_count_as_one_project() {
        let of = |commit: &str, remote: &str| DirectoryIdentity {
            first_commits: (!commit.is_empty()).then(|| commit.to_owned()).into_iter().collect(),
            remotes: (!remote.is_empty()).then(|| remote.to_owned()).into_iter().collect(),
            ..DirectoryIdentity::default()
        };
        let all = [
            ("/a/cli", of("c1", "github.com/sam/cli")),
            ("/b/cli", of("c1", "")),
            ("/c/tool", of("", "github.com/sam/cli")),
            ("/d/cli", of("c2", "github.com/eve/cli")),
            ("/e/gone", of("", "")),
            ("/f/gone", of("", "")),
        ];
        let same = merged(all.into_iter().map(|(path, identity)| (Path::new(path), identity)));
        let found: Vec<(&str, &str)> =
            same.iter().map(|(path, first)| (path.to_str().unwrap(), first.to_str().unwrap())).collect();
        let expected = [
            ("/a/cli", "/a/cli"),
            ("/b/cli", "/a/cli"),
            ("/c/tool", "/a/cli"),
            ("/d/cli", "/d/cli"),
            ("/e/gone", "/e/gone"),
            ("/f/gone", "/f/gone"),
        ];
        assert_eq!(found, expected);
    }
}
