//! Moves sessions to the folder of another directory, as Claude Code itself does: the files are renamed, and a record
//! at the end says where the session is now. What is done is noted first, so that it can be finished or undone.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::SessionId;
use serde::{Deserialize, Serialize};
use system::FileStamp;
use transcript::ArchivedFolder;

use crate::keep::{CopyOptions, keep};

/// The largest note that is read.
const LARGEST: u64 = 64 << 20;
/// What the name of a note ends in.
const NOTE: &str = ".json";

/// A move of a session to the folder of another directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocation {
    /// The session.
    pub session: SessionId,
    /// Its transcript.
    pub from: PathBuf,
    /// Where that is moved to.
    pub to: PathBuf,
    /// The directory that the session continues in.
    pub directory: PathBuf,
}

/// A session that was left as it is, and why.
pub type Unmoved = (SessionId, String);

/// Moves the sessions; returns those that were not moved. The archive gets a copy of each transcript first.
pub fn relocate(archive: &Path, relocations: &[Relocation]) -> io::Result<Vec<Unmoved>> {
    finish(archive)?;
    let (ready, mut unmoved) = split_by_free_target(relocations);
    if ready.is_empty() {
        return Ok(unmoved);
    }
    for relocation in &ready {
        back_up(archive, &relocation.from)?;
    }
    let note = next_note(archive)?;
    write_note(&note, &ready)?;
    unmoved.extend(move_sessions(&ready));
    fs::rename(&note, note.with_extension("done.json"))?;
    Ok(unmoved)
}

/// Moves the sessions of the last `relocate` back; returns which ones there were and those that stay where they are.
pub fn undo_relocation(archive: &Path) -> io::Result<Option<(Vec<Relocation>, Vec<Unmoved>)>> {
    finish(archive)?;
    let Some(note) = notes(archive).into_iter().rfind(|note| is_done(note)) else { return Ok(None) };
    let relocations = read_note(&note)?;
    let mut unmoved = Vec::new();
    for relocation in &relocations {
        if let Err(error) = move_back(relocation) {
            unmoved.push((relocation.session.clone(), error.to_string()));
        }
    }
    fs::remove_file(note)?;
    Ok(Some((relocations, unmoved)))
}

/// Removes forgotten sessions from all notes.
pub(crate) fn forget_relocations(
    archive: &Path,
    is_forgotten: impl Fn(&SessionId) -> bool,
) -> io::Result<()> {
    for note in notes(archive) {
        let mut relocations = read_note(&note)?;
        let before = relocations.len();
        relocations.retain(|relocation| !is_forgotten(&relocation.session));
        if relocations.is_empty() {
            fs::remove_file(&note)?;
        } else if relocations.len() < before {
            write_note(&note, &relocations)?;
        }
    }
    Ok(())
}

/// Finishes the moves of a killed call.
fn finish(archive: &Path) -> io::Result<()> {
    for note in notes(archive).into_iter().filter(|note| !is_done(note)) {
        // A session that still cannot be moved is found again as an orphan.
        move_sessions(&read_note(&note)?);
        fs::rename(&note, note.with_extension("done.json"))?;
    }
    Ok(())
}

/// The relocations whose target is free, and the others with the reason.
fn split_by_free_target(relocations: &[Relocation]) -> (Vec<Relocation>, Vec<Unmoved>) {
    let (mut ready, mut unmoved) = (Vec::new(), Vec::new());
    for relocation in relocations {
        match existing_target(relocation) {
            Some(path) => unmoved.push((relocation.session.clone(), target_exists(&path))),
            None => ready.push(relocation.clone()),
        }
    }
    (ready, unmoved)
}

/// A file that exists where a session's files would be moved to.
fn existing_target(relocation: &Relocation) -> Option<PathBuf> {
    let side = relocation.to.with_extension("");
    [relocation.to.clone(), side].into_iter().find(|path| path.symlink_metadata().is_ok())
}

fn target_exists(path: &Path) -> String {
    format!("{} is there already; two files are never merged", path.display())
}

fn move_sessions(relocations: &[Relocation]) -> Vec<Unmoved> {
    let failed = |relocation: &Relocation| {
        let error = move_session(relocation).err()?;
        Some((relocation.session.clone(), error.to_string()))
    };
    relocations.iter().filter_map(failed).collect()
}

/// Makes one move, or what is left of it.
fn move_session(relocation: &Relocation) -> io::Result<()> {
    let Relocation { from, to, .. } = relocation;
    if from.symlink_metadata().is_err() {
        return Ok(());
    }
    if to.symlink_metadata().is_err() {
        add_record(relocation)?;
    }
    move_files(from, to)
}

/// Undoes one move. Lines written after it are kept.
fn move_back(relocation: &Relocation) -> io::Result<()> {
    let Relocation { from, to, .. } = relocation;
    if to.symlink_metadata().is_err() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is gone", to.display())));
    }
    move_files(to, from)?;
    remove_record(relocation)
}

