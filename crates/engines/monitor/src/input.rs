//! What the thread that owns the sessions takes in.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use model::SessionId;

use crate::worker_report::WorkerReport;
use crate::{Listener, MonitorSnapshot};

/// What reaches the thread that owns the sessions.
#[derive(Debug)]
pub(crate) enum Input {
    /// The system says that these have changed.
    Changed(Vec<PathBuf>),
    /// The system says that these are not where they were, or that something else is there now.
    Left(Vec<PathBuf>),
    /// The system lost events: anything may have changed.
    Overflow,
    /// The system's events are broken.
    Broken(String),
    /// A worker says what its session does; nothing where it does not hold it any more.
    WorkerReport(SessionId, Option<WorkerReport>),
    /// Somebody wants to hear what happens from now on.
    Listen(usize, Sender<(MonitorSnapshot, Listener)>),
    /// Somebody wants to know how things stand.
    Look(Sender<MonitorSnapshot>),
    /// It is enough.
    Stop,
}
