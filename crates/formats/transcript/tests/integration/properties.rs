//! Properties that hold for any file: however it grows it has the same records, and a summary taken up again equals
//! one of the whole.

use std::fs;
use std::io::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use transcript::record::parse;
use transcript::{FileChange, Line, PartialCopy, Reader, Summary, Tail, UsageCollector};

use crate::fuzz;

/// Lines as Claude Code writes them, with fields that lack, repeat or have another type; and junk.
fn a_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => a_record().prop_map(|record| record.to_string().into_bytes()),
        1 => vec(any::<u8>().prop_filter("a line has no end inside", |byte| *byte != b'\n'), 0..40),
        1 => Just(br#"{"type":"assistant","message":{"content":[{"type":"te"#.to_vec()),
    ]
}

fn a_record() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "user",
        "assistant",
        "system",
        "attachment",
        "summary",
        "custom-title",
        "ai-title",
        "queue-operation",
        "last-prompt",
        "permission-mode",
        "cost-state",
        "relocated",
        "worktree-state",
        "tag",
        "progress",
        "of-tomorrow",
    ]);
    (kind, vec(a_field(), 0..9)).prop_map(|(kind, fields)| {
        let mut record: Map<String, Value> =
            fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        record.insert("type".to_owned(), json!(kind));
        record.into()
    })
}

fn a_field() -> impl Strategy<Value = (&'static str, Value)> {
    let text = "[a-z<>/\"é漢 ]{0,12}";
    prop_oneof![
        "[a-e]".prop_map(|id| ("uuid", json!(id))),
        prop::sample::select(vec!["s", "t", "u"]).prop_map(|id| ("sessionId", json!(id))),
        prop::sample::select(vec!["s", "t"]).prop_map(|id| ("forkedFrom", json!({"sessionId": id}))),
        (0..50_i64).prop_map(|day| ("timestamp", json!(format!("2026-01-{:02}T10:00:00Z", day)))),
        "/[a-c]".prop_map(|cwd| ("cwd", json!(cwd))),
        any::<bool>().prop_map(|flag| ("isSidechain", json!(flag))),
        Just(("subtype", json!("compact_boundary"))),
        Just(("compactMetadata", json!({"postTokens": 900}))),
        text.prop_map(|said| ("content", json!(said))),
        text.prop_map(|said| ("customTitle", json!(said))),
        text.prop_map(|said| ("aiTitle", json!(said))),
        text.prop_map(|said| ("summary", json!(said))),
        (text, "[m-o]", 0..9_u64).prop_map(|(said, id, tokens)| (
            "message",
            json!({
                "id": id, "model": "claude-x", "usage": {"input_tokens": tokens, "output_tokens": 1},
                "content": [{"type": "text", "text": said}],
            })
        )),
        text.prop_map(|said| ("message", json!({"role": "user", "content": said}))),
        Just(("message", json!([7]))),
        text.prop_map(|said| ("attachment", json!({"type": "queued_command", "prompt": said}))),
        text.prop_map(|said| ("fieldOfTomorrow", json!({"deep": [said]}))),
    ]
}

fn observe(summary: &mut Summary, spent: &mut UsageCollector, lines: &[Vec<u8>]) {
    for line in lines {
        summary.observe(Line::of(line), spent);
    }
}

proptest! {
    #[test]
    fn a_summary_continued_at_any_line_equals_a_full_one(lines in vec(a_line(), 0..30), at in any::<Index>()) {
        let id = "s".parse().unwrap();
        let (mut whole, mut all_spent) = (Summary::new(&id), UsageCollector::default());
        observe(&mut whole, &mut all_spent, &lines);

        let (before, after) = lines.split_at(at.index(lines.len() + 1));
        let (mut summary, mut spent) = (Summary::new(&id), UsageCollector::default());
        observe(&mut summary, &mut spent, before);
        let stored = serde_json::to_string(&summary).unwrap();
        let (mut summary, mut spent) = (serde_json::from_str(&stored).unwrap(), UsageCollector::resume(spent.into_messages()));
        observe(&mut summary, &mut spent, after);
        prop_assert_eq!((summary, spent), (whole, all_spent));
    }

    #[test]
    fn a_file_that_grows_in_any_pieces_gives_each_line_once(lines in vec(a_line(), 0..12), sizes in vec(1_usize..200, 1..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let bytes = [lines.join(&b'\n'), b"\n".to_vec()].concat();
        let (mut rest, mut mark, mut found) = (&bytes[..], None, Vec::new());
        for size in sizes.into_iter().chain([usize::MAX]) {
            let (piece, later) = rest.split_at(size.min(rest.len()));
            fs::OpenOptions::new().create(true).append(true).open(&path).unwrap().write_all(piece).unwrap();
            rest = later;
            let mut tail = Tail::open(&path, mark.as_ref()).unwrap();
            prop_assert_ne!(tail.change(), FileChange::Replaced);
            while let Some(line) = tail.next_line().unwrap() {
                found.push((line.offset, line.number, line.bytes.to_vec()));
            }
            mark = Some(tail.mark().unwrap());
        }
        let mut expected = Vec::new();
        let mut reader = Reader::new(&bytes[..]);
        while let Some(line) = reader.next_line().unwrap() {
            expected.push((line.offset, line.number, line.bytes.to_vec()));
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn unknown_fields_survive_a_copy(key in "x[a-z]{0,8}", text in "\\PC{0,30}", number in any::<i64>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.jsonl");
        let later = json!({"deep": [text, number, null, {"of": text}]});
        let record = json!({"type": "user", "uuid": "u", "sessionId": "old", "message": {"content": text, key.clone(): later}, key.clone(): later});
        fs::write(&path, format!("{record}\n")).unwrap();
        let mut copy = Vec::new();
        let cut = PartialCopy { from: "old".parse().unwrap(), at: Some("u".to_owned()), to: "new".parse().unwrap() };
        prop_assert!(cut.write(&path, &mut copy).unwrap());
        let copied: Value = serde_json::from_slice(&copy).unwrap();
        prop_assert_eq!(&copied["message"], &record["message"]);
        prop_assert_eq!(&copied[&key], &later);
    }

    #[test]
    fn a_record_of_any_type_is_a_record(kind in "\\PC{0,12}", text in "\\PC{0,12}") {
        let line = json!({"type": kind, "cwd": "/a", "later": text}).to_string();
        let expected = if kind.starts_with("api-request") { None } else { Some("/a".into()) };
        prop_assert_eq!(parse(line.as_bytes()).ok().and_then(|record| record.cwd()), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::long::amount(256, 10_000)))]

    #[test]
    fn the_fuzz_targets_hold(lines in vec(a_line(), 0..8), junk in vec(any::<u8>(), 0..60), piece in 1_usize..300) {
        for line in &lines {
            fuzz::line(line);
        }
        fuzz::line(&junk);
        fuzz::file(&[lines.join(&b'\n'), junk].concat(), piece);
    }
}
