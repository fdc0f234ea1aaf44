//! Who says what a question means, and beside whose vectors it is laid: the table in the binary, or a model
//! that a person chose. Where the model cannot be had the table answers, and the answer says why.

use std::path::Path;
use std::time::Duration;

use embedding::{ChosenModel, ModelChoice, Vector, Vectors, to_table};
use system::error_chain;

use crate::files::FileList;
use crate::meaning;
use crate::model_vectors::ModelVectors;
use crate::vectors;

/// What the table in the binary is called.
pub const BUILT_IN: &str = "built-in";
/// From such a share on, the vectors of a chosen model stand for what was said.
const ENOUGH: f64 = 0.9;

/// How questions are understood where a person chose a model.
#[derive(Debug, Clone)]
pub struct QueryEncoder {
    /// The model.
    pub choice: ModelChoice,
    /// How many of the best sessions it reads again, on both sides; 0 for none.
    pub deep: usize,
    /// Waits before a busy endpoint is asked again; false when the answer is due.
    pub pause: fn(Duration) -> bool,
}

/// Who said what the question means, and how it was compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EncoderReport {
    /// Who embedded the question.
    pub question: String,
    /// Who embedded what was said.
    pub documents: String,
    /// How much of what was said has vectors of the chosen model, between 0 and 1; absent where none was chosen.
    pub covered: Option<f64>,
    /// How many sessions the chosen model read again.
    pub rescored: usize,
    /// Why the chosen model did not do what it was asked to.
    pub fallback: Option<String>,
}

/// A question as numbers, with the vectors it can be compared with.
pub(crate) struct EncodedQuery {
    pub(crate) vector: Vector,
    /// As the table embeds it, where it knows a word of it.
    pub(crate) by_table: Option<Vector>,
    /// The vectors of what was said, where they are not the table's.
    pub(crate) kept: Option<Vectors>,
    /// The chosen model, open, with the question as it embeds it.
    pub(crate) model: Option<(ChosenModel, Vector)>,
    pub(crate) understood: EncoderReport,
}

/// Reads a question; `None` when nobody understands it, with the language as the only reason there can be.
///
/// `text` is the folder of the text index, `rows` how many vectors of the table count.
pub(crate) fn encode(
    question: &str,
    chosen: Option<&QueryEncoder>,
    list: &FileList,
    text: &Path,
    rows: u64,
) -> Option<EncodedQuery> {
    let by_table = vectors::embedder().embed(question);
    let is_known = meaning::is_understood(question);
    let mut understood = EncoderReport {
        question: BUILT_IN.to_owned(),
        documents: BUILT_IN.to_owned(),
        covered: chosen.map(|_| 0.0),
        ..EncoderReport::default()
    };
    let asked = chosen.map(|chosen| ask(chosen, question));
    let by_words = |by_table: Option<Vector>, understood, model| {
        let vector = by_table.clone().filter(|_| is_known)?;
        Some(EncodedQuery { vector, by_table, kept: None, model, understood })
    };
    let (model, vector) = match asked {
        None => return by_words(by_table, understood, None),
        Some(Err(why)) => {
            understood.fallback = Some(why);
            return by_words(by_table, understood, None);
        }
        Some(Ok(asked)) => asked,
    };
    let is_teacher = model.is_teacher();
    if is_teacher && !is_known {
        return None;
    }
    let index = text.parent().unwrap_or(text);
    let kept = ModelVectors::find(index, model.hash(), list.identity().unwrap_or_default());
    let share = kept.as_ref().map_or(0.0, |kept| kept.share(rows));
    understood.covered = Some(share);
    let enough = kept.filter(|_| share >= ENOUGH);
    if let Some(vectors) = enough.and_then(|kept| kept.vectors(model.hash(), vector.numbers().len())) {
        model.name().clone_into(&mut understood.question);
        model.name().clone_into(&mut understood.documents);
        let kept = Some(vectors);
        return Some(EncodedQuery {
            vector: vector.clone(),
            by_table,
            kept,
            model: Some((model, vector)),
            understood,
        });
    }
    if let Some(in_table) = to_table(&vector).filter(|_| is_teacher) {
        model.name().clone_into(&mut understood.question);
        let model = Some((model, vector));
        return Some(EncodedQuery { vector: in_table, by_table, kept: None, model, understood });
    }
    let percent = 100.0 * share;
    understood.fallback = Some(format!(
        "{percent:.0} % of what was said has vectors of {}; `backstory index --embed` makes the others",
        model.name()
    ));
    by_words(by_table, understood, Some((model, vector)))
}

fn ask(chosen: &QueryEncoder, question: &str) -> Result<(ChosenModel, Vector), String> {
    let model = chosen.choice.open().map_err(|error| error_chain(&error))?;
    let vectors = model.embed(&[question], 1, chosen.pause).map_err(|error| error_chain(&error))?;
    match vectors.into_iter().next().flatten() {
        Some(vector) => Ok((model, vector)),
        None => Err(format!("{} finds no word in the question", model.name())),
    }
}
