//! Scheduled jobs in CrewHub's shape. A job's id is its name.

use app::cron::{
    self, JobChange, JobInfo, JobRequest, JobSchedule, ListRequest, Payload, RunOutcome, RunState,
    SessionTarget,
};
use app::workers::start::Effort;
use app::{Context, Error, Kind};
use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::crew::change::{Done, milliseconds};
use crate::extract::{At, Given};
use crate::operation::{delete, get, patch, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// The longest name of a job, in characters.
const LONGEST_NAME: usize = 64;

/// What is wrong with a schedule that says too little.
const INCOMPLETE: &str = "schedule needs its kind, and atMs, everyMs or expr with it";

/// All jobs.
#[derive(Debug, Serialize, JsonSchema)]
struct CrewJobs {
    jobs: Vec<CrewJob>,
}

/// A job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CrewJob {
    id: String,
    name: String,
    enabled: bool,
    schedule: CrewSchedule,
    payload: CrewPayload,
    /// `main` or `isolated`.
    session_target: &'static str,
    /// The directory that it runs in.
    directory: String,
    created_at_ms: i64,
    state: JobState,
}

/// How a job's runs went.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct JobState {
    next_run_at_ms: Option<i64>,
    last_run_at_ms: Option<i64>,
    /// `ok`, `error`, `skipped` or `running`.
    last_status: Option<&'static str>,
}

/// When a job is due.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CrewSchedule {
    /// `at`, `every` or `cron`.
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tz: Option<String>,
}

/// What a job says.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CrewPayload {
    /// `systemEvent` or `agentTurn`.
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_seconds: Option<u64>,
}

/// A job to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NewJob {
    schedule: CrewSchedule,
    payload: CrewPayload,
    /// `main` or `isolated`.
    session_target: Option<String>,
    name: Option<String>,
    enabled: Option<bool>,
    /// The directory to run it in; that of the server without it.
    directory: Option<String>,
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
    Ok(Json(CrewJobs { jobs: found.jobs.iter().map(CrewJob::new).collect() }))
}

fn find(context: &Context, name: &str) -> Result<JobInfo, Error> {
    let found =
        cron::list(context, &ListRequest::default())?.jobs.into_iter().find(|job| job.job.spec.name == name);
    found.ok_or_else(|| Error::new(Kind::NotFound, format!("there is no job `{name}`")))
}

async fn one(State(server): State<Shared>, At(name): At<String>) -> Result<Json<CrewJob>, Problem> {
    Ok(Json(CrewJob::new(&server.ask(move |context| find(context, &name)).await?)))
}

impl CrewJob {
    fn new(info: &JobInfo) -> Self {
        let spec = &info.job.spec;
        Self {
            id: spec.name.clone(),
            name: spec.name.clone(),
            enabled: info.job.enabled,
            schedule: schedule(&spec.schedule),
            payload: payload(&spec.payload),
            session_target: match spec.session_target {
                SessionTarget::Main => "main",
                SessionTarget::Isolated => "isolated",
            },
            directory: spec.directory.display().to_string(),
            created_at_ms: info.job.created.as_millisecond(),
            state: JobState {
                next_run_at_ms: milliseconds(info.next),
                last_run_at_ms: info.last_run.as_ref().map(|run| run.claimed.as_millisecond()),
                last_status: info.last_run.as_ref().map(|run| status(&run.state)),
            },
        }
    }
}

fn status(state: &RunState) -> &'static str {
    match state {
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } => "running",
        RunState::Over { outcome: RunOutcome::Skipped, .. } => "skipped",
        RunState::Over { outcome: RunOutcome::Finished, .. } => "ok",
        RunState::Over { .. } => "error",
    }
}

fn schedule(known: &JobSchedule) -> CrewSchedule {
    match known {
        JobSchedule::At { at } => CrewSchedule {
            kind: "at".to_owned(),
            at_ms: Some(at.as_millisecond()),
            ..CrewSchedule::default()
        },
        JobSchedule::Every { every_ms, anchor } => CrewSchedule {
            kind: "every".to_owned(),
            every_ms: Some(*every_ms),
            anchor_ms: Some(anchor.as_millisecond()),
            ..CrewSchedule::default()
        },
        JobSchedule::Cron { expr, tz } => CrewSchedule {
            kind: "cron".to_owned(),
            expr: Some(expr.clone()),
            tz: tz.clone(),
            ..CrewSchedule::default()
        },
    }
}

