//! Finds the repository a session belongs to and its name.
//!
//! The `cwd` in the records decides; a folder's name under `projects/` is never turned back into a path.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ProjectSlug, Session, folded, path_key};
use rustc_hash::FxHashMap;

use crate::git;
use crate::remembered::RememberedRepositories;
use crate::types::Locations;

/// The largest `.claude.json` that is read, in bytes.
const CAP: u64 = 64 << 20;
/// The folders inside a repository that worktrees are kept in.
const WORKTREES: [&str; 2] = ["/.worktrees/", "/.claude/worktrees/"];

/// How far above a directory that is gone its new name is looked for.
const RENAMED_ABOVE: usize = 3;

/// Finds repositories, each directory once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Projects {
    /// Directories Claude Code has been started in.
    known: Arc<BTreeSet<PathBuf>>,
    /// The repositories of directories that were there once.
    remembered: Arc<RememberedRepositories>,
    /// The repositories found, by directory; each with what it was found for.
    found: FxHashMap<String, Vec<(RecordedPlace, Repository)>>,
}

/// What is recorded of a session's place, besides its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecordedPlace {
    moved_folder: Option<String>,
    worktree_origin: Option<String>,
}

/// The repository of a directory.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    /// The repository's root.
    pub(crate) root: Arc<Path>,
    /// The repository's name: the last component of its root.
    pub(crate) label: Option<Arc<str>>,
    /// The directory it was found for, as its sessions record it; where the transcript was moved by hand to the folder
    /// of another directory, that one.
    pub(crate) directory: Arc<Path>,
}

impl Projects {
    /// Reads the directories that `.claude.json` files know, and those that were there once.
    pub(crate) fn new(places: &Locations) -> Self {
        let known: BTreeSet<_> = places.global_files.iter().flat_map(|path| directories(path)).collect();
        let remembered = Arc::new(RememberedRepositories::new(places.remembered.clone()));
        Self { known: Arc::new(known), remembered, found: FxHashMap::default() }
    }

    /// The directory and the repository that a session of `cwd` belongs to. `moved_folder` is the folder of its
    /// transcript where that is named after another directory.
    pub(crate) fn repository(
        &mut self,
        cwd: &str,
        moved_folder: Option<&str>,
        worktree_origin: Option<&str>,
    ) -> Repository {
        let mut known = self.found.get(cwd).into_iter().flatten();
        let is_it = |(place, _): &&(RecordedPlace, Repository)| {
            place.moved_folder.as_deref() == moved_folder
                && place.worktree_origin.as_deref() == worktree_origin
        };
        if let Some((_, repository)) = known.find(is_it) {
            return repository.clone();
        }
        let here = local(Path::new(cwd));
        let moved = moved_folder.and_then(|folder| self.moved_to(&here, folder));
        let root = match &moved {
            Some(moved) => self.root(moved, None),
            None => self.root(&here, worktree_origin),
        };
        let directory = moved.as_deref().unwrap_or(if here.is_dir() { &here } else { Path::new(cwd) });
        let repository = Repository { label: label(&root), root: root.into(), directory: directory.into() };
        let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
        let place =
            RecordedPlace { moved_folder: owned(moved_folder), worktree_origin: owned(worktree_origin) };
        self.found.entry(cwd.to_owned()).or_default().push((place, repository.clone()));
        repository
    }

    /// Keeps for later what was found out about directories that are there now.
    pub(crate) fn remember(&self) {
        let found = self.found.values().flatten().map(|(_, found)| (&*found.directory, &*found.root));
        self.remembered.add(found.filter(|(directory, root)| directory != root && directory.is_dir()));
    }

    /// The root of the repository of a person's directory.
    pub(crate) fn root_of_directory(places: &Locations, directory: &Path) -> PathBuf {
        // If git knows the repository, no other source is needed.
        let is_there = directory.is_absolute() && directory.is_dir();
        let known = is_there.then(|| git::repository(directory)).flatten().map(physical);
        known.unwrap_or_else(|| Self::new(places).root(directory, None))
    }

