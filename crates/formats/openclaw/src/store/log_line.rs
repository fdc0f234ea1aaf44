//! One line of a transcript as it is written: its text, its place in the tree, and its migration from older versions.

use serde::Deserialize;
use serde_json::{Value, json};

use super::json_object::JsonObject;
use super::layout::Layout;
use super::lenient::field;

/// The version that is written.
pub(crate) const VERSION: i64 = 3;

/// A line that is a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Its text, without the line break.
    pub text: String,
    /// Its type, such as `message` or `compaction`.
    pub kind: String,
    /// Its id.
    pub id: Option<String>,
    /// The line that it follows.
    pub parent: Option<String>,
    /// The first earlier line that a compaction or reset keeps.
    pub first_kept: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Fields {
    #[serde(rename = "type", deserialize_with = "field")]
    kind: Option<String>,
    #[serde(deserialize_with = "field")]
    role: Option<String>,
    #[serde(deserialize_with = "field")]
    version: Option<i64>,
    #[serde(deserialize_with = "field")]
    id: Option<String>,
    #[serde(deserialize_with = "field")]
    parent_id: Option<String>,
    #[serde(deserialize_with = "field")]
    first_kept_entry_id: Option<String>,
}

/// What the first line of a transcript says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHeader {
    /// The id of the conversation.
    pub id: String,
    /// The version of the format; the first had no number.
    pub version: i64,
}

impl LogLine {
    /// Reads a line; `None` where it is no JSON object.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if !text.starts_with('{') {
            return None;
        }
        let fields: Fields = serde_json::from_str(text).ok()?;
        Some(Self {
            kind: fields.kind.or(fields.role).unwrap_or_default(),
            id: fields.id,
            parent: fields.parent_id,
            first_kept: fields.first_kept_entry_id,
            text: text.to_owned(),
        })
    }

    /// What it says as the first line of a transcript; `None` where it is no header.
    pub(crate) fn header(&self) -> Option<LogHeader> {
        let fields: Fields = serde_json::from_str(&self.text).ok()?;
        let is_header = self.kind == "session";
        is_header.then_some(LogHeader { id: fields.id?, version: fields.version.unwrap_or(1) })
    }
}

/// Brings the lines of a transcript to the present version: gives ids to lines without one, each after the one before
/// it, and new names to what had others. Returns whether anything was changed.
pub(crate) fn migrate(lines: &mut [LogLine], new_id: &mut dyn FnMut() -> String) -> serde_json::Result<bool> {
    let version = lines.first().and_then(LogLine::header).map_or(1, |header| header.version);
    let mut is_changed = false;
    let mut ids: Vec<Option<String>> = Vec::with_capacity(lines.len());
    for line in lines {
        let mut object = JsonObject::parse(line.text.clone(), Layout::of_line())?;
        if line.kind == "session" {
            if version < VERSION {
                object.set("version", &json!(VERSION))?;
            }
            ids.push(None);
        } else {
            if line.id.is_none() {
                let parent = ids.iter().rev().find_map(Clone::clone);
                let id = new_id();
                object.set("id", &json!(id))?;
                object.set("parentId", &json!(parent))?;
                (line.id, line.parent) = (Some(id), parent);
            }
            ids.push(line.id.clone());
            rename_old(&mut object, &line.kind, version, &ids)?;
        }
        if object.is_changed() {
            is_changed = true;
            let (id, parent) = (line.id.clone(), line.parent.clone());
            let text = object.into_text();
            if let Some(parsed) = LogLine::parse(&text) {
                *line = LogLine { id: parsed.id.or(id), parent: parsed.parent.or(parent), ..parsed };
            }
        }
    }
    Ok(is_changed)
}

fn rename_old(
    object: &mut JsonObject<'_>,
    kind: &str,
    version: i64,
    ids: &[Option<String>],
) -> serde_json::Result<()> {
    let index = object.get("firstKeptEntryIndex").and_then(|text| text.trim().parse::<usize>().ok());
    if kind == "compaction" && object.get("firstKeptEntryIndex").is_some() {
        if let Some(id) = index.and_then(|index| ids.get(index)?.clone()) {
            object.set("firstKeptEntryId", &json!(id))?;
        }
        object.remove("firstKeptEntryIndex");
    }
    if matches!(kind, "user" | "assistant") {
        // The shape in document 001: the message is the line itself.
        let whole: Value = serde_json::from_str(&object.clone().into_text())?;
        let mut message = whole.clone();
        if let Some(fields) = message.as_object_mut() {
            for own in ["type", "id", "parentId"] {
                fields.remove(own);
            }
            fields.insert("role".to_owned(), kind.into());
            for name in fields.keys().cloned().collect::<Vec<_>>() {
                object.remove(&name);
            }
        }
        object.set("type", &json!("message"))?;
        if let Some(at) =
            whole["timestamp"].as_i64().and_then(|at| jiff::Timestamp::from_millisecond(at).ok())
        {
            object.set("timestamp", &json!(format!("{at:.3}")))?;
        }
        object.set("message", &message)?;
    }
    if version < VERSION
        && kind == "message"
        && let Some(text) = object.get("message").map(str::to_owned)
        && let Ok(mut message) = JsonObject::parse(text, Layout::of_line())
        && message.get("role") == Some("\"hookMessage\"")
    {
        message.set("role", &json!("custom"))?;
        object.set_text("message", message.into_text());
    }
    Ok(())
}

