//! Makes or continues the copy of one file.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use sealed::{Appender, SealedReader, SourceStamp};
use system::FileStamp;

/// How much is read at a time.
const STEP: usize = 256 << 10;
/// How much of the end of a copy is compared with a file that has grown: a session gets many lines, each its own pass.
const COMPARED: usize = 256 << 10;
/// The largest file that is copied, in bytes. No transcript is near that, and a file with holes may be any size.
const LARGEST: u64 = 16 << 30;
/// The mark of a copy that was ended before its file was: it is like that of no file.
const UNFINISHED: i64 = 1;

/// What keeping one file took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    /// Bytes of the file that were new.
    pub(crate) read: u64,
    /// Bytes written to the archive.
    pub(crate) written: u64,
    /// Whether the file had been rewritten, so that the copy made before is kept as an earlier version.
    pub(crate) is_rewritten: bool,
    /// Whether there is more to copy.
    pub(crate) is_unfinished: bool,
}

/// The time that the last part of a copy bears, so that one look at each file says whether anything is new: the second
/// in which the file was changed, and a number for its inode, its size and the exact time.
pub(crate) fn mark(stamp: &FileStamp) -> i64 {
    const SECOND: i64 = 1_000_000_000;
    let mut mixed = stamp.ino ^ stamp.size.rotate_left(24) ^ stamp.mtime.cast_unsigned().rotate_left(48);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let nanos = (mixed >> 33) % SECOND.cast_unsigned();
    stamp.mtime.div_euclid(SECOND).max(0) * SECOND + nanos.cast_signed()
}

/// Whether the copy at `copy` is of the file as it is now.
pub(crate) fn is_current(copy: &Path, stamp: &FileStamp) -> bool {
    let [_, tail] = sealed::files_of(copy);
    let Ok(found) = fs::symlink_metadata(&tail) else { return false };
    found.mtime() * 1_000_000_000 + found.mtime_nsec() == mark(stamp)
        // Some file systems keep no more than seconds.
        || (found.mtime_nsec() == 0 && sealed::source_of(copy).is_ok_and(|known| is_same(&known.stamp, stamp)))
}

/// The device is left out: its number may be another after a restart.
fn is_same(one: &FileStamp, other: &FileStamp) -> bool {
    (one.ino, one.size, one.mtime) == (other.ino, other.size, other.mtime)
}

/// Brings the copy of a file up to date, until `keep_going` returns false; the next call continues there. An earlier copy
/// that the file does not continue gets a name in `versions`.
pub(crate) fn keep(
    file: &Path,
    copy: &Path,
    versions: &Path,
    sync: bool,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> io::Result<Kept> {
    let mut living = system::open_regular(file)?;
    let metadata = living.metadata()?;
    let stamp = FileStamp::from_metadata(&metadata);
    if stamp.size > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 16 GiB"));
    }
    let born = metadata.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let born = born.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(stamp.mtime);
    let (mut appender, is_rewritten) = match continued(&living, &stamp, copy)? {
        Earlier::Continued(appender) => (*appender, false),
        Earlier::None => (Appender::create(copy), false),
        Earlier::Other => {
            put_aside(copy, versions)?;
            (Appender::create(copy), true)
        }
        Earlier::Damaged => {
            // What can still be read of it is the person's to look at; the file itself is whole and copied again.
            put_aside(copy, versions)?;
            (Appender::create(copy), false)
        }
    };
    let from = appender.length();
    living.seek(SeekFrom::Start(from))?;
    let mut rest = (&living).take(stamp.size.saturating_sub(from));
    let mut step = vec![0; STEP.min(usize::try_from(rest.limit()).unwrap_or(STEP)).max(1)];
    let mut is_last = false;
    loop {
        // A copy that ends within a frame shows by these bytes that the file continues it.
        let most = if is_last { step.len().min(1000) } else { step.len() };
        match rest.read(&mut step[..most])? {
            0 => break,
            read => appender.write(&step[..read])?,
        }
        if is_last {
            break;
        }
        is_last = !keep_going();
    }
    let taken = appender.length();
    let is_unfinished = taken < stamp.size;
    let mark = if is_unfinished { UNFINISHED } else { mark(&stamp) };
    let written = appender.finish(SourceStamp { stamp, born, taken }, mark, sync)?;
    Ok(Kept { read: taken - from, written, is_rewritten, is_unfinished })
}

/// What an earlier copy is to the file as it is now.
enum Earlier {
    None,
    /// The file begins with it.
    Continued(Box<Appender>),
    /// The file is another one.
    Other,
    /// It cannot be read.
    Damaged,
}

fn continued(living: &File, stamp: &FileStamp, copy: &Path) -> io::Result<Earlier> {
    let known = match sealed::source_of(copy) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Earlier::None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(Earlier::Damaged),
        Err(error) => return Err(error),
    };
    let appender = match Appender::resume(copy) {
        Ok(appender) => appender,
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::NotFound) => {
            return Ok(Earlier::Damaged);
        }
        Err(error) => return Err(error),
    };
    if appender.length() > stamp.size {
        return Ok(Earlier::Other);
    }
    let (begins, last) = appender.last();
    let end = &last[last.len().saturating_sub(COMPARED)..];
    let mut now = vec![0; end.len()];
    let ends_alike =
        living.read_exact_at(&mut now, appender.length() - end.len() as u64).is_ok() && now == end;
    let is_same_file = (known.stamp.dev, known.stamp.ino) == (stamp.dev, stamp.ino);
    if !ends_alike {
        return Ok(Earlier::Other);
    }
    if is_same_file && !last.is_empty() || begins == 0 {
        return Ok(Earlier::Continued(Box::new(appender)));
    }
    // Another file, such as one that was put back or moved over the old one: all of it is compared.
    match begins_with(living, copy, begins) {
        Ok(true) => Ok(Earlier::Continued(Box::new(appender))),
        Ok(false) => Ok(Earlier::Other),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(Earlier::Damaged),
        Err(error) => Err(error),
    }
}

/// Whether the first `length` bytes of a file are those of a copy.
pub(crate) fn begins_with(living: &File, copy: &Path, length: u64) -> io::Result<bool> {
    let mut copy = SealedReader::open(copy)?;
    let (mut one, mut other, mut at) = (vec![0; STEP], vec![0; STEP], 0);
    while at < length {
        let step = usize::try_from(length - at).map_or(STEP, |rest| rest.min(STEP));
        copy.read_exact_at(&mut one[..step], at)?;
        match living.read_exact_at(&mut other[..step], at) {
            Ok(()) if one[..step] == other[..step] => at += step as u64,
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Gives a copy the next free name among the earlier versions.
fn put_aside(copy: &Path, versions: &Path) -> io::Result<PathBuf> {
    system::create_private_folder(versions)?;
    let name = copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1_u32.. {
        let to = versions.join(format!("{number}.{name}"));
        match sealed::rename(copy, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(to),
        }
    }
    Err(io::ErrorKind::StorageFull.into())
}
