//! Compressed copies of files that grow: written piece by piece, checked, read at any offset.
//!
//! The copy of `name` is two files. `name.zst` holds the frames that are full and is only appended to. `name.tail.zst`
//! holds the last frame and says how much of the first counts; it is replaced as a whole, so that a crash at any moment
//! leaves the copy as it was before or as it is after. Both are sequences of zstd frames, which `zstd -d` unpacks too.

mod appender;
mod format;
mod reader;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use appender::Appender;
pub use format::{CopyForm, FRAME, SourceStamp};
pub use reader::SealedReader;

/// What the name of the file with the last frame ends in.
const TAIL: &str = ".tail.zst";
/// What the name of the file with the full frames ends in.
const FULL: &str = ".zst";

/// The two files of a copy: the full frames, which may be missing, and the last one.
pub fn files_of(path: &Path) -> [PathBuf; 2] {
    [with(path, FULL), with(path, TAIL)]
}

/// The name of the copied file, where this is the name of the file with a copy's last frame.
pub fn name_of_tail(name: &str) -> Option<&str> {
    name.strip_suffix(TAIL).filter(|name| !name.is_empty())
}

/// What the copied file was when it was copied last; reads the beginning of one small file.
pub fn source_of(path: &Path) -> io::Result<SourceStamp> {
    Ok(format::read_tail_head(&system::open_regular(&with(path, TAIL))?)?.source)
}

/// Gives a copy another name, where there is none of that name. A crash leaves it under the old name, the new one, or
/// both.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let [from, to] = [files_of(from), files_of(to)];
    if to[1].symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // A file without a last frame is not a copy but a leftover of a crash.
    remove_file(&to[0])?;
    match fs::hard_link(&from[0], &to[0]) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::hard_link(&from[1], &to[1])?;
    remove_file(&from[1])?;
    remove_file(&from[0])
}

/// Replaces a copy by another. After a crash in between, [`is_replacing`] returns true, and the same call completes
/// it.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let head = format::read_tail_head(&system::open_regular(&with(from, TAIL))?)?;
    let [from, to] = [files_of(from), files_of(to)];
    if head.full == 0 {
        fs::rename(&from[1], &to[1])?;
        return remove_file(&to[0]);
    }
    match fs::rename(&from[0], &to[0]) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(&from[1], &to[1])
}

/// Whether replacing another copy by `from` was interrupted.
pub fn is_replacing(from: &Path) -> bool {
    let head = system::open_regular(&with(from, TAIL)).and_then(|tail| format::read_tail_head(&tail));
    head.is_ok_and(|head| head.full > 0) && with(from, FULL).symlink_metadata().is_err()
}

/// Removes a copy; none is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    let [full, tail] = files_of(path);
    remove_file(&tail)?;
    remove_file(&full)
}

/// How much room a copy takes, in bytes.
pub fn disk_size(path: &Path) -> u64 {
    files_of(path).iter().filter_map(|file| file.symlink_metadata().ok()).map(|found| found.len()).sum()
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(ending);
    name.into()
}
