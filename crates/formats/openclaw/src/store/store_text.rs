//! Reads the file of a store whole, tolerantly, and remembers which file that was.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use system::{FileStamp, open_regular_following_links};

use super::json_object::JsonObject;
use crate::{Problem, json5_text};

/// No store is larger; what claims to be would fill the memory.
const LARGEST: u64 = 4 << 30;
/// The largest store in JSON5: the reader of that takes many times the memory.
const LARGEST_JSON5: usize = 64 << 20;

/// What a store's file holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// There is no file.
    Absent,
    /// JSON.
    Json(JsonObject<'static>),
    /// JSON5, as JSON.
    Json5(JsonObject<'static>),
    /// Neither, and why.
    Broken(String),
}

/// A file and its state at the time it was read. While it is open no other file has its number.
#[derive(Debug)]
pub(crate) struct Seen(Option<(File, FileStamp)>);

impl Seen {
    /// Whether the file at this path is still that one, unchanged.
    pub(crate) fn is_current(&self, path: &Path) -> bool {
        let now = std::fs::metadata(path).ok().as_ref().map(FileStamp::from_metadata);
        now == self.0.as_ref().map(|(_, stamp)| *stamp)
    }
}

/// Reads a store's file.
pub(crate) fn read(path: &Path) -> Result<(Content, Seen), Problem> {
    let failed = |error: std::io::Error| {
        Problem::new(path, format!("cannot be read: {error}"), "Make it a file that this user can read.")
    };
    let file = match open_regular_following_links(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok((Content::Absent, Seen(None)));
        }
        Err(error) => return Err(failed(error)),
    };
    let found = file.metadata().map_err(failed)?;
    let mut bytes = Vec::with_capacity(usize::try_from(found.len().min(LARGEST)).unwrap_or_default() + 1);
    (&file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Problem::new(path, "is larger than 4 GiB and was not read", "Move it away."));
    }
    let mut text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok((content(text), Seen(Some((file, FileStamp::from_metadata(&found))))))
}

fn content(text: String) -> Content {
    let (strict, text) = match JsonObject::of_file(text) {
        Ok(object) => return Content::Json(object),
        Err(failed) => failed,
    };
    if strict.is_data() || text.len() > LARGEST_JSON5 {
        return Content::Broken(format!("is not a store of sessions: {strict}"));
    }
    let json = json5_text::as_json(&text).map(JsonObject::of_file);
    match json {
        Ok(Ok(object)) => Content::Json5(object),
        Ok(Err((error, _))) => Content::Broken(format!("is not a store of sessions: {error}")),
        Err(why) => Content::Broken(why),
    }
}
