//! Scheduled jobs in CrewHub's shape. A job's id is its number, which stays; its name is taken for it, too.
//! A name that a person gave it with spaces is kept beside it.

mod job;

use app::cron::{self, JobChange, JobInfo, JobRequest, ListRequest, RunState};
use app::{Context, Error, Kind};
use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::job::{CrewJob, CrewPayload, CrewSchedule, NewJob, target};
use crate::api::cron as jobs;
use crate::crewhub::change::Done;
use crate::extract::{Authorized, JsonBody, PathParams};
use crate::operation::{delete, get, patch, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::scopes;
use crate::state::{Server, Shared};

/// The longest name of a job, in characters.
const LONGEST_NAME: usize = 64;

/// All jobs.
#[derive(Debug, Serialize, JsonSchema)]
struct CrewJobs {
    jobs: Vec<CrewJob>,
}

/// What to change in a job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CrewJobChange {
    schedule: Option<CrewSchedule>,
    payload: Option<CrewPayload>,
    session_target: Option<String>,
    name: Option<String>,
    enabled: Option<bool>,
    directory: Option<String>,
}

const ONE: &str = "/api/cron/jobs/{job}";

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/cron/jobs", "crew_jobs", "All jobs").answer::<CrewJobs>(), list);
    routes
        .add(post("/api/cron/jobs", "add_crew_job", "Adds a job").body::<NewJob>().answer::<CrewJob>(), make);
    routes.add(get(ONE, "crew_job", "One job").answer::<CrewJob>(), one);
    let route = patch(ONE, "change_crew_job", "Changes a job").body::<CrewJobChange>().answer::<CrewJob>();
    routes.add(route, change);
    routes.add(delete(ONE, "remove_crew_job", "Removes a job").answer::<Done>(), remove);
    routes.add(post(format!("{ONE}/enable"), "enable_crew_job", "Enables a job").answer::<Done>(), enable);
    routes
        .add(post(format!("{ONE}/disable"), "disable_crew_job", "Disables a job").answer::<Done>(), disable);
    routes.add(post(format!("{ONE}/run"), "run_crew_job", "Runs a job now").answer::<Done>(), run);
}

async fn list(State(server): State<Shared>) -> Result<Json<CrewJobs>, Problem> {
    let found = server.ask(|context| cron::list(context, &ListRequest::default())).await?;
    Ok(Json(CrewJobs { jobs: found.jobs.iter().map(|job| CrewJob::new(&server, job)).collect() }))
}

/// The job with this number or name.
fn find(context: &Context, wanted: &str) -> Result<JobInfo, Error> {
    let is_it = |info: &JobInfo| info.job.spec.name == wanted || info.job.id.to_string() == wanted;
    let found = cron::list(context, &ListRequest::default())?.jobs.into_iter().find(is_it);
    found.ok_or_else(|| Error::new(Kind::NotFound, format!("there is no job `{wanted}`")))
}

async fn one(
    State(server): State<Shared>,
    PathParams(name): PathParams<String>,
) -> Result<Json<CrewJob>, Problem> {
    let found = server.ask(move |context| find(context, &name)).await?;
    Ok(Json(CrewJob::new(&server, &found)))
}

/// A name for a job that was given none, or one with letters that a name cannot have.
fn plain(name: Option<&str>, now: Timestamp) -> String {
    let wanted = name.unwrap_or_default().trim();
    let letters =
        wanted.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    let plain: String = letters.skip_while(|c| !c.is_ascii_alphabetic()).take(LONGEST_NAME).collect();
    if plain.is_empty() { format!("job-{}", now.as_millisecond()) } else { plain }
}

async fn make(
    State(server): State<Shared>,
    JsonBody(wanted): JsonBody<NewJob>,
) -> Result<Json<CrewJob>, Problem> {
    let made = server
        .work(move |server, context| {
            let name = plain(wanted.name.as_deref(), context.now);
            let made = cron::add(context, &wanted.request(name)?)?;
            let made = switched(context, made, wanted.enabled.unwrap_or(true))?;
            keep_name(server, &made.job.spec.name, wanted.name.as_deref())?;
            Ok(made)
        })
        .await?;
    Ok(Json(CrewJob::new(&server, &made)))
}

/// Keeps the name that a person gave a job where it is another one than the job's own.
fn keep_name(server: &Server, own: &str, given: Option<&str>) -> Result<(), Problem> {
    let given: Option<String> = given.map(|given| given.trim().chars().take(LONGEST_NAME).collect());
    let given = given.filter(|given| !given.is_empty() && given != own);
    if server.store.read(|stored| stored.job_names.get(own).cloned()) == given {
        return Ok(());
    }
    server.store.edit(|stored| {
        match given {
            Some(given) => stored.job_names.insert(own.to_owned(), given),
            None => stored.job_names.remove(own),
        };
        Ok(())
    })
}

fn switched(context: &Context, made: JobInfo, is_on: bool) -> Result<JobInfo, Error> {
    if is_on == made.job.enabled {
        return Ok(made);
    }
    cron::switch(context, &JobRequest { job: made.job.spec.name }, is_on)
}

async fn change(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(job): PathParams<String>,
    JsonBody(wanted): JsonBody<CrewJobChange>,
) -> Result<Json<CrewJob>, Problem> {
    let job = JobRequest { job };
    let changed = server
        .work(move |server, context| {
            scopes::check_job(&grant, context, &job)?;
            let known = find(context, &job.job)?.job.spec;
            let change = JobChange {
                name: wanted.name.as_deref().map(|name| plain(Some(name), context.now)),
                schedule: wanted.schedule.map(|wanted| wanted.read(&known.schedule, context)).transpose()?,
                payload: wanted.payload.map(CrewPayload::read).transpose()?,
                session_target: wanted.session_target.map(|word| target(&word)).transpose()?,
                directory: wanted.directory,
                is_enabled: wanted.enabled,
            };
            let changed = cron::change(context, &job, change)?;
            if let Some(name) = wanted.name {
                keep_name(server, &known.name, None)?;
                keep_name(server, &changed.job.spec.name, Some(&name))?;
            }
            Ok(changed)
        })
        .await?;
    Ok(Json(CrewJob::new(&server, &changed)))
}

async fn remove(
    State(server): State<Shared>,
    PathParams(job): PathParams<String>,
) -> Result<Json<Done>, Problem> {
    server
        .work(move |server, context| {
            let removed = cron::remove(context, &JobRequest { job })?;
            keep_name(server, &removed.job.spec.name, None)
        })
        .await?;
    Ok(Json(Done::new()))
}

async fn enable(
    server: State<Shared>,
    authorized: Authorized,
    job: PathParams<String>,
) -> Result<Json<Done>, Problem> {
    let _ = jobs::enable(server, authorized, job).await?;
    Ok(Json(Done::new()))
}

async fn disable(server: State<Shared>, job: PathParams<String>) -> Result<Json<Done>, Problem> {
    let _ = jobs::disable(server, job).await?;
    Ok(Json(Done::new()))
}

async fn run(
    server: State<Shared>,
    authorized: Authorized,
    job: PathParams<String>,
) -> Result<Json<Done>, Problem> {
    let Json(run) = jobs::run(server, authorized, job).await?;
    match run.run.state {
        RunState::Over { message, .. } => {
            let detail = message.unwrap_or_else(|| "it ended immediately".to_owned());
            Err(Error::new(Kind::Held, format!("the job was not started: {detail}")).into())
        }
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } => Ok(Json(Done::new())),
    }
}
