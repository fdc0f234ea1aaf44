//! Fits the coefficients of `pick` on decisions of people, and says what they are worth for people they were not
//! fitted on (docs/selection-quality.md).

mod data;
mod held_back;
mod write;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

pub use data::{Case, cases};
pub use held_back::{Group, Held, by, held_back};
use selection::chance::ChanceModel;

use crate::Failure;
use crate::logistic::{Fitted, Sample, fit as fitted};

/// How many facts there are.
pub const FACTS: usize = selection::chance::ResumeFact::ALL.len();
/// How strongly the coefficients of a long quiet time are drawn towards nothing, in samples.
const STRENGTH: f64 = 10.0;
/// How strongly those of a short one are drawn towards those of a long one.
const STRENGTH_SHORT: f64 = 10.0;

/// The arguments: the decisions to fit on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Claude config folders, each with `decisions-quiet.jsonl`, the decisions after half an hour and more, and
    /// `decisions-short.jsonl`, those after five minutes and less than half an hour.
    #[arg(value_name = "FOLDER", required = true)]
    pub folders: Vec<PathBuf>,
    /// Where the coefficients are written as Rust.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Fits and measures; answers what is to be printed.
pub fn fit(args: &Args) -> Result<String, Failure> {
    let long = cases(&args.folders, "decisions-quiet.jsonl")?;
    let short = cases(&args.folders, "decisions-short.jsonl")?;
    let mut text = format!("{} decisions after half an hour, {} after less\n", long.len(), short.len());
    for group in [Group::Owner, Group::Person] {
        write!(text, "{}", held_back(&long, &short, group)?)?;
    }
    let model = model(&long, &short);
    if let Some(out) = &args.out {
        std::fs::write(out, write::source(&model, &long, &short, &args.folders)?)?;
        writeln!(text, "\nwritten to {}", out.display())?;
    }
    Ok(text)
}

/// The coefficients that fit these cases.
pub fn model(long: &[Case], short: &[Case]) -> ChanceModel {
    let of_long = fitted(&samples(long), &Fitted::NOTHING, STRENGTH);
    let of_short = fitted(&samples(short), &of_long, STRENGTH_SHORT);
    ChanceModel {
        long: write::coefficients(&of_long, &samples(long)),
        short: write::coefficients(&of_short, &samples(short)),
    }
}

/// The cases as samples. An owner with many counts for more than one with few, but only with the square root of their number: what
/// holds for one owner is not what holds for the next.
fn samples(cases: &[Case]) -> Vec<Sample<FACTS>> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for case in cases {
        *counts.entry(by(Group::Owner, case)).or_default() += 1.0;
    }
    let weight = |case: &Case| counts.get(&by(Group::Owner, case)).map_or(1.0, |count| 1.0 / count.sqrt());
    let mean = cases.iter().map(weight).sum::<f64>() / cases.len().max(1) as f64;
    cases.iter().filter_map(|case| case.sample(weight(case) / mean)).collect()
}
