//! The folders that `export` wrote to, so that `forget` finds the documents of a session there.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use model::SessionId;
use qmd::Collection;

use crate::{Context, Error, Kind};

/// The most that is read of the list, in bytes.
const LONGEST: u64 = 1 << 20;

/// What became of the documents of forgotten sessions.
#[derive(Debug, Default)]
pub(crate) struct RemovedDocuments {
    /// How many were removed.
    pub(crate) count: u64,
    /// Where one may be left.
    pub(crate) notes: Vec<String>,
}

/// Notes that documents are in a folder.
pub(crate) fn note(context: &Context, folder: &Path) -> Result<(), Error> {
    let mut folders = folders(context);
    if folders.insert(folder.to_owned()) { write(context, &folders) } else { Ok(()) }
}

/// Removes the documents of sessions from every folder.
pub(crate) fn forget(context: &Context, ids: &HashSet<SessionId>) -> Result<RemovedDocuments, Error> {
    let mut removed = RemovedDocuments::default();
    let all = folders(context);
    let there: BTreeSet<PathBuf> = all.iter().filter(|folder| folder.exists()).cloned().collect();
    for folder in &there {
        let path = folder.display();
        match remove(folder, ids) {
            Ok(0) => {}
            Ok(count) => {
                removed.count += count;
                removed.notes.push(format!("what qmd has indexed of {path} stays there until `qmd update`"));
            }
            Err(why) => removed.notes.push(format!("a document of theirs may still be in {path}: {why}")),
        }
    }
    if there != all {
        write(context, &there)?;
    }
    Ok(removed)
}

fn remove(folder: &Path, ids: &HashSet<SessionId>) -> io::Result<u64> {
    match Collection::open(folder)? {
        Some(collection) => collection.remove(&HashSet::new(), |id, _| !ids.contains(id)),
        None => {
            Err(io::Error::new(io::ErrorKind::WouldBlock, "another Backstory process is exporting to it"))
        }
    }
}

fn file(context: &Context) -> PathBuf {
    context.config().state.join("exports.json")
}

fn folders(context: &Context) -> BTreeSet<PathBuf> {
    let text = system::read_small(&file(context), LONGEST).ok();
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn write(context: &Context, folders: &BTreeSet<PathBuf>) -> Result<(), Error> {
    let path = file(context);
    let written = serde_json::to_vec(folders).map_err(io::Error::from).and_then(|text| {
        system::create_private_folder(&context.config().state)?;
        system::replace_private_file(&path, &text)
    });
    written
        .map_err(|error| Error::caused(Kind::Unavailable, format!("cannot write {}", path.display()), &error))
}
