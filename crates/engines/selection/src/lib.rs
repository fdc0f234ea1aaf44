//! Which session a new task should go to: resume one, begin a fresh one, or wait; and why, in words.
//!
//! Pure: a task, candidates and what is known of them in; a decision out. [`calibrated`] is the rule that is used,
//! fitted on decisions of people; [`seed`] is the sum of five factors that OpenClaw's design describes. Who reads
//! transcripts, asks a model and keeps decisions are others.

pub mod calibrated;
mod candidate;
mod ceilings;
pub mod chance;
mod choose;
mod considered;
mod duration;
mod factors;
mod relevance;
mod resume_cost;
pub mod seed;
mod weights;

pub use candidate::{Asker, Budget, Candidate, Hold};
pub use ceilings::Ceiling;
pub use choose::{Action, Decision, MAX_CONSIDERED, Rule, Task, forced_decision};
pub use considered::{Considered, ResumeEstimate, ResumeObstacle};
pub use duration::ago;
pub use factors::{Factors, factors};
pub use relevance::{
    Judge, Judgement, MAX_JUDGED, Relevance, RelevanceReason, about, keyword_relevance, parse_ratings,
    prompt, worth_asking,
};
pub use resume_cost::{CACHE_MINUTES, ResumeCost, WINDOW, resume_cost};
pub use weights::Weights;
