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
    let content = content(text, LARGEST_JSON5).map_err(|why| {
        Problem::new(path, why, "Make it JSON, without comments, trailing commas and names without quotes.")
    })?;
    Ok((content, Seen(Some((file, FileStamp::from_metadata(&found))))))
}

/// What a text is; an error where it may be JSON5, which is not read beyond so many bytes: it must not be set aside as
/// broken.
fn content(text: String, largest_json5: usize) -> Result<Content, String> {
    let (strict, text) = match JsonObject::of_file(text) {
        Ok(object) => return Ok(Content::Json(object)),
        Err(failed) => failed,
    };
    let is_large = text.len() > largest_json5;
    // The beginning of a store, as a torn one is, has no end in JSON5 either.
    if strict.is_data() || (is_large && strict.is_eof()) {
        return Ok(Content::Broken(format!("is not a store of sessions: {strict}")));
    }
    if is_large {
        let limit = largest_json5 >> 20;
        return Err(format!(
            "is no JSON ({strict}), and larger than {limit} MiB, beyond which JSON5 is not read"
        ));
    }
    let json = json5_text::as_json(&text).map(JsonObject::of_file);
    Ok(match json {
        Ok(Ok(object)) => Content::Json5(object),
        Ok(Err((error, _))) => Content::Broken(format!("is not a store of sessions: {error}")),
        Err(why) => Content::Broken(why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_json5_is_refused_and_not_taken_for_broken() {
        let check = |text: &str, limit: usize, expected: &str| {
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
