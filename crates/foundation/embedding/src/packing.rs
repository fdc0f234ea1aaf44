//! A vocabulary packed into one run of bytes that can be used without parsing: two hash tables.
//!
//! The build script packs the built-in vocabulary with this file, so that a start costs nothing; a model's vocabulary
//! from a folder is packed when it is opened. `vocabulary` reads the result.
//!
//! All numbers are `u64`, little endian: the number of tokens; the length of the longest in bytes; the number of bits
//! that number the slots of the table of words, and of the table of continuations; then the slots of both. A slot is
//! 0, or has a token's number plus one in its low 20 bits and 44 bits of the token's hash above them. The texts
//! themselves are not stored: the position of the slot and those 44 bits distinguish two words, except for one pair
//! in 2^59.

/// Numbers before the slots.
pub(crate) const HEADER: usize = 4;
/// The number of low bits of a slot that hold a token's number plus one.
pub(crate) const NUMBER_BITS: u32 = 20;
/// The prefix of a token that continues a word.
const CONTINUES: &str = "##";

/// The hash of no bytes.
pub(crate) const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of what was hashed and one byte more, so that all prefixes of a word cost one pass.
pub(crate) fn hash_on(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// The hash of all the bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(EMPTY, |hash, byte| hash_on(hash, *byte))
}

/// The slot at which the search for a hash starts, and the bits of the hash stored in the slot.
pub(crate) fn slot_of(hash: u64, bits: u64) -> (usize, u64) {
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let slot = (mixed >> 2) & ((1 << bits) - 1);
    (usize::try_from(slot).unwrap_or_default(), mixed >> NUMBER_BITS << NUMBER_BITS)
}

/// Packs a vocabulary of one token per line, numbered by line; `None` if it has too many.
pub(crate) fn pack(lines: &str) -> Option<Vec<u8>> {
    let tokens = || (1..).zip(lines.lines());
    let count = u64::try_from(tokens().count()).ok().filter(|count| *count < (1 << NUMBER_BITS) - 1)?;
    let longest = u64::try_from(lines.lines().map(str::len).max().unwrap_or(0)).ok()?;
    let is_continuation = |token: &str| token.len() > CONTINUES.len() && token.starts_with(CONTINUES);
    let words = table(tokens().filter(|(_, token)| !is_continuation(token)));
    let continuations = tokens().filter(|(_, token)| is_continuation(token));
    let pieces = table(continuations.map(|(number, token)| (number, &token[CONTINUES.len()..])));
    let bits = |table: &[u64]| u64::from(table.len().trailing_zeros());
    let header: [u64; HEADER] = [count, longest, bits(&words), bits(&pieces)];
    Some(header.into_iter().chain(words).chain(pieces).flat_map(u64::to_le_bytes).collect())
}

/// A hash table that is at most half full. Of two equal tokens the first is found.
fn table<'a>(tokens: impl Iterator<Item = (u64, &'a str)> + Clone) -> Vec<u64> {
    let size = (2 * tokens.clone().count()).next_power_of_two().max(2);
    let mut slots = vec![0; size];
    for (number, token) in tokens {
        let (mut at, tag) = slot_of(hash_of(token.as_bytes()), u64::from(size.trailing_zeros()));
        while slots[at] != 0 {
            at = (at + 1) % size;
        }
        slots[at] = tag | number;
    }
    slots
}