    /// The only directory that a folder is named after, among those that are known and those beside the recorded one:
    /// it was renamed, and its transcripts were put into the folder of its new name.
    fn moved_to(&self, cwd: &Path, folder: &str) -> Option<PathBuf> {
        let is_named =
            |directory: &Path| ProjectSlug::from_path(&directory.to_string_lossy()).is_folder(folder);
        let mut found: BTreeSet<PathBuf> =
            self.known.iter().filter(|known| is_named(known)).cloned().collect();
        for (above, renamed) in
            cwd.ancestors().take(RENAMED_ABOVE).filter_map(|path| Some((path.parent()?, path)))
        {
            let below = cwd.strip_prefix(renamed).unwrap_or(Path::new(""));
            let beside =
                fs::read_dir(above).into_iter().flatten().flatten().map(|entry| entry.path().join(below));
            // Joining nothing leaves a slash behind.
            found.extend(
                beside.map(|path| path.components().collect()).filter(|path: &PathBuf| is_named(path)),
            );
        }
        found.retain(|directory| directory.is_dir());
        let mut found = found.into_iter();
        found.next().filter(|_| found.next().is_none())
    }

    fn root(&self, cwd: &Path, worktree_origin: Option<&str>) -> PathBuf {
        if !cwd.is_absolute() {
            // A transcript names it; it must not become the current directory by accident.
            return self.remembered.root(cwd).unwrap_or_else(|| cwd.to_owned());
        }
        let worktree_origin = worktree_origin.filter(|origin| Path::new(origin).is_absolute());
        let is_there = cwd.is_dir();
        if is_there && let Some(root) = git::repository(cwd) {
            return physical(root);
        }
        if let Some(origin) = worktree_origin.map(Path::new).or(before_worktrees(cwd)) {
            return physical(git::repository(origin).unwrap_or_else(|| origin.to_owned()));
        }
        if is_there {
            return physical(cwd.to_owned());
        }
        if let Some(root) = self.remembered.root(cwd) {
            return root;
        }
        let known = cwd.ancestors().find(|parent| self.known.contains(*parent));
        known
            .map(|known| {
                git::repository(known).filter(|_| known.is_dir()).unwrap_or_else(|| known.to_owned())
            })
            .or_else(|| git::repository(cwd))
            .map_or_else(|| cwd.to_owned(), physical)
    }
}

/// A directory's own path, links resolved; one that is gone is what its name says.
fn physical(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

/// A recorded directory on this system: a drive of Windows is a folder of `/mnt` where both share a machine.
fn local(cwd: &Path) -> PathBuf {
    let mounted = || {
        let (drive, rest) = cwd.to_str().filter(|cwd| model::has_drive(cwd))?.split_at(2);
        let mounted = PathBuf::from(format!("/mnt/{}{rest}", drive[..1].to_ascii_lowercase()));
        mounted.is_dir().then_some(mounted)
    };
    mounted().unwrap_or_else(|| cwd.to_owned())
}

/// A repository's name: the last component of its root.
fn label(root: &Path) -> Option<Arc<str>> {
    root.file_name().map(|name| name.to_string_lossy().into())
}

/// The names by which a person may refer to a session's repository and branch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionLocation<'a> {
    /// The branch last seen.
    pub(crate) branch: Option<&'a str>,
    /// The repository's name.
    pub(crate) label: Option<&'a str>,
    /// The repository's root, and the directory.
    pub(crate) paths: [Option<&'a Path>; 2],
    /// The folder of its transcript: somebody may have put it into that of another directory.
    pub(crate) folder: Option<&'a str>,
}

impl<'a> SessionLocation<'a> {
    /// The location of a session.
    pub(crate) fn of_session(session: &'a Session) -> Self {
        let paths = [session.repo_path.as_deref(), session.cwd.as_deref()];
        let folder = session.file.as_deref().and_then(|file| file.parent()?.file_name()?.to_str());
        Self { branch: session.branch.as_deref(), label: session.project.as_deref(), paths, folder }
    }

    /// Whether this is the project a person names: by label, by Claude Code's folder name or what follows `projects-`
    /// in it, or by path; neither upper and lower case nor another spelling of the path make a difference.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let wanted = folded(name.trim_end_matches('/'));
        let is = |text: &str| folded(text) == wanted;
        if self.label.is_some_and(is) {
            return true;
        }
        let key = folded(&path_key(name));
        let is_path = |path: &str| folded(&path_key(path)) == key;
        self.folder.is_some_and(|folder| self.is_moved_to(folder, name))
            || self.paths.into_iter().flatten().map(Path::to_string_lossy).any(|path| {
                let slug = ProjectSlug::from_path(&path);
                is_path(&path) || is(slug.as_str()) || aliases(slug.as_str()).into_iter().flatten().any(is)
            })
    }

    /// Whether its transcript was put into the folder of a directory: it is named after that one, and after none that
    /// the session was in.
    fn is_moved_to(&self, folder: &str, directory: &str) -> bool {
        let is_of = |path: &str| ProjectSlug::from_path(path).is_folder(folder);
        model::is_absolute(Path::new(directory))
            && is_of(directory.trim_end_matches('/'))
            && !self.paths.into_iter().flatten().any(|path| is_of(&path.to_string_lossy()))
    }
}

