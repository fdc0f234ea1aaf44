//! What `cron` answers of jobs and their runs, and what its daemon reports.

use jiff::Timestamp;
use schedule::{Job, Run};
use schemars::JsonSchema;
use serde::Serialize;

use crate::workers::PermissionRequest;

/// A job and its next run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "CronJob")]
pub struct JobInfo {
    /// The job's definition and state.
    #[serde(flatten)]
    pub job: Job,
    /// When it is due next; absent where it is not.
    #[serde(serialize_with = "model::optional_time")]
    pub next: Option<Timestamp>,
    /// The newest run; absent before the first.
    pub last_run: Option<Run>,
    /// The pending requests of that run's worker.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<PermissionRequest>,
}

/// All jobs, and whether a daemon is there to do them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "CronListAnswer")]
pub struct JobList {
    /// The jobs, sorted by name.
    pub jobs: Vec<JobInfo>,
    /// Whether a daemon is running.
    pub daemon: bool,
}

/// A run, with the name of its job.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "CronRun")]
pub struct RunInfo {
    /// The name of the job that ran.
    pub job: String,
    /// The run's times and outcome.
    #[serde(flatten)]
    pub run: Run,
}

/// An event that a daemon reports.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DaemonEvent {
    /// It runs the jobs.
    Leads,
    /// Another daemon runs the jobs; this one takes over when that exits.
    Follows,
    /// A run changed.
    Run {
        /// The run as it is now.
        run: Box<RunInfo>,
    },
    /// Something could not be done.
    Problem {
        /// The event as a sentence for a log.
        message: String,
    },
}
