//! How good answers are, in numbers with intervals: rankings against graded judgements, choices against what
//! people did.
//!
//! Pure: labels and answers in, figures out. Who asks, and where the labels lie, is the business of others.

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