/// The lines that the model sees: from the last one back to the root, without what a compaction or reset put away.
pub(crate) fn context(lines: &[LogLine]) -> Vec<&LogLine> {
    use std::collections::HashMap;

    let by_id: HashMap<&str, &LogLine> =
        lines.iter().filter_map(|line| Some((line.id.as_deref()?, line))).collect();
    let mut path: Vec<&LogLine> = Vec::new();
    let mut next = lines.last().filter(|line| line.kind != "session");
    // A circle of parents ends where every line was seen.
    while let Some(line) = next.filter(|_| path.len() <= lines.len()) {
        path.push(line);
        next = line.parent.as_deref().and_then(|parent| by_id.get(parent).copied());
    }
    path.reverse();
    let Some(cut) = path.iter().rposition(|line| matches!(line.kind.as_str(), "compaction" | "reset")) else {
        return path;
    };
    let kept = path[cut].first_kept.as_deref();
    let from = kept.and_then(|kept| path[..cut].iter().position(|line| line.id.as_deref() == Some(kept)));
    let mut context = Vec::with_capacity(path.len());
    if path[cut].kind == "compaction" {
        context.push(path[cut]);
    }
    context.extend(&path[from.unwrap_or(cut)..cut]);
    context.extend(&path[cut + 1..]);
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<LogLine> {
        text.lines().map(|line| LogLine::parse(line).unwrap()).collect()
    }

    fn migrated(text: &str) -> (String, bool) {
        let mut all = lines(text);
        let mut count = 0;
        let mut id = || {
            count += 1;
            format!("n{count}")
        };
        let is_changed = migrate(&mut all, &mut id).unwrap();
        (all.iter().map(|line| line.text.clone() + "\n").collect(), is_changed)
    }

    #[test]
    fn older_versions_are_brought_up_to_date() {
        let (text, is_changed) = migrated(
            "{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/p\"}\n\
             {\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n\
             {\"type\":\"message\",\"message\":{\"role\":\"hookMessage\",\"z\":1}}\n\
             {\"type\":\"compaction\",\"summary\":\"x\",\"firstKeptEntryIndex\":2}\n",
        );
        assert!(is_changed);
        assert_eq!(
            text,
            "{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/p\",\"version\":3}\n\
             {\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\"},\"id\":\"n1\",\"parentId\":null}\n\
             {\"type\":\"message\",\"message\":{\"role\":\"custom\",\"z\":1},\"id\":\"n2\",\"parentId\":\"n1\"}\n\
             {\"type\":\"compaction\",\"summary\":\"x\",\"id\":\"n3\",\"parentId\":\"n2\",\"firstKeptEntryId\":\"n2\"}\n"
        );
        assert!(!migrated(&text).1);
        let second = "{\"type\":\"session\",\"version\":2,\"id\":\"s\"}\n\
             {\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"hookMessage\"}}\n";
        let expected = second.replace("\"version\":2", "\"version\":3").replace("hookMessage", "custom");
        assert_eq!(migrated(second), (expected, true));
    }

    #[test]
    fn the_shape_of_document_001_becomes_messages() {
        let (text, _) = migrated(
            "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n\
             {\"type\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}],\"timestamp\":1234567890000}\n\
             {\"type\":\"assistant\",\"content\":[],\"timestamp\":1}\n",
        );
        let all: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(all[1]["message"]["role"], "user");
        assert_eq!(all[1]["timestamp"], "2009-02-13T23:31:30.000Z");
        assert_eq!((&all[1]["type"], &all[2]["parentId"]), (&json!("message"), &all[1]["id"]));
    }

    #[test]
    fn the_context_begins_at_the_last_compaction() {
        let check = |text: &str, expected: &str| {
            let all = lines(text);
            let ids: Vec<_> = context(&all).iter().map(|line| line.id.clone().unwrap_or_default()).collect();
            assert_eq!(ids.join(" "), expected, "{text}");
        };
        let line = |kind: &str, id: &str, parent: &str, more: &str| {
            format!("{{\"type\":\"{kind}\",\"id\":\"{id}\",\"parentId\":\"{parent}\"{more}}}\n")
        };
        let header = "{\"type\":\"session\",\"id\":\"s\"}\n";
        let (a, b) = (line("message", "a", "", ""), line("message", "b", "a", ""));
        check(header, "");
        check(&format!("{header}{a}{b}"), "a b");
        // Another branch.
        check(&format!("{header}{a}{b}{}", line("message", "c", "a", "")), "a c");
        let compaction = line("compaction", "k", "b", ",\"firstKeptEntryId\":\"b\"");
        check(&format!("{header}{a}{b}{compaction}{}", line("message", "c", "k", "")), "k b c");
        let reset = line("reset", "r", "b", "");
        check(&format!("{header}{a}{b}{reset}{}", line("message", "c", "r", "")), "c");
        check(&line("message", "a", "a", ""), "a a");
    }
}
