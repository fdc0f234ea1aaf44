//! Secrets in sentences: "the password for staging is …", "use password …", "log in as admin / …", "the credentials are
//! admin:…", also in other languages.
//!
//! Words stand where a secret may, so what is taken for one must look like no word, name or number.

use crate::rules::PASSWORD_NAMES;
use crate::value::{
    is_code, is_number, is_password, is_path_or_url, is_placeholder, is_random, is_technical,
};
use crate::{Secret, Text};

/// The number of bytes of a sentence that are looked at.
const REACH: usize = 160;
/// The most words between a name and the word that ties it to its value.
const BETWEEN: usize = 6;
/// The longest password in a sentence.
const LONGEST: usize = 128;
/// The fewest characters of one that nothing ties to its name.
const LEAST: usize = 8;

/// Words that tie a value to what is before them.
const IS: &[&str] = &[
    "is", "are", "was", "be", "to", ":", "=", "->", "=>", "→", "–", "—", "lautet", "lauten", "ist", "sind",
    "war", "es", "son", "era", "est", "sont", "è", "sono", "é", "são", "jest", "är", "er", "это", "是", "为",
    "は",
];
/// Words that say what a password is for.
const OF: &[&str] = &[
    "for", "of", "to", "on", "in", "at", "from", "für", "fuer", "von", "vom", "der", "des", "zum", "zur",
    "am", "im", "de", "del", "para", "en", "da", "do", "pour", "du", "di", "per", "voor", "van", "dla", "na",
    "för", "til", "для", "от", "к",
];
/// Words before a password that is given without more.
const ARTICLES: &[&str] = &["the", "this", "a", "new", "das", "dem", "la", "le", "il", "o"];
const WITH: &[&str] = &[
    "use", "using", "with", "and", "mit", "con", "usa", "com", "avec", "met", "z", "use:", "enter", "try",
    "type",
];

/// Finds the password behind its name, whose keyword is at `start..end`.
pub(crate) fn password(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let name =
        start - bytes[..start].iter().rev().take(24).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = end + bytes[end..].iter().take(24).take_while(|byte| is_letter(**byte)).count();
    let word = bytes[name..end].to_ascii_lowercase();
    // `pass` alone is mostly a verb.
    let is_name = word != b"pass" && PASSWORD_NAMES.iter().any(|known| word == known.as_bytes());
    is_name.then(|| behind(text, name, end))?
}

/// Finds the password behind a word of another language, which begins at `start` and whose known part ends at `end`.
pub(crate) fn foreign_password(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let end = end + text.bytes[end..].iter().take(8).take_while(|byte| is_letter(**byte)).count();
    let before = text.bytes[..start].iter().rev().take(24).take_while(|byte| is_letter(**byte)).count();
    behind(text, start - before, end)
}

fn behind(text: Text<'_>, name: usize, end: usize) -> Option<Secret> {
    let mut words = Words::new(text.bytes, end);
    let (at, first) = words.next()?;
    if is_one_of(first, IS) {
        let found = words.clone().next().and_then(|word| value(text, word, 6));
        if found.is_some() {
            return found;
        }
    }
    if is_one_of(first, OF) {
        return tied(text, words);
    }
    let before = &text.bytes[..name];
    let word = last_word(before);
    let word = if is_one_of(word, ARTICLES) {
        last_word(&before.trim_ascii_end()[..before.trim_ascii_end().len() - word.len()])
    } else {
        word
    };
    is_one_of(word, WITH).then(|| value(text, (at, first), LEAST))?
}

/// Finds the value behind the next word that ties it.
fn tied(text: Text<'_>, mut words: Words<'_>) -> Option<Secret> {
    for _ in 0..BETWEEN {
        let (_, word) = words.next()?;
        if is_one_of(word, IS) || word.ends_with(b":") {
            return value(text, words.next()?, 6);
        }
    }
    None
}

/// Finds the password of a pair behind "credentials", "creds" or "Zugangsdaten", whose known part ends at `end`.
pub(crate) fn credentials(text: Text<'_>, end: usize) -> Option<Secret> {
    let end = end + text.bytes[end..].iter().take(8).take_while(|byte| is_letter(**byte)).count();
    // `credential-helper` is a name.
    if matches!(text.bytes.get(end), Some(b'-' | b'_' | b'.' | b'/')) {
        return None;
    }
    let mut words = Words::new(text.bytes, end);
    for _ in 0..BETWEEN {
        let (_, word) = words.next()?;
        if is_one_of(word, IS) || word.ends_with(b":") {
            return pair(text, words);
        }
    }
    None
}

