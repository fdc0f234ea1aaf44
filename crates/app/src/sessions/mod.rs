//! Queries about sessions: which exist, what happened in one, what they changed and cost.

pub(crate) mod activity;
pub mod annotate;
mod around;
pub mod before;
pub mod blame;
pub mod citation;
pub mod cost;
pub mod day;
pub mod diff;
pub(crate) mod edit_diffs;
pub mod handoff;
pub(crate) mod ledger;
pub mod list;
pub(crate) mod locate;
pub mod lookup;
pub(crate) mod message;
mod note;
pub(crate) mod openclaw_conversation;
pub(crate) mod origin_name;
pub mod page;
pub(crate) mod programs;
pub mod prompts;
pub(crate) mod readable;
pub(crate) mod resolve;
pub(crate) mod same_repository;
pub(crate) mod select;
pub mod session_cost;
pub mod show;
pub(crate) mod totals;
pub(crate) mod unread;
pub mod usage_windows;
mod whole_pages;
mod work_done;

pub use work_done::WorkDone;
