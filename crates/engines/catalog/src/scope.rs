//! The projects that a caller may see. A directory counts as what it really is: links and `..` are followed.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::git;
use crate::project::SessionLocation;

/// Which projects a caller may see; by default all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectScope {
    only: Vec<Rule>,
    deny: Vec<Rule>,
    real: RealPlaces,
}

/// Projects that a person means by one text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// Everything in this folder.
    Below(PathBuf),
    /// What goes by this name.
    Named(String),
}

impl ProjectScope {
    /// Only the projects `only`, if any is given, and none of `deny`. Each is a name, or a path that holds projects;
    /// `~` is `home`.
    pub fn new(only: &[String], deny: &[String], home: &Path) -> Self {
        let rules = |texts: &[String]| texts.iter().map(|text| Rule::parse(text, home)).collect();
        Self { only: rules(only), deny: rules(deny), real: RealPlaces::default() }
    }

    /// Whether nothing is kept from the caller.
    pub fn is_everything(&self) -> bool {
        self.only.is_empty() && self.deny.is_empty()
    }

    /// Whether only named projects are seen, so that what belongs to none is not.
    pub fn names_projects(&self) -> bool {
        !self.only.is_empty()
    }

    /// Whether a directory may be seen that belongs to the repository with this root.
    pub fn admits_directory(&self, root: &Path, directory: &Path) -> bool {
        let label = root.file_name().map(|name| name.to_string_lossy());
        let paths = [Some(root), Some(directory)];
        self.admits(&SessionLocation { branch: None, label: label.as_deref(), paths, folder: None })
    }

    /// Whether sessions may be seen that belong there.
    pub(crate) fn admits(&self, place: &SessionLocation<'_>) -> bool {
        if self.is_everything() {
            return true;
        }
        let Some(directory) = place.paths.into_iter().flatten().last().filter(|path| path.is_absolute())
        else {
            return self.meets(place);
        };
        let real = self.real.place(directory);
        // One that is gone belongs where the records say.
        if !real.is_there {
            let paths = place.paths.map(|path| path.map(real_path));
            return self.meets(&SessionLocation { paths: paths.each_ref().map(Option::as_deref), ..*place });
        }
        self.is_free(place) && self.meets(&real.location(&real.root))
    }

    /// Whether a session may be seen that was in these directories, too: what was said there is in it.
    pub(crate) fn admits_visited(&self, directories: &[Arc<Path>]) -> bool {
        // Where more were visited than are kept, nobody knows which.
        self.is_everything()
            || (directories.len() + 1 < transcript::MAX_DIRECTORIES
                && directories.iter().all(|directory| self.admits_visit(directory)))
    }

    fn admits_visit(&self, directory: &Path) -> bool {
        if !directory.is_absolute() {
            return self.meets(&SessionLocation {
                branch: None,
                label: None,
                paths: [None, Some(directory)],
                folder: None,
            });
        }
        let real = self.real.place(directory);
        if real.is_there {
            return self.meets(&real.location(&real.root));
        }
        let is_wanted = self.only.is_empty() || real.may_be_meant(&self.only);
        is_wanted && !real.may_be_meant(&self.deny)
    }

    fn meets(&self, place: &SessionLocation<'_>) -> bool {
        let is_wanted = self.only.is_empty() || self.only.iter().any(|rule| rule.matches(place));
        is_wanted && self.is_free(place)
    }

    fn is_free(&self, place: &SessionLocation<'_>) -> bool {
        !self.deny.iter().any(|rule| rule.matches(place))
    }
}

impl Rule {
    fn parse(text: &str, home: &Path) -> Self {
        let path = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(text),
        };
        if path.is_absolute() { Self::Below(real_path(&path)) } else { Self::Named(text.to_owned()) }
    }

    fn matches(&self, place: &SessionLocation<'_>) -> bool {
        match self {
            Self::Below(folder) => place.paths.into_iter().flatten().any(|path| path.starts_with(folder)),
            Self::Named(name) => place.is_named(name),
        }
    }
}

/// What directories really are, each looked up once.
#[derive(Debug, Clone, Default)]
struct RealPlaces(Arc<Mutex<HashMap<PathBuf, Arc<RealPlace>>>>);

/// They are no part of what a scope is.
impl PartialEq for RealPlaces {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for RealPlaces {}

/// What a directory really is.
#[derive(Debug)]
struct RealPlace {
    /// Without links and `..`.
    directory: PathBuf,
    /// The root of its repository, else itself.
    root: PathBuf,
    is_there: bool,
}

impl RealPlaces {
    fn place(&self, directory: &Path) -> Arc<RealPlace> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.get(directory) {
            return Arc::clone(place);
        }
        let place = Arc::new(RealPlace::of(directory));
        known.insert(directory.to_owned(), Arc::clone(&place));
        place
    }
}

impl RealPlace {
    fn of(directory: &Path) -> Self {
        let directory = real_path(directory);
        let is_there = directory.is_dir();
        let root = if is_there { git::repository(&directory).map(|root| real_path(&root)) } else { None };
        Self { root: root.unwrap_or_else(|| directory.clone()), directory, is_there }
    }

