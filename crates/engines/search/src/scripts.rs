//! The scripts of a text, and how each is cut into words: letters at the borders of words, Chinese, Japanese and Korean into
//! pairs of characters, emoji one by one.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// How a script is cut into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// At the borders of words and of the parts of identifiers.
    Letters,
    /// Into pairs of characters.
    Cjk,
    /// Into single characters.
    Emoji,
}

impl Script {
    pub(crate) fn of(c: char) -> Self {
        if is_cjk(c) || is_jamo(c) {
            Self::Cjk
        } else if is_emoji(c) {
            Self::Emoji
        } else {
            Self::Letters
        }
    }

    /// The ranges of the words of a piece in this script.
    pub(crate) fn words(self, piece: &str) -> Vec<(usize, usize)> {
        if self == Self::Cjk {
            return pairs(piece).collect();
        }
        // A selector of its form is no part of an emoji.
        let emoji = piece.char_indices().filter(|(_, c)| is_emoji(*c));
        emoji.map(|(at, c)| (at, at + c.len_utf8())).collect()
    }
}

/// Cuts a run where its script changes. A mark belongs to the character before it.
pub(crate) fn scripts(run: &str) -> impl Iterator<Item = (usize, &str, Script)> {
    let mut rest = run;
    std::iter::from_fn(move || {
        let script = Script::of(rest.chars().next()?);
        let is_other = |c: char| !is_combining_mark(c) && Script::of(c) != script;
        let end = rest.find(is_other).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        let start = run.len() - rest.len();
        rest = after;
        Some((start, piece, script))
    })
}

/// A piece of text whose characters are composed: macOS writes a syllable of names of files in parts.
pub(crate) struct Composed<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Where characters begin in the composed text and in the original one; empty where both are the same.
    places: Vec<(usize, usize)>,
}

impl<'a> Composed<'a> {
    pub(crate) fn of(piece: &'a str) -> Self {
        if is_nfc(piece) {
            return Self { text: Cow::Borrowed(piece), places: Vec::new() };
        }
        let (mut text, mut places, mut start) = (String::new(), Vec::new(), 0);
        while start < piece.len() {
            let goes_on = |c: char| is_combining_mark(c) || matches!(c, '\u{1160}'..='\u{11ff}');
            let mut after = piece[start..].char_indices().skip(1);
            let end = after.find(|(_, c)| !goes_on(*c)).map_or(piece.len(), |(at, _)| start + at);
            places.push((text.len(), start));
            text.extend(piece[start..end].nfc());
            start = end;
        }
        places.push((text.len(), piece.len()));
        Self { text: Cow::Owned(text), places }
    }

    /// The range in the original text of a range of whole characters.
    pub(crate) fn original(&self, from: usize, to: usize) -> (usize, usize) {
        if self.places.is_empty() {
            return (from, to);
        }
        let begins = self.places.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let ends = self.places.partition_point(|(at, _)| *at < to).min(self.places.len() - 1);
        (self.places[begins].1, self.places[ends].1)
    }
}

/// A part of a Korean syllable that is written in parts.
fn is_jamo(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}')
}

/// Whether a character is a picture that stands for itself.
pub(crate) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{231a}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// The ranges of overlapping pairs of characters; a single character is a pair of its own.
fn pairs(piece: &str) -> impl Iterator<Item = (usize, usize)> {
    let one = piece.chars().nth(1).is_none();
    let ends = piece.char_indices().map(|(at, c)| at + c.len_utf8()).skip(usize::from(!one));
    piece.char_indices().map(|(at, _)| at).zip(ends)
}
