//! Which session a new task should go to: resume one, begin afresh, or wait; and why, in words.
//!
//! Pure: a task, candidates, their relevance, weights and a moment in; a decision out. Who asks a model for
//! relevance, and where decisions are kept, is the business of others.

mod candidate;
mod ceilings;
mod choose;
mod considered;
mod outlay;
mod seed;

pub use candidate::{Asker, Budget, Candidate, Hold};
pub use ceilings::Ceiling;
pub use choose::{Action, Decision, Task, choose, needs_relevance};
pub use considered::{Considered, Obstacle};
pub use outlay::{CACHE_MINUTES, Outlay, WINDOW, outlay};
pub use seed::{
    ASKED, Factors, Grounds, Judge, Judged, Relevance, Weights, about, factors, keyword, prompt, understood,
    worth_asking,
};
