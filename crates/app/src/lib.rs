//! Every thing a person or agent can ask for, once: one file each, named as the user types it.
//!
//! Functions over an [`App`] that return data. Nothing here prints, and only `config` reads the environment.

pub mod choose;
pub mod config;
pub mod cron;
pub mod doctor;
mod error;
pub mod eval;
pub mod live;
mod moment;
mod pieces;
pub mod proceed;
pub mod repository;
pub mod search;
mod secrets;
pub mod sessions;
#[cfg(test)]
mod testing;
pub mod workers;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use ::workers::quoted;
pub use config::Config;
pub use config::settings::{Engine, Notify, RuleName, Settings};
pub use error::{Error, Kind};
pub use moment::moment;
pub use pieces::Pieces;
pub use secrets::Secrets;
pub use sessions::resolve::resolve;
pub use sessions::session_json::SessionJson;
pub use sessions::unread::unread;

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
