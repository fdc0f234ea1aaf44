//! Which repositories directories belonged to while they were there: a work tree of another tool is often gone when its
//! sessions are looked for, and nothing else says whose it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;
/// The most directories that are kept.
const MOST: usize = 20_000;

/// The repositories of directories that were there once; read when the first is asked for.
#[derive(Debug, Default)]
pub(crate) struct RememberedRepositories {
    file: Option<PathBuf>,
    roots: OnceLock<BTreeMap<PathBuf, PathBuf>>,
}

impl RememberedRepositories {
    /// Those in a file, which need not exist.
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self { file, roots: OnceLock::new() }
    }

    /// The root of the repository that a directory belonged to, or the nearest one above it.
    pub(crate) fn root(&self, directory: &Path) -> Option<PathBuf> {
        let roots = self.roots();
        directory.ancestors().find_map(|above| roots.get(above)).cloned()
    }

    /// Adds directories with their roots; where that fails, they are added the next time.
    pub(crate) fn add<'a>(&self, found: impl Iterator<Item = (&'a Path, &'a Path)>) {
        let Some(file) = &self.file else { return };
        let known = self.roots();
        let is_news = |(directory, root): &(&Path, &Path)| {
            known.get(*directory).is_none_or(|known| known != root)
                && directory.to_str().is_some()
                && root.to_str().is_some()
        };
        let new: Vec<_> = found.filter(is_news).collect();
        if new.is_empty() || known.len() + new.len() > MOST {
            return;
        }
        let mut all = known.clone();
        all.extend(new.into_iter().map(|(directory, root)| (directory.to_owned(), root.to_owned())));
        let Ok(bytes) = serde_json::to_vec(&all) else { return };
        let folder = file.parent().map_or(Ok(()), system::create_private_folder);
        let _ = folder.and_then(|()| system::replace_private_file(file, &bytes));
    }

    fn roots(&self) -> &BTreeMap<PathBuf, PathBuf> {
        self.roots.get_or_init(|| {
            let bytes = self.file.as_deref().and_then(|file| system::read_small(file, LARGEST).ok());
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
        })
    }
}
