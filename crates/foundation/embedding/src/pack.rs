//! Makes the weights of a BERT model smaller: a byte for each number of a layer's matrices, with a scale for each row; half a byte for
//! each number of a token's row, with a scale for each 32 of them. `weights` reads the result.
//!
//! The build script packs the weights that `scripts/model` fetched.

use std::borrow::Cow;

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};

/// How many positions are left: texts are shorter.
const POSITIONS: usize = 128;
/// How many numbers of a token's row share a scale.
const GROUP: usize = 32;

/// A tensor as it is packed.
struct Packed {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// The packed weights of a model whose weights are numbers of 32 bits.
pub(crate) fn pack_model(weights: &[u8]) -> Result<Vec<u8>, SafeTensorError> {
    let weights = SafeTensors::deserialize(weights)?;
    let mut packed = Vec::new();
    for (name, tensor) in weights.iter() {
        let numbers: Cow<'_, [f32]> =
            tensor.data().as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
        let name = name.to_owned();
        match (&*name, tensor.shape()) {
            // The head of another task, and the numbers from 0 on.
            (name, _) if name.starts_with("pooler.") || name.ends_with("position_ids") => {}
            ("embeddings.word_embeddings.weight", [rows, columns]) => {
                let bytes: Vec<u8> = numbers.chunks(*columns).flat_map(halved).collect();
                let shape = vec![*rows, bytes.len() / rows];
                packed.push(Packed { name, dtype: Dtype::U8, shape, bytes });
            }
            ("embeddings.position_embeddings.weight", [rows, columns]) => {
                let rows = POSITIONS.min(*rows);
                packed.push(whole(name, vec![rows, *columns], &numbers[..rows * columns]));
            }
            (_, [rows, columns]) if name.starts_with("encoder.") => {
                let scales: Vec<f32> = numbers.chunks(*columns).map(|row| largest(row) / 127.0).collect();
                let rows_with_scales = numbers.chunks(*columns).zip(&scales);
                let bytes = rows_with_scales
                    .flat_map(|(row, scale)| row.iter().map(move |number| byte(number / scale)));
                let (bytes, shape) = (bytes.collect(), vec![*rows, *columns]);
                packed.push(whole(format!("{name}.scale"), vec![*rows], &scales));
                packed.push(Packed { name, dtype: Dtype::I8, shape, bytes });
            }
            (_, shape) => packed.push(whole(name, shape.to_vec(), &numbers)),
        }
    }
    packed.sort_by(|one, other| one.name.cmp(&other.name));
    let views = packed.iter().map(|tensor| {
        let Packed { name, dtype, shape, bytes } = tensor;
        Ok((name, TensorView::new(*dtype, shape.clone(), bytes)?))
    });
    safetensors::serialize(views.collect::<Result<Vec<_>, SafeTensorError>>()?, None)
}

fn whole(name: String, shape: Vec<usize>, numbers: &[f32]) -> Packed {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Packed { name, dtype: Dtype::F32, shape, bytes }
}

/// The largest number of a row, or 1 for a row of nothing.
fn largest(row: &[f32]) -> f32 {
    let largest = row.iter().fold(0f32, |largest, number| largest.max(number.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}

#[expect(clippy::cast_possible_truncation, reason = "rounded, and from -127 to 127")]
fn byte(number: f32) -> u8 {
    (number.round().clamp(-127.0, 127.0) as i8).cast_unsigned()
}

/// A row with half a byte for each number, the low half first, each more by eight; then the scales.
fn halved(row: &[f32]) -> Vec<u8> {
    let scales: Vec<u16> = row.chunks(GROUP).map(|group| to_f16(largest(group) / 7.0)).collect();
    let units = row.chunks(GROUP).map(|group| largest(group) / 7.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 15")]
    let four = |number: f32| (number.round().clamp(-7.0, 7.0) + 8.0) as u8;
    let numbers =
        row.chunks(GROUP).zip(units).flat_map(|(group, unit)| group.iter().map(move |n| four(n / unit)));
    let numbers: Vec<u8> = numbers.collect();
    let halves = numbers.chunks(2).map(|two| two[0] | two.get(1).unwrap_or(&8) << 4);
    halves.chain(scales.iter().flat_map(|scale| scale.to_le_bytes())).collect()
}

/// The nearest number of 16 bits to one that is not negative, and neither too large nor too small for an exponent of its own.
fn to_f16(number: f32) -> u16 {
    let scaled = number.to_bits().saturating_sub(112 << 23) + (1 << 12);
    u16::try_from(scaled >> 13).unwrap_or(0x7bff).min(0x7bff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::SentenceModel;
    use crate::vector::Vector;

    #[test]
    fn a_packed_model_says_nearly_the_same() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/tools/model/model.safetensors");
        let file = std::fs::File::open(path).expect("the weights: run scripts/test once");
        let mut weights = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, 1 << 30), &mut weights)
            .expect("the weights");
        let packed = pack_model(&weights).expect("a model of 32 bits");
        assert!(packed.len() < 18_000_000, "{}", packed.len());
        let model = SentenceModel::from_packed(packed.into()).expect("the packed model");
        for line in include_str!("../tests/golden/sentences.jsonl").lines() {
            let (text, expected): (String, Vec<f32>) = serde_json::from_str(line).expect("a golden line");
            // Of longer ones only the beginning is looked at.
            if text.len() < 400 {
                let vector = model.embed(&text).expect("no failure").expect("a vector");
                let cosine = vector.cosine(&Vector::normalized(expected).expect("a direction"));
                assert!(cosine > 0.97, "{text}: {cosine}");
            }
        }
    }

    #[test]
    fn rows_of_half_bytes_are_read_as_they_were() {
        let row: Vec<f32> = (0..GROUP + 4).map(|at| (at as f32 - 9.0) / 70.0).collect();
        let halved = halved(&row);
        assert_eq!(halved.len(), crate::half_bytes::row_length(row.len()));
        for (number, read) in row.iter().zip(crate::half_bytes::numbers(&halved, row.len())) {
            assert!((number - read).abs() < 0.03, "{number} {read}");
        }
    }
}
