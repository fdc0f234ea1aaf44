//! Reads the file of a store tolerantly, and remembers which file that was.

use std::io::ErrorKind;
use std::path::Path;

use system::{FileStamp, open_regular_following_links};

use super::open_text::{OpenText, lossy};
use super::stored_object::StoredObject;
use crate::{Problem, json5_text};

/// A file up to this size is held in memory, in bytes.
const SMALL: u64 = 1 << 20;
/// The largest store in JSON5: the reader of that takes many times the memory.
const LARGEST_JSON5: u64 = 64 << 20;

/// What a store's file holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// There is no file.
    Absent,
    /// JSON.
    Json(StoredObject),
    /// JSON5, as JSON.
    Json5(StoredObject),
    /// Neither, and why.
    Broken(String),
}

/// A file and its state at the time it was read. While it is open no other file has its number.
#[derive(Debug)]
pub(crate) struct FileSnapshot(Option<OpenText>);

impl FileSnapshot {
    /// Whether the file at this path is still that one, unchanged.
    pub(crate) fn is_current(&self, path: &Path) -> bool {
        let now = std::fs::metadata(path).ok().as_ref().map(FileStamp::from_metadata);
        now == self.0.as_ref().map(OpenText::stamp)
    }
}

/// Reads a store's file.
pub(crate) fn read(path: &Path) -> Result<(Content, FileSnapshot), Problem> {
    match open_regular_following_links(path).and_then(|file| OpenText::new(file, path)) {
        Ok(file) => Ok((content_of(&file, path)?, FileSnapshot(Some(file)))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok((Content::Absent, FileSnapshot(None)))
        }
        Err(error) => {
            let next = "Make it a file that this user can read.";
            Err(Problem::new(path, format!("cannot be read: {error}"), next))
        }
    }
}

fn content_of(file: &OpenText, path: &Path) -> Result<Content, Problem> {
    let refused = |why: String| {
        Problem::new(path, why, "Make it JSON, without comments, trailing commas and names without quotes.")
    };
    // In memory what is no UTF-8 would be replaced; in the file it stays as it is where nobody changes it.
    if file.length() <= SMALL
        && let Some(Ok(text)) = file.read_whole(SMALL)?.map(String::from_utf8)
    {
        return content(text, LARGEST_JSON5).map_err(refused);
    }
    let strict = match StoredObject::of_file(file)? {
        Ok(object) => return Ok(Content::Json(object)),
        Err(strict) => strict,
    };
    if strict.error.is_io() {
        let next = "Make it a file that this user can read, of sessions.";
        return Err(Problem::new(path, format!("cannot be read: {strict}"), next));
    }
    match file.read_whole(LARGEST_JSON5)? {
        Some(bytes) => content(lossy(bytes), LARGEST_JSON5).map_err(refused),
        None if strict.error.is_data() || strict.error.is_eof() => Ok(Content::Broken(no_store(&strict))),
        None => Err(refused(too_large(&strict, LARGEST_JSON5))),
    }
}

fn no_store(why: impl std::fmt::Display) -> String {
    format!("is not a store of sessions: {why}")
}

fn too_large(why: impl std::fmt::Display, limit: u64) -> String {
    format!("is no JSON ({why}), and larger than {} MiB, beyond which JSON5 is not read", limit >> 20)
}

/// What a text is; an error where it may be JSON5, which is not read beyond so many bytes: it must not be set aside as
/// broken.
fn content(text: String, largest_json5: u64) -> Result<Content, String> {
    let (strict, text) = match StoredObject::of_text(text) {
        Ok(object) => return Ok(Content::Json(object)),
        Err(failed) => failed,
    };
    let is_large = text.len() as u64 > largest_json5;
    // The beginning of a store, as a torn one is, has no end in JSON5 either.
    if strict.is_data() || (is_large && strict.is_eof()) {
        return Ok(Content::Broken(no_store(strict)));
    }
    if is_large {
        return Err(too_large(strict, largest_json5));
    }
    let json = json5_text::as_json(&text).map(StoredObject::of_text);
    Ok(match json {
        Ok(Ok(object)) => Content::Json5(object),
        Ok(Err((error, _))) => Content::Broken(no_store(error)),
        Err(why) => Content::Broken(why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_json5_is_refused_and_not_taken_for_broken() {
        let check = |text: &str, limit: u64, expected: &str| {
            let found = match content(text.to_owned(), limit) {
                Ok(Content::Absent) => "absent",
                Ok(Content::Json(_)) => "json",
                Ok(Content::Json5(_)) => "json5",
                Ok(Content::Broken(_)) => "broken",
                Err(_) => "refused",
            };
            assert_eq!(found, expected, "{text}");
        };
        check(r#"{"a": {}}"#, 1, "json");
        check("{a: {}}", 100, "json5");
        check("{a: {}}", 1, "refused");
        check("// mine\n{}", 1, "refused");
        check(r#"{"a": {"b": 1"#, 1, "broken");
        check("[1]", 1, "broken");
        check("{a: ", 100, "broken");
    }
}
