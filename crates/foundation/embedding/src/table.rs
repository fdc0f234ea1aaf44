//! The table in the binary: a row for each token. The vector of a text is the sum of its tokens' rows, at
//! length one.

use std::borrow::Cow;

use pulp::NullaryFnOnce;

use crate::vector::{QuantizedVector, Vector};
use crate::vocabulary::Vocabulary;
use crate::wordpiece::Tokenizer;

/// Numbers in a row.
pub const DIMENSIONS: usize = 256;
/// Two numbers in a byte.
const ROW_BYTES: usize = DIMENSIONS / 2;
/// A row's scale below this share of the mean is faint.
const FAINT: f32 = 0.2;
/// The number of tokens at which a text counts half as near to a question as its direction says.
const FEW: f32 = 3.0;

/// A row of 4-bit numbers for each token, and what a row's numbers are multiplied by.
#[derive(Debug, Clone)]
pub struct TokenTable {
    bytes: Cow<'static, [u8]>,
    vocabulary: Vocabulary,
    hash: u64,
    /// A row with a smaller scale cannot turn a sum: that of "the" or of the full stop. A third of all tokens
    /// are such.
    faint: f32,
}

impl TokenTable {
    /// The table in the binary.
    pub fn built_in() -> Self {
        let bytes = Cow::Borrowed(include_bytes!("../table/static-256-i4.bin").as_slice());
        Self::new(bytes, Vocabulary::built_in(), BUILT_IN_HASH)
    }

    /// A table of another making: 128 bytes for each token, then two for each; `None` when the length is
    /// not that. Its `hash` is the caller's.
    pub fn from_bytes(bytes: Vec<u8>, vocabulary: Vocabulary, hash: u64) -> Option<Self> {
        let is_whole = bytes.len() == vocabulary.len() * (ROW_BYTES + 2);
        is_whole.then(|| Self::new(Cow::Owned(bytes), vocabulary, hash))
    }

    fn new(bytes: Cow<'static, [u8]>, vocabulary: Vocabulary, hash: u64) -> Self {
        let (scales, _) = bytes[ROW_BYTES * vocabulary.len()..].as_chunks();
        let mean = scales.iter().map(|scale| half(*scale)).sum::<f32>() / scales.len().max(1) as f32;
        Self { faint: FAINT * mean, bytes, vocabulary, hash }
    }

    /// The hash of table and tokenizer; vectors with another hash are not comparable.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Creates an embedder for this table.
    pub fn embedder(&self) -> Embedder<'_> {
        Embedder {
            table: self,
            tokenizer: Tokenizer::new(&self.vocabulary),
            tokens: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn row(&self, token: u32) -> Option<Row<'_>> {
        let token = token as usize;
        let row = self.bytes.get(ROW_BYTES * token..ROW_BYTES * (token + 1))?;
        let scale = self.bytes.get(ROW_BYTES * self.vocabulary.len() + 2 * token..)?.first_chunk()?;
        Some(Row { numbers: row.as_chunks().0.first_chunk()?, scale: half(*scale) })
    }
}

/// The row of a token.
#[derive(Debug, Clone, Copy)]
struct Row<'t> {
    numbers: &'t [[u8; BLOCK]; ROW_BYTES / BLOCK],
    scale: f32,
}

/// Made by the build script from the table, the vocabulary and the tokenizer's version.
const BUILT_IN_HASH: u64 = match u64::from_str_radix(env!("EMBEDDING_TABLE_HASH"), 10) {
    Ok(hash) => hash,
    Err(_) => panic!("the build script prints a number"),
};

/// Embeds text after text; each thread has its own.
#[derive(Debug)]
pub struct Embedder<'t> {
    table: &'t TokenTable,
    tokenizer: Tokenizer<'t>,
    tokens: Vec<u32>,
    rows: Vec<Row<'t>>,
}

impl Embedder<'_> {
    /// The vector of a text; `None` when nothing in it is a word or a sign.
    pub fn embed(&mut self, text: &str) -> Option<Vector> {
        self.tokens.clear();
        self.tokenizer.cut(text, &mut self.tokens);
        self.rows.clear();
        self.rows.extend(self.tokens.iter().filter_map(|token| self.table.row(*token)));
        let faint = self.table.faint;
        if self.rows.iter().any(|row| row.scale >= faint) {
            self.rows.retain(|row| row.scale >= faint);
        }
        pulp::Arch::new().dispatch(Sum(&self.rows))
    }

    /// Whether the table knows this word as a whole. Others are read piece by piece, which is as good as chance for a word
    /// that was made up.
    pub fn knows_word(&mut self, word: &str) -> bool {
        self.tokens.clear();
        self.tokenizer.cut(word, &mut self.tokens);
        matches!(self.tokens.as_slice(), [token] if *token != self.table.vocabulary.unknown())
    }

    /// Embeds a text for the index, with a shorter vector for a shorter text: a few words point in the direction of a
    /// question by chance more easily than a passage does.
    pub fn embed_for_index(&mut self, text: &str) -> Option<QuantizedVector> {
        let vector = self.embed(text)?;
        let tokens = self.rows.len() as f32;
        Some(vector.quantize().shortened(tokens / (tokens + FEW)))
    }
}

/// The sum of rows, compiled for the current processor's features. A struct, because a closure's caller may not be
/// inlined and would then be compiled for the baseline processor.
struct Sum<'r, 't>(&'r [Row<'t>]);

impl NullaryFnOnce for Sum<'_, '_> {
    type Output = Option<Vector>;

    #[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
    #[inline(always)]
    fn call(self) -> Option<Vector> {
        sum(self.0)
    }
}

/// The number of bytes of the rows added at a time, so that the sums fit into registers.
const BLOCK: usize = 32;

/// Adds the rows. The low halves of their bytes are the even numbers, the high halves the odd ones.
#[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
#[inline(always)]
fn sum(rows: &[Row<'_>]) -> Option<Vector> {
    let scales: f32 = rows.iter().map(|row| row.scale).sum();
    let mut numbers = Vec::with_capacity(DIMENSIONS);
    for block in 0..ROW_BYTES / BLOCK {
        let (mut even, mut odd) = ([0f32; BLOCK], [0f32; BLOCK]);
        for Row { numbers, scale } in rows {
            for at in 0..BLOCK {
                let byte = i32::from(numbers[block][at]);
                even[at] += (byte & 15) as f32 * scale;
                odd[at] += (byte >> 4) as f32 * scale;
            }
        }
        // Each 4-bit number is stored plus eight.
        numbers
            .extend(even.iter().zip(&odd).flat_map(|(even, odd)| [even - 8.0 * scales, odd - 8.0 * scales]));
    }
    Vector::normalized(numbers)
}

/// A number of 16 bits; neither infinity nor what is no number occurs.
pub(crate) fn half(bytes: [u8; 2]) -> f32 {
    /// The factor between the exponents of `f16` and `f32`: 2 to the power of 112.
    const LOWER: f32 = f32::from_bits(239 << 23);
    let bits = u32::from(u16::from_le_bytes(bytes));
    f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * LOWER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_16_bits() {
        let known: [(u16, f32); 6] = [
            (0, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
            (0x2e66, 0.099_975_586),
        ];
        for (bits, expected) in known {
            assert_eq!(half(bits.to_le_bytes()).to_bits(), expected.to_bits(), "{bits:#x}");
        }
    }
}
