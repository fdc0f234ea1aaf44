//! Numbers of half a byte: 32 of them share a scale of 16 bits. The rows of a packed model's tokens, most of it, are such.
//!
//! A row is its numbers, two in a byte, the low half first, each more by eight; then its scales.

use crate::table::half;

/// How many numbers share a scale.
const GROUP: usize = 32;

/// The number of bytes of a row.
pub(crate) fn row_length(columns: usize) -> usize {
    columns.div_ceil(2) + 2 * columns.div_ceil(GROUP)
}

/// The numbers of a row.
pub(crate) fn numbers(row: &[u8], columns: usize) -> Vec<f32> {
    let (halves, scales) = row.split_at(columns.div_ceil(2).min(row.len()));
    let halves = halves.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let scales = scales.as_chunks().0.iter().flat_map(|scale| [half(*scale); GROUP]);
    halves.zip(scales).map(|(number, scale)| (f32::from(number) - 8.0) * scale).take(columns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_two_groups() {
        let columns = GROUP + 2;
        let mut row = vec![8 | 9 << 4; columns / 2];
        row.extend([0x00, 0x3c, 0x00, 0xc0]);
        assert_eq!(row.len(), row_length(columns));
        let numbers = numbers(&row, columns);
        assert_eq!(numbers.len(), columns);
        assert_eq!((numbers[0], numbers[1], numbers[GROUP - 1]), (0.0, 1.0, 1.0));
        assert_eq!(numbers[GROUP..], [0.0, -2.0]);
    }
}
