//! A table of a few tokens, made from the real teacher, whose weights `scripts/test` installs.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should say where"
)]

use std::fs;
use std::path::Path;

use embedding::{Table, Vocabulary};
use xtask::{Order, distil};

const VOCABULARY: &str = "[PAD] [UNK] [CLS] [SEP] the a of is was disk full storage space backup entry user session \
    token password chart colour axis label draw failed expired nightly room out signed grey";

const TEXTS: &str = "the disk is full\nthe storage is out of space\nthe nightly backup failed\na backup of the disk failed\n\
    the user session expired\nthe entry token expired\na user was signed out\nthe password of the user\n\
    draw the axis of the chart\na label of the axis is grey\nthe colour of the chart\n";

fn made(texts: bool) -> Table {
    let teacher = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tools/model");
    assert!(teacher.join("model.safetensors").exists(), "the weights are missing: run scripts/test once");
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let lines = VOCABULARY.split_whitespace().collect::<Vec<_>>().join("\n");
    let order = Order {
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
    Table::of_bytes(bytes, Vocabulary::from_lines(&lines).unwrap(), 1).unwrap()
}

#[test]
fn what_is_alike_for_the_teacher_is_alike_for_the_table() {
    for trained in [false, true] {
        let table = made(trained);
        let mut embedder = table.embedder();
        let mut near =
            |one: &str, other: &str| embedder.embed(one).unwrap().cosine(&embedder.embed(other).unwrap());
        for (question, same, other) in [
            ("storage space", "disk full", "chart label"),
            ("password expired", "session token", "backup disk"),
            ("draw axis", "chart colour", "disk storage"),
        ] {
            let (same, other) = (near(question, same), near(question, other));
            assert!(same > other, "{question}: {same} {other}, trained: {trained}");
        }
    }
}
