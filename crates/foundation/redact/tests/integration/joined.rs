//! Tokens that something is joined to: a word, a mark, a colour.

use crate::made_up::Random;

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn random_text(random: &mut Random, length: usize) -> String {
    (0..length).map(|_| char::from(LETTERS[random.below(LETTERS.len())])).collect()
}

/// No ten characters of the secret are shown.
#[track_caller]
fn check(text: &str, secret: &str) {
    let shown = redact::redact(text);
    for part in secret.as_bytes().windows(10) {
        assert!(!shown.contains(std::str::from_utf8(part).unwrap()), "{text}\n{shown}");
    }
}

#[test]
fn a_web_token_is_found_behind_a_word_and_a_mark() {
    let mut random = Random::new(20);
    for before in ["", "fix-", "key_", "v1-", "__", "a-b-", "feature/token-"] {
        let signature = random_text(&mut random, 43);
        let token = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwi.{signature}");
        check(&format!("see {before}{token} ok"), &signature);
    }
}

#[test]
fn an_encrypted_web_token_without_a_key_is_found() {
    let mut random = Random::new(21);
    let parts = [16, 60, 22].map(|length| random_text(&mut random, length));
    let text = format!("take eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..{}", parts.join("."));
    for part in &parts {
        check(&text, part);
    }
    let words = "eyJ is how it begins.. and it goes on. So it does.";
    assert_eq!(redact::redact(words), words);
}

#[test]
fn what_grep_colours_is_found() {
    let mut random = Random::new(22);
    let body = random_text(&mut random, 36);
    let (on, off) = ("\u{1b}[01;31m\u{1b}[K", "\u{1b}[m\u{1b}[K");
    check(&format!("a.env:{on}ghp_{body}{off}"), &body);
    check(&format!("DB_PASSWORD={on}xT9#kQ2vLm!4zRw8{off}"), "xT9#kQ2vLm!4zRw8");
}

#[test]
fn a_key_id_ends_where_small_letters_begin() {
    check("AKIANLT3KDPQE43Q45AZokapi", "AKIANLT3KDPQE43Q45AZ");
}
