//! Makes the static table again from its teacher (docs/embedding.md, "How the table was made").

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use embedding::{DIMENSIONS, SentenceModel, Vocabulary};
use ndarray::{Array1, Array2, Axis};

use crate::principal::principal;
use crate::round::quantize_to_four_bits;
use crate::train::{Texts, train};
use crate::{Failure, train};

/// A token that makes up this share of all weighs half.
const COMMON: f32 = 1e-4;

/// The arguments: the model to create a table from.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of a sentence-transformers BERT model.
    #[arg(long, value_name = "FOLDER")]
    pub teacher: PathBuf,
    /// Where the table goes; the projection from the teacher's vectors goes beside it, as FILE.projection.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// A text on each line, to train on; without them the table is that of the first step.
    #[arg(long, value_name = "FILE")]
    pub texts: Option<PathBuf>,
    /// A token on each line, the common ones first; the teacher's own when not given.
    #[arg(long, value_name = "FILE")]
    pub vocabulary: Option<PathBuf>,
    /// How often the texts are gone through.
    #[arg(long, default_value_t = 5)]
    pub epochs: usize,
}

/// Writes a table of word vectors that is distilled from a transformer.
pub fn distil(args: &Args) -> Result<(), Failure> {
    let teacher = SentenceModel::open(&args.teacher)?;
    let own = args.teacher.join("vocab.txt");
    let lines = text_of(args.vocabulary.as_ref().unwrap_or(&own))?;
    let vocabulary = Vocabulary::from_lines(&lines).ok_or("the vocabulary holds too many tokens")?;
    let tokens = teacher_token_states(&teacher, &text_of(&own)?, &lines)?;
    let texts = args.texts.as_deref().map(read_lines).transpose()?.unwrap_or_default();
    let taught = teacher_vectors(&teacher, &texts)?;
    // The teacher's own directions, those of real texts where there are enough of them.
    let shown = if taught.nrows() >= DIMENSIONS { &taught } else { &tokens };
    let mean = shown.mean_axis(Axis(0)).ok_or("there is nothing to learn from")?;
    let directions = principal(&(shown - &mean), DIMENSIONS);
    let mut table = (&tokens - &mean).dot(&directions);
    for (mut row, weight) in table.rows_mut().into_iter().zip(weights(tokens.nrows())) {
        row *= weight;
    }
    if !texts.is_empty() {
        let targets = train::of_length_one((&taught - &mean).dot(&directions));
        train(&mut table, &Texts::new(&vocabulary, &texts, targets), args.epochs);
    }
    fs::write(&args.out, quantize_to_four_bits(&table))?;
    fs::write(temporary_path(&args.out), in_bytes(&mean, &directions))?;
    Ok(())
}

fn temporary_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".projection");
    name.into()
}

/// The teacher's state of each token of the vocabulary, alone.
fn teacher_token_states(teacher: &SentenceModel, own: &str, lines: &str) -> Result<Array2<f32>, Failure> {
    let known = Vocabulary::from_lines(own).ok_or("the teacher's vocabulary holds too many tokens")?;
    let number = |token: &str| known.number(token).ok_or_else(|| format!("the teacher has no token {token}"));
    let numbers = lines.lines().map(number).collect::<Result<Vec<_>, _>>()?;
    rows(&in_parallel(&numbers, |token| Ok(teacher.state_of(*token)?))?)
}

/// The teacher's vectors of texts.
fn teacher_vectors(teacher: &SentenceModel, texts: &[String]) -> Result<Array2<f32>, Failure> {
    let vectors = in_parallel(texts, |text| {
        let vector = teacher.embed(text)?.ok_or_else(|| format!("a text without words: {text}"))?;
        Ok(vector.numbers().to_vec())
    })?;
    if vectors.is_empty() {
        return Ok(Array2::zeros((0, teacher.model().dimensions)));
    }
    rows(&vectors)
}

fn in_parallel<T: Sync, R: Send>(
    all: &[T],
    each: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let results = system::in_parallel(threads, all, |item| each(item).map_err(|error| error.to_string()));
    Ok(results.into_iter().collect::<Result<_, _>>()?)
}

fn rows(rows: &[Vec<f32>]) -> Result<Array2<f32>, Failure> {
    let width = rows.first().map_or(0, Vec::len);
    Ok(Array2::from_shape_vec((rows.len(), width), rows.concat())?)
}

/// The weight of each token: little where it is common, by Zipf's law over the order of the vocabulary.
fn weights(count: usize) -> impl Iterator<Item = f32> {
    let all: f32 = (1..=count).map(|rank| 1.0 / rank as f32).sum();
    (1..=count).map(move |rank| COMMON / (COMMON + 1.0 / (rank as f32 * all)))
}

fn in_bytes(mean: &Array1<f32>, directions: &Array2<f32>) -> Vec<u8> {
    mean.iter().chain(directions.iter()).flat_map(|number| number.to_le_bytes()).collect()
}

/// A vocabulary, of which none is larger than this.
fn text_of(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    File::open(path)?.take(16 << 20).read_to_string(&mut text)?;
    Ok(text)
}

fn read_lines(path: &Path) -> Result<Vec<String>, Failure> {
    let lines = BufReader::new(File::open(path)?).lines().collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line.chars().any(char::is_alphanumeric)).collect())
}
