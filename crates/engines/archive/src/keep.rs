//! Makes or continues the copy of one file.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use sealed::{Appender, CopyForm, SealedReader, SourceStamp};
use system::FileStamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::redacting::RedactedPieces;

/// How much is read at a time.
const STEP: usize = 256 << 10;
/// How much of the end of a copy is compared with a file that has grown: a session gets many lines, each its own pass.
const COMPARED: usize = 128 << 10;
/// The largest file that is copied, in bytes. No transcript is near that, and a file with holes may be any size.
const LARGEST: u64 = 16 << 30;
/// The mark of an incomplete copy, which no file has; its head says how much is missing.
const UNFINISHED: i64 = 1;
/// Suffix of a copy that is to replace another.
pub(crate) const REDACTING: &str = ".redacting";
/// How many bytes at its end identify a file of which a copy without secrets was made.
const TAIL_LENGTH: u64 = 64 << 10;

/// The result of updating one copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CopyReport {
    /// Bytes of the file that were new.
    pub(crate) read: u64,
    /// Bytes written to the archive.
    pub(crate) written: u64,
    /// Whether the file had been rewritten, so that the copy made before is kept as an earlier version.
    pub(crate) is_rewritten: bool,
    /// Whether the file was copied from its beginning.
    pub(crate) is_whole: bool,
    /// Whether there is more to copy.
    pub(crate) is_unfinished: bool,
}

/// The modification time given to the last part of a copy, so that one `stat` of each file shows whether anything is
/// new: the second in which the file was changed, and a number for its inode, its size and the exact time.
pub(crate) fn mark(stamp: &FileStamp, without_secrets: bool) -> i64 {
    const SECOND: i64 = 1_000_000_000;
    let mut mixed = u64::from(without_secrets).rotate_left(63)
        ^ stamp.ino
        ^ stamp.size.rotate_left(24)
        ^ stamp.mtime.cast_unsigned().rotate_left(48);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let nanos = (mixed >> 33) % SECOND.cast_unsigned();
    stamp.mtime.div_euclid(SECOND).max(0) * SECOND + nanos.cast_signed()
}

/// Whether the copy at `copy` is of the file as it is now, and in the form that is wanted.
pub(crate) fn is_current(copy: &Path, stamp: &FileStamp, without_secrets: bool) -> bool {
    let [_, tail] = sealed::files_of(copy);
    let Ok(found) = fs::symlink_metadata(&tail) else { return false };
    found.mtime() * 1_000_000_000 + found.mtime_nsec() == mark(stamp, without_secrets)
        // Some file systems keep no more than seconds.
        || (found.mtime_nsec() == 0
            && sealed::source_of(copy).is_ok_and(|known| {
                let has_form = is_without_secrets(&known) == without_secrets;
                has_form && known.missing() == 0 && is_same(&known, stamp)
            }))
}

/// The device is left out: its number may be another after a restart.
fn is_same(known: &SourceStamp, stamp: &FileStamp) -> bool {
    (known.stamp.ino, known.whole, known.stamp.mtime) == (stamp.ino, stamp.size, stamp.mtime)
}

fn is_without_secrets(source: &SourceStamp) -> bool {
    matches!(source.form, CopyForm::Redacted { .. })
}

/// How copies are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyOptions {
    /// Whether what is written has to be on the disk before the copy counts.
    pub(crate) sync: bool,
    /// Whether secrets are left out.
    pub(crate) without_secrets: bool,
}

