//! The outputs of tools that were too large for the transcript: Claude Code keeps them in files beside it.

use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::json::Raw;
use crate::record::result_text;

/// The folder of these files, in the folder beside a session's transcript.
const FOLDER: &str = "tool-results";
/// How many lines of a result are read for the name of its file.
const NAMING_LINES: usize = 4;

/// Whether a line of a transcript may name such a file.
pub fn may_name_kept_output(line: &[u8]) -> bool {
    memmem::find(line, FOLDER.as_bytes()).is_some()
}

/// The file that holds the whole output of a tool, by its result and its own record of that; `transcript` is the
/// session's own, also where a sub-agent called the tool.
pub fn kept_output(transcript: &Path, content: Raw<'_>, kept: Raw<'_>) -> Option<PathBuf> {
    let noted = kept.get("persistedOutputPath").text();
    let named = noted.as_deref().and_then(file_name).map(ToOwned::to_owned);
    let name = named.or_else(|| {
        let text = result_text(content);
        let mut lines = text.lines().take(NAMING_LINES).filter(|line| line.contains("saved to"));
        lines.find_map(file_name).map(ToOwned::to_owned)
    })?;
    Some(transcript.with_extension("").join(FOLDER).join(name))
}

/// The name of a file in that folder. Nothing else of the path is believed.
fn file_name(text: &str) -> Option<&str> {
    let (_, name) = text.rsplit_once(FOLDER)?;
    let name = name.strip_prefix('/')?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(name.len());
    let name = name[..end].trim_end_matches('.');
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, kept: &str, expected: Option<&str>) {
        let found = kept_output(Path::new("/c/-p/s1.jsonl"), Raw::new(content), Raw::new(kept));
        assert_eq!(found.as_deref(), expected.map(Path::new), "{content} {kept}");
    }

    #[test]
    fn the_file_of_a_large_output() {
        let file = Some("/c/-p/s1/tool-results/b1.txt");
        check(r#""x""#, r#"{"persistedOutputPath":"/old/-p/s1/tool-results/b1.txt"}"#, file);
        check(
            r#""<persisted-output>\nOutput too large (9kB). Full output saved to: /c/-p/s1/tool-results/b1.txt\n\nPreview""#,
            "{}",
            file,
        );
        check(r#""Output has been saved to /c/-p/s1/tool-results/b1.txt.\nFormat: JSON""#, "", file);
        check(r#""see tool-results/b1.txt""#, "{}", None);
        check(r#""x""#, r#"{"persistedOutputPath":"/etc/passwd"}"#, None);
        check(r#""x""#, r#"{"persistedOutputPath":"/c/tool-results/../../s2.jsonl"}"#, None);
    }
}
