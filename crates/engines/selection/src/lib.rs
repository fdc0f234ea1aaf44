//! Chooses the session a new task should go to: resume one, start a fresh one, or wait; with reasons in words.
//!
//! Pure: a task and candidates in, a decision out. [`calibrated`] is the default rule, fitted on people's decisions;
//! [`seed`] is the sum of five factors from OpenClaw's design. Reading transcripts, asking a model and storing
//! decisions are left to others.

pub mod calibrated;
mod candidate;
mod ceilings;
pub mod chance;
mod considered;
mod decision;
mod duration;
mod factors;
mod relevance;
mod resume_cost;
pub mod seed;
mod weights;

pub use candidate::{Asker, Budget, Candidate, Occupancy};
pub use ceilings::Ceiling;
pub use considered::{Considered, ResumeEstimate, ResumeObstacle};
pub use decision::{
    Action, Bars, Decision, MAX_CONSIDERED, Occupant, Rule, Task, forced_decision, no_sessions,
};
pub use duration::ago;
pub use factors::{Factors, factors};
pub use relevance::{
    Judge, Judgement, MAX_JUDGED, Relevance, RelevanceReason, about, keyword_relevance, parse_ratings,
    prompt, worth_asking,
};
pub use resume_cost::{CACHE_MINUTES, ContextCost, WINDOW, resume_cost};
pub use weights::Weights;
