//! Determines what every session is doing now, and on what evidence.
//!
//! The rules are pure and receive the time: [`Tracker`] holds one session, `waiting` decides its activity as
//! specified in `docs/activity.md`. The other modules watch files and processes.

mod bus;
mod facts;
mod files;
mod folder_watcher;
pub mod hooks;
mod input;
pub mod install;
mod jobs;
mod moments;
mod monitor;
mod probe;
mod process;
mod records;
mod registry;
mod replay;
mod session;
mod snapshot;
mod source;
mod subagents;
mod timers;
mod tracker;
mod turn;
mod waiting;
mod worker_report;

pub use bus::{Listener, MonitorEnded};
pub use folder_watcher::FolderWatcher;
pub use jobs::{FoundJob, background_jobs};
pub use monitor::{Monitor, MonitorSettings};
pub use probe::ActivityProbe;
pub use process::{LiveProcess, ProcessState, ProcessStatus};
pub use records::{RegistryRecords, RegistryUpdate};
pub use replay::{RecordedInput, replay};
pub use snapshot::MonitorSnapshot;
pub use timers::Timers;
pub use tracker::Tracker;
pub use worker_report::{WorkerActivity, WorkerReport, WorkerSource, WorkerUpdates};
