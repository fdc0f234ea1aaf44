//! From the vectors of the table's teacher to the table's own: so a question can be embedded by the
//! transformer, and chunks by the table.

use crate::table::DIMENSIONS;
use crate::vector::Vector;

/// Numbers in a vector of the teacher.
const TEACHERS: usize = 384;

/// The hash of all-MiniLM-L6-v2 as a `SentenceModel`; the built-in table was distilled from it.
pub const TEACHER_HASH: u64 = 0xa077_1d7b_c041_b425;

/// The mean of the teacher's vectors, then a row of 256 numbers for each of its 384.
static NUMBERS: &[u8] = include_bytes!("../table/query-projection-384to256.bin");

/// Maps a vector of the teacher model into the space of the built-in table; `None` if its length is wrong.
pub fn to_table(vector: &Vector) -> Option<Vector> {
    let (numbers, _) = NUMBERS.as_chunks::<4>();
    let (mean, rows) = numbers.split_at_checked(TEACHERS).filter(|_| vector.numbers().len() == TEACHERS)?;
    let mut sums = vec![0f32; DIMENSIONS];
    for ((number, mean), row) in vector.numbers().iter().zip(mean).zip(rows.as_chunks::<DIMENSIONS>().0) {
        let from_mean = number - f32::from_le_bytes(*mean);
        for (sum, factor) in sums.iter_mut().zip(row) {
            *sum += from_mean * f32::from_le_bytes(*factor);
        }
    }
    Vector::normalized(sums)
}
