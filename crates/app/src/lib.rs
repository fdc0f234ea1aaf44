//! Every thing a person or agent can ask for, once: one file each, named as the user types it.
//!
//! Functions over a [`Context`] that return data. Nothing here prints, and only `config` reads the environment.

pub mod bridge;
pub mod choose;
pub mod config;
mod context;
pub mod cron;
pub mod dashboard;
pub mod doctor;
mod error;
pub mod eval;
mod ids;
pub mod live;
mod moment;
mod next_step;
pub mod proceed;
pub mod quoting;
pub mod repository;
pub mod retention;
pub mod schema;
pub mod search;
pub mod sessions;
mod size;
pub mod store;
#[cfg(test)]
mod testing;
pub mod workers;

pub use ::workers::quoted;
pub use config::settings::{Engine, Notify, RuleName, Settings};
pub use config::{Config, DemoFolder, TerminalSession};
pub use context::{
    App, Caller, Cancellation, Context, Progress, ProgressSink, RecentFiles, RequestFiles, Secrets, Stage,
};
pub use error::{Error, Kind};
pub use moment::Moment;
pub use next_step::NextStep;
pub use size::bytes;
