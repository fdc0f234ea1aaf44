//! Which sessions exist and whose they are: every source, merged, each session once, running first.
//!
//! It reads what is new in the files and hands out facts; what they cost and how they look is for others.

mod assembly;
mod card;
mod catalog;
mod describe;
mod discover;
mod facts;
mod filter;
mod fresh;
mod git;
mod kept_cards;
mod lineage;
mod merge;
mod others;
mod overview;
mod pack;
mod past;
mod project;
mod reading;
mod renewal;
mod scan;
mod select;
mod summary_cache;
mod texts;
mod types;

pub use catalog::{describe_some, messages, read};
pub use discover::find;
pub use filter::Filter;
pub use overview::{Extent, overview, survey};
pub use past::{Past, past, repository};
pub use select::select;
pub use types::{Catalog, Detail, Entry, Found, Places, Progress, Work};
