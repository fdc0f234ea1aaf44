//! How large the archive is, and whether every copy can still be read.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sealed::SealedReader;
use transcript::ArchivedFolder;

use crate::pass::files_below;

/// How large the archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArchiveSize {
    /// Sessions that it has, those whose transcripts are still there included.
    pub sessions: u64,
    /// Copies of all files, without earlier versions.
    pub files: u64,
    /// Earlier versions of rewritten files.
    pub versions: u64,
    /// How much the copied files hold, in bytes.
    pub content_bytes: u64,
    /// How much room the copies take, in bytes.
    pub disk_bytes: u64,
}

/// How large the archive is.
pub fn size(archive: &Path) -> ArchiveSize {
    let mut size = ArchiveSize::default();
    for folder in ArchivedFolder::all(archive) {
        for copy in copies(&folder.mirror()) {
            let below = copy.strip_prefix(folder.mirror()).unwrap_or(&copy);
            let is_session = below.components().count() == 2
                && below.extension().is_some_and(|end| end == "jsonl")
                && !below.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
            size.sessions += u64::from(is_session);
            size.files += 1;
            size.add(&copy);
        }
        for copy in copies(&folder.versions()) {
            size.versions += 1;
            size.add(&copy);
        }
    }
    size
}

impl ArchiveSize {
    fn add(&mut self, copy: &Path) {
        self.content_bytes += sealed::source_of(copy).map_or(0, |source| source.stamp.size);
        self.disk_bytes += sealed::room_of(copy);
    }
}

/// Reads every copy, and returns those that are damaged, each with the reason.
pub fn check(archive: &Path) -> Vec<(PathBuf, String)> {
    let mut damaged = Vec::new();
    for folder in ArchivedFolder::all(archive) {
        let all = copies(&folder.mirror()).into_iter().chain(copies(&folder.versions()));
        damaged.extend(all.filter_map(|copy| Some((copy.clone(), read(&copy).err()?.to_string()))));
    }
    damaged
}

fn read(copy: &Path) -> io::Result<()> {
    let mut reader = SealedReader::open(copy)?;
    let mut step = vec![0; 256 << 10];
    while reader.read(&mut step)? > 0 {}
    Ok(())
}

/// All copies below a folder, by the names of the files that they are of.
pub(crate) fn copies(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    files_below(root, 0, &mut files);
    let copy = |file: PathBuf| {
        let name = sealed::name_of_tail(file.file_name()?.to_str()?)?.to_owned();
        Some(file.with_file_name(name))
    };
    files.into_iter().filter_map(copy).collect()
}
