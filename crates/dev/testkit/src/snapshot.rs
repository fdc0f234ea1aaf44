//! Every file below a folder with its bytes, to prove that something did or did not touch them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of one folder at one moment, by path relative to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<PathBuf, Vec<u8>>);

impl Snapshot {
    /// Reads everything below `folder`; a folder that does not exist holds nothing.
    pub fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        collect(folder, folder, &mut files);
        Self(files)
    }

    /// The files' relative paths, sorted.
    pub fn paths(&self) -> Vec<&Path> {
        self.0.keys().map(PathBuf::as_path).collect()
    }

    /// The paths that were added, changed or removed between `self` and `later`.
    pub fn differences(&self, later: &Self) -> Vec<PathBuf> {
        let mut paths: Vec<_> = self.0.keys().chain(later.0.keys()).cloned().collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.0.get(path) != later.0.get(path));
        paths
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.is_symlink() {
            collect(root, &path, files);
        } else if path.is_file() {
            let name = path.strip_prefix(root).expect("below the root").to_path_buf();
            files.insert(name, fs::read(&path).expect("a readable file"));
        }
    }
}
