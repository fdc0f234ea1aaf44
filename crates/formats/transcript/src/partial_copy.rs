//! Copies a session's history up to one record into a session of its own, for forks at a message.
//!
//! `claude --resume-session-at` does this only without a terminal; on one it silently continues from the end. The
//! copy looks like one made by the terminal's `/branch`: ids unchanged, and every record names its origin.

use std::io::{self, Write};
use std::path::Path;

use model::SessionId;

use crate::chain::{hash, leading_to, nodes, tip};
use crate::reader::Reader;
use crate::record::{SkipReason, link};
use crate::scan::Fields;

/// A copy of a session up to one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialCopy {
    /// The session to copy.
    pub from: SessionId,
    /// The last record that is copied, by its id; the last one there is without it.
    pub at: Option<String>,
    /// The copy's own id.
    pub to: SessionId,
}

impl PartialCopy {
    /// Writes the records of `transcript` that lead to the last copied one; returns false, and writes nothing, where
    /// it has no such record.
    pub fn write(&self, transcript: &Path, out: &mut impl Write) -> io::Result<bool> {
        let nodes = nodes(transcript)?;
        let at = |at: &String| nodes.iter().position(|node| node.id == hash(at));
        let Some(last) = self.at.as_ref().map_or_else(|| tip(&nodes), at) else { return Ok(false) };
        let kept = leading_to(&nodes, Some(last));
        let mut reader = Reader::open(transcript)?;
        while let Some(line) = reader.next_line()? {
            if matches!(line.record(), Err(SkipReason::Copy)) {
                continue;
            }
            let Some((uuid, _)) = link(line.bytes).filter(|(uuid, _)| kept.contains(&hash(uuid))) else {
                continue;
            };
            if let Some(text) = line.text {
                self.write_record(text, uuid, out)?;
            }
        }
        Ok(true)
    }

    /// Writes a record unchanged except for its session and its origin.
    fn write_record(&self, record: &str, uuid: &str, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"{")?;
        for (key, value) in Fields::new(record) {
            match key {
                "\"forkedFrom\"" => {}
                "\"sessionId\"" | "\"session_id\"" => write!(out, "{key}:\"{}\",", self.to)?,
                _ => write!(out, "{key}:{value},")?,
            }
        }
        writeln!(out, r#""forkedFrom":{{"sessionId":"{}","messageUuid":"{uuid}"}}}}"#, self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One word for each record: `kind uuid parent`, with `.` for none.
    const HISTORY: &str = "\
        user a .
        attachment b a
        assistant:m1 c b
        assistant:m1 d c
        result e c
        result f d
        mode . .
        assistant:m2 g f
        user h g
        assistant:m3 i h
        user j g
        assistant:m4 k j";

    fn lines(history: &str) -> String {
        let record = |line: &str| {
            let words: Vec<_> = line.split_whitespace().collect();
            let (kind, message) = words[0].split_once(':').unwrap_or((words[0], ""));
            let kind = if kind == "result" { "user" } else { kind };
            let content =
                if words[0] == "result" { r#"[{"type":"tool_result","tool_use_id":"t"}]"# } else { "[]" };
            let parent = if words[2] == "." { "null".to_owned() } else { format!("\"{}\"", words[2]) };
            if words[1] == "." {
                return format!("{{\"type\":\"{kind}\",\"sessionId\":\"old\"}}\n");
            }
            format!(
                "{{\"parentUuid\":{parent},\"type\":\"{kind}\",\"uuid\":\"{}\",\"sessionId\":\"old\",\
                 \"message\":{{\"id\":\"{message}\",\"content\":{content}}},\"half\":\"\\ud83d\"}}\n",
                words[1]
            )
        };
        history.lines().map(record).collect()
    }

    /// The cut at a record, or at the end where it is named by no word.
    fn cut(at: &str) -> Option<String> {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("old.jsonl");
        std::fs::write(&file, lines(HISTORY) + "torn {").unwrap();
        let cut = PartialCopy {
            from: "old".parse().unwrap(),
            at: (!at.is_empty()).then(|| at.to_owned()),
            to: "new".parse().unwrap(),
        };
        let mut out = Vec::new();
        cut.write(&file, &mut out).unwrap().then(|| String::from_utf8(out).unwrap())
    }

    fn check(at: &str, expected: Option<&str>) {
        let found = cut(at).map(|text| {
            text.lines().map(|line| link(line.as_bytes()).unwrap().0.to_owned()).collect::<String>()
        });
        assert_eq!(found.as_deref(), expected, "{at}");
    }

    #[test]
    fn the_records_leading_to_the_cut_are_kept() {
        check("a", Some("a"));
        check("c", Some("abce"));
        check("d", Some("abcdef"));
        check("g", Some("abcdefg"));
        check("i", Some("abcdefghi"));
        check("k", Some("abcdefgjk"));
        check("z", None);
        check("", Some("abcdefgjk"));
    }

    #[test]
    fn every_copied_record_names_its_origin_and_is_otherwise_unchanged() {
        assert_eq!(
            cut("a").unwrap(),
            "{\"parentUuid\":null,\"type\":\"user\",\"uuid\":\"a\",\"sessionId\":\"new\",\
             \"message\":{\"id\":\"\",\"content\":[]},\"half\":\"\\ud83d\",\
             \"forkedFrom\":{\"sessionId\":\"old\",\"messageUuid\":\"a\"}}\n"
        );
    }
}
