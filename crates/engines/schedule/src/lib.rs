//! Jobs that are to be done at set times: which are due, who may start them, what became of each run.
//!
//! The rules ([`JobSchedule`], [`due`], [`course`]) are pure and are handed the time; [`JobStore`] keeps jobs and runs, and sees to
//! it that of several daemons one fires. How a job is started is the caller's business: [`Executor`].

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
pub use store::{ClaimOutcome, FILE, JobStore};
pub use tick::{
    Executor, StartOutcome, StartedWorker, TickReport, WorkerOutcome, WorkerStatus, record_finished_runs,
    run_now, tick,
};
