//! Reading files that others write: only regular files, without waiting for one, and only up to a limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

/// Opens a regular file for reading.
///
/// Fails with [`io::ErrorKind::InvalidInput`] on a folder, a FIFO or a device, and with the system's own error when the
/// last component of `path` is a symbolic link.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, OFlags::NOFOLLOW)
}

/// Opens a regular file for reading; `path` may be a symbolic link to it.
///
/// Fails with [`io::ErrorKind::InvalidInput`] on a folder, a FIFO or a device.
pub fn open_regular_following_links(path: &Path) -> io::Result<File> {
    open(path, OFlags::empty())
}

/// Reads a whole regular file of at most `limit` bytes; `path` must not be a symbolic link.
///
/// Fails as [`open_regular`] and [`read_limited`] do.
pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_limited(open_regular(path)?, limit)
}

/// Reads the rest of an open file.
///
/// Fails with [`io::ErrorKind::FileTooLarge`] when that is more than `limit` bytes, and holds no more than these.
pub fn read_limited(file: File, limit: u64) -> io::Result<Vec<u8>> {
    // The size is only a hint: files of /proc have none, and others may grow meanwhile.
    let size = file.metadata()?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    // Without NONBLOCK, opening a FIFO waits for somebody to write to it.
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    // The open file is asked, not the path: nobody can exchange it in between.
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
    if kind == FileType::RegularFile {
        Ok(File::from(file))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        std::fs::write(path("file"), "x").unwrap();
        symlink(path("file"), path("link")).unwrap();
        symlink(path("loop"), path("loop")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();

        let outcome = |opened: io::Result<File>| match opened {
            Ok(_) => "opened",
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => "link",
            Err(error) if error.kind() == ErrorKind::NotFound => "absent",
            Err(error) if error.kind() == ErrorKind::InvalidInput => "not regular",
            Err(error) => panic!("{error}"),
        };
        let check = |path: &Path, expected: &str, followed: &str| {
            assert_eq!(outcome(open_regular(path)), expected, "{}", path.display());
            assert_eq!(outcome(open_regular_following_links(path)), followed, "{} followed", path.display());
        };
        check(&path("file"), "opened", "opened");
        check(&path("link"), "link", "opened");
        check(&path("loop"), "link", "link");
        check(&path("absent"), "absent", "absent");
        for special in [scratch.path(), &path("fifo"), Path::new("/dev/null"), Path::new("/dev/zero")] {
            check(special, "not regular", "not regular");
        }
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_small(&file, 5).unwrap(), b"12345");
        assert_eq!(read_small(&file, u64::MAX).unwrap(), b"12345");
        assert_eq!(read_small(&file, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        // A sparse file of a terabyte takes neither time nor memory.
        File::options().write(true).open(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read_small(&file, 1000).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_file_of_unknown_size_is_limited() {
        let file = Path::new("/proc/self/stat");
        if file.exists() {
            assert!(!read_small(file, 1 << 16).unwrap().is_empty());
            assert_eq!(read_small(file, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        }
    }
}
