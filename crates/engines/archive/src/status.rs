//! How large the archive is, and whether every copy can still be read.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sealed::{CopyForm, SealedReader};
use transcript::ArchivedFolder;

use crate::keep::REDACTING;
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
    /// Copies of which the end is missing.
    pub incomplete: u64,
    /// Copies from which secrets were left out.
    pub redacted: u64,
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
        let source = sealed::source_of(copy).unwrap_or_default();
        self.content_bytes += source.stamp.size;
        self.incomplete += u64::from(source.missing() > 0);
        self.redacted += u64::from(matches!(source.form, CopyForm::Redacted { .. }));
        self.disk_bytes += sealed::disk_size(copy);
    }
}

/// A copy of which the end is missing, because copying was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteCopy {
    /// The file that it is of.
    pub file: PathBuf,
    /// How many bytes of it were copied.
    pub bytes: u64,
    /// How many it had.
    pub whole: u64,
    /// Whether the file is gone; else the next pass copies the rest.
    pub is_gone: bool,
}

/// The copies of which the end is missing.
pub fn incomplete(archive: &Path) -> Vec<IncompleteCopy> {
    let mut found = Vec::new();
    for folder in ArchivedFolder::all(archive) {
        for copy in copies(&folder.mirror()) {
            let Ok(source) = sealed::source_of(&copy) else { continue };
            let Some(file) = folder.original_of(&copy).filter(|_| source.missing() > 0) else { continue };
            let is_gone = file.symlink_metadata().is_err();
            found.push(IncompleteCopy { file, bytes: source.taken, whole: source.whole, is_gone });
        }
    }
    found
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
        if name.ends_with(REDACTING) {
            return None;
        }
        Some(file.with_file_name(name))
    };
    files.into_iter().filter_map(copy).collect()
}
