//! docs/schema.json: the JSON schemas of every request, answer and event.

use std::path::PathBuf;

use crate::Failure;

/// The path of docs/schema.json.
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/schema.json")
}

/// The page as it should be.
///
/// # Errors
///
/// When a schema cannot be written as JSON, which does not happen.
pub fn page() -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(&app::schema::schemas())? + "\n")
}

/// Writes the page.
///
/// # Errors
///
/// As [`page`], and when the file cannot be written.
pub fn schema() -> Result<(), Failure> {
    Ok(std::fs::write(path(), page()?)?)
}
