//! `cron add`: validates and adds a new job.

use std::path::PathBuf;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use model::AgentId;
use schedule::{JobOptions, JobSchedule, JobSpec, OverlapPolicy, Payload, SessionTarget};
use schemars::JsonSchema;
use serde::Deserialize;
use workers::PermissionMode;

use crate::repository::target::RepoTarget;
use crate::workers::instruction::require_short;
use crate::workers::start::Effort;
use crate::{Context, Error, Kind, Moment};

/// The help on an invalid cron expression.
const FIELDS: &str = "it has five fields: minute, hour, day of the month, month, day of the week; for example `0 9 * * MON-FRI`";

/// A new job; exactly one of `at`, `every` and `cron` says when it is due.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CronAddRequest")]
#[allow(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Request {
    /// The job's name: a letter, then up to 63 letters, digits, dots, dashes and underscores.
    pub name: String,
    /// The task that Claude gets at each run.
    pub task: String,
    /// Run once, at this time: 2026-01-31T10:00, or how far ahead it is: `in 20m`.
    pub at: Option<String>,
    /// Run repeatedly, at this interval: 30m, 6h.
    pub every: Option<String>,
    /// Run at the times of this cron expression: `0 9 * * MON-FRI`.
    pub cron: Option<String>,
    /// The IANA name of the cron expression's time zone; the person's without it.
    pub tz: Option<String>,
    /// Send the text to the directory's main session as an event, instead of running it as a task in a new one.
    #[serde(default)]
    pub event: bool,
    /// Run it in the directory's main session instead of a new one.
    #[serde(default)]
    pub main: bool,
    /// The directory to run it in; the directory of the request without it.
    pub directory: Option<String>,
    /// What happens if it is due while an earlier run is still going.
    #[serde(default)]
    pub overlap: OverlapPolicy,
    /// Do not make up for a missed run.
    #[serde(default)]
    pub no_catch_up: bool,
    /// The model to use.
    pub model: Option<String>,
    /// How hard the model thinks.
    pub thinking: Option<Effort>,
    /// End a run that takes longer than this many seconds.
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u64>,
    /// What its worker may do without asking; `default` without it.
    #[schemars(with = "Option<PermissionMode>")]
    pub permission_mode: Option<String>,
    /// Tools that are allowed without asking, as Claude Code's permission rules: `Bash(git *)`.
    #[serde(default)]
    pub allowed_tools: Vec<String>,
    /// The most that a run's session may cost, in US dollars.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub budget_usd: Option<f64>,
    /// The OpenClaw agent to run it for.
    pub agent: Option<AgentId>,
}

impl Request {
    /// The job that it describes, once its values are found to be valid.
    pub(super) fn spec(&self, context: &Context) -> Result<JobSpec, Error> {
        let spec = JobSpec {
            name: self.name.clone(),
            schedule: self.schedule(context)?,
            payload: self.payload()?,
            session_target: if self.event || self.main {
                SessionTarget::Main
            } else {
                SessionTarget::Isolated
            },
            directory: directory(context, self.directory.as_deref())?,
            overlap: self.overlap,
            catch_up: !self.no_catch_up,
            options: JobOptions {
                permission_mode: self.permission_mode.clone(),
                allowed_tools: self.allowed_tools.clone(),
                budget_usd: self.budget_usd,
                agent_id: self.agent.as_ref().map(ToString::to_string),
            },
        };
        check(&spec)?;
        Ok(spec)
    }

    fn payload(&self) -> Result<Payload, Error> {
        if !self.event {
            return Ok(Payload::AgentTurn {
                message: self.task.clone(),
                model: self.model.clone(),
                thinking: self.thinking.map(|effort| effort.as_str().to_owned()),
                timeout_seconds: self.timeout_seconds,
            });
        }
        if self.model.is_some() || self.thinking.is_some() || self.timeout_seconds.is_some() {
            let message = "an event is read by a session that is there: it has no model, effort or time limit of its own";
            return Err(Error::new(Kind::Usage, message));
        }
        Ok(Payload::SystemEvent { text: self.task.clone() })
    }

    fn schedule(&self, context: &Context) -> Result<JobSchedule, Error> {
        match (&self.at, &self.every, &self.cron) {
            (Some(at), None, None) => parse_once(context, at),
            (None, Some(every), None) => {
                let every_ms =
                    u64::try_from(parse_duration(every)?.as_millis()).map_err(|_| invalid_duration(every))?;
                Ok(JobSchedule::Every { every_ms, anchor: context.now })
            }
            (None, None, Some(expr)) => {
                let own = || context.zone().iana_name().map(str::to_owned);
                Ok(JobSchedule::Cron { expr: expr.clone(), tz: self.tz.clone().or_else(own) })
            }
            _ => {
                let message =
                    "say in one way when the job is due: at a time, at an interval, or by a cron expression";
                Err(Error::new(Kind::Usage, message))
            }
        }
    }
}

/// Refuses what cannot be a job.
pub(super) fn check(spec: &JobSpec) -> Result<(), Error> {
    require_short("the text of a job", spec.payload.text())?;
    spec.check().map_err(|wrong| {
        let wrong = Error::new(Kind::Usage, wrong.to_string());
        match spec.schedule {
            JobSchedule::Cron { .. } => wrong.hint(FIELDS),
            JobSchedule::At { .. } | JobSchedule::Every { .. } => wrong,
        }
    })
}

fn parse_once(context: &Context, text: &str) -> Result<JobSchedule, Error> {
    let at = match text.strip_prefix("in ") {
        Some(ahead) => {
            context.now.checked_add(parse_duration(ahead)?).map_err(|_| invalid_duration(ahead))?
        }
        None => Moment::from(text).at(context)?,
    };
    require_future(context, at, text)?;
    Ok(JobSchedule::At { at })
}

/// Refuses a time that has passed.
pub(super) fn require_future(context: &Context, at: Timestamp, text: &str) -> Result<(), Error> {
    if at > context.now {
        return Ok(());
    }
    Err(Error::new(Kind::Usage, format!("`{text}` is in the past"))
        .hint("give a time in the future, or how far ahead it is: `in 20m`"))
}

/// The directory, which is taken as typed: a path, or `None` for where the person is.
pub(super) fn directory(context: &Context, named: Option<&str>) -> Result<PathBuf, Error> {
    let named = named.unwrap_or(".");
    let target = RepoTarget::directory(context, Some(named))?.ok_or_else(|| {
        Error::new(Kind::Usage, format!("`{named}` is not a directory"))
            .hint("a job needs the path of a directory")
    })?;
    Ok(target.directory)
}

/// Parses a duration in which a day has 24 hours and a week seven days.
fn parse_duration(text: &str) -> Result<SignedDuration, Error> {
    let span: Span = text.trim().parse().map_err(|_| invalid_duration(text))?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| invalid_duration(text))?;
    if span.is_positive() { Ok(span) } else { Err(invalid_duration(text)) }
}

fn invalid_duration(text: &str) -> Error {
    Error::new(Kind::Usage, format!("`{text}` is not a valid duration"))
        .hint("use a form like 90s, 30m, 6h, 2d or 1w")
}
