//! Fits the coefficients of `pick` on decisions of people, and says what they are worth on decisions they were not
//! fitted on (docs/selection-quality.md).

mod data;
mod held_back;
mod write;

use std::fmt::Write as _;
use std::path::PathBuf;

pub use data::{Case, cases};
pub use held_back::{Group, Held, by, evaluate, held_back};
use selection::chance::ChanceModel;

use crate::Failure;
use crate::logistic::{Fitted, Sample, fit as fitted};

/// How many facts there are.
pub const FACTS: usize = selection::chance::ResumeFact::ALL.len();
/// How strongly the coefficients of a long quiet time are drawn towards nothing.
const STRENGTH: f64 = 0.1;
/// How strongly those of a short one are drawn towards those of a long one.
const STRENGTH_SHORT: f64 = 1.0;

/// The arguments: the decisions to fit on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Claude config folders, each with `decisions-quiet.jsonl`, the decisions after half an hour and more, and
    /// `decisions-short.jsonl`, those after five minutes and less than half an hour.
    #[arg(value_name = "FOLDER", required = true)]
    pub folders: Vec<PathBuf>,
    /// A chance from here on is enough.
    #[arg(long, value_name = "CHANCE", default_value_t = 0.55)]
    pub threshold: f64,
    /// One more config folder, whose `decisions.jsonl` what is fitted on the others is judged on.
    #[arg(long, value_name = "FOLDER")]
    pub judge: Option<PathBuf>,
    /// Where the coefficients are written as Rust.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Fits and measures; answers what is to be printed.
pub fn fit(args: &Args) -> Result<String, Failure> {
    let long = cases(&args.folders, "decisions-quiet.jsonl")?;
    let short = cases(&args.folders, "decisions-short.jsonl")?;
    let mut text = format!("{} decisions after half an hour, {} after less\n", long.len(), short.len());
    for group in [Group::Repository, Group::Person] {
        write!(text, "{}", held_back(&long, &short, group, args.threshold)?)?;
    }
    let model = model(&long, &short);
    if let Some(folder) = &args.judge {
        let judged = cases(std::slice::from_ref(folder), "decisions.jsonl")?;
        write!(text, "{}", evaluate(&judged, &long, model, args.threshold)?)?;
    }
    if let Some(out) = &args.out {
        std::fs::write(out, write::source(&model, &long, &short, &args.folders)?)?;
        writeln!(text, "\nwritten to {}", out.display())?;
    }
    Ok(text)
}

/// The coefficients that fit these cases.
pub fn model(long: &[Case], short: &[Case]) -> ChanceModel {
    let samples = |cases: &[Case]| cases.iter().filter_map(Case::sample).collect::<Vec<Sample<FACTS>>>();
    let of_long = fitted(&samples(long), &Fitted::NOTHING, STRENGTH);
    let of_short = fitted(&samples(short), &of_long, STRENGTH_SHORT);
    ChanceModel {
        long: write::coefficients(&of_long, &samples(long)),
        short: write::coefficients(&of_short, &samples(short)),
    }
}
