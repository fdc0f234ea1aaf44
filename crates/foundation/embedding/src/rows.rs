//! The file of vectors, as bytes: a header that names the model, then rows that are only ever added.
//!
//! What counts is committed elsewhere, as a number of rows; the file may hold more, of a writer that was
//! killed. All numbers are little endian. Header: 8 bytes of name and version, the model's hash, the
//! numbers of a vector as `u32`, 4 of nothing. Row: the file and the place in it (`u32`, `u64`), what makes
//! the vector's length one (`f32`), and a byte for each number.

use crate::vector::QuantizedVector;

/// Of which model the vectors of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorModel {
    /// What the model is known by.
    pub hash: u64,
    /// Numbers in a vector, at most 16,384.
    pub dimensions: usize,
}

/// What a vector is of, in the caller's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VectorKey {
    /// The file the text stands in.
    pub file: u32,
    /// Where in it.
    pub place: u64,
}

pub(crate) const HEADER: usize = 24;
const NAME: [u8; 8] = *b"bs-vec-1";
/// What stands in a row before its numbers.
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

    /// Where a row begins; behind everything when no file could be that long.
    pub(crate) fn offset(self, row: u64) -> u64 {
        (HEADER as u64).saturating_add(row.saturating_mul(self.row() as u64))
    }
}

/// A row as it stands in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) key: VectorKey,
    pub(crate) scale: f32,
    /// Each stands for a number from -127 to 127.
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

/// Adds a row to `bytes`.
pub(crate) fn push(bytes: &mut Vec<u8>, key: VectorKey, vector: &QuantizedVector) {
    bytes.extend(key.file.to_le_bytes());
    bytes.extend(vector.scale.to_le_bytes());
    bytes.extend(key.place.to_le_bytes());
    bytes.extend(vector.numbers.iter().map(|number| number.cast_unsigned()));
}