    /// Whether rules mean a directory that is gone. Nobody knows its project: each folder that it was in may be it.
    fn may_be_meant(&self, rules: &[Rule]) -> bool {
        let folders = self.directory.ancestors().filter(|folder| folder.parent().is_some());
        let mut places = folders.map(|root| self.location(root));
        places.any(|place| rules.iter().any(|rule| rule.matches(&place)))
    }

    /// The location of sessions there, where this is the root of their repository.
    fn location<'a>(&'a self, root: &'a Path) -> SessionLocation<'a> {
        let label = root.file_name().and_then(|name| name.to_str());
        SessionLocation { branch: None, label, paths: [Some(root), Some(&self.directory)], folder: None }
    }
}

/// A path without links and `..`, also where its end does not exist any more.
fn real_path(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                real.pop();
            }
            part => real.push(part),
        }
        // A `..` behind a link leads out of what the link names.
        if let Ok(resolved) = real.canonicalize() {
            real = resolved;
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn projects_are_matched_by_name_or_folder() {
        let check = |only: &[&str], deny: &[&str], expected: bool| {
            let scope = ProjectScope::new(&texts(only), &texts(deny), Path::new("/h"));
            let root = Path::new("/h/work/shop");
            assert_eq!(scope.admits_directory(root, &root.join("src")), expected, "{only:?} {deny:?}");
        };
        check(&[], &[], true);
        check(&["shop"], &[], true);
        check(&["SHOP"], &[], true);
        check(&["~/work"], &[], true);
        check(&["~"], &[], true);
        check(&["/h/work/shop"], &[], true);
        check(&["-h-work-shop"], &[], true);
        check(&["web"], &[], false);
        check(&["~/work/sho"], &[], false);
        check(&["~shop"], &[], false);
        check(&[], &["shop"], false);
        check(&["~/work"], &["shop"], false);
        check(&["shop"], &["web"], true);
    }

    /// A home with two repositories, a link to each of them and one into one.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        for repository in ["alpha", "beta"] {
            fs::create_dir_all(home.join(repository).join(".git")).unwrap();
            fs::create_dir_all(home.join(repository).join("src")).unwrap();
        }
        symlink(home.join("beta"), home.join("link")).unwrap();
        symlink(home.join("beta/src"), home.join("inner")).unwrap();
        symlink(home.join("alpha"), home.join("other")).unwrap();
        (scratch, home)
    }

    #[test]
    fn a_directory_is_what_it_leads_to() {
        let (_scratch, home) = home();
        let check = |only: &[&str], deny: &[&str], directory: &str, expected: bool| {
            let scope = ProjectScope::new(&texts(only), &texts(deny), &home);
            let directory = home.join(directory);
            assert_eq!(
                scope.admits_directory(&directory, &directory),
                expected,
                "{only:?} {deny:?} {directory:?}"
            );
            assert_eq!(
                scope.admits_visited(&[directory.as_path().into()]),
                expected,
                "{only:?} {deny:?} {directory:?}"
            );
        };
        for beta in [
            "beta",
            "beta/src",
            "link",
            "link/src",
            "inner",
            "alpha/../beta",
            "other/../beta",
            "link/../beta/src",
        ] {
            for rule in ["beta", "~/beta", "~/link", "~/alpha/../beta"] {
                check(&[], &[rule], beta, false);
                check(&[rule], &[], beta, true);
            }
            check(&[], &["alpha"], beta, true);
            check(&["alpha"], &[], beta, false);
            check(&["~/alpha"], &[], beta, false);
        }
        // One that is gone is known by its path.
        check(&[], &["~/beta"], "link/gone/deeper", false);
        check(&["~/beta"], &[], "alpha/../beta/gone", true);
    }

    #[test]
    fn a_session_is_of_every_project_that_it_was_in() {
        let (_scratch, home) = home();
        let check = |only: &[&str], deny: &[&str], visited: &[&str], expected: bool| {
            let scope = ProjectScope::new(&texts(only), &texts(deny), &home);
            let visited: Vec<Arc<Path>> = visited.iter().map(|path| home.join(path).into()).collect();
            assert_eq!(scope.admits_visited(&visited), expected, "{only:?} {deny:?} {visited:?}");
        };
        check(&[], &["beta"], &[], true);
        check(&[], &["beta"], &["alpha/src", "alpha"], true);
        check(&[], &["beta"], &["alpha/src", "link/src"], false);
        check(&["alpha"], &[], &["alpha/src", "beta"], false);
        check(&["alpha", "beta"], &[], &["alpha/src", "beta"], true);
        check(&[], &["gone"], &["gone/src"], false);
        check(&[], &["~/gone"], &["gone/src"], false);
        check(&[], &[], &["beta"], true);
        let many: Vec<String> = (0..transcript::MAX_DIRECTORIES).map(|at| format!("alpha/{at}")).collect();
        check(&[], &["beta"], &many.iter().map(String::as_str).collect::<Vec<_>>(), false);
    }
}
