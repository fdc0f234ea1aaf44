//! docs/openapi.json: the description of the HTTP API.

use std::path::PathBuf;

use crate::Failure;

/// The page's path.
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/openapi.json")
}

/// The page as it should be.
///
/// # Errors
///
/// When the description cannot be written as JSON, which does not happen.
pub fn page() -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(&serve::document())? + "\n")
}

/// Writes the page.
///
/// # Errors
///
/// As [`page`], and when the file cannot be written.
pub fn openapi() -> Result<(), Failure> {
    Ok(std::fs::write(path(), page()?)?)
}
