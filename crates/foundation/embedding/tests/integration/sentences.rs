//! The transformer beside sentence-transformers, whose vectors are in `tests/golden` (made by
//! `make_sentences.py` there), with the real weights, which `scripts/test` installs.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use embedding::{Error, SentenceModel, TEACHER_HASH, TokenTable, Vector, to_table};

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/tools/model");
    assert!(folder.join("model.safetensors").exists(), "the weights are missing: run scripts/test once");
    folder
}

#[test]
fn vectors_are_those_of_sentence_transformers() {
    let model = SentenceModel::open(&folder()).expect("the model");
    for line in include_str!("../golden/sentences.jsonl").lines() {
        let (text, expected): (String, Vec<f32>) = serde_json::from_str(line).expect("a golden line");
        let vector = model.embed(&text).expect("no failure").expect("a vector");
        let cosine = vector.cosine(&Vector::normalized(expected).expect("a direction"));
        assert!(cosine > 0.99999, "{text}: {cosine}");
    }
    assert_eq!(model.embed(" \u{200b}").expect("no failure"), None);
    assert_eq!(model.model().dimensions, 384);
}

#[test]
fn a_question_embedded_by_the_teacher_meets_chunks_embedded_by_the_table() {
    let model = SentenceModel::open(&folder()).expect("the model");
    assert_eq!(model.model().hash, TEACHER_HASH);
    let table = TokenTable::built_in();
    let mut embedder = table.embedder();
    let texts = [
        "Users are logged out before their session token should time out.",
        "Draw the chart's axes in grey and rotate the labels.",
        "The nightly backup ran out of disk space and deleted nothing.",
    ];
    for (at, question) in
        ["login expires too early", "plot styling", "no room left for the dump"].iter().enumerate()
    {
        let asked = model.embed(question).expect("no failure").and_then(|vector| to_table(&vector));
        let asked = asked.expect("a vector");
        let near = texts.map(|text| asked.cosine(&embedder.embed(text).expect("a vector")));
        let nearest = (0..3).max_by(|one, other| near[*one].total_cmp(&near[*other]));
        assert_eq!(nearest, Some(at), "{question}: {near:?}");
    }
    assert_eq!(to_table(&Vector::normalized(vec![1.0]).expect("a direction")), None);
}

/// A copy of the model's folder in which one file is another.
fn changed(name: &str, change: impl FnOnce(&str) -> String) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    for file in
        ["config.json", "modules.json", "tokenizer_config.json", "sentence_bert_config.json", "vocab.txt"]
    {
        fs::copy(folder().join(file), copy.path().join(file)).expect("a copy");
    }
    fs::create_dir(copy.path().join("1_Pooling")).expect("a folder");
    fs::copy(folder().join("1_Pooling/config.json"), copy.path().join("1_Pooling/config.json"))
        .expect("a copy");
    std::os::unix::fs::symlink(folder().join("model.safetensors"), copy.path().join("model.safetensors"))
        .expect("a link");
    let path = copy.path().join(name);
    let mut text = Vec::new();
    fs::File::open(&path).expect("a file").take(300_000).read_to_end(&mut text).expect("its beginning");
    fs::remove_file(&path).expect("a removed file");
    fs::write(&path, change(&String::from_utf8_lossy(&text))).expect("a file");
    copy
}

#[track_caller]
fn check_refused(name: &str, change: impl FnOnce(&str) -> String, expected: &str) {
    let copy = changed(name, change);
    let error = SentenceModel::open(copy.path()).expect_err("a model that is refused");
    let Error::Unusable { path, reason } = &error else { panic!("{error}") };
    assert!(path.ends_with(name) && reason.contains(expected), "{error}");
}

#[test]
fn what_a_model_asks_for_and_is_not_known_is_named() {
    check_refused("config.json", |text| text.replace("\"bert\"", "\"mpnet\""), "`mpnet`");
    check_refused("config.json", |_| "{".to_owned(), "EOF");
    check_refused("config.json", |text| text.replace(": 12,", ": 0,"), "sizes");
    check_refused("modules.json", |text| text.replace("models.Normalize", "models.Dense"), "`Dense`");
    check_refused(
        "1_Pooling/config.json",
        |text| text.replace("max_tokens\": false", "max_tokens\": true"),
        "pooling",
    );
    check_refused(
        "tokenizer_config.json",
        |text| text.replace("lower_case\": true", "lower_case\": false"),
        "uncased",
    );
    check_refused("vocab.txt", |text| text.replace("[CLS]", "[cls]"), "[CLS]");
    check_refused("vocab.txt", |text| format!("{text}\none more"), "more tokens");
}

#[test]
fn damaged_weights_are_refused() {
    check_refused("model.safetensors", |_| "x".repeat(50), "begin");
    check_refused("model.safetensors", |_| format!("{}{}", "\u{2}\0\0\0\0\0\0\0", "{}"), "no BERT");
    let copy = changed("config.json", |text| {
        text.replace("\"intermediate_size\": 1536", "\"intermediate_size\": 1535")
    });
    let error = SentenceModel::open(copy.path()).expect_err("other sizes");
    assert!(error.to_string().contains("1535"), "{error}");
}