/// Brings the copy of a file up to date, until `keep_going` returns false; the next call continues there. An earlier
/// copy that the file does not continue gets a name in `versions`.
pub(crate) fn keep(
    file: &Path,
    copy: &Path,
    versions: &Path,
    manner: CopyOptions,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> io::Result<CopyReport> {
    let mut living = system::open_regular(file)?;
    let metadata = living.metadata()?;
    let stamp = FileStamp::from_metadata(&metadata);
    if stamp.size > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 16 GiB"));
    }
    let created = metadata.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let created = created.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(stamp.mtime);
    let (mut appender, known, is_rewritten) = match compare_with_earlier(&living, &stamp, file, copy, manner)?
    {
        EarlierCopy::Continued(appender, known) => (*appender, known, false),
        EarlierCopy::None => (Appender::create(copy), SourceStamp::default(), false),
        EarlierCopy::Other => {
            move_to_versions(copy, versions)?;
            (Appender::create(copy), SourceStamp::default(), true)
        }
        EarlierCopy::Damaged => {
            // The damaged copy is kept for inspection; the file itself is intact and copied again.
            move_to_versions(copy, versions)?;
            (Appender::create(copy), SourceStamp::default(), false)
        }
    };
    let from = known.taken;
    living.seek(SeekFrom::Start(from))?;
    let rest = (&living).take(stamp.size.saturating_sub(from));
    let (taken, form) = if manner.without_secrets {
        let secrets = match known.form {
            CopyForm::Redacted { secrets, .. } => secrets,
            CopyForm::Exact => 0,
        };
        let (read, more) = write_redacted(rest, file, &mut appender, keep_going)?;
        let last = last_hash(&living, from + read)?;
        (from + read, CopyForm::Redacted { secrets: secrets + more, last })
    } else {
        write_exact(rest, &mut appender, keep_going)?;
        (appender.length(), CopyForm::Exact)
    };
    let source = SourceStamp { stamp, created, taken, whole: stamp.size, form };
    let is_unfinished = source.missing() > 0;
    let mark = if is_unfinished { UNFINISHED } else { mark(&stamp, manner.without_secrets) };
    let written = appender.finish(source, mark, manner.sync)?;
    Ok(CopyReport { read: taken - from, written, is_rewritten, is_whole: from == 0, is_unfinished })
}

fn write_exact(
    mut rest: io::Take<&File>,
    appender: &mut Appender,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> io::Result<()> {
    let mut step = vec![0; STEP.min(usize::try_from(rest.limit()).unwrap_or(STEP)).max(1)];
    let mut is_last = false;
    loop {
        // A copy that ends within a frame shows by these bytes that the file continues it.
        let most = if is_last { step.len().min(1000) } else { step.len() };
        match rest.read(&mut step[..most])? {
            0 => return Ok(()),
            read => appender.write(&step[..read])?,
        }
        if is_last {
            return Ok(());
        }
        is_last = !keep_going();
    }
}

/// Returns how much was read, and how many secrets were left out.
fn write_redacted(
    rest: io::Take<&File>,
    file: &Path,
    appender: &mut Appender,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> io::Result<(u64, u64)> {
    let mut pieces = RedactedPieces::new(rest, is_by_line(file));
    let mut read = 0;
    while let Some(piece) = pieces.next()? {
        appender.write(&piece.bytes)?;
        read += piece.read;
        if !keep_going() {
            break;
        }
    }
    Ok((read, pieces.secrets))
}

fn is_by_line(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "jsonl")
}

/// The hash of the last bytes before `end`.
fn last_hash(living: &File, end: u64) -> io::Result<u64> {
    let begin = end.saturating_sub(TAIL_LENGTH);
    let mut bytes = vec![0; usize::try_from(end - begin).unwrap_or_default()];
    living.read_exact_at(&mut bytes, begin)?;
    Ok(xxh3_64(&bytes))
}

/// How an earlier copy relates to the file as it is now.
enum EarlierCopy {
    /// There is none, or the new one has all of it.
    None,
    /// The file begins with it.
    Continued(Box<Appender>, SourceStamp),
    /// The file is another one.
    Other,
    /// It cannot be read.
    Damaged,
}

fn compare_with_earlier(
    living: &File,
    stamp: &FileStamp,
    file: &Path,
    copy: &Path,
    manner: CopyOptions,
) -> io::Result<EarlierCopy> {
    let known = match sealed::source_of(copy) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(EarlierCopy::None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(EarlierCopy::Damaged),
        Err(error) => return Err(error),
    };
    let appender = match Appender::resume(copy) {
        Ok(appender) => appender,
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::NotFound) => {
            return Ok(EarlierCopy::Damaged);
        }
        Err(error) => return Err(error),
    };
    let is_put_back = || -> io::Result<bool> {
        let mut copy = SealedReader::open(copy)?;
        begins_with_exact(living, &mut copy, known.stamp.size)
    };
    if is_without_secrets(&known) && known.stamp.size <= stamp.size && is_put_back().unwrap_or(false) {
        // What `restore` put back of a file that had secrets, and what was added to it.
        return Ok(EarlierCopy::None);
    }
    if known.taken > stamp.size {
        return Ok(EarlierCopy::Other);
    }
    let is_same_file = (known.stamp.dev, known.stamp.ino) == (stamp.dev, stamp.ino);
    if let CopyForm::Redacted { last, .. } = known.form {
        if manner.without_secrets && is_same_file && is_by_line(file) && continues(living, known.taken, last)?
        {
            return Ok(EarlierCopy::Continued(Box::new(appender), known));
        }
    } else {
        let (begins, last) = appender.last();
        let end = &last[last.len().saturating_sub(COMPARED)..];
        let mut now = vec![0; end.len()];
        let ends_alike =
            living.read_exact_at(&mut now, appender.length() - end.len() as u64).is_ok() && now == end;
        if !ends_alike {
            return Ok(EarlierCopy::Other);
        }
        if !manner.without_secrets && (is_same_file && !last.is_empty() || begins == 0) {
            return Ok(EarlierCopy::Continued(Box::new(appender), known));
        }
    }
    // Another file, such as one that was put back or moved over the old one, or another form: all of it is compared.
    let is_exact = known.form == CopyForm::Exact && !manner.without_secrets;
    match begins_with(living, file, copy) {
        Ok(true) if is_exact => Ok(EarlierCopy::Continued(Box::new(appender), known)),
        Ok(true) => Ok(EarlierCopy::None),
        Ok(false) => Ok(EarlierCopy::Other),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(EarlierCopy::Damaged),
        Err(error) => Err(error),
    }
}

