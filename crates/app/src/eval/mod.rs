//! `eval`: how good the answers are, against labels that a person has.

pub mod mine;
pub mod own_bar;
mod places;
mod questions;
pub mod retrieval;
pub mod selection;

use std::path::Path;

pub use measure::{ChoiceMetrics, Estimate, KindMetrics, RankingReport};
use serde::de::DeserializeOwned;

use crate::{Context, Error, Kind, NextStep};

/// The most a file of labels may hold, in bytes.
const LABELS_CAP: u64 = 64 * 1024 * 1024;

/// The labels of a file, one JSON object a line.
fn labels<T: DeserializeOwned>(context: &Context, file: &Path) -> Result<Vec<T>, Error> {
    let failed = |error: &dyn std::error::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), error)
    };
    let path = context.path(file).canonicalize().map_err(|error| failed(&error))?;
    let bytes = system::read_small(&path, LABELS_CAP).map_err(|error| failed(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| failed(&error))?;
    measure::parse_lines(&text).map_err(|bad| {
        let message = format!("{}, line {}: {}", file.display(), bad.number, bad.why);
        Error::new(Kind::Usage, message).next(NextStep::LabelsFormat)
    })
}
