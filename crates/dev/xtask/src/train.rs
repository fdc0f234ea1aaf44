//! Training a table: the normalised sum of a text's rows is to point where the teacher's vector points, and the texts
//! of a batch are to be as near to each other as they are for the teacher.

use embedding::{Tokenizer, Vocabulary};
use ndarray::{Array2, ArrayView1, Axis};

const BATCH: usize = 256;
/// The weight of the nearness of a batch's texts beside each text's own direction.
const BETWEEN: f32 = 0.3;
const TEMPERATURE: f32 = 1.0 / 20.0;
const RATE: f32 = 3e-3;
/// One token in so many is left out of a text, another one each time.
const DROPPED: u64 = 10;

/// The texts to train on.
pub(crate) struct Texts {
    tokens: Vec<Vec<u32>>,
    targets: Array2<f32>,
}

impl Texts {
    pub(crate) fn new(vocabulary: &Vocabulary, texts: &[String], targets: Array2<f32>) -> Self {
        let mut tokenizer = Tokenizer::new(vocabulary);
        let cut = |text: &String| {
            let mut tokens = Vec::new();
            tokenizer.cut(text, &mut tokens);
            tokens
        };
        Self { tokens: texts.iter().map(cut).collect(), targets }
    }
}

/// The moving averages of Adam, for each weight.
struct Adam {
    first: Array2<f32>,
    second: Array2<f32>,
    steps: i32,
}

/// Goes through the texts so many times.
pub(crate) fn train(table: &mut Array2<f32>, texts: &Texts, epochs: usize) {
    let zeros = || Array2::zeros(table.raw_dim());
    let mut adam = Adam { first: zeros(), second: zeros(), steps: 0 };
    let mut args: Vec<usize> = (0..texts.tokens.len()).collect();
    let mut chance = SeededRandom(0x9e37_79b9_7f4a_7c15);
    let batches = args.len().div_ceil(BATCH) * epochs;
    let mut done = 0;
    for _ in 0..epochs {
        chance.shuffle(&mut args);
        for batch in args.chunks(BATCH) {
            let rate = RATE * (1.0 - done as f32 / batches as f32);
            step(table, texts, batch, &mut adam, &mut chance, rate);
            done += 1;
        }
    }
}

fn step(
    table: &mut Array2<f32>,
    texts: &Texts,
    batch: &[usize],
    adam: &mut Adam,
    chance: &mut SeededRandom,
    rate: f32,
) {
    let mut kept = |at: &usize| {
        let all = &texts.tokens[*at];
        let kept: Vec<usize> = all
            .iter()
            .filter(|_| !chance.next().is_multiple_of(DROPPED))
            .map(|token| *token as usize)
            .collect();
        if kept.is_empty() { all.iter().map(|token| *token as usize).collect() } else { kept }
    };
    let tokens: Vec<Vec<usize>> = batch.iter().map(&mut kept).collect();
    let mut sums = Array2::zeros((batch.len(), table.ncols()));
    for (mut sum, tokens) in sums.rows_mut().into_iter().zip(&tokens) {
        for token in tokens {
            sum += &table.row(*token);
        }
    }
    let lengths: Vec<f32> = sums.rows().into_iter().map(|sum| length(&sum)).collect();
    let ours = of_length_one(sums);
    let targets = texts.targets.select(Axis(0), batch);
    let slope = slope(&ours, &targets);
    let mut slopes = std::collections::BTreeMap::new();
    for (at, tokens) in tokens.iter().enumerate() {
        let (own, slope) = (ours.row(at), slope.row(at));
        // Only what turns the sum counts: its length is made one in any case.
        let turn = (&slope - &(&own * own.dot(&slope))) / lengths[at];
        for token in tokens {
            slopes.entry(*token).and_modify(|sum| *sum += &turn).or_insert_with(|| turn.clone());
        }
    }
    adam.steps += 1;
    let (fade_first, fade_second) = (1.0 - 0.9f32.powi(adam.steps), 1.0 - 0.999f32.powi(adam.steps));
    for (token, slope) in slopes {
        for (column, slope) in slope.iter().enumerate() {
            let at = [token, column];
            adam.first[at] = 0.9 * adam.first[at] + 0.1 * slope;
            adam.second[at] = 0.999 * adam.second[at] + 0.001 * slope * slope;
            let by = (adam.first[at] / fade_first) / ((adam.second[at] / fade_second).sqrt() + 1e-8);
            table[at] -= rate * by;
        }
    }
}

/// How the loss grows with our vectors: less the cosine with the target, and 0.3 times the Kullback-Leibler divergence
/// between how near the batch's texts are to each other for the teacher and for us.
fn slope(ours: &Array2<f32>, targets: &Array2<f32>) -> Array2<f32> {
    let count = ours.nrows() as f32;
    let wanted = softmax(targets.dot(&targets.t()));
    let found = softmax(ours.dot(&ours.t()));
    let between = (&found - &wanted) * (BETWEEN / (TEMPERATURE * count));
    let both = &between + &between.t();
    both.dot(ours) - targets / count
}

/// Each row as shares of one, by the exponential of its numbers.
fn softmax(mut cosines: Array2<f32>) -> Array2<f32> {
    for mut row in cosines.rows_mut() {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.mapv_inplace(|cosine| ((cosine - largest) / TEMPERATURE).exp());
        let sum = row.sum();
        row /= sum;
    }
    cosines
}

/// Every row at length one.
pub(crate) fn of_length_one(mut rows: Array2<f32>) -> Array2<f32> {
    for mut row in rows.rows_mut() {
        let length = length(&row.view());
        row /= length;
    }
    rows
}

fn length(row: &ArrayView1<'_, f32>) -> f32 {
    row.dot(row).sqrt().max(1e-12)
}

/// A seeded random generator, so that a table can be reproduced to the byte.
struct SeededRandom(u64);

impl SeededRandom {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn shuffle(&mut self, args: &mut [usize]) {
        for at in (1..args.len()).rev() {
            let other = usize::try_from(self.next() % (at as u64 + 1)).unwrap_or(at);
            args.swap(at, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_gradient_matches_the_loss() {
        let ours = array![[0.6f32, 0.8, 0.0], [0.0, 0.6, 0.8], [1.0, 0.0, 0.0]];
        let targets = array![[1.0f32, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let loss = |ours: &Array2<f32>| {
            let count = ours.nrows() as f32;
            let cosines: f32 = (ours * &targets).sum() / count;
            let (wanted, found) = (softmax(targets.dot(&targets.t())), softmax(ours.dot(&ours.t())));
            let apart = wanted.iter().zip(&found).map(|(w, f)| w * (w.max(1e-20) / f.max(1e-20)).ln());
            BETWEEN * apart.sum::<f32>() / count - cosines
        };
        let slope = slope(&ours, &targets);
        for at in [[0, 0], [1, 1], [2, 0]] {
            let (mut longer, mut shorter) = (ours.clone(), ours.clone());
            longer[at] += 1e-3;
            shorter[at] -= 1e-3;
            let measured = (loss(&longer) - loss(&shorter)) / 2e-3;
            assert!(
                (measured - slope[at]).abs() < 0.02 * (1.0 + slope[at].abs()),
                "{measured} {}",
                slope[at]
            );
        }
    }
}
