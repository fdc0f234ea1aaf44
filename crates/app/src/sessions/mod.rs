//! Asking about sessions: which there are, what was said in one, what they took.

pub(crate) mod activity;
pub mod cost;
pub(crate) mod ledger;
pub mod list;
pub(crate) mod listing;
pub mod lookup;
mod openclaw_conversation;
pub(crate) mod resolve;
pub mod show;
pub(crate) mod totals;
pub(crate) mod unread;
