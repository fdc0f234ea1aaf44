//! Copies of transcripts that a fork starts from.
//!
//! A copy is a new file that only its owner can read; it never replaces one, is never linked to the
//! original, and is whole on the disk before `claude` starts.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use system::open_regular;
use transcript::PartialCopy;

/// The greatest age a copy may have. Claude Code deletes old transcripts when it starts, even the one it was just
/// given.
const OLDEST: Duration = Duration::from_hours(24);
/// Waits until the process `$1` is gone or the fork's file `$2` is there, then removes the copy `$3`.
const CARETAKER: &str =
    r#"while kill -0 "$1" 2>/dev/null && [ ! -s "$2" ]; do sleep 0.2; done; rm -f -- "$3""#;

/// A copy that has to be made before `claude` is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Copy {
    /// The whole transcript under its own name, for a `claude` that looks only in the folder of its directory.
    Whole {
        /// The transcript.
        from: PathBuf,
        /// The copy.
        to: PathBuf,
        /// The file of the fork that will be made of it.
        fork: PathBuf,
    },
    /// The history up to one record, or all of it, under an id of its own: this is the fork.
    PartialCopy {
        /// The part.
        cut: PartialCopy,
        /// The transcript.
        from: PathBuf,
        /// The fork.
        to: PathBuf,
    },
}

impl Copy {
    /// The path of the copy.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Whole { to, .. } | Self::PartialCopy { to, .. } => to,
        }
    }

    /// Makes the copy; false where the transcript has no record to be cut at.
    pub(crate) fn make(&self, now: SystemTime) -> io::Result<bool> {
        let mut out = create(self.path())?;
        let made = match self {
            Self::Whole { from, .. } => write_whole(from, &mut out, now).map(|()| true),
            Self::PartialCopy { cut, from, .. } => write_cut(cut, from, &mut out),
        };
        let made = made.and_then(|made| sync(&out, self.path()).map(|()| made));
        if !matches!(made, Ok(true)) {
            self.remove();
        }
        made
    }

    /// Lets a process outside the terminal's job remove a whole copy as soon as the fork has a file of its
    /// own: this process becomes `claude` and cannot wait for it.
    pub(crate) fn watch(&self) -> io::Result<()> {
        use std::os::unix::process::CommandExt as _;
        let Self::Whole { to, fork, .. } = self else { return Ok(()) };
        let mut caretaker = Command::new("/bin/sh");
        caretaker.args(["-c", CARETAKER, "sh", &std::process::id().to_string()]).arg(fork).arg(to);
        caretaker.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        caretaker.current_dir("/").process_group(0).spawn().map(drop)
    }

    /// Removes the copy.
    pub(crate) fn remove(&self) {
        // The copy is our own; it may be gone already.
        let _ = fs::remove_file(self.path());
    }
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        system::create_private_folder(folder)?;
    }
    system::private_file().write(true).create_new(true).open(path)
}

/// Sets the copy's time a little before the original's, so that the original counts as the session's file.
fn write_whole(from: &Path, out: &mut File, now: SystemTime) -> io::Result<()> {
    let mut original = open_regular(from)?;
    let modified = original.metadata()?.modified()?;
    io::copy(&mut original, out)?;
    let older = modified.checked_sub(Duration::from_secs(1)).unwrap_or(modified);
    let oldest = now.checked_sub(OLDEST).unwrap_or(now);
    out.set_modified(older.max(oldest))
}

fn write_cut(cut: &PartialCopy, from: &Path, out: &mut File) -> io::Result<bool> {
    let mut buffered = io::BufWriter::new(out);
    let found = cut.write(from, &mut buffered)?;
    buffered.flush()?;
    Ok(found)
}

/// The file and its name, both on the disk.
fn sync(file: &File, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    fn scratch() -> (tempfile::TempDir, Copy) {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("-a/s1.jsonl");
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        fs::write(&from, "{}\n{}\n").unwrap();
        let to = folder.path().join("-b/s1.jsonl");
        let fork = folder.path().join("-b/s2.jsonl");
        (folder, Copy::Whole { from, to, fork })
    }

    fn size(path: &Path) -> Option<u64> {
        path.metadata().ok().map(|found| found.len())
    }

    #[test]
    fn a_copy_is_a_new_private_file_that_looks_older() {
        let (folder, copy) = scratch();
        let from = folder.path().join("-a/s1.jsonl").metadata().unwrap();
        assert!(copy.make(from.modified().unwrap()).unwrap());
        let to = copy.path().metadata().unwrap();
        assert_eq!((to.len(), to.permissions().mode() & 0o777, to.nlink()), (6, 0o600, 1));
        assert_ne!(to.ino(), from.ino());
        assert!(to.modified().unwrap() < from.modified().unwrap());
    }

    #[test]
    fn a_copy_never_replaces_a_file() {
        let (_folder, copy) = scratch();
        fs::create_dir_all(copy.path().parent().unwrap()).unwrap();
        fs::write(copy.path(), "theirs").unwrap();
        assert_eq!(copy.make(SystemTime::UNIX_EPOCH).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(size(copy.path()), Some(6));
    }

    #[test]
    fn a_copy_that_fails_leaves_nothing() {
        let (folder, _) = scratch();
        let id = |text: &str| text.parse().unwrap();
        let from = folder.path().join("-a/s1.jsonl");
        let to = folder.path().join("-b/s3.jsonl");
        let cut = PartialCopy { from: id("s1"), at: Some("no-such".into()), to: id("s3") };
        assert!(!Copy::PartialCopy { cut, from, to: to.clone() }.make(SystemTime::UNIX_EPOCH).unwrap());
        assert_eq!(size(&to), None);
    }
}
