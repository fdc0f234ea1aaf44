//! Atomic replacement: a reader sees the old content or the new, and a writer that is killed leaves the old.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Replaces the content of a file, or creates it, and makes both durable; afterwards it has mode 0600.
///
/// A symbolic link at `path` is replaced, not followed.
pub fn replace_private_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = write_beside(path, [content])?;
    make_durable(new, path)
}

/// Replaces the content of a file, or creates it, and makes both durable; it keeps the mode it had, and a new one has
/// mode 0600.
///
/// A symbolic link at `path` is replaced, not followed.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = write_beside(path, [content])?;
    if let Ok(old) = fs::metadata(path) {
        new.as_file().set_permissions(old.permissions())?;
    }
    make_durable(new, path)
}

/// New content of a file, durable beside it, that is put into its place later; dropped, it is removed.
///
/// What takes long is done before, where the file is replaced under a lock.
#[derive(Debug)]
pub struct PreparedFile {
    new: NamedTempFile,
    path: PathBuf,
}

impl PreparedFile {
    /// Writes new content for the file at `path`, with mode 0600.
    pub fn write(path: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<Self> {
        let new = write_beside(path, [])?;
        let mut out = io::BufWriter::with_capacity(1 << 20, new.as_file());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        new.as_file().sync_all()?;
        Ok(Self { new, path: path.to_owned() })
    }

    /// Replaces the file. A symbolic link is replaced, not followed.
    pub fn replace(self) -> io::Result<()> {
        self.new.persist(&self.path)?;
        sync_folder(&self.path);
        Ok(())
    }
}

/// Replaces the content of a file with the parts, one after the other, or creates it; afterwards it has mode 0600.
///
/// Nothing is synced: after a power cut the file may be empty or hold zeros.
pub(crate) fn replace_without_sync<'a>(
    path: &Path,
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> io::Result<()> {
    write_beside(path, parts)?.persist(path)?;
    Ok(())
}

/// Writes the parts, one after the other, into a new private file in the same folder: a rename works only there.
fn write_beside<'a>(path: &Path, parts: impl IntoIterator<Item = &'a [u8]>) -> io::Result<NamedTempFile> {
    let mut prefix = path.file_name().map_or_else(OsString::new, ToOwned::to_owned);
    prefix.push(".");
    let created = tempfile::Builder::new().prefix(&prefix).suffix(".tmp").tempfile_in(folder_of(path));
    // The library's words name the temporary file, which nobody knows.
    let mut new = created.map_err(|error| io::Error::from(error.kind()))?;
    parts.into_iter().try_for_each(|part| new.write_all(part))?;
    Ok(new)
}

fn make_durable(new: NamedTempFile, path: &Path) -> io::Result<()> {
    new.as_file().sync_all()?;
    new.persist(path)?;
    sync_folder(path);
    Ok(())
}

/// The new content is in its place; some network file systems cannot sync a folder, which is no failure.
fn sync_folder(path: &Path) {
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::read_small;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_content_is_replaced_and_nothing_is_left_beside_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        for replace in [replace_private_file, replace_file] {
            for content in [&b"first"[..], b"", b"second"] {
                replace(&path, content).unwrap();
                assert_eq!((read_small(&path, 10).unwrap(), mode(&path)), (content.to_vec(), 0o600));
                assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
            }
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_failure_does_not_name_the_temporary_file() {
        let scratch = tempfile::tempdir().unwrap();
        let failure = replace_file(&scratch.path().join("none/file"), b"x").unwrap_err();
        assert_eq!(failure.to_string(), io::Error::from(io::ErrorKind::NotFound).to_string());
    }

    #[test]
    fn prepared_content_is_put_into_its_place_or_leaves_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        fs::write(&path, "old").unwrap();
        drop(PreparedFile::write(&path, |out| out.write_all(b"never")).unwrap());
        let prepared = PreparedFile::write(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(read_small(&path, 10).unwrap(), b"old");
        prepared.replace().unwrap();
        assert_eq!((read_small(&path, 10).unwrap(), mode(&path)), (b"new".to_vec(), 0o600));
        assert!(PreparedFile::write(&path, |_| Err(io::ErrorKind::Other.into())).is_err());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_mode_is_kept_where_that_is_asked_for() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        replace_file(&path, b"x").unwrap();
        assert_eq!(mode(&path), 0o644);
        replace_private_file(&path, b"x").unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_link_is_replaced_and_its_target_left_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let (target, link) = (scratch.path().join("target"), scratch.path().join("link"));
        fs::write(&target, "theirs").unwrap();
        symlink(&target, &link).unwrap();
        replace_private_file(&link, b"ours").unwrap();
        assert_eq!(
            (read_small(&target, 10).unwrap(), read_small(&link, 10).unwrap()),
            (b"theirs".to_vec(), b"ours".to_vec())
        );
    }

    #[test]
    fn a_failed_replacement_leaves_everything_unchanged() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("folder");
        fs::create_dir_all(folder.join("inner")).unwrap();
        assert!(replace_private_file(&folder, b"x").is_err());
        assert!(replace_private_file(&scratch.path().join("absent/file"), b"x").is_err());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
