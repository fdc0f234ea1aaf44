//! A change to a job: its history stays, and what is not named stays as it is.

use schedule::{Job, JobSchedule, JobSpec, JobSwitch, JobUpdate, Payload, SessionTarget};

use super::add::{check, directory, require_future};
use super::{JobInfo, JobRequest, describe, executor, find_job, open, unknown_job, unusable};
use crate::{Context, Error, Kind, NextStep};

/// What to change in a job; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct JobChange {
    /// Another name.
    pub name: Option<String>,
    /// Another schedule.
    pub schedule: Option<JobSchedule>,
    /// Another text, with the options of its session.
    pub payload: Option<Payload>,
    /// Another session.
    pub session_target: Option<SessionTarget>,
    /// Another directory, as typed.
    pub directory: Option<String>,
    /// Whether it runs when it is due.
    pub is_enabled: Option<bool>,
}

/// Changes a job.
pub fn change(context: &Context, request: &JobRequest, change: JobChange) -> Result<JobInfo, Error> {
    let mut store = open(context)?;
    let old = find_job(&store, &request.job)?;
    let (id, is_enabled) = (old.id, change.is_enabled.unwrap_or(old.enabled));
    let spec = changed(context, old, change)?;
    let mut job = match store.update(id, &spec, context.now).map_err(unusable)? {
        JobUpdate::Updated(job) => *job,
        JobUpdate::Gone => return Err(unknown_job(&request.job)),
        JobUpdate::NameTaken => {
            let taken = format!("there is already a job `{}`", spec.name);
            return Err(Error::new(Kind::Usage, taken).next(NextStep::RenameJob { job: spec.name }));
        }
    };
    if job.enabled != is_enabled {
        let switch = if is_enabled { JobSwitch::Enable } else { JobSwitch::Disable };
        let switched = store.set_enabled(id, switch, context.now).map_err(unusable)?;
        job = switched.ok_or_else(|| unknown_job(&request.job))?;
    }
    describe(context, &store, job)
}

/// The definition with the change.
fn changed(context: &Context, old: Job, change: JobChange) -> Result<JobSpec, Error> {
    let mut spec = old.spec;
    if let Some(JobSchedule::At { at }) = &change.schedule {
        require_future(context, *at, &at.to_string())?;
    }
    if let Some(payload) = change.payload
        // What is sent back as it was shown, without secrets, is no change.
        && payload != context.redacted(&spec.payload)?
    {
        spec.payload = payload;
    }
    if let Some(named) = &change.directory {
        spec.directory = directory(context, Some(named))?;
    }
    spec.name = change.name.unwrap_or(spec.name);
    spec.schedule = change.schedule.unwrap_or(spec.schedule);
    spec.session_target = change.session_target.unwrap_or(spec.session_target);
    check(&spec)?;
    executor::check(&spec.options)?;
    Ok(spec)
}