/// The folder beside first: the session is where its transcript is.
fn move_files(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        system::create_private_folder(folder)?;
    }
    let identity = |path: &Path| path.symlink_metadata().map(|found| (found.dev(), found.ino())).ok();
    if identity(to).is_some_and(|there| identity(from) != Some(there)) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, target_exists(to)));
    }
    let (side, new_side) = (from.with_extension(""), to.with_extension(""));
    if side.is_dir() && !side.is_symlink() {
        if new_side.symlink_metadata().is_ok() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, target_exists(&new_side)));
        }
        fs::rename(&side, &new_side)?;
    }
    // Unlike a rename, this never replaces a file.
    if identity(to).is_none() {
        fs::hard_link(from, to)?;
    }
    fs::remove_file(from)?;
    for path in [from, to] {
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
    }
    Ok(())
}

/// The record that Claude Code writes when a session moves.
fn record(relocation: &Relocation) -> Vec<u8> {
    let record = serde_json::json!({
        "type": "relocated",
        "relocatedCwd": relocation.directory.to_string_lossy(),
        "sessionId": relocation.session.as_str(),
    });
    format!("{record}\n").into_bytes()
}

fn add_record(relocation: &Relocation) -> io::Result<()> {
    let mut file = open_to_change(&relocation.from)?;
    if ends_with(&mut file, &record(relocation))? {
        return Ok(());
    }
    let mut line = record(relocation);
    if file.metadata()?.len() > 0 && !ends_with(&mut file, b"\n")? {
        line.insert(0, b'\n');
    }
    file.seek(SeekFrom::End(0))?;
    file.write_all(&line)?;
    file.sync_all()
}

fn remove_record(relocation: &Relocation) -> io::Result<()> {
    let mut file = open_to_change(&relocation.from)?;
    let line = record(relocation);
    if ends_with(&mut file, &line)? {
        file.set_len(file.metadata()?.len() - line.len() as u64)?;
        file.sync_all()?;
    }
    Ok(())
}

fn open_to_change(path: &Path) -> io::Result<File> {
    // Links and pipes are refused as everywhere.
    drop(system::open_regular(path)?);
    File::options().read(true).append(true).open(path)
}

fn ends_with(file: &mut File, end: &[u8]) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let Some(begins) = length.checked_sub(end.len() as u64) else { return Ok(false) };
    file.seek(SeekFrom::Start(begins))?;
    let mut found = vec![0; end.len()];
    file.read_exact(&mut found)?;
    Ok(found == end)
}

/// Copies a transcript among the earlier versions, where `forget` and the limits find it.
fn back_up(archive: &Path, file: &Path) -> io::Result<()> {
    let (folder, name) = (file.parent().unwrap_or(file), file.file_name().unwrap_or_default());
    let projects = folder.parent().unwrap_or(folder).canonicalize()?;
    let versions = ArchivedFolder::make(archive, &projects)?.versions();
    let versions = versions.join(folder.file_name().unwrap_or_default());
    system::create_private_folder(&versions)?;
    let stamp = FileStamp::from_metadata(&fs::symlink_metadata(file)?);
    let free = (1_u32..).map(|number| versions.join(format!("{number}.{}", name.to_string_lossy())));
    for copy in free {
        match sealed::source_of(&copy) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // It is moved as it is, and backed up as it is; the next pass leaves secrets out where that is asked
                // for.
                let manner = CopyOptions { sync: true, without_secrets: false };
                keep(file, &copy, &versions, manner, &|| true)?;
                return Ok(());
            }
            // Nothing was written since the last copy.
            Ok(known)
                if (known.stamp.ino, known.stamp.size, known.stamp.mtime)
                    == (stamp.ino, stamp.size, stamp.mtime) =>
            {
                return Ok(());
            }
            _ => {}
        }
    }
    Err(io::ErrorKind::StorageFull.into())
}

fn folder(archive: &Path) -> PathBuf {
    archive.join("relocated")
}

fn is_done(note: &Path) -> bool {
    note.to_string_lossy().ends_with(".done.json")
}

/// All notes, oldest first.
fn notes(archive: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(archive)).into_iter().flatten().flatten();
    let mut notes: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(NOTE)).collect();
    notes.sort();
    notes
}

/// A name that sorts after all others.
fn next_note(archive: &Path) -> io::Result<PathBuf> {
    system::create_private_folder(archive)?;
    system::create_private_folder(&folder(archive))?;
    let number = |note: &PathBuf| note.file_name()?.to_str()?.split('.').next()?.parse::<u32>().ok();
    let last = notes(archive).iter().filter_map(number).max().unwrap_or(0);
    Ok(folder(archive).join(format!("{:06}{NOTE}", last + 1)))
}

fn read_note(note: &Path) -> io::Result<Vec<Relocation>> {
    let bytes = system::read_small(note, LARGEST)?;
    serde_json::from_slice(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn write_note(note: &Path, relocations: &[Relocation]) -> io::Result<()> {
    let bytes = serde_json::to_vec(relocations).map_err(io::Error::other)?;
    system::replace_private_file(note, &bytes)
}
