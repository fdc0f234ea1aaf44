//! A private key as a list of 64 bytes, as Solana's tools write it.

use crate::{Secret, Text};

/// How many bytes a key has.
const BYTES: usize = 64;
/// The fewest different ones among them, and what the largest is at least: a table of a program has fewer or smaller ones.
const DIFFERENT: usize = 36;
const LARGE: u8 = 180;
/// The longest list, in characters: a number may have a line of its own, with an indent.
const LONGEST: usize = 64 * 32;

/// Finds the list that `at` is in, which begins behind `from`; and where the numbers end.
pub(crate) fn key(text: Text<'_>, from: usize, at: usize) -> (Option<Secret>, usize) {
    let bytes = text.bytes;
    let before = bytes[from..at].iter().rev().take(LONGEST).take_while(|byte| is_part(**byte)).count();
    let start = at - before;
    let end = at + bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
    let is_list = start > 0 && bytes[start - 1] == b'[' && bytes.get(end) == Some(&b']');
    let is_key = is_list && end - start <= LONGEST && is_key(&bytes[start..end]);
    (is_key.then(|| Secret::new("solana-key", start..end)), end)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_whitespace() || byte == b','
}

fn is_key(list: &[u8]) -> bool {
    let number = |text: &[u8]| std::str::from_utf8(text.trim_ascii()).ok()?.parse::<u8>().ok();
    let list = list.trim_ascii_end();
    let list = list.strip_suffix(b",").unwrap_or(list);
    let numbers: Option<Vec<u8>> = list.split(|byte| *byte == b',').map(number).collect();
    let Some(numbers) = numbers.filter(|numbers| numbers.len() == BYTES) else { return false };
    let mut seen = [false; 256];
    for number in &numbers {
        seen[usize::from(*number)] = true;
    }
    let is_sorted = numbers.is_sorted() || numbers.iter().rev().is_sorted();
    seen.iter().filter(|seen| **seen).count() >= DIFFERENT
        && numbers.iter().any(|number| *number >= LARGE)
        && !is_sorted
}
