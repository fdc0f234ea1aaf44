//! Reads another program's file: only a regular one, only up to a limit, and without blocking.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use system::{open_regular_following_links, read_limited};

use crate::Problem;

/// The content of a file; `None` when there is no such file.
pub(crate) fn read(path: &Path, cap: u64) -> Result<Option<Vec<u8>>, Problem> {
    let read = open_regular_following_links(path).and_then(|file| read_limited(file, cap));
    read.map(Some).or_else(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
        ErrorKind::InvalidInput => {
            Err(Problem::new(path, "is not a regular file", "Move it away; OpenClaw creates it again."))
        }
        ErrorKind::FileTooLarge => Err(Problem::new(
            path,
            format!("is larger than {} MiB and was not read", cap >> 20),
            "Move it away, or remove old entries from it.",
        )),
        _ => Err(Problem::new(path, format!("cannot be read: {error}"), "Make it readable for this user.")),
    })
}

/// Reads at most `length` bytes from the beginning of a regular file.
pub(crate) fn beginning(path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open_regular_following_links(path)?.take(length as u64).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        fs::write(path("file"), "12345").unwrap();
        fs::create_dir(path("folder")).unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("loop"), path("loop")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
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
