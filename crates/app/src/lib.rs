//! Every thing a person or agent can ask for, once: one file each, named as the user types it.
//!
//! Functions over an [`App`] that return data. Nothing here prints, and only `config` reads the environment.

mod activity;
mod claude;
pub mod config;
mod copy;
pub mod cost;
mod course;
pub mod cron;
mod decisions;
mod demo;
pub mod doctor;
pub mod embed;
pub mod errand;
mod error;
pub mod eval;
pub mod export;
mod field;
pub mod fork;
mod hold;
pub mod hooks;
pub mod index;
pub mod intent;
mod labels;
mod ledger;
pub mod list;
pub mod memory;
mod memory_score;
mod moment;
pub mod pick;
mod pieces;
mod place;
mod registry;
mod relevance;
mod repo;
mod resolve;
pub mod resume;
pub mod run;
pub mod search;
mod secrets;
mod session_json;
mod settings;
pub mod show;
mod spoken;
mod state_folder;
pub mod status;
mod talk;
#[cfg(test)]
mod testing;
mod totals;
mod trees;
mod unread;
pub mod watch;
pub mod which;
pub mod why_not;
pub mod workers;
pub mod worktree;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use ::workers::quoted;
pub use config::Config;
pub use error::{Error, Kind};
pub use moment::moment;
pub use pieces::Pieces;
pub use resolve::resolve;
pub use secrets::Secrets;
pub use session_json::SessionJson;
pub use settings::{Engine, Notify, RuleName, Settings};
pub use unread::unread;

/// The opened parts, and what the caller knows of the moment.
#[derive(Debug, Clone)]
pub struct App {
    /// Where everything lies, and the settings.
    pub config: Config,
    /// The time at which the question was asked.
    pub now: Timestamp,
    /// Finds the zone in which days are counted, which takes longer than many an answer needs.
    pub zone: fn() -> TimeZone,
    /// Whether answers hold secrets.
    pub secrets: Secrets,
}
