//! Finds the repository a session belongs to and its name.
//!
//! The `cwd` in the records decides; a folder's name under `projects/` is never turned back into a path.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ProjectSlug, Session};
use rustc_hash::FxHashMap;

use crate::git;

/// The largest `.claude.json` that is read, in bytes.
const CAP: u64 = 64 << 20;
/// The folders inside a repository that worktrees are kept in.
const WORKTREES: [&str; 2] = ["/.worktrees/", "/.claude/worktrees/"];

/// Finds repositories, each directory once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Projects {
    /// Directories Claude Code has been started in.
    known: Arc<BTreeSet<PathBuf>>,
    /// The repositories found, by directory; each with the worktree origin it was found for.
    found: FxHashMap<String, Vec<(Option<String>, Repository)>>,
}

/// The repository of a directory.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    /// The repository's root.
    pub(crate) root: Arc<Path>,
    /// The repository's name: the last component of its root.
    pub(crate) label: Option<Arc<str>>,
    /// The directory it was found for.
    pub(crate) directory: Arc<Path>,
}

impl Projects {
    /// Reads the directories that these `.claude.json` files know.
    pub(crate) fn new(global_files: &[PathBuf]) -> Self {
        let known: BTreeSet<_> = global_files.iter().flat_map(|path| directories(path)).collect();
        Self { known: Arc::new(known), found: FxHashMap::default() }
    }

    /// The repository that a session of `cwd` belongs to.
    pub(crate) fn repository(&mut self, cwd: &str, worktree_origin: Option<&str>) -> Repository {
        let mut known = self.found.get(cwd).into_iter().flatten();
        if let Some((_, repository)) = known.find(|(origin, _)| origin.as_deref() == worktree_origin) {
            return repository.clone();
        }
        let root = self.root(Path::new(cwd), worktree_origin);
        let repository =
            Repository { label: label(&root), root: root.into(), directory: Path::new(cwd).into() };
        let found = (worktree_origin.map(ToOwned::to_owned), repository.clone());
        self.found.entry(cwd.to_owned()).or_default().push(found);
        repository
    }

    /// The root of the repository of a person's directory.
    pub(crate) fn root_of_directory(global_files: &[PathBuf], directory: &Path) -> PathBuf {
        // If git knows the repository, no other source is needed.
        let is_there = directory.is_absolute() && directory.is_dir();
        let known = is_there.then(|| git::repository(directory)).flatten();
        known.unwrap_or_else(|| Self::new(global_files).root(directory, None))
    }

    fn root(&self, cwd: &Path, worktree_origin: Option<&str>) -> PathBuf {
        if !cwd.is_absolute() {
            // A transcript names it; it must not become the current directory by accident.
            return cwd.to_owned();
        }
        let worktree_origin = worktree_origin.filter(|origin| Path::new(origin).is_absolute());
        let is_there = cwd.is_dir();
        if is_there && let Some(root) = git::repository(cwd) {
            return root;
        }
        if let Some(origin) = worktree_origin.map(Path::new).or(before_worktrees(cwd)) {
            return git::repository(origin).unwrap_or_else(|| origin.to_owned());
        }
        if is_there {
            return cwd.to_owned();
        }
        let known = cwd.ancestors().find(|parent| self.known.contains(*parent));
        known
            .map(|known| {
                git::repository(known).filter(|_| known.is_dir()).unwrap_or_else(|| known.to_owned())
            })
            .or_else(|| git::repository(cwd))
            .unwrap_or_else(|| cwd.to_owned())
    }
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
}

impl<'a> SessionLocation<'a> {
    /// The location of a session.
    pub(crate) fn of_session(session: &'a Session) -> Self {
        let paths = [session.repo_path.as_deref(), session.cwd.as_deref()];
        Self { branch: session.branch.as_deref(), label: session.project.as_deref(), paths }
    }

    /// Whether this is the project a person names: by label, by Claude Code's folder name or what follows `projects-`
    /// in it, or by path; upper and lower case are the same.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let wanted = name.trim_end_matches('/').to_lowercase();
        let is = |text: &str| text.to_lowercase() == wanted;
        if self.label.is_some_and(is) {
            return true;
        }
        self.paths.into_iter().flatten().map(Path::to_string_lossy).any(|path| {
            let slug = ProjectSlug::from_path(&path);
            is(&path) || is(slug.as_str()) || aliases(slug.as_str()).into_iter().flatten().any(is)
        })
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
        let mut projects = Projects::new(&[global, home.join("missing.json")]);
        let mut check = |cwd: &str, origin: Option<&str>, expected: &str| {
            let origin = origin.map(|origin| home.join(origin).display().to_string());
            let found = projects.repository(&home.join(cwd).display().to_string(), origin.as_deref());
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
        let place =
            SessionLocation { branch: None, label: label.as_deref(), paths: [Some(Path::new(path)), None] };
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
}
