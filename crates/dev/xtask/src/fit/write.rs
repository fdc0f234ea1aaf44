//! The coefficients as a file of Rust, with what they were made of.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use selection::chance::{ChanceModel, Coefficients, ResumeFact};

use super::{Case, FACTS, Group, by, model};
use crate::Failure;
use crate::logistic::{Fitted, Sample};

/// How often people are resampled for the intervals.
const DRAWS: usize = 200;

/// The fitted model, with the facts' averages, cut to what is written.
pub(super) fn coefficients(fitted: &Fitted<FACTS>, samples: &[Sample<FACTS>]) -> Coefficients {
    let mean = |at: usize| {
        samples.iter().map(|sample| sample.numbers[at]).sum::<f64>() / samples.len().max(1) as f64
    };
    let mut means = [0.0; FACTS];
    means.iter_mut().enumerate().for_each(|(at, of)| *of = round(mean(at)));
    Coefficients { intercept: round(fitted.intercept), weights: fitted.weights.map(round), means }
}

fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// The source file with the coefficients and their intervals.
pub(super) fn source(
    model: &ChanceModel,
    long: &[Case],
    short: &[Case],
    folders: &[PathBuf],
) -> Result<String, Failure> {
    let mut text = String::from("//! Made by `cargo xtask fit`; do not edit. Fitted on\n");
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let count = |cases: &[Case]| cases.iter().filter(|case| is_of(case, &name)).count();
        let (hash, counts) = (hash(folder)?, (count(long), count(short)));
        writeln!(text, "//! - {name}: {} + {} decisions, sha256 {hash}", counts.0, counts.1)?;
    }
    text += "//!\n//! Before each set the 95% intervals of its coefficients, people resampled.\n\n\
             use super::Coefficients;\n";
    let drawn = drawn(long, short);
    let parts: [(&str, &str, &Coefficients, Part); 2] = [
        ("LONG", "After half an hour and more.", &model.long, |model| &model.long),
        ("SHORT", "After five minutes and less than half an hour.", &model.short, |model| &model.short),
    ];
    for (name, doc, of, part) in parts {
        writeln!(
            text,
            "\n/// {doc}\n///\n/// - intercept: {}",
            interval(&drawn, |model| part(model).intercept)
        )?;
        for (at, fact) in ResumeFact::ALL.iter().enumerate() {
            let interval = interval(&drawn, |model| part(model).weights[at]);
            writeln!(text, "/// - `{}`: {interval}", fact.name())?;
        }
        let list = |numbers: [f64; FACTS]| numbers.map(|number| format!("{number:?}")).join(", ");
        writeln!(text, "pub(super) const {name}: Coefficients = Coefficients {{")?;
        writeln!(text, "    intercept: {:?},\n    weights: [{}],", of.intercept, list(of.weights))?;
        writeln!(text, "    means: [{}],\n}};", list(of.means))?;
    }
    Ok(text)
}

/// One of the two sets of coefficients.
type Part = fn(&ChanceModel) -> &Coefficients;

fn is_of(case: &Case, folder: &str) -> bool {
    case.point.moment.group.as_deref() == Some(folder)
}

/// Models of resampled people.
fn drawn(long: &[Case], short: &[Case]) -> Vec<ChanceModel> {
    let mut people: BTreeMap<String, (Vec<&Case>, Vec<&Case>)> = BTreeMap::new();
    for case in long {
        people.entry(by(Group::Person, case)).or_default().0.push(case);
    }
    for case in short {
        people.entry(by(Group::Person, case)).or_default().1.push(case);
    }
    let people: Vec<_> = people.into_values().collect();
    let mut random = fastrand::Rng::with_seed(7);
    let mut draw = || {
        let some: Vec<_> = (0..people.len()).map(|_| &people[random.usize(..people.len())]).collect();
        let of_long: Vec<Case> = some.iter().flat_map(|one| &one.0).map(|case| (*case).clone()).collect();
        let of_short: Vec<Case> = some.iter().flat_map(|one| &one.1).map(|case| (*case).clone()).collect();
        model(&of_long, &of_short)
    };
    (0..DRAWS).map(|_| draw()).collect()
}

fn interval(drawn: &[ChanceModel], of: impl Fn(&ChanceModel) -> f64) -> String {
    let mut all: Vec<f64> = drawn.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    let outside = drawn.len() / 40;
    format!("{:.2} to {:.2}", all[outside], all[all.len() - 1 - outside])
}

/// The hash of a folder's decisions.
fn hash(folder: &Path) -> Result<String, Failure> {
    use sha2::{Digest as _, Sha256};
    let mut hash = Sha256::new();
    for name in ["decisions-quiet.jsonl", "decisions-short.jsonl"] {
        #[expect(clippy::disallowed_methods, reason = "files of the makers' own")]
        hash.update(std::fs::read(folder.join(name))?);
    }
    let first = hash.finalize().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Ok(format!("{first:016x}"))
}
