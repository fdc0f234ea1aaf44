//! Inputs of the thread that owns the sessions.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use crate::{Listener, MonitorSnapshot};

/// An input of the thread that owns the sessions.
#[derive(Debug)]
pub(crate) enum Input {
    /// The system reports that these paths changed.
    Changed(Vec<PathBuf>),
    /// The system reports that these paths were removed, moved or replaced.
    Left(Vec<PathBuf>),
    /// The system lost events; anything may have changed.
    Overflow,
    /// The system's events failed, with the error.
    Broken(String),
    /// Subscribe with a queue of this capacity.
    Listen(usize, Sender<(MonitorSnapshot, Listener)>),
    /// Return a snapshot.
    Look(Sender<MonitorSnapshot>),
    /// End the thread.
    Stop,
}
