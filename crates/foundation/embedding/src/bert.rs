//! BERT: from tokens to a state for each of them (Devlin et al. 2018). Matrices are multiplied by `ndarray`.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, Slice};
use pulp::NullaryFnOnce;

use crate::error::Error;
use crate::matrix::Matrix;
use crate::weights::{Tensor, Weights};

/// The sizes of a model, as its `config.json` gives them.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
pub(crate) struct Sizes {
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) max_position_embeddings: usize,
    pub(crate) vocab_size: usize,
    pub(crate) layer_norm_eps: f32,
}

/// The model, its layers in memory; the rows of the tokens are read when they are met.
#[derive(Debug)]
pub(crate) struct Bert {
    weights: Weights,
    words: Tensor,
    positions: Tensor,
    /// The vector added to each token. Texts are embedded alone here, so all tokens are of the first segment.
    kind: Array1<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
}

#[derive(Debug)]
struct Layer {
    query: Dense,
    key: Dense,
    value: Dense,
    attended: Dense,
    attended_norm: Norm,
    wide: Dense,
    narrow: Dense,
    norm: Norm,
}

#[derive(Debug)]
struct Dense {
    weight: Matrix,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Bert {
    /// Reads all but the tokens' rows.
    pub(crate) fn open(weights: Weights, sizes: &Sizes) -> Result<Self, Error> {
        let width = sizes.hidden_size;
        let words = weights.tensor("embeddings.word_embeddings.weight", &[sizes.vocab_size, width])?;
        let positions = weights
            .tensor("embeddings.position_embeddings.weight", &[sizes.max_position_embeddings, width])?;
        let kinds = weights.rows_of("embeddings.token_type_embeddings.weight", width)?;
        let norm = Norm::open(&weights, "embeddings.LayerNorm", sizes)?;
        let layers = (0..sizes.num_hidden_layers).map(|number| Layer::open(&weights, number, sizes));
        let layers = layers.collect::<Result<_, _>>()?;
        let kind = Array1::from_vec(weights.row(&kinds, 0)?);
        Ok(Self { words, positions, kind, norm, layers, heads: sizes.num_attention_heads, weights })
    }

    /// A state for each token. The tokens are numbers of rows, at most as many as there are positions.
    pub(crate) fn states(&self, tokens: &[u32]) -> Result<Array2<f32>, Error> {
        let mut states = Array2::zeros((tokens.len(), self.kind.len()));
        for ((mut state, token), position) in states.rows_mut().into_iter().zip(tokens).zip(0..) {
            state += &self.kind;
            state += &Array1::from_vec(self.weights.row(&self.words, *token as usize)?);
            state += &Array1::from_vec(self.weights.row(&self.positions, position)?);
        }
        self.norm.apply(&mut states);
        for layer in &self.layers {
            states = layer.apply(&states, self.heads);
        }
        Ok(states)
    }
}

impl Layer {
    fn open(weights: &Weights, number: usize, sizes: &Sizes) -> Result<Self, Error> {
        let (width, wide) = (sizes.hidden_size, sizes.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        let dense = |part: &str, outputs, inputs| Dense::open(weights, &name(part), outputs, inputs);
        let norm = |part: &str| Norm::open(weights, &name(part), sizes);
        Ok(Self {
            query: dense("attention.self.query", width, width)?,
            key: dense("attention.self.key", width, width)?,
            value: dense("attention.self.value", width, width)?,
            attended: dense("attention.output.dense", width, width)?,
            attended_norm: norm("attention.output.LayerNorm")?,
            wide: dense("intermediate.dense", wide, width)?,
            narrow: dense("output.dense", width, wide)?,
            norm: norm("output.LayerNorm")?,
        })
    }

    fn apply(&self, states: &Array2<f32>, heads: usize) -> Array2<f32> {
        let mut attended = self.attended.apply(&self.attend(states, heads).view());
        attended += states;
        self.attended_norm.apply(&mut attended);
        let mut wide = self.wide.apply(&attended.view());
        gelu(wide.as_slice_mut().unwrap_or_default());
        let mut states = self.narrow.apply(&wide.view());
        states += &attended;
        self.norm.apply(&mut states);
        states
    }

    /// Computes the attention of each token to the others, per head.
    fn attend(&self, states: &Array2<f32>, heads: usize) -> Array2<f32> {
        let states = states.view();
        let (query, key, value) =
            (self.query.apply(&states), self.key.apply(&states), self.value.apply(&states));
        let width = query.ncols() / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut taken = Array2::zeros(query.raw_dim());
        for head in 0..heads {
            let (all, part) = (Axis(1), Slice::from(head * width..(head + 1) * width));
            let mut weights = query.slice_axis(all, part).dot(&key.slice_axis(all, part).t());
            for mut row in weights.rows_mut() {
                let largest = row.fold(f32::NEG_INFINITY, |largest, weight| largest.max(*weight));
                row.mapv_inplace(|weight| ((weight - largest) * scale).exp());
                let sum = row.sum();
                row /= sum;
            }
            let mut taken = taken.slice_axis_mut(all, part);
            general_mat_mul(1.0, &weights, &value.slice_axis(all, part), 0.0, &mut taken);
        }
        taken
    }
}

impl Dense {
    fn open(weights: &Weights, name: &str, outputs: usize, inputs: usize) -> Result<Self, Error> {
        let weight = weights.matrix(&format!("{name}.weight"), outputs, inputs)?;
        Ok(Self { weight, bias: weights.vector(&format!("{name}.bias"), outputs)? })
    }

