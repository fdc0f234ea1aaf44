//! Choosing: which session a task should go to, why, and what the person then did.

pub mod answer;
pub(crate) mod candidates;
pub(crate) mod decisions;
pub(crate) mod directory_schedules;
pub(crate) mod labels;
pub(crate) mod outcome;
pub mod pack;
pub mod pick;
pub(crate) mod relevance;
pub mod request;
pub mod resume_cost;
pub mod why_not;
mod work_trees;
