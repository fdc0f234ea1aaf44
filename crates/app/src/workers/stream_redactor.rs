//! Redacts a text while it is streamed: only complete words are released, so that no secret is released in parts.

use crate::Secrets;

/// How much of the text before a piece is examined again with it, in bytes; when it is exceeded, half of it is
/// forgotten.
const WINDOW: usize = 8 << 10;
/// From here on scripts are written without spaces between words.
const CJK: char = '\u{2e80}';

/// Redacts a text that arrives in pieces.
#[derive(Debug)]
pub(crate) struct StreamRedactor {
    secrets: Secrets,
    /// The end of what has arrived, which is still examined; it begins with a line or a word.
    text: String,
    /// The part of it that was released, redacted.
    released: String,
}

impl StreamRedactor {
    /// Creates a redactor that has seen no text.
    pub(crate) fn new(secrets: Secrets) -> Self {
        Self { secrets, text: String::new(), released: String::new() }
    }

    /// Adds a piece; returns what can be released now: whole words.
    pub(crate) fn add(&mut self, piece: &str) -> String {
        let before = self.text.len();
        self.text += piece;
        let last = piece.char_indices().rev().find(|(_, c)| c.is_whitespace() || *c >= CJK);
        let Some((at, c)) = last else { return String::new() };
        let end = before + at + c.len_utf8();
        let redacted = self.secrets.redacted_beginning(self.text[..end].to_owned());
        let more = self.release(redacted);
        self.forget(end);
        more
    }

    /// Ends the text; returns the rest of it.
    pub(crate) fn finish(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        let redacted = self.secrets.redacted(text.into());
        let more = self.release(redacted);
        self.released.clear();
        more
    }

    /// What `redacted` has beyond what was released before. A secret that only its continuation reveals is hidden from
    /// there on.
    fn release(&mut self, redacted: String) -> String {
        let same =
            self.released.bytes().zip(redacted.bytes()).take_while(|(one, other)| one == other).count();
        let same = (0..=same).rev().find(|at| redacted.is_char_boundary(*at)).unwrap_or(0);
        let more = redacted[same..].to_owned();
        self.released = redacted;
        more
    }

    /// Forgets the first half of what was released, where it has grown long.
    fn forget(&mut self, end: usize) {
        if end < WINDOW {
            return;
        }
        let half = (WINDOW / 2..=end).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        let words = &self.text[half..end];
        let start =
            words.find('\n').or_else(|| words.find(char::is_whitespace)).map_or(end, |at| half + at + 1);
        let start = (start..=end).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        self.text.drain(..start);
        self.released = self.secrets.redacted_beginning(self.text[..end - start].to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is released after each piece, and at the end.
    fn released(pieces: &[&str]) -> Vec<String> {
        let mut all = StreamRedactor::new(Secrets::Redacted);
        let mut released: Vec<String> = pieces.iter().map(|piece| all.add(piece)).collect();
        released.push(all.finish());
        released
    }

    #[test]
    fn complete_words_are_released() {
        let check = |pieces: &[&str], expected: &[&str]| assert_eq!(released(pieces), expected);
        check(&["One two", " three", " fo", "ur."], &["One ", "two ", "three ", "", "four."]);
        check(&["a\nb"], &["a\n", "b"]);
        check(&["潮汐表", "画好了"], &["潮汐表", "画好了", ""]);
        check(&["é", "è ", "x"], &["", "éè ", "", "x"]);
        check(&[], &[""]);
    }

    #[test]
    fn a_secret_split_over_pieces_is_redacted() {
        let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let text = format!("the key is {key} and the rest");
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let all = released(&pieces).concat();
        assert!(all.starts_with("the key is [redacted:") && all.ends_with("] and the rest"), "{all}");
        assert!(!all.contains(&key[..12]), "{all}");
        let shown = StreamRedactor::new(Secrets::Shown).add("password=hunter2X9 ");
        assert_eq!(shown, "password=hunter2X9 ");
    }

    #[test]
    fn a_long_text_is_released_once_in_bounded_memory() {
        let mut all = StreamRedactor::new(Secrets::Redacted);
        let mut released = String::new();
        let words: Vec<String> =
            (0..4000).map(|n| format!("word{n}{}", if n % 9 == 0 { "\n" } else { " " })).collect();
        for word in &words {
            released += &all.add(word);
            assert!(all.text.len() <= WINDOW + 20);
        }
        released += &all.finish();
        assert!(released == words.concat());
    }
}
