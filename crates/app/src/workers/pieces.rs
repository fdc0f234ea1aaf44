//! A text that is redacted while it is written: it leaves word by word, and no secret leaves by its parts.

use crate::Secrets;

/// How much of the text before a piece is looked at again with it, in bytes; then half of it is let go.
const WINDOW: usize = 8 << 10;
/// From here on scripts are written without spaces between words.
const CJK: char = '\u{2e80}';

/// The pieces of a text, as they come.
#[derive(Debug)]
pub(crate) struct Pieces {
    secrets: Secrets,
    /// What has come and is looked at still; it begins where a line did, or a word.
    text: String,
    /// What was told of that.
    told: String,
}

impl Pieces {
    /// None yet.
    pub(crate) fn new(secrets: Secrets) -> Self {
        Self { secrets, text: String::new(), told: String::new() }
    }

    /// Takes in a piece; gives back what can be told now: whole words.
    pub(crate) fn add(&mut self, piece: &str) -> String {
        let before = self.text.len();
        self.text += piece;
        let last = piece.char_indices().rev().find(|(_, c)| c.is_whitespace() || *c >= CJK);
        let Some((at, c)) = last else { return String::new() };
        let end = before + at + c.len_utf8();
        let told = self.secrets.redacted_beginning(self.text[..end].to_owned());
        let more = self.go_on(told);
        self.let_go(end);
        more
    }

    /// The text is whole; gives back what was not told of it.
    pub(crate) fn finish(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        let told = self.secrets.redacted(text.into());
        let more = self.go_on(told);
        self.told.clear();
        more
    }

    /// What `told` says beyond what was told before. A secret that is known by what follows it only gives way from
    /// there on.
    fn go_on(&mut self, told: String) -> String {
        let same = self.told.bytes().zip(told.bytes()).take_while(|(one, other)| one == other).count();
        let same = (0..=same).rev().find(|at| told.is_char_boundary(*at)).unwrap_or(0);
        let more = told[same..].to_owned();
        self.told = told;
        more
    }

    /// Lets go of the first half of what was told, where it has grown long.
    fn let_go(&mut self, end: usize) {
        if end < WINDOW {
            return;
        }
        let half = (WINDOW / 2..=end).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        let words = &self.text[half..end];
        let start =
            words.find('\n').or_else(|| words.find(char::is_whitespace)).map_or(end, |at| half + at + 1);
        let start = (start..=end).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        self.text.drain(..start);
        self.told = self.secrets.redacted_beginning(self.text[..end - start].to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told after each piece, and at the end.
    fn told(pieces: &[&str]) -> Vec<String> {
        let mut all = Pieces::new(Secrets::Redacted);
        let mut told: Vec<String> = pieces.iter().map(|piece| all.add(piece)).collect();
        told.push(all.finish());
        told
    }

    #[test]
    fn words_are_told_when_they_are_whole() {
        let check = |pieces: &[&str], expected: &[&str]| assert_eq!(told(pieces), expected);
        check(&["One two", " three", " fo", "ur."], &["One ", "two ", "three ", "", "four."]);
        check(&["a\nb"], &["a\n", "b"]);
        check(&["潮汐表", "画好了"], &["潮汐表", "画好了", ""]);
        check(&["é", "è ", "x"], &["", "éè ", "", "x"]);
        check(&[], &[""]);
    }

    #[test]
    fn no_secret_is_told_by_its_parts() {
        let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let text = format!("the key is {key} and the rest");
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let all = told(&pieces).concat();
        assert!(all.starts_with("the key is [redacted:") && all.ends_with("] and the rest"), "{all}");
        assert!(!all.contains(&key[..12]), "{all}");
        let shown = Pieces::new(Secrets::Shown).add("password=hunter2X9 ");
        assert_eq!(shown, "password=hunter2X9 ");
    }

    #[test]
    fn a_long_text_is_told_once_and_not_held() {
        let mut all = Pieces::new(Secrets::Redacted);
        let mut said = String::new();
        let words: Vec<String> =
            (0..4000).map(|n| format!("word{n}{}", if n % 9 == 0 { "\n" } else { " " })).collect();
        for word in &words {
            said += &all.add(word);
            assert!(all.text.len() <= WINDOW + 20);
        }
        said += &all.finish();
        assert!(said == words.concat());
    }
}
