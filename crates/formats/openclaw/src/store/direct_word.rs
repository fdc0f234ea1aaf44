//! Whether the text of an entry uses OpenClaw's older word for direct chats.

use memchr::memmem;

const FIELD: &[u8] = b"\"chatType\"";
/// The field, the colon, spaces and the word are not longer than this.
const LONGEST: usize = 64;

/// Looks for a `chatType` that is `dm` in a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct OlderWord {
    /// The end of what was seen, which may go on in the next piece, and that piece.
    buffer: Vec<u8>,
}

impl OlderWord {
    /// Whether it ends in this piece, or is within.
    pub(super) fn is_in(&mut self, piece: &[u8]) -> bool {
        self.buffer.extend_from_slice(piece);
        let is_found =
            memmem::find_iter(&self.buffer, FIELD).any(|at| is_older(&self.buffer[at + FIELD.len()..]));
        self.buffer.drain(..self.buffer.len().saturating_sub(LONGEST));
        is_found
    }
}

/// Whether this follows the name of the field.
fn is_older(rest: &[u8]) -> bool {
    let value = rest.iter().position(|byte| !matches!(byte, b':' | b' ')).unwrap_or(rest.len());
    rest[value..].starts_with(b"\"dm\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_found_wherever_a_piece_ends() {
        for length in 1..40 {
            let is_found = |word: &str| {
                let text = format!("{{\"a\": [1], \"chatType\" : \"{word}\", \"subject\": \"chatType\"}}");
                let mut search = OlderWord::default();
                text.as_bytes().chunks(length).any(|piece| search.is_in(piece))
            };
            assert!(is_found("dm") && !is_found("direct"), "{length}");
        }
    }
}
