//! Paths in JSON: one that is no UTF-8 is written with U+FFFD, and ends no answer.

use std::path::Path;

use serde::Serializer;

/// Writes a path, for `#[serde(serialize_with = …)]`.
pub fn path<P: AsRef<Path>, S: Serializer>(path: &P, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.as_ref().to_string_lossy())
}

/// Serializes an optional path the same way.
pub fn optional_path<P: AsRef<Path>, S: Serializer>(path: &Option<P>, to: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => self::path(path, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;

    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    struct Paths {
        #[serde(serialize_with = "path")]
        one: PathBuf,
        #[serde(serialize_with = "optional_path")]
        other: Option<PathBuf>,
    }

    #[test]
    fn a_path_that_is_no_utf8_is_written() {
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let check = |paths: Paths, expected: &str| {
            assert_eq!(serde_json::to_string(&paths).unwrap(), expected);
        };
        check(Paths { one: path(b"/a"), other: None }, r#"{"one":"/a","other":null}"#);
        check(
            Paths { one: path(b"/\xff"), other: Some(path(b"/b\xfe")) },
            "{\"one\":\"/\u{fffd}\",\"other\":\"/b\u{fffd}\"}",
        );
    }
}
