//! The changes that tools made to files, as diffs at the places where they were made: with the lines of the file that
//! the tool reported, else with those it was called with. What failed changed nothing and is left out.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model::Subagent;
use transcript::{Message, Part, Raw, Role};

use super::message::{PartFilter, Piece, ShownMessage, edit};

/// Shows messages, and the changes of files as diffs where these are asked for.
#[derive(Debug)]
pub(crate) struct EditDiffs {
    filter: PartFilter,
    /// The directory that paths are relative to; none where no diffs are asked for.
    root: Option<PathBuf>,
    /// Calls without an answer yet, by their ids: the tool, and what it was called with.
    calls: HashMap<String, (String, String)>,
}

impl EditDiffs {
    /// Shows what `filter` lets through; changes as diffs with paths relative to `root`, if there is one.
    pub(crate) fn new(filter: PartFilter, root: Option<PathBuf>) -> Self {
        Self { filter, root, calls: HashMap::new() }
    }

    /// What is shown of a message; none where nothing is left.
    pub(crate) fn shown(&mut self, message: &Message<'_>, agent: Option<&Subagent>) -> Option<ShownMessage> {
        let Some(root) = self.root.clone() else { return self.filter.shown(message, agent) };
        let parts = message.parts.iter().filter_map(|part| self.piece(part, &root)).collect();
        let mut shown = PartFilter::message(message, agent, parts)?;
        // A tool answered, but what is shown is what the model did.
        if shown.role == Role::Tool && shown.parts.iter().all(|piece| matches!(piece, Piece::ToolUse { .. }))
        {
            shown.role = Role::Assistant;
        }
        Some(shown)
    }

    fn piece(&mut self, part: &Part<'_>, root: &Path) -> Option<Piece> {
        match part {
            Part::ToolUse { id, name, input } => {
                let Some(called) = edit(*input, self.filter.secrets) else { return self.filter.piece(part) };
                self.calls.insert((*id).to_owned(), ((*name).to_owned(), called));
                None
            }
            Part::ToolResult { id, is_error: false, kept, .. } => match self.calls.remove(*id) {
                Some((name, called)) => {
                    let diff = reported(*kept).unwrap_or(called);
                    let input = self.filter.secrets.redacted(relative(diff, root).into());
                    Some(Piece::ToolUse { name, input, id: (*id).to_owned() })
                }
                None => self.filter.piece(part),
            },
            Part::ToolResult { id, .. } => match self.calls.remove(*id) {
                Some(_) => None,
                None => self.filter.piece(part),
            },
            _ => self.filter.piece(part),
        }
    }
}

/// The file, and what changed in it with the lines around, as the tool's own record of its result says.
fn reported(result: Raw<'_>) -> Option<String> {
    let mut diff = result.get("filePath").text()?.into_owned();
    let path = diff.len();
    for part in result.get("structuredPatch").elements() {
        let number = |name: &str| part.get(name).count().unwrap_or_default();
        let (old, new) = (number("oldStart"), number("newStart"));
        // Writing to a String cannot fail.
        let _ = write!(diff, "\n@@ -{old},{} +{new},{} @@", number("oldLines"), number("newLines"));
        for line in part.get("lines").elements() {
            diff.push('\n');
            diff.push_str(line.text().unwrap_or_default().trim_end_matches('\n'));
        }
    }
    if diff.len() == path && result.get("type").is("create") {
        let content = result.get("content").text()?;
        let _ = write!(diff, "\n@@ -0,0 +1,{} @@", content.lines().count());
        content.lines().for_each(|line| {
            diff.push_str("\n+");
            diff.push_str(line);
        });
    }
    (diff.len() > path).then_some(diff)
}

/// The diff with the path in its first line relative to a directory that it is in.
fn relative(diff: String, root: &Path) -> String {
    let path = diff.lines().next().unwrap_or_default();
    match Path::new(path).strip_prefix(root) {
        Ok(inner) if !inner.as_os_str().is_empty() => format!("{}{}", inner.display(), &diff[path.len()..]),
        _ => diff,
    }
}

#[cfg(test)]
mod tests {
    use transcript::message;
    use transcript::record::parse;

    use super::super::message::ToolDetail;
    use super::*;
    use crate::Secrets;

    /// What is shown of an edit's call and of its answer.
    fn shown(kept: &str, is_error: bool) -> Vec<Piece> {
        let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/shop/a.rs","old_string":"x","new_string":"y"}}]}}"#;
        let answer = format!(
            r#"{{"type":"user","toolUseResult":{kept},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"done","is_error":{is_error}}}]}}}}"#
        );
        let filter = PartFilter { tools: ToolDetail::Names, thinking: false, secrets: Secrets::Redacted };
        let mut diffs = EditDiffs::new(filter, Some(PathBuf::from("/shop")));
        let lines = [call, answer.as_str()];
        let messages = lines.iter().filter_map(|line| {
            let record = parse(line.as_bytes()).unwrap();
            diffs.shown(&message(&record).unwrap(), None)
        });
        messages.flat_map(|message| message.parts).collect()
    }

    #[track_caller]
    fn check(kept: &str, expected: &str) {
        let [Piece::ToolUse { name, input, .. }] = &shown(kept, false)[..] else { panic!("an edit") };
        assert_eq!((name.as_str(), input.as_str()), ("Edit", expected));
    }

    #[test]
    fn a_reported_change_is_shown_with_its_context_lines() {
        check(
            r#"{"filePath":"/shop/a.rs","structuredPatch":[{"oldStart":7,"oldLines":2,"newStart":7,"newLines":2,"lines":[" a","-x","+y"]}]}"#,
            "a.rs\n@@ -7,2 +7,2 @@\n a\n-x\n+y",
        );
        check(
            r#"{"type":"create","filePath":"/other/b.rs","content":"one\ntwo\n","structuredPatch":[]}"#,
            "/other/b.rs\n@@ -0,0 +1,2 @@\n+one\n+two",
        );
    }

    #[test]
    fn an_unreported_change_is_shown_as_requested() {
        check("null", "a.rs\n-x\n+y");
        check(r#"{"filePath":"/shop/a.rs","structuredPatch":7}"#, "a.rs\n-x\n+y");
    }

    #[test]
    fn failed_edits_are_left_out() {
        assert_eq!(shown("null", true), []);
    }
}
