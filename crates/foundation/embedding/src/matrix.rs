//! The weights of a layer: whole numbers, or a byte for each with a scale for each row.
//!
//! A packed matrix is unpacked each time that it is multiplied by, into numbers that stay in the processor's cache: that takes less time
//! than to read four times as many bytes from memory.

use std::borrow::Cow;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, Slice};
use pulp::NullaryFnOnce;

/// The weights of a layer, as outputs × inputs.
#[derive(Debug)]
pub(crate) enum Matrix {
    Whole(Array2<f32>),
    Packed(Packed),
}

/// A matrix with a byte for each number.
#[derive(Debug)]
pub(crate) struct Packed {
    /// The numbers, each from -127 to 127, row after row.
    bytes: Cow<'static, [u8]>,
    /// What the numbers of a row are multiplied by.
    scales: Array1<f32>,
    columns: usize,
}

/// How many rows are unpacked at a time.
const ROWS: usize = 128;

impl Matrix {
    /// A packed matrix of as many rows as there are scales.
    pub(crate) fn packed(bytes: Cow<'static, [u8]>, scales: Array1<f32>, columns: usize) -> Self {
        Self::Packed(Packed { bytes, scales, columns })
    }

    /// Adds the products of the inputs, one in a row, and the matrix to the outputs.
    pub(crate) fn multiply(&self, inputs: &ArrayView2<'_, f32>, outputs: &mut Array2<f32>) {
        match self {
            Self::Whole(weights) => general_mat_mul(1.0, inputs, &weights.t(), 1.0, outputs),
            Self::Packed(packed) => packed.multiply(inputs, outputs),
        }
    }
}

impl Packed {
    fn multiply(&self, inputs: &ArrayView2<'_, f32>, outputs: &mut Array2<f32>) {
        let mut unpacked = Array2::zeros((ROWS, self.columns));
        let blocks = self.bytes.chunks(ROWS * self.columns);
        let outputs = outputs.axis_chunks_iter_mut(Axis(1), ROWS);
        let scales = self.scales.as_slice().unwrap_or_default().chunks(ROWS);
        for ((bytes, mut outputs), scales) in blocks.zip(outputs).zip(scales) {
            let rows = unpacked.as_slice_mut().unwrap_or_default();
            pulp::Arch::new().dispatch(Unpack { bytes, scales, columns: self.columns, rows });
            let rows = unpacked.slice_axis(Axis(0), Slice::from(..scales.len()));
            general_mat_mul(1.0, inputs, &rows.t(), 1.0, &mut outputs);
        }
    }
}

/// Bytes made numbers, compiled for the current processor's features.
struct Unpack<'a> {
    bytes: &'a [u8],
    scales: &'a [f32],
    columns: usize,
    rows: &'a mut [f32],
}

impl NullaryFnOnce for Unpack<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
    #[inline(always)]
    fn call(self) {
        let rows = self.rows.chunks_exact_mut(self.columns).zip(self.bytes.chunks_exact(self.columns));
        for ((row, bytes), scale) in rows.zip(self.scales) {
            for (number, byte) in row.iter_mut().zip(bytes) {
                *number = f32::from(byte.cast_signed()) * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_matrix_multiplies_as_the_whole_one_does() {
        let (rows, columns) = (ROWS + 3, 5);
        let bytes: Vec<i8> =
            (0..rows * columns).map(|at| i8::try_from(at * 37 % 251).unwrap_or(-9)).collect();
        let scales = Array1::from_iter((0..rows).map(|row| 0.01 + row as f32 / 1000.0));
        let whole = Array2::from_shape_fn((rows, columns), |(row, column)| {
            f32::from(bytes[row * columns + column]) * scales[row]
        });
        let packed = Matrix::packed(bytes.iter().map(|byte| byte.cast_unsigned()).collect(), scales, columns);
        let inputs =
            Array2::from_shape_fn((7, columns), |(row, column)| (row * 3 + column) as f32 / 11.0 - 1.0);
        let (mut one, mut other) = (Array2::ones((7, rows)), Array2::ones((7, rows)));
        packed.multiply(&inputs.view(), &mut one);
        Matrix::Whole(whole).multiply(&inputs.view(), &mut other);
        let far = (&one - &other).mapv(f32::abs).fold(0.0f32, |far, one| far.max(*one));
        assert!(far < 1e-4, "{far}");
    }
}
