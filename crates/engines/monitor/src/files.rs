//! Tracks which transcript files exist at little cost: a folder is listed again only when it has changed, and
//! silent files are checked in rotation.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use system::FileStamp;
use transcript::{ConfigFolder, FileRole};

/// A folder changed this shortly before it was listed may change again without its modification time showing
/// it.
const BLUR: SignedDuration = SignedDuration::from_millis(100);

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The file is new or has a different stamp.
    Changed {
        /// Path of the file.
        path: Arc<Path>,
        /// Role of the file.
        role: FileRole,
        /// The previous stamp, if the file was known.
        before: Option<FileStamp>,
        /// The current stamp.
        now: FileStamp,
    },
    /// The file no longer exists.
    Gone {
        /// Former path of the file.
        path: Arc<Path>,
        /// Former role of the file.
        role: FileRole,
    },
}

/// The files below the projects folders.
#[derive(Debug, Default)]
pub(crate) struct Files {
    roots: Vec<ConfigFolder>,
    folders: HashMap<PathBuf, Folder>,
    known: HashMap<Arc<Path>, FileStamp>,
    /// All files in the order in which they are checked in rotation.
    order: Vec<Arc<Path>>,
    next: usize,
}

#[derive(Debug, Default)]
struct Folder {
    /// Modification time of the folder when it was listed, and the time of the listing.
    listed: Option<(Timestamp, Timestamp)>,
    files: Vec<Arc<Path>>,
}

impl Files {
    pub(crate) fn new(roots: Vec<ConfigFolder>) -> Self {
        Self { roots, ..Self::default() }
    }

    /// The folders that hold transcripts, and their parents.
    pub(crate) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.roots.iter().map(ConfigFolder::projects).chain(self.folders.keys().cloned())
    }

    /// Number of known files.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Lists the folders that have changed.
    pub(crate) fn list(&mut self, now: Timestamp) -> Vec<Change> {
        let mut changes = Vec::new();
        let projects: Vec<PathBuf> = self.roots.iter().map(ConfigFolder::projects).collect();
        for root in projects {
            let wanted = subfolders(&root);
            self.drop_folders(&root, wanted.as_deref(), &mut changes);
            for folder in wanted.into_iter().flatten() {
                self.list_folder(&folder, now, &mut changes);
            }
        }
        changes
    }

    /// Lists one folder that the system reported as changed.
    pub(crate) fn list_one(&mut self, folder: &Path, now: Timestamp) -> Vec<Change> {
        let mut changes = Vec::new();
        if let Some(known) = self.folders.get_mut(folder) {
            known.listed = None;
        }
        self.list_folder(folder, now, &mut changes);
        changes
    }

    /// Checks one file.
    pub(crate) fn look(&mut self, path: &Path) -> Option<Change> {
        let role = self.role(path)?;
        let now = fs::symlink_metadata(path)
            .ok()
            .filter(fs::Metadata::is_file)
            .map(|now| FileStamp::from_metadata(&now));
        let known = self.known.get_key_value(path).map(|(path, stamp)| (Arc::clone(path), *stamp));
        match (known, now) {
            (Some((_, before)), Some(now)) if before == now => None,
            (Some((path, before)), Some(now)) => {
                self.known.insert(Arc::clone(&path), now);
                Some(Change::Changed { path, role, before: Some(before), now })
            }
            (None, Some(now)) => Some(self.add(path, role, now)),
            (Some((path, _)), None) => {
                self.known.remove(&path);
                Some(Change::Gone { path, role })
            }
            (None, None) => None,
        }
    }

    /// Checks the next `count` files in rotation.
    pub(crate) fn sweep(&mut self, count: usize) -> Vec<Change> {
        let mut changes = Vec::new();
        for _ in 0..count.min(self.order.len()) {
            self.next = if self.next + 1 >= self.order.len() { 0 } else { self.next + 1 };
            let Some(path) = self.order.get(self.next).cloned() else { break };
            if self.known.contains_key(&path) {
                changes.extend(self.look(&path));
            } else {
                self.order.swap_remove(self.next);
            }
        }
        changes
    }

    /// The most recently modified file of this name in any folder of transcripts, including folders not
    /// listed yet.
    pub(crate) fn find(&self, name: &OsStr) -> Option<PathBuf> {
        let folders = self.roots.iter().filter_map(|root| subfolders(&root.projects())).flatten();
        let found = folders.map(|folder| folder.join(name)).filter(|path| path.is_file());
        found.max_by_key(|path| modified(path))
    }

    /// The role of a file according to its path.
    pub(crate) fn role(&self, path: &Path) -> Option<FileRole> {
        self.roots.iter().find_map(|root| root.role(path))
    }

    /// Whether a path is a projects folder.
    pub(crate) fn is_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path == root.projects())
    }

    /// Whether a path is a folder of transcripts.
    pub(crate) fn is_project(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.parent() == Some(&root.projects()))
    }

    fn list_folder(&mut self, folder: &Path, now: Timestamp, changes: &mut Vec<Change>) {
        let Some(modified) = modified(folder) else { return };
        let known = self.folders.entry(folder.to_owned()).or_default();
        let is_current =
            known.listed.is_some_and(|(before, at)| before == modified && at.duration_since(modified) > BLUR);
        if is_current {
            return;
        }
        let before = std::mem::take(&mut known.files);
        known.listed = Some((modified, now));
        let mut files = Vec::new();
        for path in entries(folder) {
            if self.role(&path).is_none() {
                continue;
            }
            changes.extend(self.look(&path));
            if let Some((path, _)) = self.known.get_key_value(path.as_path()) {
                files.push(Arc::clone(path));
            }
        }
        for path in before {
            if self.known.contains_key(&path) && !files.contains(&path) {
                changes.extend(self.look(&path));
            }
        }
        if let Some(known) = self.folders.get_mut(folder) {
            known.files = files;
        }
    }

    /// Forgets folders that are gone and reports changes of their files.
    fn drop_folders(&mut self, root: &Path, still: Option<&[PathBuf]>, changes: &mut Vec<Change>) {
        let is_gone = |folder: &&PathBuf| {
            folder.parent() == Some(root) && !still.is_some_and(|still| still.contains(folder))
        };
        let gone: Vec<PathBuf> = self.folders.keys().filter(is_gone).cloned().collect();
        for folder in gone {
            let files = self.folders.remove(&folder).map(|folder| folder.files).unwrap_or_default();
            changes.extend(files.iter().filter_map(|path| self.look(path)));
        }
    }

    fn add(&mut self, path: &Path, role: FileRole, now: FileStamp) -> Change {
        let path: Arc<Path> = path.into();
        self.known.insert(Arc::clone(&path), now);
        self.order.push(Arc::clone(&path));
        Change::Changed { path, role, before: None, now }
    }
}

/// The subfolders of a folder; `None` if it cannot be read.
fn subfolders(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    Some(entries.filter(is_folder).map(|entry| entry.path()).collect())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).collect()
}

fn modified(folder: &Path) -> Option<Timestamp> {
    FileStamp::from_metadata(&fs::symlink_metadata(folder).ok()?).modified()
}
