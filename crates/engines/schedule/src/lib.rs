//! Jobs that are to be done at set times: which are due, who may start them, what became of each run.
//!
//! The rules ([`When`], [`due`], [`course`]) are pure and are handed the time; [`Book`] keeps jobs and runs, and sees to
//! it that of several daemons one fires. How a job is started is the caller's business: [`Hands`].

mod book;
mod due;
mod error;
mod job;
mod lease;
mod row;
mod run;
mod tick;
mod when;

pub use book::{Book, Claim, FILE};
pub use due::{Course, Due, course, due};
pub use error::{Error, Invalid};
pub use job::{Change, Job, JobId, NewJob, Options, Overlap, Payload, SessionTarget};
pub use lease::Lease;
pub use run::{Outcome, Run, RunId, RunState, Trigger};
pub use tick::{Ending, Hands, Seen, Start, Started, Tick, run_now, settle, tick};
pub use when::When;
