//! Files that only their owner can read, in folders that only their owner can enter.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Options for opening a file: one that they create has mode 0600; the mode of one that exists stays as it is.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Creates a folder and its missing parents with mode 0700; those that exist stay as they are.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Fails unless the folder is the user's own and only they can write to it.
///
/// In a folder that everybody can write to, another user may have made one with an expected name.
pub fn ensure_own_folder(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if found.is_dir() && is_own && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let message = format!("{} can be written to by others", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("a");
        create_private_folder(&folder).unwrap();
        assert!(ensure_own_folder(&folder).is_ok());
        fs::set_permissions(&folder, Permissions::from_mode(0o770)).unwrap();
        assert!(ensure_own_folder(&folder).is_err());
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(ensure_own_folder(&link).is_err());
        assert!(ensure_own_folder(&scratch.path().join("none")).is_err());
    }

    #[test]
    fn new_files_are_private_and_existing_ones_unchanged() {
        let scratch = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (outer, inner) = (scratch.path().join("a"), scratch.path().join("a/b"));
        create_private_folder(&inner).unwrap();
        assert_eq!((mode(&outer), mode(&inner)), (0o700, 0o700));
        fs::set_permissions(&inner, Permissions::from_mode(0o755)).unwrap();
        create_private_folder(&inner).unwrap();
        assert_eq!(mode(&inner), 0o755);

        let file = inner.join("file");
        private_file().create(true).append(true).open(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        private_file().create(true).append(true).open(&file).unwrap();
        assert_eq!(mode(&file), 0o640);
        assert!(create_private_folder(&file).is_err());
    }
}