fn payload(known: &Payload) -> CrewPayload {
    match known {
        Payload::SystemEvent { text } => {
            CrewPayload { kind: "systemEvent".to_owned(), text: Some(text.clone()), ..CrewPayload::default() }
        }
        Payload::AgentTurn { message, model, thinking, timeout_seconds } => CrewPayload {
            kind: "agentTurn".to_owned(),
            text: None,
            message: Some(message.clone()),
            model: model.clone(),
            thinking: thinking.clone(),
            timeout_seconds: *timeout_seconds,
        },
    }
}

impl NewJob {
    /// The same as `cron add` takes it.
    fn request(&self, name: String) -> Result<cron::add::Request, Error> {
        let usage = |text: &str| Error::new(Kind::Usage, text);
        let is_event = match self.payload.kind.as_str() {
            "systemEvent" => true,
            "agentTurn" => false,
            _ => return Err(usage("payload.kind is systemEvent or agentTurn")),
        };
        let task = if is_event { &self.payload.text } else { &self.payload.message };
        let mut request = cron::add::Request {
            name,
            task: task.clone().ok_or_else(|| usage("payload.text or payload.message is missing"))?,
            event: is_event,
            main: self.session_target.as_deref().unwrap_or("main") == "main",
            directory: self.directory.clone(),
            ..cron::add::Request::default()
        };
        if !is_event {
            request.model.clone_from(&self.payload.model);
            request.thinking = effort(self.payload.thinking.as_deref())?;
            request.timeout_seconds = self.payload.timeout_seconds;
        }
        match (self.schedule.kind.as_str(), self.schedule.at_ms, self.schedule.every_ms, &self.schedule.expr)
        {
            ("at", Some(at), _, _) => {
                let at = Timestamp::from_millisecond(at).map_err(|_| usage("schedule.atMs is no time"))?;
                request.at = Some(at.to_string());
            }
            ("every", _, Some(every), _) => request.every = Some(format!("{every}ms")),
            ("cron", _, _, Some(expr)) => {
                request.cron = Some(expr.clone());
                request.tz.clone_from(&self.schedule.tz);
            }
            _ => return Err(usage(INCOMPLETE)),
        }
        Ok(request)
    }
}

fn effort(word: Option<&str>) -> Result<Option<Effort>, Error> {
    let Some(word) = word.filter(|word| !word.is_empty()) else { return Ok(None) };
    let read = serde_json::from_value(Value::String(word.to_owned()));
    read.map(Some).map_err(|_| {
        Error::new(Kind::Usage, format!("payload.thinking is low, medium, high, xhigh or max, not `{word}`"))
    })
}

/// A name for a job that was given none, or one with letters that a name cannot have.
fn plain(name: Option<&str>, now: Timestamp) -> String {
    let wanted = name.unwrap_or_default().trim();
    let letters =
        wanted.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    let plain: String = letters.skip_while(|c| !c.is_ascii_alphabetic()).take(LONGEST_NAME).collect();
    if plain.is_empty() { format!("job-{}", now.as_millisecond()) } else { plain }
}

async fn make(State(server): State<Shared>, Given(wanted): Given<NewJob>) -> Result<Json<CrewJob>, Problem> {
    let made = server
        .ask(move |context| {
            let name = plain(wanted.name.as_deref(), context.now);
            let made = cron::add(context, &wanted.request(name)?)?;
            switched(context, made, wanted.enabled.unwrap_or(true))
        })
        .await?;
    Ok(Json(CrewJob::new(&made)))
}

fn switched(context: &Context, made: JobInfo, is_on: bool) -> Result<JobInfo, Error> {
    if is_on == made.job.enabled {
        return Ok(made);
    }
    cron::switch(context, &JobRequest { job: made.job.spec.name }, is_on)
}