/// Whether a line of the file ends at `taken`, and the bytes before are those that were read then.
fn continues(living: &File, taken: u64, last: u64) -> io::Result<bool> {
    let mut end = [0];
    let is_line = taken == 0 || living.read_exact_at(&mut end, taken - 1).is_ok() && end == *b"\n";
    Ok(is_line && last_hash(living, taken)? == last)
}

/// Whether a file begins with what was copied of it.
pub(crate) fn begins_with(living: &File, file: &Path, copy: &Path) -> io::Result<bool> {
    let source = sealed::source_of(copy)?;
    let mut copy = SealedReader::open(copy)?;
    if source.form == CopyForm::Exact {
        return begins_with_exact(living, &mut copy, source.taken);
    }
    let mut living = living;
    living.seek(SeekFrom::Start(0))?;
    let mut pieces = RedactedPieces::new(living.take(source.taken), is_by_line(file));
    let mut read = 0;
    while let Some(piece) = pieces.next()? {
        read += piece.read;
        let mut known = vec![0; piece.bytes.len()];
        match copy.read_exact(&mut known) {
            Ok(()) if known == piece.bytes => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
            _ => return Ok(false),
        }
    }
    Ok(read == source.taken)
}

fn begins_with_exact(living: &File, copy: &mut SealedReader, length: u64) -> io::Result<bool> {
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

/// Makes a copy without secrets of an exact one, in its place; returns whether there was anything to do.
pub(crate) fn leave_secrets_out(copy: &Path) -> io::Result<bool> {
    // Written under its own name until complete: the exact copy may be all that is left of a deleted file.
    let name = copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let new = copy.with_file_name(format!(".{name}{REDACTING}"));
    if sealed::is_replacing(&new) {
        sealed::replace(&new, copy)?;
        return Ok(true);
    }
    let source = sealed::source_of(copy)?;
    if is_without_secrets(&source) {
        return Ok(false);
    }
    sealed::remove(&new)?;
    let mut appender = Appender::create(&new);
    // An earlier version has a number before its name, which does not change how it ends.
    let mut pieces = RedactedPieces::new(SealedReader::open(copy)?, is_by_line(copy));
    while let Some(piece) = pieces.next()? {
        appender.write(&piece.bytes)?;
    }
    let form = CopyForm::Redacted { secrets: pieces.secrets, last: 0 };
    // If the file reappears, all of it is compared.
    appender.finish(SourceStamp { form, ..source }, UNFINISHED, true)?;
    sealed::replace(&new, copy)?;
    Ok(true)
}

/// Gives a copy the next free name among the earlier versions.
fn move_to_versions(copy: &Path, versions: &Path) -> io::Result<PathBuf> {
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