    fn apply(&self, inputs: &ArrayView2<'_, f32>) -> Array2<f32> {
        let mut outputs = Array2::zeros((inputs.nrows(), self.bias.len()));
        outputs += &self.bias;
        self.weight.multiply(inputs, &mut outputs);
        outputs
    }
}

impl Norm {
    fn open(weights: &Weights, name: &str, sizes: &Sizes) -> Result<Self, Error> {
        let vector = |part: &str| weights.vector(&format!("{name}.{part}"), sizes.hidden_size);
        Ok(Self { weight: vector("weight")?, bias: vector("bias")?, epsilon: sizes.layer_norm_eps })
    }

    fn apply(&self, states: &mut Array2<f32>) {
        for mut state in states.axis_iter_mut(Axis(0)) {
            let mean = state.sum() / state.len() as f32;
            state -= mean;
            let variance = state.dot(&state) / state.len() as f32;
            state /= (variance + self.epsilon).sqrt();
            state *= &self.weight;
            state += &self.bias;
        }
    }
}

/// The Gaussian error linear unit, in its exact form.
fn gelu(numbers: &mut [f32]) {
    pulp::Arch::new().dispatch(Gelu(numbers));
}

/// The GELU function applied to a slice, compiled for the current processor's features.
struct Gelu<'n>(&'n mut [f32]);

impl NullaryFnOnce for Gelu<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
    #[inline(always)]
    fn call(self) {
        for number in self.0 {
            *number *= 0.5 * (1.0 + error_function(*number * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// The error function to seven digits, as the quotient of polynomials that Eigen uses: it has no branch.
#[allow(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
#[inline(always)]
fn error_function(x: f32) -> f32 {
    const ABOVE: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_5e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const BELOW: [f32; 5] = [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let mut above = ABOVE[0];
    for factor in &ABOVE[1..] {
        above = above * square + factor;
    }
    let mut below = BELOW[0];
    for factor in &BELOW[1..] {
        below = below * square + factor;
    }
    x * above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_that_of_the_tables() {
        let known: [(f32, f32); 7] = [
            (0.0, 0.0),
            (0.1, 0.112_462_92),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (2.0, 0.995_322_3),
            (3.5, 0.999_999_3),
            (9.0, 1.0),
        ];
        for (x, expected) in known {
            assert!((error_function(x) - expected).abs() < 3e-7, "{x}: {}", error_function(x));
            assert!((error_function(-x) + expected).abs() < 3e-7, "{x}");
        }
    }

    #[test]
    fn a_norm_has_mean_nought_and_variance_one() {
        let norm = Norm { weight: Array1::ones(4), bias: Array1::zeros(4), epsilon: 1e-12 };
        let mut states = Array2::from_shape_vec((1, 4), vec![1.0, 2.0, 3.0, 6.0]).expect("a matrix");
        norm.apply(&mut states);
        assert!(states.sum().abs() < 1e-6);
        assert!((states.mapv(|number| number * number).sum() - 4.0).abs() < 1e-5);
    }
}
