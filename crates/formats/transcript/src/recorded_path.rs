//! Paths as records have them. Those of Windows are given slashes, so that their parts are parts here, too: a transcript may
//! be read on another system than the one it was written on.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use model::{has_drive, is_of_windows, spelled};

/// The path as it is compared and shown: with slashes where it is an absolute one of Windows.
pub(crate) fn with_slashes(path: Cow<'_, str>) -> Cow<'_, str> {
    spelled(path)
}

/// The path of a file that is named from a directory, which [`with_slashes`] has read.
pub(crate) fn joined(directory: &Path, file: &str) -> PathBuf {
    let drive = directory.to_str().unwrap_or_default();
    if is_of_windows(file) {
        PathBuf::from(spelled(Cow::Borrowed(file)).into_owned())
    } else if has_drive(drive) {
        directory.join(file.replace('\\', "/"))
    } else {
        directory.join(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_windows_has_parts() {
        let read = |path: &'static str| with_slashes(path.into()).into_owned();
        assert_eq!(read(r"C:\Users\sam\shop"), "C:/Users/sam/shop");
        assert_eq!(read(r"\\nas\sam"), "//nas/sam");
        for other in ["/home/sam", r"/home/a\b", "C:", "", r"a:b\c"] {
            assert_eq!(read(other), other);
        }
        let of = |directory: &str, file: &str| joined(Path::new(directory), file).display().to_string();
        assert_eq!(of("C:/Users/sam", r"C:\Users\sam\a.rs"), "C:/Users/sam/a.rs");
        assert_eq!(of("C:/Users/sam", r"src\a.rs"), "C:/Users/sam/src/a.rs");
        assert_eq!(of("C:/Users/sam", "C:/Users/sam/a.rs"), "C:/Users/sam/a.rs");
        assert_eq!(of("/home/sam", r"odd\name"), r"/home/sam/odd\name");
        assert_eq!(of("/home/sam", "/etc/hosts"), "/etc/hosts");
    }
}
