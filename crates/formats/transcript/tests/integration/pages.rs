//! Pages of a transcript: together they are its main chain, and each costs its own bytes.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;
use transcript::record::{Record, RecordKind};
use transcript::{Chain, Page, Position, Reader, offset_of, page_after, page_before, position_after};

fn show(record: &Record<'_>, _: u64) -> Option<String> {
    let is_seen = matches!(record.kind(), RecordKind::User | RecordKind::Assistant) && !record.is_sidechain();
    record.uuid().filter(|_| is_seen).map(ToOwned::to_owned)
}

/// The main chain by reading the whole file.
fn whole(path: &Path) -> Vec<String> {
    let chain = Chain::read(path).unwrap();
    let mut reader = Reader::open(path).unwrap();
    let mut all = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        let Ok(record) = line.record() else { continue };
        all.extend(show(&record, 0).filter(|uuid| chain.holds(Some(uuid))));
    }
    all
}

/// All pages from the end to the beginning.
fn backwards(path: &Path, limit: usize) -> Vec<String> {
    let (mut all, mut before): (Vec<String>, Option<Position>) = (Vec::new(), None);
    loop {
        let mut page = page_before(path, before, limit, show).unwrap();
        assert!(page.items.len() <= limit);
        page.items.append(&mut all);
        all = page.items;
        let Some(older) = page.older else { return all };
        assert!(before.is_none_or(|before| older.offset < before.offset), "a page leads further back");
        // As a client sends it.
        before = Some(older.to_string().parse().unwrap());
    }
}

fn message(uuid: &str, parent: Option<&str>, size: usize) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    let text = "x".repeat(size);
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// Records whose parents are some way back: mostly the one before, sometimes an earlier one, a lost one or none.
fn tree() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec((0..12_u8, 0..60_usize, 0..40_000_usize), 1..60).prop_map(|records| {
        let record = |(at, (kind, back, size)): (usize, (u8, usize, usize))| {
            let before = at.checked_sub(1).map(|at| format!("u{at}"));
            let earlier = Some(format!("u{}", at.saturating_sub(back)));
            match kind {
                0 => message(&format!("u{at}"), earlier.as_deref().filter(|_| back > 0), size),
                1 => message(&format!("u{at}"), Some("lost"), size),
                2 => format!(
                    r#"{{"type":"system","subtype":"compact_boundary","uuid":"u{at}","parentUuid":null}}"#
                ),
                _ => message(&format!("u{at}"), before.as_deref(), size),
            }
        };
        records.into_iter().enumerate().map(record).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::long::amount(64, 10_000)))]

    #[test]
    fn pages_together_are_the_main_chain(lines in tree(), limit in 1..9_usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        prop_assert_eq!(backwards(&path, limit), whole(&path));
    }
}

/// A hundred megabytes of messages, each the child of the one before.
fn long(path: &Path, length: u64) -> usize {
    let mut out = std::io::BufWriter::new(fs::File::create(path).unwrap());
    let (mut written, mut at) = (0, 0);
    while written < length {
        let parent = (at > 0).then(|| format!("u{}", at - 1));
        let line = message(&format!("u{at}"), parent.as_deref(), 700);
        writeln!(out, "{line}").unwrap();
        written += line.len() as u64 + 1;
        at += 1;
    }
    at
}

#[test]
fn a_page_of_a_long_transcript_costs_its_own_bytes() {
    const LENGTH: u64 = 100 << 20;
    const MOST: u64 = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let all = long(&path, LENGTH);
    let name = |at: usize| format!("u{at}");
    let names = |page: &Page<String>| (page.items.first().cloned(), page.items.last().cloned());

    let last = page_before(&path, None, 50, show).unwrap();
    assert_eq!(names(&last), (Some(name(all - 50)), Some(name(all - 1))));
    let before = page_before(&path, last.older, 50, show).unwrap();
    assert_eq!(names(&before), (Some(name(all - 100)), Some(name(all - 51))));
    let middle = position_after(&path, LENGTH / 2).unwrap();
    let after = page_after(&path, middle, 50, show).unwrap();
    let first: usize = after.items[0][1..].parse().unwrap();
    assert_eq!(names(&after), (Some(name(first)), Some(name(first + 49))));
    let around = page_before(&path, Some(middle), 50, show).unwrap();
    assert_eq!(names(&around), (Some(name(first - 50)), Some(name(first - 1))));
    let next = page_after(&path, after.newer, 5, show).unwrap();
    assert_eq!(names(&next), (Some(name(first + 50)), Some(name(first + 54))));
    for page in [&last, &before, &after, &around, &next] {
        assert!(page.bytes_read < MOST, "{} bytes", page.bytes_read);
    }
    assert_eq!((last.is_last, before.is_last, after.is_last), (true, false, false));
}

