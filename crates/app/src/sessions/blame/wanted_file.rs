//! Which of the files that sessions changed is the one that is looked for.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use catalog::Locations;
use model::Session;
use transcript::home_directories;

/// The file that is looked for.
#[derive(Debug, Clone)]
pub(super) enum WantedFile {
    /// A file of a repository: it is the same in all work trees and clones.
    InRepository(RepositoryFile),
    /// A file outside of a repository, by its whole path.
    At(PathBuf),
    /// Any file with this end of its path.
    Named(PathBuf),
}

/// A file of a repository.
#[derive(Debug, Clone)]
pub(super) struct RepositoryFile {
    /// Its path within its work tree.
    pub(super) within: PathBuf,
    /// The root of its work tree.
    pub(super) work_tree: PathBuf,
    /// The roots of the repository and of its clones.
    pub(super) repositories: BTreeSet<PathBuf>,
}

impl WantedFile {
    /// Its path, as far as paths are compared.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::InRepository(file) => &file.within,
            Self::At(path) | Self::Named(path) => path,
        }
    }

    /// Whether the session may have changed it.
    pub(super) fn may_be_of(&self, session: &Session) -> bool {
        match self {
            Self::InRepository(file) => {
                session.repo_path.as_deref().is_some_and(|path| file.repositories.contains(path))
            }
            Self::At(_) | Self::Named(_) => true,
        }
    }
}

/// What of one session is compared with the file.
pub(super) struct FileMatcher<'a> {
    places: &'a Locations,
    session: &'a Session,
    wanted: &'a WantedFile,
    homes: OnceCell<Vec<PathBuf>>,
    roots: RefCell<HashMap<PathBuf, bool>>,
}

impl<'a> FileMatcher<'a> {
    pub(super) fn new(places: &'a Locations, session: &'a Session, wanted: &'a WantedFile) -> Self {
        Self { places, session, wanted, homes: OnceCell::new(), roots: RefCell::default() }
    }

    /// Whether a path that the session recorded is the file.
    pub(super) fn is_it(&self, path: &Path) -> bool {
        match self.wanted {
            WantedFile::InRepository(file) => without_end(path, &file.within)
                .is_some_and(|root| *file.work_tree == *root || self.is_root(file, root)),
            WantedFile::At(file) => is_same(path, file),
            WantedFile::Named(name) => path.ends_with(name),
        }
    }

    fn is_root(&self, file: &RepositoryFile, root: &Path) -> bool {
        if let Some(known) = self.roots.borrow().get(root) {
            return *known;
        }
        let is_root = file.repositories.contains(root)
            || self.is_work_tree(file, &root.canonicalize().unwrap_or_else(|_| root.to_owned()))
            || self.was_root(root);
        self.roots.borrow_mut().insert(root.to_owned(), is_root);
        is_root
    }

    /// Whether it is the root of a work tree of the repository; of one that was removed, its place says so.
    fn is_work_tree(&self, file: &RepositoryFile, root: &Path) -> bool {
        let is_removed = || root.parent().is_some_and(is_folder_of_work_trees);
        (root.join(".git").exists() || is_removed())
            && file.repositories.contains(&catalog::repository(self.places, root))
    }

    /// Whether it was the root when the session was in another directory.
    fn was_root(&self, root: &Path) -> bool {
        let Session { file: Some(file), cwd: Some(cwd), repo_path: Some(repository), .. } = self.session
        else {
            return false;
        };
        let below = cwd.strip_prefix(repository).unwrap_or(Path::new(""));
        let homes = self.homes.get_or_init(|| home_directories(file).unwrap_or_default());
        homes.contains(&root.join(below))
    }
}

fn is_folder_of_work_trees(path: &Path) -> bool {
    path.ends_with(".worktrees") || path.ends_with(".claude/worktrees")
}

/// Whether both paths are one file: its folder may be reached through a link.
fn is_same(path: &Path, file: &Path) -> bool {
    let folder = || path.parent().and_then(|folder| folder.canonicalize().ok());
    path == file || (path.file_name() == file.file_name() && folder().as_deref() == file.parent())
}

/// What is before the end of a path.
fn without_end<'a>(path: &'a Path, end: &Path) -> Option<&'a Path> {
    let before = path.ancestors().nth(end.components().count());
    before.filter(|_| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::session;

    /// Whether the session at `cwd` of the repository `shop` changed `shop/NAME` where it changed `path`.
    fn is_it(home: &Path, cwd: &str, name: &str, path: &str) -> bool {
        let shop = home.join("shop");
        let file = home.join("s1.jsonl");
        let start = home.join("old").join(cwd);
        let records = [
            format!(r#"{{"type":"user","uuid":"u","cwd":"{}"}}"#, start.display()),
            format!(r#"{{"type":"user","uuid":"v","cwd":"{}/web"}}"#, start.display()),
        ];
        fs::write(&file, records.join("\n") + "\n").unwrap();
        let session = Session {
            file: Some(file.into()),
            cwd: Some(shop.join(cwd).into()),
            repo_path: Some(shop.clone().into()),
            ..session("s1")
        };
        let wanted = WantedFile::InRepository(RepositoryFile {
            within: name.into(),
            work_tree: shop.clone(),
            repositories: [shop].into(),
        });
        assert!(wanted.may_be_of(&session));
        FileMatcher::new(&Locations::default(), &session, &wanted).is_it(&home.join(path))
    }

    #[test]
    fn the_whole_path_within_the_repository_is_compared() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        for folder in ["shop/.git", "shop/web", "other/.git"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let check = |cwd: &str, path: &str, expected: bool| {
            assert_eq!(is_it(&home, cwd, "package.json", path), expected, "{path} of {cwd}");
        };
        check("", "shop/package.json", true);
        check("", "shop/web/package.json", false);
        check("web", "shop/web/package.json", false);
        check("", "shop/gone/package.json", false);
        check("", "shop/.claude/worktrees/try/package.json", true);
        check("", "shop/.claude/worktrees/try/web/package.json", false);
        check("", "other/package.json", false);
        check("", "elsewhere/package.json", false);
        // The directory was moved since, with the session.
        check("", "old/package.json", true);
        check("", "old/web/package.json", false);
        check("web", "old/package.json", true);
        check("web", "old/web/package.json", false);
    }

    #[test]
    fn a_file_without_a_repository_goes_by_its_whole_path() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("one")).unwrap();
        std::os::unix::fs::symlink(home.join("one"), home.join("link")).unwrap();
        let (places, session) = (Locations::default(), session("s1"));
        let check = |wanted: &WantedFile, path: &str, expected: bool| {
            let found = FileMatcher::new(&places, &session, wanted).is_it(&home.join(path));
            assert_eq!(found, expected, "{path}");
        };
        let at = WantedFile::At(home.join("one/a.txt"));
        check(&at, "one/a.txt", true);
        check(&at, "link/a.txt", true);
        check(&at, "two/a.txt", false);
        let named = WantedFile::Named("a.txt".into());
        check(&named, "two/a.txt", true);
        check(&named, "two/aa.txt", false);
    }
}
