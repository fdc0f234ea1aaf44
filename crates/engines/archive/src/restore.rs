//! Puts a session back where Claude Code finds it: byte for byte, never over a file.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use model::SessionId;
use sealed::{CopyForm, SealedReader};
use transcript::{ArchivedFolder, TranscriptFile};

use crate::pass::files_below;

/// How much is copied at a time.
const STEP: usize = 256 << 10;

/// What putting a session back would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePlan {
    /// The session.
    pub session: SessionId,
    /// Where its transcript will be.
    pub transcript: PathBuf,
    /// The files, the transcript last: until it is there, the session is not.
    pub files: Vec<RestoredFile>,
}

/// A file that is put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// The copy in the archive.
    pub copy: PathBuf,
    /// Where it is put.
    pub to: PathBuf,
    /// Its length in bytes. Of a transcript of which the end is missing, only the lines that are whole are put back.
    pub bytes: u64,
    /// How many bytes of the file were not copied before it was deleted.
    pub missing: u64,
    /// How many secrets were left out of the copy; `None` where it is exact.
    pub secrets: Option<u64>,
    /// Whether a file is there already, which stays as it is.
    pub exists: bool,
}

/// Why a session cannot be put back.
#[derive(Debug)]
pub enum RestoreError {
    /// The archive does not have it.
    NotArchived,
    /// Its transcript is there.
    Exists(PathBuf),
    /// A file could not be read or written.
    Io(PathBuf, io::Error),
}

impl RestorePlan {
    /// How many bytes of its files were not copied before they were deleted.
    pub fn missing(&self) -> u64 {
        self.files.iter().filter(|file| !file.exists).map(|file| file.missing).sum()
    }
}

/// What putting back a session would write.
pub fn plan(archive: &Path, session: &SessionId) -> Result<RestorePlan, RestoreError> {
    let mut found: Vec<(ArchivedFolder, TranscriptFile)> = Vec::new();
    for folder in ArchivedFolder::all(archive) {
        let files = folder.find(|id| id == session, |_| true, 1).transcripts;
        found.extend(files.into_iter().map(|file| (folder.clone(), file)));
    }
    // As everywhere, the newest file of a session is the session's.
    found.sort_by_key(|(_, file)| std::cmp::Reverse((file.stamp.mtime, file.stamp.size)));
    let (folder, file) = found.into_iter().next().ok_or(RestoreError::NotArchived)?;
    let mut copies = Vec::new();
    files_below(&file.side_folder(), 0, &mut copies);
    let mut files: Vec<RestoredFile> = copies
        .iter()
        .filter_map(|path| {
            let name = sealed::name_of_tail(path.file_name()?.to_str()?)?;
            restored(&folder, &path.with_file_name(name))
        })
        .collect();
    files.sort_by(|one, other| one.to.cmp(&other.to));
    let last = restored(&folder, &file.path).ok_or(RestoreError::NotArchived)?;
    let transcript = last.to.clone();
    files.push(last);
    Ok(RestorePlan { session: session.clone(), transcript, files })
}

fn restored(folder: &ArchivedFolder, copy: &Path) -> Option<RestoredFile> {
    let to = folder.original_of(copy)?;
    let source = sealed::source_of(copy).ok()?;
    let secrets = match source.form {
        CopyForm::Exact => None,
        CopyForm::Redacted { secrets, .. } => Some(secrets),
    };
    Some(RestoredFile {
        exists: to.symlink_metadata().is_ok(),
        copy: copy.to_owned(),
        to,
        bytes: source.stamp.size,
        missing: source.missing(),
        secrets,
    })
}

/// Writes the files of a plan. Each has the current time, so that Claude Code does not delete it again at once, and
/// appears whole or not at all; one that is there stays.
pub fn restore(plan: &RestorePlan) -> Result<(), RestoreError> {
    for file in &plan.files {
        // A leftover of a killed call.
        remove(&temporary_path(&file.to)).map_err(|error| RestoreError::Io(file.to.clone(), error))?;
    }
    if plan.transcript.symlink_metadata().is_ok() {
        return Err(RestoreError::Exists(plan.transcript.clone()));
    }
    for file in &plan.files {
        let is_transcript = file.to == plan.transcript;
        match write(file) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_transcript => {
                return Err(RestoreError::Exists(file.to.clone()));
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(RestoreError::Io(file.to.clone(), error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn write(file: &RestoredFile) -> io::Result<()> {
    let folder = file.to.parent().unwrap_or(Path::new("."));
    system::create_private_folder(folder)?;
    let mut copy = SealedReader::open(&file.copy)?;
    let beside = temporary_path(&file.to);
    let is_cut = file.missing > 0 && file.to.extension().is_some_and(|end| end == "jsonl");
    let result = unpack(&mut copy, &beside, is_cut).and_then(|()| fs::hard_link(&beside, &file.to));
    let removed = fs::remove_file(&beside);
    result.and(removed)?;
    File::open(folder)?.sync_all()
}

/// The path of a file until it is complete. It is not a transcript's name, because Claude Code must not see half of
/// one.
fn temporary_path(to: &Path) -> PathBuf {
    let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
    to.with_file_name(format!(".{name}.restoring"))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes what a copy holds; of one that is cut off only its whole lines, because Claude Code appends to the last one.
fn unpack(copy: &mut SealedReader, to: &Path, is_cut: bool) -> io::Result<()> {
    let mut out = system::private_file().write(true).create_new(true).open(to)?;
    let mut step = vec![0; STEP];
    let (mut written, mut lines_end) = (0, 0);
    loop {
        let read = copy.read(&mut step)?;
        if read == 0 {
            break;
        }
        out.write_all(&step[..read])?;
        if let Some(at) = step[..read].iter().rposition(|byte| *byte == b'\n') {
            lines_end = written + at as u64 + 1;
        }
        written += read as u64;
    }
    if is_cut {
        out.set_len(lines_end)?;
    }
    out.sync_all()
}
