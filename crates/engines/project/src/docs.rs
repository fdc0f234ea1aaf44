//! Finds documents in a repository that instruct agents and readers.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Folders that hold specifications.
const SPECS: [&str; 3] = [".specs", "specs", "docs/specs"];
/// Maximum depth below those folders.
const DEPTH: usize = 6;
/// Maximum number of files listed.
const FILES: usize = 200;
/// Maximum number of directory entries examined.
const MAX_ENTRIES: usize = 5000;

/// Documents found in a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and a field of the answer")]
pub struct ProjectDocs {
    /// Whether there is a `CLAUDE.md` at the root or in `.claude`.
    pub has_claude_md: bool,
    /// Whether there are specifications.
    pub has_specs: bool,
    /// Paths of the specifications, relative to the root.
    #[serde(serialize_with = "paths")]
    pub spec_files: Vec<PathBuf>,
    /// Whether there is a `TODO.md`.
    pub has_todo: bool,
    /// Whether there is a `README` with any extension.
    pub has_readme: bool,
}

/// Writes paths as [`model::path`] writes one.
fn paths<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.display().to_string()))
}

impl ProjectDocs {
    /// Looks for documents below a root; unreadable folders count as empty.
    pub fn find(root: &Path) -> Self {
        let is_file = |name: &str| root.join(name).is_file();
        let mut walk = Walk { root, found: Vec::new(), left: MAX_ENTRIES };
        for folder in SPECS {
            walk.folder(&root.join(folder), DEPTH);
        }
        walk.found.sort();
        Self {
            has_claude_md: is_file("CLAUDE.md") || is_file(".claude/CLAUDE.md"),
            has_specs: !walk.found.is_empty(),
            spec_files: walk.found,
            has_todo: is_file("TODO.md"),
            has_readme: has_readme(root),
        }
    }
}

fn has_readme(root: &Path) -> bool {
    let Ok(entries) = fs::read_dir(root) else { return false };
    entries.flatten().take(MAX_ENTRIES).any(|entry| {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        (name == "readme" || name.starts_with("readme.")) && entry.path().is_file()
    })
}

struct Walk<'a> {
    root: &'a Path,
    found: Vec<PathBuf>,
    left: usize,
}

impl Walk<'_> {
    /// Collects Markdown files below a folder without following links.
    fn folder(&mut self, folder: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if self.left == 0 || self.found.len() >= FILES {
                return;
            }
            self.left -= 1;
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth > 0 => self.folder(&path, depth - 1),
                Ok(kind) if kind.is_file() && is_markdown(&path) => {
                    self.found.push(path.strip_prefix(self.root).unwrap_or(&path).to_owned());
                }
                _ => {}
            }
        }
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        assert_eq!(ProjectDocs::find(root), ProjectDocs::default());
        for name in [
            ".claude/CLAUDE.md",
            "specs/deep/er/a.md",
            ".specs/b.MD",
            "docs/specs/c.md",
            "specs/d.txt",
            "ReadMe.rst",
            "TODO.md",
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink(root, root.join("specs/round")).unwrap();
        let found = ProjectDocs::find(root);
        assert!(found.has_claude_md && found.has_specs && found.has_todo && found.has_readme);
        assert_eq!(
            found.spec_files,
            [".specs/b.MD", "docs/specs/c.md", "specs/deep/er/a.md"].map(PathBuf::from)
        );
        assert_eq!(ProjectDocs::find(&root.join("nowhere")), ProjectDocs::default());
    }
}
