//! Whether the files of the index are what was written: reads every byte of them, which no search does.

use std::path::{Path, PathBuf};

use tantivy::Index;

use crate::error::{Error, Remedy, index_failed, io_failed};
use crate::files::{FileList, list_file};
use crate::vectors;
use crate::writer::text_folder;

/// The files of an index that are damaged; none where there is no index.
///
/// Fails where the files cannot be read at all. What a writer changes meanwhile is not taken for damage.
pub fn damaged_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (list, text) = (list_file(folder), text_folder(folder));
    if !list.exists() {
        return Ok(Vec::new());
    }
    match database::verify(&list) {
        Err(error) if error.is_damage() => return Ok(vec![list]),
        verified => verified?,
    }
    let Some(opened) = FileList::open_read_only(&list)? else { return Ok(Vec::new()) };
    let mut damaged = damaged_text(&text)?;
    damaged.extend(vectors::damaged(folder, opened.vectors()?));
    Ok(damaged)
}

/// The damaged files of the text index.
fn damaged_text(text: &Path) -> Result<Vec<PathBuf>, Error> {
    let meta = text.join("meta.json");
    if !meta.exists() {
        return Ok(Vec::new());
    }
    let verified = || Index::open_in_dir(text).and_then(|index| index.validate_checksum());
    // A merge may remove a segment between the reading of the list of segments and theirs.
    let named = verified().or_else(|_| verified());
    let named = match named.map_err(index_failed("read", text)) {
        // What is damaged so that it cannot even be opened has no checksum to compare.
        Err(error) if error.remedy() == Remedy::Rebuild => return Ok(vec![meta]),
        named => named?,
    };
    let paths = named.into_iter().map(|name| text.join(name));
    // A file that a merge has removed meanwhile is none.
    let mut damaged = Vec::new();
    for path in paths {
        if path.try_exists().map_err(io_failed("look at", &path))? {
            damaged.push(path);
        }
    }
    damaged.sort();
    Ok(damaged)
}
