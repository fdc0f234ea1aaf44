//! A text of a record that is indexed, and the pieces it is cut into.

use std::borrow::Cow;

use redact::Secret;

use crate::kind::ChunkKind;

/// About how long a piece is, in bytes of text.
const PIECE: usize = 1600;
/// How much of a piece is repeated at the beginning of the next one, in bytes.
const OVERLAP: usize = 64;
/// The longest text of one unit that is indexed, in bytes; what is longer is data.
const UNIT_CAP: usize = 200_000;
/// The longest code of one unit that is indexed, in bytes: its beginning identifies it.
const CODE_CAP: usize = 2400;
/// How far beyond the cap a secret may extend that begins before it, in bytes.
const LONGEST_SECRET: usize = 8 << 10;

/// A text of a record with its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit<'a> {
    /// The kind of the text.
    pub(crate) kind: ChunkKind,
    /// The text to index.
    pub(crate) text: Cow<'a, str>,
    /// The file it is about.
    pub(crate) path: Option<Cow<'a, str>>,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(kind: ChunkKind, text: impl Into<Cow<'a, str>>) -> Self {
        Self { kind, text: text.into(), path: None }
    }

    pub(crate) fn about(kind: ChunkKind, path: Cow<'a, str>, text: impl Into<Cow<'a, str>>) -> Self {
        Self { kind, text: text.into(), path: Some(path) }
    }

    /// Without secrets. Before it is cut into pieces, so that none is parted by a cut and overlooked.
    pub(crate) fn redacted(self) -> Self {
        let is_name = self.is_name();
        let end = self.text.floor_char_boundary(self.cap() + LONGEST_SECRET);
        let text = match self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
            Cow::Owned(mut text) => {
                text.truncate(end);
                Cow::Owned(text)
            }
        };
        let text = if is_name {
            Cow::Owned(redact::redact_beginning(&text).into_owned())
        } else {
            redact::redacted(text)
        };
        Self { text, path: self.path.map(redact::redacted), ..self }
    }

    /// The secrets that [`Unit::redacted`] replaces.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        if self.is_name() { redact::find_beginning(&self.text) } else { redact::find(&self.text) }
    }

    /// Whether it names the session. Lists show such a text as the beginning of one, which may end in half a secret: what
    /// they hide must not be found either.
    fn is_name(&self) -> bool {
        matches!(self.kind, ChunkKind::Branch | ChunkKind::Title)
    }

    pub(crate) fn cap(&self) -> usize {
        if self.kind.is_change() { CODE_CAP } else { UNIT_CAP }
    }

    /// How much of it is indexed, in bytes.
    pub(crate) fn indexed_length(&self) -> u64 {
        self.indexed().len() as u64 + self.path.as_ref().map_or(0, |path| path.len() as u64)
    }

    /// The text in overlapping pieces, cut where a line or a word ends.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        pieces(self.indexed())
    }

    /// The part of the text that is indexed.
    fn indexed(&self) -> &str {
        &self.text[..self.text.floor_char_boundary(self.cap())]
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let end = if text.len() - start <= PIECE + OVERLAP { text.len() } else { good_end(text, start) };
        let piece = &text[start..end];
        done = end == text.len();
        start = text.ceil_char_boundary(end.saturating_sub(OVERLAP));
        Some(piece)
    })
}

/// The end of a line or word in the last fifth of a piece, else its full length.
fn good_end(text: &str, start: usize) -> usize {
    let end = text.floor_char_boundary(start + PIECE);
    let from = text.floor_char_boundary(start + PIECE * 4 / 5);
    let tail = &text[from..end];
    tail.rfind('\n').or_else(|| tail.rfind(' ')).map_or(end, |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_overlap_and_lose_nothing() {
        let text = "word and another line\n".repeat(400);
        let all: Vec<_> = pieces(&text).collect();
        assert!(all.len() > 4);
        assert!(all.iter().all(|piece| piece.len() <= PIECE + OVERLAP));
        let mut covered = 0;
        for piece in all {
            let at = piece.as_ptr() as usize - text.as_ptr() as usize;
            assert!(at <= covered);
            covered = at + piece.len();
        }
        assert_eq!(covered, text.len());
    }

    #[test]
    fn what_a_list_hides_of_a_name_is_not_indexed() {
        let token = format!("gh{}_a1B2c3D4e5", "p");
        let check = |kind: ChunkKind, is_hidden: bool| {
            let unit = Unit::new(kind, format!("rotate {token}"));
            let redacted = unit.clone().redacted().text;
            assert_eq!(!redacted.contains("a1B2"), is_hidden, "{kind:?}: {redacted}");
            assert_eq!(unit.secrets().is_empty(), !is_hidden, "{kind:?}");
        };
        check(ChunkKind::Title, true);
        check(ChunkKind::Branch, true);
        // Half a token in the middle of a conversation is none.
        check(ChunkKind::Prompt, false);
    }

    proptest::proptest! {
        #[test]
        fn pieces_of_any_text_end(text in "\\PC{0,300}", times in 1_usize..30) {
            let text = text.repeat(times);
            proptest::prop_assert_eq!(pieces(&text).last().is_some_and(|piece| !piece.is_empty()), !text.is_empty());
        }
    }
}
