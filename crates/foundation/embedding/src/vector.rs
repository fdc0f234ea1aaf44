//! A meaning as numbers, and the same in a byte each, as it is kept.

/// A vector of length one. The product of two is their similarity: 1 for equal ones, about 0 for unrelated ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Vec<f32>);

impl Vector {
    /// The vector in the direction of these numbers; `None` when they point nowhere.
    pub fn normalized(mut numbers: Vec<f32>) -> Option<Self> {
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        if !length.is_finite() || length <= f32::MIN_POSITIVE {
            return None;
        }
        for number in &mut numbers {
            *number /= length;
        }
        Some(Self(numbers))
    }

    /// The components of the vector.
    pub fn numbers(&self) -> &[f32] {
        &self.0
    }

    /// The cosine of the angle to another vector; missing components of the shorter one count as 0.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(one, other)| one * other).sum()
    }

    /// Quantizes the vector to one byte per component.
    pub fn quantize(&self) -> QuantizedVector {
        let largest = self.0.iter().fold(0f32, |largest, number| largest.max(number.abs()));
        let scale = 127.0 / largest;
        // The cast cuts off what is behind the point; to call for a rounding costs more than all else here.
        #[expect(clippy::cast_possible_truncation, reason = "rounded, and from -127 to 127")]
        let byte = |number: &f32| (number * scale + 0.5_f32.copysign(*number)) as i8;
        let numbers: Vec<i8> = self.0.iter().map(byte).collect();
        let square: i32 = numbers.iter().map(|number| i32::from(*number) * i32::from(*number)).sum();
        QuantizedVector { numbers, scale: 1.0 / (square as f32).sqrt() }
    }
}

/// A vector with a byte for each number, of length one unless it was shortened.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedVector {
    /// From -127 to 127, the largest being one of the two.
    pub(crate) numbers: Vec<i8>,
    /// The factor that scales the components to the vector's length.
    pub(crate) scale: f32,
}

impl QuantizedVector {
    /// The same direction with the length multiplied by `times`.
    pub(crate) fn shortened(self, times: f32) -> Self {
        Self { scale: self.scale * times, ..self }
    }

    /// The vector of a text without words, which no search finds.
    pub fn empty(dimensions: usize) -> Self {
        Self { numbers: vec![0; dimensions], scale: 0.0 }
    }

    /// The cosine of the angle to another vector.
    pub fn cosine(&self, other: &Self) -> f32 {
        let products = self.numbers.iter().zip(&other.numbers);
        let product: i32 = products.map(|(one, other)| i32::from(*one) * i32::from(*other)).sum();
        product as f32 * self.scale * other.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_has_length_one_or_is_none() {
        let vector = Vector::normalized(vec![3.0, -4.0]).expect("a direction");
        assert_eq!(vector.numbers(), [0.6, -0.8]);
        for nowhere in [vec![], vec![0.0; 4], vec![f32::NAN], vec![f32::INFINITY, 1.0]] {
            assert_eq!(Vector::normalized(nowhere), None);
        }
    }

    #[test]
    fn bytes_lose_little() {
        let numbers = |seed: u64| (1..=256).map(|at| ((seed * at * 7919) % 1009) as f32 - 504.0).collect();
        for seed in 1..200 {
            let one = Vector::normalized(numbers(seed)).expect("a direction");
            let other = Vector::normalized(numbers(seed + 1)).expect("a direction");
            let lost = one.cosine(&other) - one.quantize().cosine(&other.quantize());
            assert!(lost.abs() < 0.003, "{lost}");
        }
    }
}
