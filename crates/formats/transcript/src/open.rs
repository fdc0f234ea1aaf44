//! Opening other people's files without being trapped: never a fifo, never through a link.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

/// Opens a regular file for reading; a link, a fifo, a directory or a device is an error.
///
/// `NONBLOCK` makes the opening of a fifo return at once; the type is then checked on the open file, so
/// that nobody can change it in between.
pub fn regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
    if kind == FileType::RegularFile {
        Ok(File::from(file))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Reads a small file whole; over `cap` bytes is an error, so that nothing large is ever held.
pub fn small(path: &Path, cap: u64) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let file = regular(path)?;
    let size = file.metadata()?.len().min(cap);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.take(cap + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > cap {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {cap} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(regular(&file).is_ok());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(regular(&link).is_err());
        assert!(regular(folder.path()).is_err());
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(regular(&fifo).is_err(), "opening a fifo must neither wait nor succeed");
    }

    #[test]
    fn a_large_file_is_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(small(&file, 5).unwrap(), b"12345");
        assert!(small(&file, 4).is_err());
    }
}
