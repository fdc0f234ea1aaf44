//! Files of vectors: what is added is found, exactly, whatever became of the writer.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;

use embedding::{Error, Neighbor, RowAction, Vector, VectorKey, VectorModel, VectorWriter, Vectors};
use proptest::prelude::{Strategy, any};

const MODEL: VectorModel = VectorModel { hash: 7, dimensions: 20 };

fn key(number: u64) -> VectorKey {
    VectorKey { file: u32::try_from(number / 10).expect("a small number"), place: number }
}

/// Some vector, always the same for a number.
fn vector(number: u64) -> Vector {
    let mixed = |at: u64| (number * 131 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Vector::normalized((0..20).map(|at| mixed(at) as f32 - 8_388_608.0).collect()).expect("a direction")
}

fn written(path: &Path, numbers: std::ops::Range<u64>) -> u64 {
    let mut writer = VectorWriter::create(path, MODEL).expect("a new file");
    add(&mut writer, numbers);
    writer.sync().expect("a durable file")
}

fn add(writer: &mut VectorWriter, numbers: std::ops::Range<u64>) {
    for number in numbers {
        assert!(writer.add(key(number), &vector(number).quantize()).expect("an added row"));
    }
}

/// The nearest by looking at each, without the file.
fn by_hand(question: &Vector, numbers: impl Iterator<Item = u64>, limit: usize) -> Vec<Neighbor> {
    let question = question.quantize();
    let near = |number| Neighbor { key: key(number), cosine: question.cosine(&vector(number).quantize()) };
    let mut all: Vec<Neighbor> = numbers.map(near).collect();
    all.sort_by(|one, other| other.cosine.total_cmp(&one.cosine).then(one.key.cmp(&other.key)));
    all.truncate(limit);
    all
}

#[test]
fn the_nearest_are_found_exactly_by_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let rows = written(&path, 0..30_000);
    let vectors = Vectors::open(&path, MODEL, rows).expect("an opened file");
    for (question, threads) in [(0, 1), (17, 2), (40_000, 5), (29_999, 0)] {
        let question = vector(question);
        let found = vectors.search(&question, 25, threads, |_| RowAction::Rank).expect("an answer");
        assert_eq!(found.nearest, by_hand(&question, 0..30_000, 25));
        assert_eq!(found.reported, []);
    }
    assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_skipped_is_not_found_and_what_is_to_be_reported_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let rows = written(&path, 0..500);
    let vectors = Vectors::open(&path, MODEL, rows).expect("an opened file");
    let question = vector(123);
    let look = |key: VectorKey| match (key.file, key.place) {
        (_, 7 | 301) => RowAction::Report,
        (0..20, _) => RowAction::Rank,
        _ => RowAction::Skip,
    };
    let found = vectors.search(&question, 10, 2, look).expect("an answer");
    assert_eq!(found.nearest, by_hand(&question, (0..200).filter(|number| *number != 7), 10));
    assert_eq!(found.reported.iter().map(|near| near.key).collect::<Vec<_>>(), [key(7), key(301)]);
    let none = vectors.search(&question, 0, 2, |_| RowAction::Rank).expect("an answer");
    assert_eq!(none.nearest, []);
}

#[test]
fn a_question_of_another_length_finds_nothing_and_such_a_vector_is_not_added() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let rows = written(&path, 0..5);
    let short = Vector::normalized(vec![1.0]).expect("a direction");
    let vectors = Vectors::open(&path, MODEL, rows).expect("an opened file");
    assert_eq!(vectors.search(&short, 5, 1, |_| RowAction::Report).expect("an answer").reported, []);
    let mut writer = VectorWriter::open(&path, MODEL, rows).expect("an opened file");
    assert!(!writer.add(key(6), &short.quantize()).expect("no failure"));
    assert_eq!(writer.sync().expect("a durable file"), 5);
}

