//! Files that only their owner can read, in folders that only their owner can enter.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_created_is_private_and_what_exists_stays_as_it_is() {
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
