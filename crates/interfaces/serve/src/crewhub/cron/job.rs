//! A scheduled job as CrewHub writes and reads it.

use app::cron::{self, JobInfo, JobSchedule, Payload, RunOutcome, RunState, SessionTarget};
use app::workers::start::Effort;
use app::{Context, Error, Kind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::crewhub::change::milliseconds;
use crate::state::Server;

/// What is wrong with a schedule that says too little.
const INCOMPLETE: &str = "schedule needs its kind, and atMs, everyMs or expr with it";

/// A job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CrewJob {
    /// Its number, which stays when it gets another name.
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
    /// Why the last run failed.
    last_error: Option<String>,
    last_duration_ms: Option<i64>,
}

/// When a job is due.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CrewSchedule {
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
pub(super) struct CrewPayload {
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
pub(super) struct NewJob {
    schedule: CrewSchedule,
    payload: CrewPayload,
    /// `main` or `isolated`.
    session_target: Option<String>,
    pub(super) name: Option<String>,
    pub(super) enabled: Option<bool>,
    /// The directory to run it in; that of the server without it.
    directory: Option<String>,
}

impl CrewJob {
    /// A job as CrewHub shows it.
    pub(super) fn new(server: &Server, info: &JobInfo) -> Self {
        let spec = &info.job.spec;
        let given = server.store.read(|stored| stored.job_names.get(&spec.name).cloned());
        Self {
            id: info.job.id.to_string(),
            name: given.unwrap_or_else(|| spec.name.clone()),
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
                last_error: info.last_run.as_ref().and_then(|run| fault(&run.state)),
                last_duration_ms: info.last_run.as_ref().and_then(|run| match &run.state {
                    RunState::Over { ended, .. } => {
                        i64::try_from(ended.duration_since(run.claimed).as_millis()).ok()
                    }
                    _ => None,
                }),
            },
        }
    }
}

/// Why a run failed; `None` where it did not.
fn fault(state: &RunState) -> Option<String> {
    match state {
        RunState::Over { outcome: RunOutcome::Failed | RunOutcome::TimedOut, message, .. } => message.clone(),
        _ => None,
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
    pub(super) fn request(&self, name: String) -> Result<cron::add::Request, Error> {
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

impl CrewSchedule {
    /// The schedule in the place of another one, whose beginning and time zone it keeps.
    pub(super) fn read(self, old: &JobSchedule, context: &Context) -> Result<JobSchedule, Error> {
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
    /// What a job says from now on.
    pub(super) fn read(self) -> Result<Payload, Error> {
        let missing = || Error::new(Kind::Usage, "payload.text or payload.message is missing");
        match self.kind.as_str() {
            "systemEvent" => Ok(Payload::SystemEvent { text: self.text.ok_or_else(missing)? }),
            "agentTurn" => Ok(Payload::AgentTurn {
                message: self.message.ok_or_else(missing)?,
                model: self.model,
                thinking: effort(self.thinking.as_deref())?.map(|effort| effort.as_str().to_owned()),
                timeout_seconds: self.timeout_seconds,
            }),
            _ => Err(Error::new(Kind::Usage, "payload.kind is systemEvent or agentTurn")),
        }
    }
}

/// The session a job runs in, by its word.
pub(super) fn target(word: &str) -> Result<SessionTarget, Error> {
    match word {
        "main" => Ok(SessionTarget::Main),
        "isolated" => Ok(SessionTarget::Isolated),
        _ => Err(Error::new(Kind::Usage, "sessionTarget is main or isolated")),
    }
}