async fn change(
    State(server): State<Shared>,
    At(job): At<String>,
    Given(wanted): Given<CrewJobChange>,
) -> Result<Json<CrewJob>, Problem> {
    let changed = server
        .ask(move |context| {
            let known = find(context, &job)?.job.spec;
            let change = JobChange {
                name: wanted.name.map(|name| plain(Some(&name), context.now)),
                schedule: wanted.schedule.map(|wanted| wanted.read(&known.schedule, context)).transpose()?,
                payload: wanted.payload.map(CrewPayload::read).transpose()?,
                session_target: wanted.session_target.map(|word| target(&word)).transpose()?,
                directory: wanted.directory,
                is_enabled: wanted.enabled,
            };
            cron::change(context, &JobRequest { job }, change)
        })
        .await?;
    Ok(Json(CrewJob::new(&changed)))
}

impl CrewSchedule {
    /// The schedule in the place of another one, whose beginning and time zone it keeps.
    fn read(self, old: &JobSchedule, context: &Context) -> Result<JobSchedule, Error> {
        let time = |at: i64| {
            Timestamp::from_millisecond(at).map_err(|_| Error::new(Kind::Usage, "schedule: this is no time"))
        };
        match (self.kind.as_str(), self.at_ms, self.every_ms, self.expr) {
            ("at", Some(at), _, _) => Ok(JobSchedule::At { at: time(at)? }),
            ("every", _, Some(every_ms), _) => {
                let anchor = match (self.anchor_ms, old) {
                    (Some(anchor), _) => time(anchor)?,
                    (None, JobSchedule::Every { anchor, .. }) => *anchor,
                    (None, _) => context.now,
                };
                Ok(JobSchedule::Every { every_ms, anchor })
            }
            ("cron", _, _, Some(expr)) => {
                let known = match old {
                    JobSchedule::Cron { tz, .. } => tz.clone(),
                    JobSchedule::At { .. } | JobSchedule::Every { .. } => {
                        context.zone().iana_name().map(str::to_owned)
                    }
                };
                Ok(JobSchedule::Cron { expr, tz: self.tz.or(known) })
            }
            _ => Err(Error::new(Kind::Usage, INCOMPLETE)),
        }
    }
}

impl CrewPayload {
    fn read(self) -> Result<Payload, Error> {
        let missing = || Error::new(Kind::Usage, "payload.text or payload.message is missing");
        match self.kind.as_str() {
            "systemEvent" => Ok(Payload::SystemEvent { text: self.text.ok_or_else(missing)? }),
            "agentTurn" => Ok(Payload::AgentTurn {
                message: self.message.ok_or_else(missing)?,
                model: self.model,
                thinking: effort(self.thinking.as_deref())?.map(|effort| effort.word().to_owned()),
                timeout_seconds: self.timeout_seconds,
            }),
            _ => Err(Error::new(Kind::Usage, "payload.kind is systemEvent or agentTurn")),
        }
    }
}

fn target(word: &str) -> Result<SessionTarget, Error> {
    match word {
        "main" => Ok(SessionTarget::Main),
        "isolated" => Ok(SessionTarget::Isolated),
        _ => Err(Error::new(Kind::Usage, "sessionTarget is main or isolated")),
    }
}

async fn remove(State(server): State<Shared>, At(job): At<String>) -> Result<Json<Done>, Problem> {
    server.ask(move |context| cron::remove(context, &JobRequest { job })).await?;
    Ok(Json(Done::new()))
}

async fn enable(State(server): State<Shared>, At(job): At<String>) -> Result<Json<Done>, Problem> {
    server.ask(move |context| cron::switch(context, &JobRequest { job }, true)).await?;
    Ok(Json(Done::new()))
}

async fn disable(State(server): State<Shared>, At(job): At<String>) -> Result<Json<Done>, Problem> {
    server.ask(move |context| cron::switch(context, &JobRequest { job }, false)).await?;
    Ok(Json(Done::new()))
}

async fn run(State(server): State<Shared>, At(job): At<String>) -> Result<Json<Done>, Problem> {
    let run = server.ask(move |context| cron::run(context, &JobRequest { job })).await?;
    match run.run.state {
        RunState::Over { message, .. } => {
            let detail = message.unwrap_or_else(|| "it ended immediately".to_owned());
            Err(Error::new(Kind::Held, format!("the job was not started: {detail}")).into())
        }
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } => Ok(Json(Done::new())),
    }
}
