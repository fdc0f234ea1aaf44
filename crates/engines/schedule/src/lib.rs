//! Scheduled jobs: which are due, who may start them, and the outcome of each run.
//!
//! The rules ([`JobSchedule`], [`due`], [`due_action`]) are pure and receive the time. [`JobStore`] keeps
//! jobs and runs and ensures that only one of several daemons starts a job. The caller starts jobs, by
//! implementing [`Executor`].

mod due;
mod error;
mod job;
mod job_schedule;
mod lease;
mod row;
mod run;
mod store;
mod tick;

pub use due::{DueAction, DueTime, due, due_action};
pub use error::{InvalidJob, JobStoreError};
pub use job::{Job, JobId, JobOptions, JobSpec, JobSwitch, OverlapPolicy, Payload, SessionTarget};
pub use job_schedule::JobSchedule;
pub use lease::Lease;
pub use run::{Run, RunId, RunOutcome, RunState, Trigger};
pub use store::{ClaimOutcome, FILE, JobStore, JobUpdate};
pub use tick::{
    Executor, StartOutcome, StartedWorker, TickReport, WorkerOutcome, WorkerStatus, record_finished_runs,
    run_now, tick,
};
