//! A table of a few tokens, made from the real teacher, whose weights `scripts/test` installs.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should say where"
)]

use std::fs;
use std::path::Path;

use embedding::{TokenTable, Vocabulary};
use xtask::{Args, distil};

const VOCABULARY: &str = "[PAD] [UNK] [CLS] [SEP] the a of is was disk full storage space backup entry user session \
    token password chart colour axis label draw failed expired nightly room out signed grey";

const TEXTS: &str = "the disk is full\nthe storage is out of space\nthe nightly backup failed\na backup of the disk failed\n\
    the user session expired\nthe entry token expired\na user was signed out\nthe password of the user\n\
    draw the axis of the chart\na label of the axis is grey\nthe colour of the chart\n";

fn made(texts: bool) -> TokenTable {
    let teacher = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/tools/model");
    assert!(teacher.join("model.safetensors").exists(), "the weights are missing: run scripts/test once");
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let lines = VOCABULARY.split_whitespace().collect::<Vec<_>>().join("\n");
    let order = Args {
        teacher,
        out: folder.path().join("table.bin"),
        texts: texts.then(|| write("texts.txt", TEXTS)),
        vocabulary: Some(write("vocab.txt", &lines)),
        epochs: 5,
    };
    distil(&order).unwrap();
    let projection = fs::metadata(folder.path().join("table.bin.projection")).unwrap().len();
    assert_eq!(projection, 4 * (384 + 384 * 256));
    let bytes = fs::read(&order.out).unwrap();
    TokenTable::from_bytes(bytes, Vocabulary::from_lines(&lines).unwrap(), 1).unwrap()
}

fn check(table: &TokenTable, question: &str, alike: &str, other: &str) {
    let mut embedder = table.embedder();
    let mut vector = |text: &str| embedder.embed(text).unwrap();
    let question_vector = vector(question);
    let (alike_is, other_is) =
        (question_vector.cosine(&vector(alike)), question_vector.cosine(&vector(other)));
    assert!(alike_is > other_is, "{question}: {alike} {alike_is}, {other} {other_is}");
}

#[test]
fn token_similarities_match_the_teacher() {
    let table = made(false);
    check(&table, "storage space", "disk full", "chart label");
    check(&table, "password expired", "session token", "backup disk");
    check(&table, "draw axis", "chart colour", "disk storage");
}

#[test]
fn a_trained_table_separates_its_training_texts() {
    let table = made(true);
    check(&table, "the disk is full", "the storage is out of space", "draw the axis of the chart");
    check(&table, "a user was signed out", "the password of the user", "the colour of the chart");
    check(&table, "a label of the axis is grey", "the colour of the chart", "the user session expired");
}
