//! The classes of characters that the tokenizer distinguishes.

use unicode_categories::UnicodeCategories as _;

/// The class of one byte of UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ascii {
    /// Part of a word, in lower case.
    Letter(u8),
    /// Whitespace; ends a word.
    Space,
    /// A word of its own.
    Punctuation,
    /// A control character: as if it were not there.
    Removed,
    /// Part of a character beyond ASCII.
    Beyond,
}

/// Classifies a byte.
pub(crate) fn ascii(byte: u8) -> Ascii {
    ASCII[usize::from(byte)]
}

const ASCII: [Ascii; 256] = {
    let mut table = [Ascii::Beyond; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'\t' | b'\n' | b'\r' | b' ' => Ascii::Space,
            0..b' ' | 127 => Ascii::Removed,
            _ if byte.is_ascii_punctuation() => Ascii::Punctuation,
            _ => Ascii::Letter(byte.to_ascii_lowercase()),
        };
        byte += 1;
    }
    table
};

/// The class of a non-ASCII character after decomposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Part of a word.
    Letter,
    /// Whitespace; ends a word.
    Space,
    /// A word of its own: punctuation, or a Chinese character.
    Alone,
    /// A combining accent; removed.
    Accent,
}

/// Classifies a decomposed character.
pub(crate) fn class(character: char) -> Class {
    if is_chinese(character) || character.is_ascii_punctuation() || character.is_punctuation() {
        Class::Alone
    } else if character.is_mark_nonspacing() {
        Class::Accent
    } else if character.is_whitespace() {
        Class::Space
    } else {
        Class::Letter
    }
}

/// Whether a character beyond ASCII is as if it were not there: controls, formats, private ones.
pub(crate) fn is_removed(character: char) -> bool {
    // Most text is in this range, which has none.
    let is_usual = matches!(character, '\u{b0}'..='\u{5ff}' | '\u{2070}'..='\u{d7ff}');
    !is_usual && (character == '\u{fffd}' || character.is_other())
}

/// The ranges of BERT's own code, its slip in the fifth included.
fn is_chinese(character: char) -> bool {
    matches!(
        character,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}