#[test]
fn another_model_is_never_mixed_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let rows = written(&path, 0..5);
    for other in [VectorModel { hash: 8, ..MODEL }, VectorModel { dimensions: 19, ..MODEL }] {
        assert!(matches!(Vectors::open(&path, other, rows), Err(Error::OtherModel { .. })));
        assert!(matches!(VectorWriter::open(&path, other, rows), Err(Error::OtherModel { .. })));
        let mut writer = VectorWriter::create(&folder.path().join("other"), other).expect("a new file");
        let ours = Vectors::open(&path, MODEL, rows).expect("an opened file");
        assert!(matches!(writer.add_all(&ours, |_| true), Err(Error::OtherModel { .. })));
    }
}

#[test]
fn a_file_that_lost_rows_is_damaged_and_one_that_is_gone_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let rows = written(&path, 0..50);
    for length in [0, 10, 24, 1000] {
        OpenOptions::new().write(true).open(&path).expect("a file").set_len(length).expect("a shorter file");
        assert!(matches!(Vectors::open(&path, MODEL, rows), Err(Error::Damaged { .. })), "{length}");
        assert!(matches!(VectorWriter::open(&path, MODEL, rows), Err(Error::Damaged { .. })), "{length}");
    }
    std::fs::remove_file(&path).expect("a removed file");
    assert!(matches!(Vectors::open(&path, MODEL, rows), Err(Error::Io { .. })));
    assert!(matches!(Vectors::open(&path, MODEL, u64::MAX), Err(Error::Io { .. })));
}

#[test]
fn a_row_with_broken_numbers_is_near_to_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    let rows = written(&path, 0..5);
    let file = OpenOptions::new().write(true).open(&path).expect("a file");
    file.write_all_at(&f32::NAN.to_le_bytes(), 24 + 36 + 4).expect("a broken row");
    let vectors = Vectors::open(&path, MODEL, rows).expect("an opened file");
    let found = vectors.search(&vector(1), 5, 1, |_| RowAction::Rank).expect("an answer");
    assert_eq!(found.nearest, by_hand(&vector(1), [0, 2, 3, 4].into_iter(), 5));
}

#[test]
fn a_new_file_takes_over_what_is_still_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, smaller) = (folder.path().join("vectors"), folder.path().join("smaller"));
    let vectors = Vectors::open(&path, MODEL, written(&path, 0..9000)).expect("an opened file");
    let mut writer = VectorWriter::create(&smaller, MODEL).expect("a new file");
    writer.add_all(&vectors, |key| key.place % 3 == 0).expect("copied rows");
    add(&mut writer, 9000..9001);
    let rows = writer.sync().expect("a durable file");
    assert_eq!(rows, 3001);
    let vectors = Vectors::open(&smaller, MODEL, rows).expect("an opened file");
    let found = vectors.search(&vector(1), 30, 2, |_| RowAction::Rank).expect("an answer");
    assert_eq!(found.nearest, by_hand(&vector(1), (0..=9000).filter(|number| number % 3 == 0), 30));
}

proptest::proptest! {
    // Each case waits for the disk.
    #![proptest_config(proptest::test_runner::Config::with_cases(testkit::long::amount(24, 1_000)))]

    /// Writers that are killed with rows half written leave what was committed, and nothing else.
    #[test]
    fn what_was_committed_is_there(
        passes in proptest::collection::vec((0u64..40, any::<bool>(), 0usize..90), 1..8)
            .prop_filter("some row", |passes| passes.iter().any(|pass| pass.0 > 0))
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("vectors");
        let (mut committed, mut rows, mut next) = (Vec::new(), written(&path, 0..0), 0);
        for (count, is_killed, torn) in passes {
            let mut writer = VectorWriter::open(&path, MODEL, rows).expect("an opened file");
            add(&mut writer, next..next + count);
            let reached = writer.sync().expect("a durable file");
            if is_killed {
                let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
                file.write_all(&vec![0xab; torn]).expect("torn bytes");
            } else {
                rows = reached;
                committed.extend(next..next + count);
            }
            next += count;
            let vectors = Vectors::open(&path, MODEL, rows).expect("an opened file");
            let found = vectors.search(&vector(5), 1000, 2, |_| RowAction::Rank).expect("an answer");
            assert_eq!(found.nearest, by_hand(&vector(5), committed.iter().copied(), 1000));
        }
    }
}
