//! Reads a file of someone else's: only a regular file, only up to a bound, and never waiting for it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::Problem;

/// The content of a file; `None` when there is no such file.
pub(crate) fn read(path: &Path, cap: u64) -> Result<Option<Vec<u8>>, Problem> {
    let unreadable = |error: io::Error| {
        Problem::new(path, format!("cannot be read: {error}"), "Make it readable for this user.")
    };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Problem::new(path, "is not a regular file", "Move it away; OpenClaw writes it anew."));
    }
    let mut content = Vec::new();
    file.take(cap.saturating_add(1)).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() as u64 > cap {
        return Err(Problem::new(
            path,
            format!("is larger than {} MiB and was not read", cap >> 20),
            "Move it away, or remove old entries from it.",
        ));
    }
    Ok(Some(content))
}

/// At most so many bytes of the beginning of a regular file.
pub(crate) fn beginning(path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut content = Vec::new();
    file.take(length as u64).read_to_end(&mut content)?;
    Ok(content)
}

/// Opens without waiting: a fifo in the file's place would otherwise hold us until somebody writes to it.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_whole_regular_files() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        fs::write(path("file"), "12345").unwrap();
        fs::create_dir(path("folder")).unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("loop"), path("loop")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();

        let check = |name: &str, cap: u64, expected: Result<Option<&str>, &str>| {
            let found = read(&path(name), cap).map_err(|problem| problem.what);
            match expected {
                Ok(content) => assert_eq!(found, Ok(content.map(|text| text.as_bytes().to_vec())), "{name}"),
                Err(part) => {
                    assert!(found.as_ref().is_err_and(|what| what.contains(part)), "{name}: {found:?}");
                }
            }
        };
        check("file", 5, Ok(Some("12345")));
        check("link", 5, Ok(Some("12345")));
        check("file", 4, Err("larger"));
        check("absent", 5, Ok(None));
        check("file/below", 5, Ok(None));
        check("folder", 5, Err("not a regular file"));
        check("fifo", 5, Err("not a regular file"));
        check("loop", 5, Err("cannot be read"));
    }
}
