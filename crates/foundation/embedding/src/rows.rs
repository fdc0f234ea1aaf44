//! The format of the file of vectors: a header that names the model, followed by rows that are only ever appended.
//!
//! The number of valid rows is stored elsewhere; a writer that was killed may leave more rows in the file. All
//! numbers are little endian. Header: 8 bytes of magic and version, the model's hash, the length of a vector as
//! `u32`, 4 bytes of zero. Row: the file and the position in it (`u32`, `u64`), the scale that makes the vector's
//! length one (`f32`), and a byte for each number.

use crate::vector::QuantizedVector;

/// Identifies the model of the vectors in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorModel {
    /// The hash that identifies the model.
    pub hash: u64,
    /// Numbers in a vector, at most 16,384.
    pub dimensions: usize,
}

/// The text that a vector belongs to, in the caller's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VectorKey {
    /// The number of the text's file.
    pub file: u32,
    /// The position of the text in the file.
    pub place: u64,
}

pub(crate) const HEADER: usize = 24;
const NAME: [u8; 8] = *b"bs-vec-1";
/// The number of bytes before the numbers of a row.
const HEAD: usize = 16;

impl VectorModel {
    pub(crate) fn header(self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&NAME);
        header[8..16].copy_from_slice(&self.hash.to_le_bytes());
        header[16..20].copy_from_slice(&u32::try_from(self.dimensions).unwrap_or(u32::MAX).to_le_bytes());
        header
    }

    /// Bytes of a row.
    pub(crate) fn row(self) -> usize {
        HEAD + self.dimensions
    }

    /// The offset of a row; past any end if no file could be that long.
    pub(crate) fn offset(self, row: u64) -> u64 {
        (HEADER as u64).saturating_add(row.saturating_mul(self.row() as u64))
    }
}

/// A row as stored in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) key: VectorKey,
    pub(crate) scale: f32,
    /// The numbers of the vector, each from -127 to 127.
    pub(crate) numbers: &'a [u8],
}

impl<'a> Row<'a> {
    /// Reads a row; `None` when `bytes` are fewer than its head.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (file, rest) = bytes.split_first_chunk()?;
        let (scale, rest) = rest.split_first_chunk()?;
        let (place, numbers) = rest.split_first_chunk()?;
        let key = VectorKey { file: u32::from_le_bytes(*file), place: u64::from_le_bytes(*place) };
        Some(Self { key, scale: f32::from_le_bytes(*scale), numbers })
    }
}

/// What a row adds to the checksum of its file, which is the sum over all rows, whatever the order.
pub(crate) fn checksum(row: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(row)
}

/// Adds a row to `bytes`.
pub(crate) fn push(bytes: &mut Vec<u8>, key: VectorKey, vector: &QuantizedVector) {
    bytes.extend(key.file.to_le_bytes());
    bytes.extend(vector.scale.to_le_bytes());
    bytes.extend(key.place.to_le_bytes());
    bytes.extend(vector.numbers.iter().map(|number| number.cast_unsigned()));
}
