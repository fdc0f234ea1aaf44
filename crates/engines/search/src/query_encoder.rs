//! Embeds a query with the built-in table or a model that a person chose, and decides which vectors it is compared
//! with. Where the chosen model cannot be used, the table is, and the report says why.

use std::path::Path;
use std::time::Duration;

use embedding::{ChosenModel, ModelChoice, Vector, Vectors, to_table};
use system::error_chain;

use crate::files::FileList;
use crate::model_vectors::ModelVectors;
use crate::vectors;

/// The name of the built-in table in reports.
pub const BUILT_IN: &str = "built-in";
/// The share of the text from which the vectors of a chosen model are used.
const ENOUGH: f64 = 0.9;

/// Encodes queries with a model that a person chose.
#[derive(Debug, Clone)]
pub struct QueryEncoder {
    /// The model to use.
    pub choice: ModelChoice,
    /// How many of the best sessions are read again and rescored with the model; 0 for none.
    pub deep: usize,
    /// Waits before a busy endpoint is asked again; false when the answer is due.
    pub pause: fn(Duration) -> bool,
}

/// How a query was encoded and compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EncoderReport {
    /// Who embedded the question.
    pub question: String,
    /// The model that embedded the indexed text.
    pub documents: String,
    /// The share of the indexed text that has vectors of the chosen model, from 0 to 1; `None` where none was chosen.
    pub covered: Option<f64>,
    /// The number of sessions rescored with the chosen model.
    pub rescored: usize,
    /// Why the chosen model was not used as requested.
    pub fallback: Option<String>,
}

/// A question as numbers, with the vectors it can be compared with.
pub(crate) struct EncodedQuery {
    pub(crate) vector: Vector,
    /// The query as the built-in table embeds it; `None` where it knows none of its words.
    pub(crate) by_table: Option<Vector>,
    /// The vectors of the indexed text, where they are not the built-in table's.
    pub(crate) kept: Option<Vectors>,
    /// The chosen model, open, with the question as it embeds it.
    pub(crate) model: Option<(ChosenModel, Vector)>,
    /// Whether the model that embedded the question knows its language.
    pub(crate) is_understood: bool,
    pub(crate) understood: EncoderReport,
}

/// Encodes a query; `None` where no model finds anything in it. The built-in table knows English alone.
///
/// `text` is the folder of the text index, `rows` the number of committed vectors of the built-in table.
pub(crate) fn encode(
    question: &str,
    is_english: bool,
    chosen: Option<&QueryEncoder>,
    list: &FileList,
    text: &Path,
    rows: u64,
) -> Option<EncodedQuery> {
    let by_table = vectors::embedder().embed(question);
    let mut understood = EncoderReport {
        question: BUILT_IN.to_owned(),
        documents: BUILT_IN.to_owned(),
        covered: chosen.map(|_| 0.0),
        ..EncoderReport::default()
    };
    let asked = chosen.map(|chosen| ask(chosen, question));
    let by_words = |by_table: Option<Vector>, understood, model| {
        let vector = by_table.clone()?;
        Some(EncodedQuery { vector, by_table, kept: None, model, is_understood: is_english, understood })
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
    let is_understood = is_english || !is_teacher;
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
            is_understood,
            understood,
        });
    }
    if let Some(in_table) = to_table(&vector).filter(|_| is_teacher) {
        model.name().clone_into(&mut understood.question);
        let model = Some((model, vector));
        return Some(EncodedQuery {
            vector: in_table,
            by_table,
            kept: None,
            model,
            is_understood,
            understood,
        });
    }
    let percent = 100.0 * share;
    understood.fallback = Some(format!("only {percent:.0}% of the text is embedded with {}", model.name()));
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
