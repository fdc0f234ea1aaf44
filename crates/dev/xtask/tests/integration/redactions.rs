//! Redactions in the sessions of this repository.

use std::path::PathBuf;

use xtask::redactions::{Args, redactions};

fn at(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path)
}

#[test]
fn text_without_secrets_is_unchanged() {
    let paths = ["crates/app/demo", "crates/engines/monitor/tests/data/transcripts"].map(at).to_vec();
    let found = redactions(&Args { paths, list: true }).unwrap();
    assert!(found.files > 10 && found.bytes > 10_000, "{found}");
    assert!(found.per_megabyte() <= 1.0, "{found}");
}

#[test]
fn secrets_are_counted_and_listed_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let key = format!("ghp{}{}", '_', "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8");
    let line = format!(r#"{{"type":"user","message":{{"content":"use {key} here"}}}}"#);
    std::fs::write(folder.path().join("one.jsonl"), format!("torn{{\n{line}\n")).unwrap();
    let order = |list| Args { paths: vec![folder.path().to_owned()], list };
    let counted = redactions(&order(false)).unwrap().to_string();
    let bytes = "use  here".len() + key.len();
    let per_megabyte = 1e6 / bytes as f64;
    let expected = format!(
        "1 redactions in 0.0 MB of indexed text of 1 transcripts: {per_megabyte:.3} per MB\n     1  github-token\n"
    );
    assert_eq!(counted, expected);
    let listed = redactions(&order(true)).unwrap().to_string();
    assert!(listed.contains(&format!("one.jsonl:2\t\"use «{key}» here\"")), "{listed}");
    assert!(redactions(&Args { paths: vec![folder.path().join("gone.jsonl")], list: false }).is_err());
}
