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

pub use choice::{Act, Choice, Moment, Tally, newest, newest_of_branch, tally};
pub use interval::{Estimate, estimate};
pub use lines::{BadLine, lines};
pub use mask::Mask;
pub use ranking::{Query, Ranked, Score, score};
pub use report::{Answered, Figures, Report, report};
