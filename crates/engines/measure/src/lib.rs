//! Quality metrics with confidence intervals: rankings against graded judgements, choices against what people
//! did.
//!
//! Pure: labels and answers go in, metrics come out. Callers read the files and run the searches.

mod choice;
mod interval;
mod lines;
mod mask;
mod ranking;
mod report;

pub use choice::{ChoiceMetrics, LabelledTask, TaskAction, TaskChoice, newest, newest_of_branch, tally};
pub use interval::{Estimate, estimate};
pub use lines::{InvalidLine, parse_lines};
pub use mask::Mask;
pub use ranking::{LabelledQuery, RankedAnswer, RankingScore, score};
pub use report::{KindMetrics, QueryResult, RankingReport, report};
