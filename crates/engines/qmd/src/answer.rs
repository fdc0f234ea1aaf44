//! Parses qmd's output: a JSON list, possibly surrounded by other text.

use serde::Deserialize;
use serde_json::Value;

/// Maximum number of `[` tried as the beginning of the list.
const TRIES: usize = 256;
/// Maximum length of a snippet in characters.
const SNIPPET: usize = 400;

/// A document found by qmd.
#[derive(Debug, Clone, PartialEq)]
pub struct QmdHit {
    /// Name of the document in qmd: `qmd://collection/folder/file.md`.
    pub path: String,
    /// Relevance, between 0 and 1.
    pub score: f32,
    /// The matching piece of the document, in whole lines.
    pub text: String,
}

#[derive(Deserialize)]
struct Item {
    #[serde(alias = "path")]
    file: String,
    #[serde(default)]
    score: Option<f32>,
    #[serde(alias = "body", alias = "text", default)]
    snippet: Option<String>,
}

/// Extracts the list from qmd's output; `None` if there is none.
///
/// Progress output may precede it, and an old release reports an empty result in words.
pub(crate) fn found(said: &str) -> Option<Vec<QmdHit>> {
    let mut empty = said.contains("No results found");
    for (at, _) in said.match_indices('[').take(TRIES) {
        let mut values = serde_json::Deserializer::from_str(&said[at..]).into_iter::<Vec<Value>>();
        let Some(Ok(values)) = values.next() else { continue };
        let items: Vec<QmdHit> = values.into_iter().filter_map(item).collect();
        if !items.is_empty() {
            return Some(items);
        }
        empty = true;
    }
    empty.then(Vec::new)
}

fn item(value: Value) -> Option<QmdHit> {
    let Item { file, score, snippet } = serde_json::from_value(value).ok()?;
    let score = score.filter(|score| score.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0);
    Some(QmdHit { path: file, score, text: snippet.unwrap_or_default() })
}

impl QmdHit {
    /// The matching piece on one line, without qmd's markers and the document's head.
    pub fn snippet(&self) -> Option<String> {
        let is_mark = |line: &str| {
            line.is_empty()
                || line.starts_with("@@ ")
                || line == "---"
                || line.starts_with("## ")
                || crate::document::is_head(line)
        };
        let lines: Vec<&str> = self.text.lines().map(str::trim).filter(|line| !is_mark(line)).collect();
        // Where the head alone was found, it is the title that answers.
        let lines = if lines.is_empty() { self.text.lines().filter_map(title).collect() } else { lines };
        let text: String = lines.join(" ").chars().take(SNIPPET).collect();
        (!text.is_empty()).then_some(text)
    }
}

fn title(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Title: ").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_found_in_the_noise() {
        let check = |said: &str, expected: Option<&[&str]>| {
            let found = found(said);
            let paths = found.as_ref().map(|all| all.iter().map(|one| one.path.as_str()).collect::<Vec<_>>());
            assert_eq!(paths.as_deref(), expected, "{said}");
        };
        let one = r##"[{"docid":"#a","score":0.82,"file":"qmd://c/a.md","title":"T","snippet":"s"}]"##;
        check(one, Some(&["qmd://c/a.md"]));
        check(&format!("Expanding [1/2]…\u{1b}[2K\n{one}\nDone [2/2]"), Some(&["qmd://c/a.md"]));
        check(r#"[{"path":"qmd://c/b.md"}]"#, Some(&["qmd://c/b.md"]));
        check(&format!("[] {one}"), Some(&["qmd://c/a.md"]));
        check("[]", Some(&[]));
        check("No results found.", Some(&[]));
        check(r#"[{"title":"no file"}]"#, Some(&[]));
        check("", None);
        check("Segmentation fault", None);
        check("[1/2] [2/2", None);
        check(r#"[{"file":"qmd://c/a.md","#, None);
        check(&"[".repeat(100_000), None);
        check("[{\"file\":\"a\0b\"}]", None);
    }

    #[test]
    fn scores_and_snippets_are_made_fit() {
        let check = |item: &str, score: f32, snippet: Option<&str>| {
            let found = found(&format!("[{item}]")).unwrap().remove(0);
            assert!((found.score - score).abs() < 1e-6, "{}", found.score);
            assert_eq!(found.snippet().as_deref(), snippet, "{item}");
        };
        check(
            r#"{"file":"a","score":0.82,"snippet":"@@ -8,4 @@ (7 before, 3 after)\n\nAdd forking\n\n## Assistant\nYes"}"#,
            0.82,
            Some("Add forking Yes"),
        );
        check(
            r#"{"file":"a","score":-3.5,"body":"---\nSession ID: x\nWorking Directory: /p\n---\n"}"#,
            0.0,
            None,
        );
        check(r#"{"file":"a","score":7}"#, 1.0, None);
        check(
            r#"{"file":"a","score":0,"snippet":"Agent: claude\nTitle: Add forking\nSource: 1 2"}"#,
            0.0,
            Some("Add forking"),
        );
    }
}
