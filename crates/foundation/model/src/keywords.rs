//! The words of a text, by which thousands of texts are compared with one.

use std::borrow::Cow;

/// Words of at most this many characters are ignored.
const SHORT: usize = 3;

/// The words of a text: runs of `[A-Za-z0-9_]` of more than three characters in lower case, each once and as a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keywords(Vec<u64>);

impl Keywords {
    /// Collects the keywords of a text.
    pub fn from_text(text: &str) -> Self {
        Self(each_once(words(text)))
    }

    /// The number of keywords.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The number of keywords that `others` contains as well.
    pub fn common(&self, others: &Self) -> usize {
        others.0.iter().filter(|word| self.0.contains(word)).count()
    }

    /// The keywords as little-endian FNV-1a hashes. Callers that store them must version their own format.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads what [`Self::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}

/// The words of a text as numbers, in its order.
fn words(text: &str) -> Vec<u64> {
    // In lower case these two letters, and no others, give one of ASCII.
    let has_either = ["\u{130}", "\u{212a}"].iter().any(|letter| text.contains(letter));
    let text = if has_either { Cow::Owned(text.to_lowercase()) } else { text.into() };
    let mut words = Vec::with_capacity(text.len() / (SHORT + 1));
    let (mut length, mut number) = (0, FNV_BASIS);
    // What ends the text ends its last word.
    for byte in text.bytes().chain([b' ']) {
        let letter = LETTERS[usize::from(byte)];
        if letter != 0 {
            number = (number ^ u64::from(letter)).wrapping_mul(FNV_PRIME);
            length += 1;
            continue;
        }
        if length > SHORT {
            words.push(number);
        }
        (length, number) = (0, FNV_BASIS);
    }
    words
}

/// The words of a text, each once, in any order.
fn each_once(mut words: Vec<u64>) -> Vec<u64> {
    /// The number of words from which sorting is faster than scanning the words before.
    const MANY: usize = 64;
    if words.len() > MANY {
        words.sort_unstable();
        words.dedup();
        return words;
    }
    // A bit for the first bits of each: where it is not set, the word was not there before.
    let (mut met, mut kept) = (0_u64, 0);
    for at in 0..words.len() {
        let (word, bit) = (words[at], 1 << (words[at] >> (u64::BITS - 6)));
        if met & bit == 0 || !words[..kept].contains(&word) {
            words[kept] = word;
            kept += 1;
        }
        met |= bit;
    }
    words.truncate(kept);
    words
}

/// Maps each byte of a word to lower case, and any other byte to 0.
const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = 0_u8;
    loop {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            letters[byte as usize] = byte.to_ascii_lowercase();
        }
        if byte == u8::MAX {
            break letters;
        }
        byte += 1;
    }
};

/// The numbers of FNV-1a.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// The FNV-1a prime; see [`FNV_BASIS`].
const FNV_PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_counts_once_however_many_there_are() {
        for (many, kinds) in [(0, 1), (1, 1), (64, 5), (64, 64), (65, 40), (300, 7), (300, 290)] {
            // Some hashes differ in their last bits only.
            let word = |at: u64| (at % kinds) << (if at.is_multiple_of(2) { 58 } else { 0 });
            let words: Vec<u64> = (0..many).map(word).collect();
            let kinds = words.iter().collect::<std::collections::BTreeSet<_>>().len();
            assert_eq!(each_once(words).len(), kinds, "{many}");
        }
    }

    #[test]
    fn two_letters_become_ascii_in_lower_case() {
        let becomes = |letter: &char| letter.to_lowercase().any(|lower| lower.is_ascii());
        let found: Vec<char> = ('\u{80}'..=char::MAX).filter(becomes).collect();
        assert_eq!(found, ['\u{130}', '\u{212a}']);
    }

    #[test]
    fn keywords_are_read_back_from_bytes() {
        let words = Keywords::from_text("Refresh the token, refresh ALL tokens");
        assert_eq!(words.count(), 3);
        assert_eq!(Keywords::from_bytes(&words.to_bytes()), words);
        assert_eq!(Keywords::from_bytes(b""), Keywords::default());
        // The numbers of FNV-1a, known elsewhere: <https://www.isthe.com/chongo/tech/comp/fnv/>.
        assert_eq!(Keywords::from_text("foobar").to_bytes(), 0x8594_4171_f739_67e8_u64.to_le_bytes());
    }
}
