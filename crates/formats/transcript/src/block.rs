//! Sixty-four bytes of JSON at once: which of them are quotes, which are brackets, which are escaped.
//!
//! Each answer is a mask with one bit for each byte, the first byte lowest, so that a question about all of
//! them is a few operations on a word.
//!
//! What it saves: a cold `backstory cost --json` over the 1 GB that `scripts/bench` makes takes 2.00 s of processor
//! time, 2.24 s where `scan` goes from quote to quote with `memchr`, and 2.27 s where `serde_json` skips objects and
//! arrays (the lowest of three runs each, on two cores).

use wide::u8x16;

/// The number of bytes in a block.
pub(crate) const BLOCK: usize = 64;

/// State carried from one block to the next.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carry {
    /// All ones while the next byte is inside a string.
    inside: u64,
    /// One when the next byte is escaped by a backslash before it.
    escaped: u64,
}

/// The brackets in a block, as bit masks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Brackets {
    /// The opening brackets.
    pub(crate) open: u64,
    /// The closing brackets.
    pub(crate) close: u64,
}

/// A block of JSON text; a shorter rest is filled up with spaces.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Block([u8x16; 4]);

impl Block {
    /// The block at the beginning of `bytes`.
    #[inline]
    pub(crate) fn first_of(bytes: &[u8]) -> Self {
        if let Some(whole) = bytes.first_chunk::<BLOCK>() {
            return Self::from(whole);
        }
        let mut filled = [b' '; BLOCK];
        filled[..bytes.len()].copy_from_slice(bytes);
        Self::from(&filled)
    }

    #[inline]
    fn from(bytes: &[u8; BLOCK]) -> Self {
        let ([a, b, c, d], _) = bytes.as_chunks::<16>() else { return Self::default() };
        Self([u8x16::new(*a), u8x16::new(*b), u8x16::new(*c), u8x16::new(*d)])
    }

    /// The quotes that open or close a string.
    #[inline]
    pub(crate) fn quotes(&self, carry: &mut Carry) -> u64 {
        let escaped = escaped(self.equal(b'\\'), &mut carry.escaped);
        self.equal(b'"') & !escaped
    }

    /// The brackets of objects and arrays, those in strings left out.
    #[inline]
    pub(crate) fn brackets(&self, carry: &mut Carry) -> Brackets {
        let quotes = self.quotes(carry);
        if quotes == 0 && carry.inside == u64::MAX {
            return Brackets::default();
        }
        let inside = parity(quotes) ^ carry.inside;
        carry.inside = if inside >> (BLOCK - 1) == 1 { u64::MAX } else { 0 };
        // `[` and `{`, `]` and `}` differ in this bit only.
        let bit = u8x16::splat(0x20);
        let [a, b, c, d] = self.0;
        let folded = Self([a | bit, b | bit, c | bit, d | bit]);
        Brackets { open: folded.equal(b'{') & !inside, close: folded.equal(b'}') & !inside }
    }

    #[inline]
    fn equal(&self, byte: u8) -> u64 {
        let wanted = u8x16::splat(byte);
        let bits = |part: u8x16| u64::from(part.simd_eq(wanted).to_bitmask());
        let [a, b, c, d] = self.0;
        bits(a) | bits(b) << 16 | bits(c) << 32 | bits(d) << 48
    }
}

/// The first bytes of a text, for searches that usually end there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece(u8x16);

impl Piece {
    /// The number of bytes in a piece.
    pub(crate) const BYTES: usize = 16;

    #[inline]
    pub(crate) fn new(bytes: &[u8; Self::BYTES]) -> Self {
        Self(u8x16::new(*bytes))
    }

    /// Fewer bytes than a piece, filled up with spaces.
    #[inline]
    fn filled_up(bytes: &[u8]) -> Self {
        let mut filled = [b' '; Self::BYTES];
        filled[..bytes.len()].copy_from_slice(bytes);
        Self::new(&filled)
    }

    #[inline]
    fn holds(self, byte: u8) -> bool {
        self.0.simd_eq(u8x16::splat(byte)).to_bitmask() != 0
    }

    /// The position of the first quote or backslash, and whether it is a quote.
    #[inline]
    pub(crate) fn first_quote_or_backslash(self) -> Option<(usize, bool)> {
        let quotes = self.0.simd_eq(u8x16::splat(b'"')).to_bitmask();
        let either = quotes | self.0.simd_eq(u8x16::splat(b'\\')).to_bitmask();
        let at = either.trailing_zeros();
        (either != 0).then(|| (at as usize, quotes >> at & 1 == 1))
    }
}

/// Whether a backslash is among the bytes; made for ids and times, which are short.
#[inline]
pub(crate) fn holds_backslash(bytes: &[u8]) -> bool {
    const FEW: usize = 64;
    if bytes.len() > FEW {
        return memchr::memchr(b'\\', bytes).is_some();
    }
    let Some(last) = bytes.last_chunk() else { return Piece::filled_up(bytes).holds(b'\\') };
    let (whole, _) = bytes.as_chunks();
    whole.iter().chain([last]).any(|piece| Piece::new(piece).holds(b'\\'))
}

/// The bytes behind an odd run of backslashes.
fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    if backslashes == 0 {
        return std::mem::take(carry);
    }
    // A backslash that is itself escaped escapes nothing. Adding to a run's first bit carries through the
    // run: where its end and its beginning lie on bits of different parity, its length is odd.
    let escaping = backslashes & !*carry;
    let maybe = escaping << 1 | *carry;
    let odd_starts = escaping & ODD & !maybe;
    let (ends, overflow) = odd_starts.overflowing_add(escaping);
    *carry = u64::from(overflow);
    let invert = ends << 1;
    (!ODD ^ invert) & maybe
}

/// For each bit, whether an odd number of bits is set up to and with it.
fn parity(bits: u64) -> u64 {
    let mut sum = bits;
    for shift in [1, 2, 4, 8, 16, 32] {
        sum ^= sum << shift;
    }
    sum
}