#[test]
fn pages_of_a_history_that_was_written_again_have_each_record_once() {
    let timed = |at: usize| {
        let parent = at.checked_sub(1).map(|at| format!("u{at}"));
        let line = message(&format!("u{at}"), parent.as_deref(), 20_000);
        line.replacen('{', &format!(r#"{{"timestamp":"2026-11-20T10:{at:02}:00Z","#), 1)
    };
    let compaction = |id: &str, before: &str| {
        format!(
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"{id}","parentUuid":null,"logicalParentUuid":"{before}","timestamp":"2026-11-20T11:00:00Z"}}"#
        )
    };
    let mut lines: Vec<_> = (0..40).map(timed).collect();
    lines.extend((0..20).map(timed));
    lines.push(compaction("c", "u19"));
    lines.push(timed(40).replace("u39", "c"));
    lines.extend((41..50).map(timed));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let expected: Vec<_> = (0..50).map(|at| format!("u{at}")).collect();
    assert_eq!(whole(&path), expected);
    for limit in [3, 7, 100] {
        assert_eq!(backwards(&path, limit), expected, "{limit}");
    }
}

#[test]
fn what_is_written_later_is_on_the_page_after_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, message("a", None, 1) + "\n").unwrap();
    let last = page_before(&path, None, 10, show).unwrap();
    assert_eq!((last.items, last.older, last.is_last), (vec!["a".to_owned()], None, true));
    let nothing = page_after(&path, last.newer, 10, show).unwrap();
    assert_eq!((nothing.items.len(), nothing.is_last), (0, true));

    let mut file = fs::File::options().append(true).open(&path).unwrap();
    // `b` is left for `c`: both follow `a`.
    for (uuid, parent) in [("b", "a"), ("c", "a"), ("d", "c")] {
        writeln!(file, "{}", message(uuid, Some(parent), 1)).unwrap();
    }
    let later = page_after(&path, nothing.newer, 10, show).unwrap();
    assert_eq!((later.items, later.is_last), (vec!["c".to_owned(), "d".to_owned()], true));
}

#[test]
fn a_left_branch_is_paged_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let records = [
        ("p", None),
        ("a", Some("p")),
        ("b", Some("a")),
        ("c", Some("b")),
        ("m", Some("p")),
        ("n", Some("m")),
    ];
    let lines: Vec<String> = records.iter().map(|(uuid, parent)| message(uuid, *parent, 1)).collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let after = |uuid: &str| {
        let offset = offset_of(&path, uuid).unwrap().unwrap();
        page_after(&path, position_after(&path, offset).unwrap(), 10, show).unwrap().items
    };
    assert_eq!(after("a"), ["b", "c"]);
    assert_eq!(after("p"), ["m", "n"]);
    assert_eq!(after("m"), ["n"]);
}

#[test]
fn results_of_parallel_tools_are_on_the_page_after_their_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let block = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","message":{{"id":"m","content":[]}}}}"#
        )
    };
    let result = |id: &str, parent: &str| {
        format!(r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","toolUseResult":"x"}}"#)
    };
    let calls = [message("a", None, 1), block("b1", "a"), block("b2", "b1"), block("b3", "b2")];
    let results = [result("r1", "b1"), result("r2", "b2"), result("r3", "b3"), message("n", Some("r3"), 1)];
    fs::write(&path, calls.join("\n") + "\n").unwrap();
    let last = page_before(&path, None, 10, show).unwrap();
    let mut file = fs::File::options().append(true).open(&path).unwrap();
    writeln!(file, "{}", results.join("\n")).unwrap();
    assert_eq!(page_after(&path, last.newer, 10, show).unwrap().items, ["r1", "r2", "r3", "n"]);
    assert_eq!(backwards(&path, 1), whole(&path));
}

#[test]
fn a_branch_left_far_back_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut lines = vec![message("a", None, 1), message("b", Some("a"), 1)];
    for at in 0..200 {
        let parent = if at == 0 { "b".to_owned() } else { format!("x{}", at - 1) };
        lines.push(message(&format!("x{at}"), Some(&parent), 10_000));
    }
    lines.push(message("c", Some("b"), 1));
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    // What is known at once is given out at once.
    let page = page_before(&path, None, 2, show).unwrap();
    assert_eq!(page.items, ["c"]);
    assert_eq!(page_before(&path, page.older, 2, show).unwrap().items, ["a", "b"]);
    assert_eq!(backwards(&path, 1), ["a", "b", "c"]);
}

#[test]
fn a_record_is_found_by_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let lines = [message("aa", None, 1), message("bb", Some("aa"), 1)];
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert_eq!(offset_of(&path, "b").unwrap(), Some(lines[0].len() as u64 + 1));
    assert_eq!(offset_of(&path, "zz").unwrap(), None);
}

#[test]
fn an_invented_position_does_not_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, message("a", None, 1) + "\n" + &message("b", Some("a"), 1) + "\n").unwrap();
    for text in ["0", "3", "999999", "999999-ff", "5-0"] {
        let position: Position = text.parse().unwrap();
        let _ = page_before(&path, Some(position), 10, show).unwrap();
        let _ = page_after(&path, position, 10, show).unwrap();
    }
    assert!("".parse::<Position>().is_err() && "1-x".parse::<Position>().is_err());
}