/// Finds the password in "log in as admin / …", behind the `login` that ends at `end`.
pub(crate) fn login(text: Text<'_>, end: usize) -> Option<Secret> {
    let mut words = Words::new(text.bytes, end);
    for _ in 0..BETWEEN {
        let (_, word) = words.next()?;
        let announces = [&b"as"[..], b"with", b"using", b":", b"is", b"als", b"mit", b"user", b"credentials"];
        if announces.contains(&word) {
            let found = pair(text, words.clone());
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// `name:password`, `name/password`, `name / password`, `name with password`.
fn pair(text: Text<'_>, mut words: Words<'_>) -> Option<Secret> {
    let (at, first) = words.next()?;
    if let Some(sign) = first.iter().position(|byte| matches!(byte, b':' | b'/' | b'|'))
        && sign + 1 < first.len()
    {
        return is_user(&first[..sign]).then(|| value(text, (at + sign + 1, &first[sign + 1..]), 6))?;
    }
    let joint = [&b"/"[..], b":", b"|", b"and", b"with", b"und", b"mit"];
    let is_joined = first.ends_with(b":") || joint.contains(&words.next()?.1);
    let user = first.strip_suffix(b":").unwrap_or(first);
    (is_joined && is_user(user)).then(|| value(text, words.next()?, 6))?
}

fn is_user(name: &[u8]) -> bool {
    let has_dot = name.contains(&b'.') && !name.contains(&b'@');
    !name.is_empty()
        && !has_dot
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@'))
        && !matches!(name, b"http" | b"https" | b"ftp" | b"ssh")
}

/// A word that is taken for a password.
fn value(text: Text<'_>, (at, word): (usize, &[u8]), least: usize) -> Option<Secret> {
    let value = trimmed(word);
    let goes_on = text.bytes.get(at + value.len()).is_some_and(|byte| matches!(byte, b'(' | b'[' | b'{'));
    (is_strong(value) && value.len() >= least && !goes_on)
        .then(|| Secret::new("password", at..at + value.len()))
}

/// Whether only a password is written so.
pub(crate) fn is_strong(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    (6..=LONGEST).contains(&value.len())
        && letters >= 2
        && is_password(value)
        && !is_placeholder(value)
        && !is_path_or_url(value)
        && !is_code(value)
        && !is_number(value)
        && (is_random(value) || !is_technical(value))
        && !value.contains(&b'/')
        && !is_quantity(value)
}

/// Whether the value is digits with a word behind, or a word with few digits behind: `12chars`, `SHA-256`, `v2`, `step3`.
fn is_quantity(value: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.');
    let is_digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'%');
    let digits = value.iter().take_while(|byte| is_digit(byte)).count();
    let letters = value.iter().take_while(|byte| is_letter(byte)).count();
    let (word, behind) = value.split_at(letters);
    let has_few_digits = behind.len() <= 1 || word.ends_with(b"-") || word.ends_with(b".");
    let is_word = word.iter().filter(|byte| byte.is_ascii_uppercase()).count() <= 2
        || word.iter().all(|byte| !byte.is_ascii_lowercase());
    (digits > 0 && value[digits..].iter().all(is_letter) && value.len() - digits <= 8)
        || (letters > 0 && letters < value.len() && behind.iter().all(is_digit) && has_few_digits && is_word)
}

fn trimmed(word: &[u8]) -> &[u8] {
    let mut word = word;
    while let [
        shorter @ ..,
        b'.' | b',' | b';' | b':' | b')' | b']' | b'}' | b'!' | b'?' | b'"' | b'\'' | b'`' | b'*',
    ] = word
    {
        word = shorter;
    }
    word
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    let word = word.strip_suffix(b":").filter(|word| !word.is_empty()).unwrap_or(word);
    words.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// The word at the end of a text.
fn last_word(before: &[u8]) -> &[u8] {
    let text = &before[before.len().saturating_sub(24)..];
    let text = text.trim_ascii_end();
    let word = text.iter().rev().take_while(|byte| is_letter(**byte)).count();
    &text[text.len() - word..]
}

/// The words of the sentence that goes on at a place, without quotes before them, and where each begins.
#[derive(Clone)]
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Words<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Self {
        let rest = &bytes[at..bytes.len().min(at + REACH)];
        let ends = |pair: &[u8]| matches!(pair, b"\\n") || pair[0] == b'\n' || pair == b". " || pair == b"? ";
        let length = rest.windows(2).position(ends).unwrap_or(rest.len());
        Self { bytes, at, end: at + length }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let is_gap =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'(');
        let rest = &self.bytes[self.at..self.end];
        let start = self.at + rest.iter().take_while(|byte| is_gap(byte)).count();
        let rest = &self.bytes[start..self.end];
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`' | b'<' | b'\\');
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        // A sign of its own is a word.
        let length = if rest.starts_with(b":") || rest.starts_with(b"=") { 1.min(length) } else { length };
        self.at = (start + length.max(1)).min(self.end);
        (length > 0).then(|| (start, &self.bytes[start..start + length]))
    }
}
