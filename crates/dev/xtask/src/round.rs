//! Rounding a table to four bits a number, in the form that `embedding` reads.

use ndarray::Array2;

/// Two numbers in a byte, the low half first, each more by eight; then what each row is multiplied by, in 16 bits.
pub(crate) fn quantize_to_four_bits(table: &Array2<f32>) -> Vec<u8> {
    let (mut halves, mut scales) = (Vec::new(), Vec::new());
    for row in table.rows() {
        let largest = row.iter().fold(0f32, |largest, number| largest.max(number.abs()));
        let scale = to_f16(largest / 7.0);
        let unit = largest.max(f32::MIN_POSITIVE) / 7.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 15")]
        let four = |number: &f32| ((number / unit).round().clamp(-7.0, 7.0) + 8.0) as u8;
        let numbers: Vec<u8> = row.iter().map(four).collect();
        halves.extend(numbers.as_chunks::<2>().0.iter().map(|[low, high]| low | high << 4));
        scales.extend(scale.to_le_bytes());
    }
    halves.extend(scales);
    halves
}

/// The nearest number of 16 bits to one that is neither negative nor too large for it.
fn to_f16(number: f32) -> u16 {
    let bits = number.to_bits();
    let scaled = if bits >> 23 <= 112 {
        // Below what has an exponent of its own: so many times the smallest there is.
        return to_u16((number * 16_777_216.0).round());
    } else {
        bits - (112 << 23) + (1 << 12)
    };
    u16::try_from(scaled >> 13).unwrap_or(0x7bff).min(0x7bff)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1024")]
fn to_u16(number: f32) -> u16 {
    number as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_16_bits() {
        for (number, expected) in
            [(0.0, 0), (1.0, 0x3c00), (5.960_464_5e-8, 1), (0.1, 0x2e66), (65504.0, 0x7bff), (1e9, 0x7bff)]
        {
            assert_eq!(to_f16(number), expected, "{number}");
        }
    }

    #[test]
    fn rows_are_scaled_by_their_largest_value() {
        let table = Array2::from_shape_vec((2, 2), vec![7.0, -7.0, 0.0, 0.0]).unwrap_or_default();
        assert_eq!(quantize_to_four_bits(&table), [15 | 1 << 4, 8 | 8 << 4, 0x00, 0x3c, 0, 0]);
    }
}
