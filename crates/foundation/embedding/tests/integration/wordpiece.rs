//! The tokenizer beside Hugging Face's `tokenizers`, whose answers are in `tests/golden` (made by
//! `make_wordpiece.py` there).

use embedding::{Tokenizer, Vocabulary};

const TEXTS: &str = include_str!("../golden/wordpiece.jsonl");
const CHARACTERS: &str = include_str!("../golden/wordpiece-characters.txt");

#[test]
fn every_text_gives_the_tokens_it_gives_there() {
    let vocabulary = Vocabulary::built_in();
    let mut tokenizer = Tokenizer::new(&vocabulary);
    let mut wrong = Vec::new();
    for line in TEXTS.lines() {
        let (text, expected): (String, Vec<u32>) = serde_json::from_str(line).expect("a golden line");
        let mut tokens = Vec::new();
        tokenizer.cut(&text, &mut tokens);
        if tokens != expected {
            wrong.push(format!("{text:?}: {tokens:?}, there {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TEXTS.lines().count(), wrong.join("\n"));
    assert!(TEXTS.lines().count() > 3000);
}

#[test]
fn every_character_of_unicode_is_what_it_is_there() {
    let vocabulary = Vocabulary::built_in();
    let mut tokenizer = Tokenizer::new(&vocabulary);
    let mut wrong = Vec::new();
    for line in CHARACTERS.lines() {
        let (block, expected) = line.split_once(' ').expect("a golden line");
        let first = u32::from_str_radix(block, 16).expect("a number");
        let mut tokens = Vec::new();
        for character in (first..first + 256).filter_map(char::from_u32) {
            tokenizer.cut(&format!("a{character}b"), &mut tokens);
            tokens.push(u32::MAX);
        }
        let hash = tokens.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, token| {
            (hash ^ u64::from(*token)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        if format!("{hash:016x}") != expected {
            wrong.push(block);
        }
    }
    assert!(wrong.is_empty(), "other tokens in the blocks of 256 from {}", wrong.join(", "));
}
