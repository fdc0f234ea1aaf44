//! Whatever was written, in whatever pieces and with whatever ends: a copy reads back as it was last finished.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use proptest::prelude::*;
use sealed::{Appender, CopyForm, FRAME, SealedReader, SourceStamp};

/// Bytes that compress like a transcript's.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut out = Vec::with_capacity(length + 40);
    while out.len() < length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.extend_from_slice(format!("{{\"type\":\"user\",\"n\":{}}}\n", state >> 33).as_bytes());
    }
    out.truncate(length);
    out
}

fn read(path: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    SealedReader::open(path).unwrap().read_to_end(&mut out).unwrap();
    out
}

/// What happens to a copy.
#[derive(Debug, Clone)]
enum Step {
    /// So much is appended and finished.
    Append(usize),
    /// So much is appended by a process that ends before it finishes.
    Die(usize),
    /// Another file takes its place.
    Replace(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let length = || prop_oneof![0..2000_usize, 0..FRAME + 10, Just(FRAME), Just(2 * FRAME), 0..3 * FRAME];
    let step = prop_oneof![
        4 => length().prop_map(Step::Append),
        2 => length().prop_map(Step::Die),
        1 => length().prop_map(Step::Replace),
    ];
    prop::collection::vec(step, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_copy_has_the_content_of_the_last_finish(steps in steps(), offsets in prop::collection::vec(any::<u32>(), 6)) {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("s.jsonl");
        let mut expected: Option<Vec<u8>> = None;
        for (seed, step) in (1..).zip(steps) {
            let open = || if expected.is_some() { Appender::resume(&path).unwrap() } else { Appender::create(&path) };
            match step {
                Step::Append(length) => {
                    let mut copy = open();
                    copy.write(&bytes(seed, length)).unwrap();
                    let source = SourceStamp { taken: seed, created: -5, ..SourceStamp::default() };
                    copy.finish(source, 77, false).unwrap();
                    expected.get_or_insert_default().extend(bytes(seed, length));
                    prop_assert_eq!(sealed::source_of(&path).unwrap().taken, seed);
                }
                Step::Die(length) => open().write(&bytes(seed, length)).unwrap(),
                Step::Replace(length) => {
                    sealed::remove(&path).unwrap();
                    let mut copy = Appender::create(&path);
                    copy.write(&bytes(seed, length)).unwrap();
                    copy.finish(SourceStamp::default(), 77, true).unwrap();
                    expected = Some(bytes(seed, length));
                }
            }
            let Some(expected) = &expected else {
                prop_assert!(SealedReader::open(&path).is_err());
                continue;
            };
            prop_assert!(read(&path) == *expected);
            let mut reader = SealedReader::open(&path).unwrap();
            prop_assert_eq!(reader.length(), expected.len() as u64);
            prop_assert_eq!(reader.source().stamp.size, expected.len() as u64);
            for offset in &offsets {
                let offset = *offset as usize % (expected.len() + 1);
                reader.seek(SeekFrom::Start(offset as u64)).unwrap();
                let mut part = vec![0; 3000.min(expected.len() - offset)];
                reader.read_exact(&mut part).unwrap();
                prop_assert!(part == expected[offset..offset + part.len()]);
            }
        }
    }

    #[test]
    fn a_changed_byte_is_detected(at in any::<u32>(), flip in 1..=255_u8, in_tail in any::<bool>()) {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("s");
        let mut copy = Appender::create(&path);
        let written = bytes(9, FRAME + 5000);
        copy.write(&written).unwrap();
        copy.finish(SourceStamp::default(), 0, false).unwrap();
        let file = &sealed::files_of(&path)[usize::from(in_tail)];
        let mut content = system::read_small(file, 1 << 30).unwrap();
        let at = at as usize % content.len();
        content[at] ^= flip;
        fs::write(file, content).unwrap();
        let mut out = Vec::new();
        let read = SealedReader::open(&path).and_then(|mut reader| reader.read_to_end(&mut out));
        prop_assert!(read.is_err() || out == written);
        prop_assert!(written.starts_with(&out));
    }
}

#[test]
fn a_copy_gets_another_name_and_never_replaces_one() {
    let scratch = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| scratch.path().join(name));
    for (path, seed) in [(&one, 1), (&other, 2)] {
        let mut copy = Appender::create(path);
        copy.write(&bytes(seed, FRAME + 9)).unwrap();
        copy.finish(SourceStamp::default(), 0, false).unwrap();
    }
    assert_eq!(sealed::rename(&one, &other).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    sealed::remove(&other).unwrap();
    sealed::rename(&one, &other).unwrap();
    assert_eq!(read(&other), bytes(1, FRAME + 9));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2);
    sealed::remove(&other).unwrap();
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn other_programs_can_unpack_a_copy() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("s.jsonl");
    let mut copy = Appender::create(&path);
    copy.write(&bytes(3, 2 * FRAME + 70)).unwrap();
    copy.finish(SourceStamp::default(), 0, false).unwrap();
    let unpacked: Vec<u8> = sealed::files_of(&path)
        .iter()
        .flat_map(|file| {
            let mut out = Vec::new();
            // The decoder of the reference library, which knows nothing of ours.
            zstd::stream::read::Decoder::new(fs::File::open(file).unwrap())
                .unwrap()
                .read_to_end(&mut out)
                .unwrap();
            out
        })
        .collect();
    assert!(unpacked == bytes(3, 2 * FRAME + 70));
}

#[test]
fn a_copy_of_the_first_format_is_read_and_continued() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("s.jsonl");
    let made = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/first-format.jsonl.tail.zst");
    fs::copy(made, &sealed::files_of(&path)[1]).unwrap();
    let expected = b"{\"type\":\"user\",\"n\":1}\n{\"type\":\"user\",\"n\":2}\n";
    assert_eq!(read(&path), expected);
    let source = sealed::source_of(&path).unwrap();
    assert_eq!((source.taken, source.whole, source.missing(), source.form), (44, 44, 0, CopyForm::Exact));
    let mut copy = Appender::resume(&path).unwrap();
    copy.write(b"{}\n").unwrap();
    let form = CopyForm::Redacted { secrets: 0, last: 7 };
    copy.finish(SourceStamp { taken: 47, whole: 50, form, ..source }, 1, false).unwrap();
    assert_eq!(read(&path), [expected.as_slice(), b"{}\n"].concat());
    let source = sealed::source_of(&path).unwrap();
    assert_eq!((source.missing(), source.form), (3, form));
}

#[test]
fn replacing_a_copy_is_atomic() {
    let scratch = tempfile::tempdir().unwrap();
    let (old, new) = (scratch.path().join("s.jsonl"), scratch.path().join(".s.jsonl.redacting"));
    for (before, after) in [(10, 20), (FRAME + 10, 20), (20, FRAME + 10), (FRAME + 5, 2 * FRAME + 10)] {
        for is_interrupted in [false, true] {
            for (path, seed, length) in [(&old, 1, before), (&new, 2, after)] {
                let mut copy = Appender::create(path);
                copy.write(&bytes(seed, length)).unwrap();
                copy.finish(SourceStamp::default(), 1, false).unwrap();
            }
            assert!(!sealed::is_replacing(&new), "nothing was done yet");
            if is_interrupted && after > FRAME {
                fs::rename(&sealed::files_of(&new)[0], &sealed::files_of(&old)[0]).unwrap();
                assert!(sealed::is_replacing(&new));
            }
            sealed::replace(&new, &old).unwrap();
            assert!(read(&old) == bytes(2, after) && !sealed::is_replacing(&new));
            assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1 + usize::from(after > FRAME));
            sealed::remove(&old).unwrap();
        }
    }
}
