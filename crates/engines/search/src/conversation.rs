//! Selects the texts of an OpenClaw transcript entry that are indexed.

use std::borrow::Cow;

use openclaw::{EntryPart, TranscriptEntry};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::kind::ChunkKind;
use crate::unit::Unit;

/// Answers that only tell OpenClaw to say nothing.
const SILENCE: [&str; 2] = ["NO_REPLY", "HEARTBEAT_OK"];

/// The identity and time of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryKey {
    /// A hash of its id and time, which copies keep; ids alone are too short to be unique. 0 where it has none.
    pub(crate) record: u64,
    /// In seconds since 1970; 0 where it has none.
    pub(crate) time: u64,
}

/// An entry's own id.
pub(crate) fn entry_key(entry: &TranscriptEntry) -> EntryKey {
    let millisecond = entry.at.map_or(0, |at| at.as_millisecond().cast_unsigned());
    let record = entry.id.as_ref().map_or(0, |id| xxh3_64_with_seed(id.as_bytes(), millisecond));
    EntryKey { record, time: millisecond / 1000 }
}

/// The indexed texts of an entry, without secrets.
pub(crate) fn units(entry: TranscriptEntry) -> Vec<Unit<'static>> {
    original_units(entry).into_iter().map(Unit::redacted).collect()
}

/// The indexed texts of an entry, secrets included.
pub(crate) fn original_units(entry: TranscriptEntry) -> Vec<Unit<'static>> {
    let mut units: Vec<Unit<'static>> = entry.said.into_iter().filter_map(unit).collect();
    units.retain(|unit| unit.path.as_ref().map_or(!unit.text.trim().is_empty(), |path| !path.is_empty()));
    units
}

fn unit(said: EntryPart) -> Option<Unit<'static>> {
    Some(match said {
        EntryPart::Person(text) => Unit::new(ChunkKind::Prompt, text),
        EntryPart::Model(text) if SILENCE.contains(&text.trim()) => return None,
        EntryPart::Model(text) => Unit::new(ChunkKind::Answer, text),
        EntryPart::Thought(text) => Unit::new(ChunkKind::Thinking, text),
        EntryPart::Command(text) => Unit::new(ChunkKind::Command, text),
        EntryPart::Failure(text) => Unit::new(ChunkKind::Error, text),
        EntryPart::Summary(text) => Unit::new(ChunkKind::Summary, text),
        EntryPart::Title(text) => Unit::new(ChunkKind::Title, text),
        EntryPart::Tool { name, arguments } => tool(&name, &arguments)?,
    })
}

/// The indexed text of a call of one of OpenClaw's tools.
fn tool(name: &str, arguments: &Value) -> Option<Unit<'static>> {
    let text = |keys: &[&str]| {
        keys.iter().find_map(|key| arguments[key].as_str()).map(|text| Cow::Owned(text.to_owned()))
    };
    let path = || text(&["path", "file_path"]);
    Some(match name {
        "exec" | "bash" => Unit::new(ChunkKind::Command, text(&["command"])?),
        "edit" => Unit::about(ChunkKind::Edit, path()?, text(&["newText", "new_string"]).unwrap_or_default()),
        "write" => Unit::about(ChunkKind::Write, path()?, text(&["content"]).unwrap_or_default()),
        "read" => Unit::about(ChunkKind::Read, path()?, ""),
        "web_search" | "web_fetch" => Unit::new(ChunkKind::Web, text(&["query", "url"])?),
        "sessions_spawn" => Unit::new(ChunkKind::AgentPrompt, text(&["task"])?),
        "message" | "sessions_send" => Unit::new(ChunkKind::Answer, text(&["message"])?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[(ChunkKind, &str)]) {
        let units = units(TranscriptEntry::parse(line.as_bytes()).unwrap());
        let found: Vec<_> = units
            .iter()
            .map(|unit| (unit.kind, unit.path.as_deref().unwrap_or(unit.text.as_ref())))
            .collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn what_of_an_entry_is_indexed() {
        let assistant = |content: &str| {
            format!(r#"{{"type":"message","id":"a","message":{{"role":"assistant","content":{content}}}}}"#)
        };
        let call = |name: &str, arguments: &str| {
            assistant(&format!(r#"[{{"type":"toolCall","name":"{name}","arguments":{arguments}}}]"#))
        };
        check(&assistant(r#"[{"type":"text","text":"done"}]"#), &[(ChunkKind::Answer, "done")]);
        check(&assistant(r#"[{"type":"text","text":"NO_REPLY"}]"#), &[]);
        check(&call("exec", r#"{"command":"ls"}"#), &[(ChunkKind::Command, "ls")]);
        check(&call("read", r#"{"path":"/a.rs"}"#), &[(ChunkKind::Read, "/a.rs")]);
        check(&call("write", r#"{"path":"/a.rs","content":"x"}"#), &[(ChunkKind::Write, "/a.rs")]);
        check(&call("edit", "7"), &[]);
        check(&call("gateway", "{}"), &[]);
    }

    #[test]
    fn a_copy_is_known_by_its_id_and_time() {
        let known = |line: &str| entry_key(&TranscriptEntry::parse(line.as_bytes()).unwrap());
        let one = known(r#"{"type":"message","id":"a1","timestamp":"2026-01-15T12:00:01.000Z"}"#);
        assert_eq!(one, known(r#"{"timestamp":"2026-01-15T12:00:01.000Z","id":"a1"}"#));
        assert_ne!(one.record, known(r#"{"id":"a1","timestamp":"2026-01-15T12:00:01.001Z"}"#).record);
        assert_eq!(one.time, 1_768_478_401);
        assert_eq!(known(r#"{"type":"message"}"#), EntryKey { record: 0, time: 0 });
    }
}
