//! Small files of a test's own making, read whole.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A file's bytes.
pub fn bytes(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
}

/// A transcript's records, each of which must be JSON.
pub fn records(file: &Path) -> Vec<Value> {
    let text = String::from_utf8(bytes(file)).expect("a transcript in UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a record in JSON")).collect()
}
