//! Detects whether an entry uses OpenClaw's older spelling of the chat type for direct chats.

use memchr::memmem;

const FIELD: &[u8] = b"\"chatType\"";
/// The field, the colon, spaces and the word are not longer than this.
const LONGEST: usize = 64;

/// Looks for a `chatType` of `dm` in a text that is read in chunks.
#[derive(Debug, Default)]
pub(super) struct DmMarkerFinder {
    /// The end of what was seen, which may go on in the next piece, and that piece.
    buffer: Vec<u8>,
}

impl DmMarkerFinder {
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
    fn the_value_is_found_across_chunk_boundaries() {
        for length in 1..40 {
            let is_found = |word: &str| {
                let text = format!("{{\"a\": [1], \"chatType\" : \"{word}\", \"subject\": \"chatType\"}}");
                let mut search = DmMarkerFinder::default();
                text.as_bytes().chunks(length).any(|piece| search.is_in(piece))
            };
            assert!(is_found("dm") && !is_found("direct"), "{length}");
        }
    }
}
