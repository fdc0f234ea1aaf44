//! The built-in table: the bytes it is made of, and the vectors it gives.

use embedding::TokenTable;
use sha2::{Digest, Sha256};

fn check_sha256(bytes: &[u8], expected: &str) {
    let byte = |at: usize| u8::from_str_radix(&expected[at..at + 2], 16).expect("a hexadecimal number");
    assert_eq!(Sha256::digest(bytes).to_vec(), (0..64).step_by(2).map(byte).collect::<Vec<_>>());
}

#[test]
fn the_files_are_those_whose_origin_is_written_down() {
    check_sha256(
        include_bytes!("../../table/static-256-i4.bin"),
        "8c2fd004103ed1261d39154dd0909873030e2b77914f10f2782281e3d0fd3816",
    );
    check_sha256(
        include_bytes!("../../table/query-projection-384to256.bin"),
        "8d38eaa7f486f4eb5b41070c63b4cf777bc6152e6283be153f30ab1f0c9f0084",
    );
    check_sha256(
        include_bytes!("../../table/vocab.txt"),
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    );
}

#[test]
fn vectors_are_those_reckoned_from_its_description() {
    let table = TokenTable::built_in();
    let mut embedder = table.embedder();
    for line in include_str!("../golden/table.jsonl").lines() {
        let (text, expected): (String, Vec<f32>) = serde_json::from_str(line).expect("a golden line");
        let vector = embedder.embed(&text).expect("a vector");
        for (number, expected) in vector.numbers().iter().zip(&expected) {
            assert!((number - expected).abs() < 2e-6, "{text}: {number}, not {expected}");
        }
        assert_eq!(vector.numbers().len(), expected.len());
    }
}

#[test]
fn near_in_meaning_is_near_in_numbers() {
    let table = TokenTable::built_in();
    let mut embedder = table.embedder();
    let mut embed = |text: &str| embedder.embed(text).expect("a vector");
    let asked = embed("the login expires too early");
    let near = embed("Users are logged out before their session token should time out.");
    let far = embed("Draw the chart's axes in grey and rotate the labels.");
    assert!(asked.cosine(&near) > asked.cosine(&far) + 0.1);
}

#[test]
fn where_nothing_is_said_there_is_no_vector() {
    let table = TokenTable::built_in();
    for text in ["", "  \n", "\u{0}\u{200b}"] {
        assert_eq!(table.embedder().embed(text), None, "{text:?}");
    }
}

#[test]
fn a_short_text_is_kept_as_a_short_vector() {
    let table = TokenTable::built_in();
    let mut embedder = table.embedder();
    for (text, expected) in [("token", 0.25), ("token error file", 0.5)] {
        let whole = embedder.embed(text).expect("a vector").quantize();
        let kept = embedder.embed_for_index(text).expect("a vector");
        assert!((kept.cosine(&whole) - expected).abs() < 0.01, "{text}: {}", kept.cosine(&whole));
    }
    assert_eq!(embedder.embed_for_index(" "), None);
}
