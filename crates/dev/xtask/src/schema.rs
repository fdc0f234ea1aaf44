//! docs/schema.json: the JSON schemas of every request and answer.

use std::path::PathBuf;

use serde_json::json;

use crate::Failure;

/// The page's path.
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/schema.json")
}

/// The page as it should be.
///
/// # Errors
///
/// When a schema cannot be written as JSON, which does not happen.
pub fn page() -> Result<String, Failure> {
    let schemas = json!({ "requests": app::schema::requests(), "answers": app::schema::answers() });
    Ok(serde_json::to_string_pretty(&schemas)? + "\n")
}

/// Writes the page.
///
/// # Errors
///
/// As [`page`], and when the file cannot be written.
pub fn schema() -> Result<(), Failure> {
    Ok(std::fs::write(path(), page()?)?)
}