/// The parts of a folder's name after the first and the last `projects-`.
fn aliases(slug: &str) -> [Option<&str>; 2] {
    const MARK: &str = "projects-";
    let lower = slug.to_ascii_lowercase();
    let after = |at: Option<usize>| at.and_then(|at| slug.get(at + MARK.len()..));
    [after(lower.find(MARK)), after(lower.rfind(MARK))]
}

fn before_worktrees(cwd: &Path) -> Option<&Path> {
    let text = cwd.to_str()?;
    WORKTREES.iter().find_map(|part| text.find(part)).map(|end| Path::new(&text[..end]))
}

/// The keys of `projects` in a `.claude.json`; none where it cannot be read.
fn directories(path: &Path) -> Vec<PathBuf> {
    #[derive(serde::Deserialize)]
    #[expect(clippy::zero_sized_map_values, reason = "a set cannot pass over the values of an object")]
    struct Global {
        #[serde(default)]
        projects: HashMap<PathBuf, serde::de::IgnoredAny>,
    }
    let Ok(bytes) = system::read_small(path, CAP) else { return Vec::new() };
    serde_json::from_slice::<Global>(&bytes)
        .map(|global| global.projects.into_keys().collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_deleted_directory_still_has_its_repository() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path();
        fs::create_dir_all(home.join("repo/.git")).unwrap();
        fs::create_dir_all(home.join("plain")).unwrap();
        let global = home.join(".claude.json");
        fs::write(&global, format!(r#"{{"projects":{{"{}":{{"x":1}}}}}}"#, home.join("gone").display()))
            .unwrap();
        let home = &home.canonicalize().unwrap();
        let global_files = vec![global, home.join("missing.json")];
        let mut projects = Projects::new(&Locations { global_files, ..Locations::default() });
        let mut check = |cwd: &str, origin: Option<&str>, expected: &str| {
            let origin = origin.map(|origin| home.join(origin).display().to_string());
            let found = projects.repository(&home.join(cwd).display().to_string(), None, origin.as_deref());
            assert_eq!(*found.root, *home.join(expected), "{cwd}");
        };
        check("repo/src", None, "repo");
        check("repo/gone/deeper", None, "repo");
        check("repo/.worktrees/w/src", None, "repo");
        check("lost/.claude/worktrees/w", None, "lost");
        check("else/w", Some("repo"), "repo");
        check("plain", None, "plain");
        check("gone/src/deep", None, "gone");
        check("nowhere/at/all", None, "nowhere/at/all");
    }

    fn check_named(path: &str, name: &str, expected: bool) {
        let label = label(Path::new(path));
        let place = SessionLocation {
            branch: None,
            label: label.as_deref(),
            paths: [Some(Path::new(path)), None],
            folder: None,
        };
        assert_eq!(place.is_named(name), expected, "{name}");
    }

    #[test]
    fn a_project_has_many_names() {
        let path = "/home/ben/projects/patent-search";
        for name in [
            "patent-search",
            "Patent-Search",
            "-home-ben-projects-patent-search",
            path,
            "/home/ben/projects/patent-search/",
        ] {
            check_named(path, name, true);
        }
        check_named(path, "search", false);
        check_named("/p/projects/old/projects/mine", "old-projects-mine", true);
        check_named("/p/projects/old/projects/mine", "mine", true);
        check_named("/p/Projects/a.b", "a-b", true);
        check_named("/p/Projects/a.b", "a.b", true);
    }

    #[test]
    fn every_spelling_of_a_path_names_its_project() {
        for name in
            [r"C:\Users\ana\shop", r"c:\Users\ana\shop", "c:/users/ana/shop/", "C:/Users/ana/shop", "SHOP"]
        {
            check_named("C:/Users/ana/shop", name, true);
        }
        check_named("C:/Users/ana/shop", r"D:\Users\ana\shop", false);
        check_named("/home/ana/caf\u{e9}", "/home/ana/cafe\u{301}", true);
        check_named("/home/ana/cafe\u{301}", "caf\u{e9}", true);
    }

    /// A directory with its sessions' repository as it is found while things change around it.
    #[test]
    fn what_git_said_is_kept_when_a_work_tree_is_gone() {
        let scratch = tempfile::tempdir().unwrap();
        let home = &scratch.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("shop/.git/worktrees/zurich")).unwrap();
        fs::write(home.join("shop/.git/worktrees/zurich/commondir"), "../..\n").unwrap();
        let tree = home.join("workspaces/shop/zurich");
        fs::create_dir_all(tree.join("src")).unwrap();
        let pointer = format!("gitdir: {}\n", home.join("shop/.git/worktrees/zurich").display());
        fs::write(tree.join(".git"), pointer).unwrap();
        let places =
            Locations { remembered: Some(home.join("state/repositories.json")), ..Locations::default() };
        let find = |directory: &Path| {
            let mut projects = Projects::new(&places);
            let found = projects.repository(&directory.display().to_string(), None, None);
            projects.remember();
            (found.root.to_path_buf(), found.label.as_deref().unwrap().to_owned())
        };
        let expected = (home.join("shop"), "shop".to_owned());
        let inside = tree.join("src");
        for directory in [&tree, &inside] {
            assert_eq!(find(directory), expected);
        }
        fs::remove_dir_all(home.join("workspaces")).unwrap();
        for directory in [&tree, &inside] {
            assert_eq!(find(directory), expected);
        }
        assert_eq!(find(&tree.join("unseen")), expected);
        assert_eq!(find(&home.join("workspaces/shop/bern")).1, "bern");
    }

    #[test]
    fn a_transcript_that_was_moved_by_hand_belongs_to_the_directory_of_its_folder() {
        let scratch = tempfile::tempdir().unwrap();
        let home = &scratch.path().canonicalize().unwrap();
        let check = |recorded: &str, folder: &str, expected: &str| {
            let slug = ProjectSlug::from_path(&home.join(folder).display().to_string());
            let mut projects = Projects::new(&Locations::default());
            let recorded = home.join(recorded).display().to_string();
            let found = projects.repository(&recorded, Some(slug.as_str()), None);
            assert_eq!(*found.directory, *home.join(expected), "{recorded} in {folder}");
        };
        for directory in ["new/src", "a.b", "a_b"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        check("old", "new", "new");
        check("old/src", "new/src", "new/src");
        check("old/gone", "new/gone", "old/gone");
        check("old", "other", "old");
        // Two directories share the name of a folder: nobody knows which it is.
        check("old", "a-b", "old");
    }

    #[test]
    fn a_link_to_a_directory_is_the_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let home = &scratch.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("real")).unwrap();
        std::os::unix::fs::symlink(home.join("real"), home.join("link")).unwrap();
        let mut projects = Projects::new(&Locations::default());
        let found = projects.repository(&home.join("link").display().to_string(), None, None);
        assert_eq!((&*found.root, &*found.directory), (&*home.join("real"), &*home.join("link")));
    }
}
