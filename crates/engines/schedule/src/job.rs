//! Job definitions: what to run, when, where, in which session and with which options.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{InvalidJob, JobSchedule};

/// Numeric id of a job, never reused.
pub type JobId = i64;

/// Maximum length of a job's text in bytes, so that it fits into a command-line argument.
const LONGEST: usize = 100_000;

/// A stored job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Job {
    /// Numeric id of the job.
    pub id: JobId,
    /// The job definition.
    #[serde(flatten)]
    pub spec: JobSpec,
    /// Whether the job runs when it is due.
    pub enabled: bool,
    /// When the job was created.
    #[serde(serialize_with = "model::time")]
    pub created: Timestamp,
    /// Scheduled times up to this one have been handled.
    #[serde(skip)]
    pub settled: Timestamp,
}

/// The definition of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct JobSpec {
    /// Unique name of the job.
    pub name: String,
    /// When the job runs.
    pub schedule: JobSchedule,
    /// The message that starts each run.
    pub payload: Payload,
    /// The session that receives the message.
    pub session_target: SessionTarget,
    /// Working directory of the run.
    pub directory: PathBuf,
    /// What happens if the job is due while an earlier run is active.
    pub overlap: OverlapPolicy,
    /// Whether to run once after scheduled times were missed.
    pub catch_up: bool,
    /// Options for the worker.
    #[serde(flatten)]
    pub options: JobOptions,
}

/// The message a job sends to its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Payload {
    /// Informs the session of an event.
    SystemEvent {
        /// Description of the event.
        text: String,
    },
    /// Gives the session a task.
    AgentTurn {
        /// The task.
        message: String,
        /// Model to use, as `--model` takes it.
        model: Option<String>,
        /// Thinking effort, as `claude` takes it.
        thinking: Option<String>,
        /// Time limit of a run in seconds; no limit if absent.
        timeout_seconds: Option<u64>,
    },
}

/// The session that a job's message goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionTarget {
    /// The session labelled `main` in the job's directory, created if missing.
    Main,
    /// A new session for each run.
    Isolated,
}

/// What happens when a job is due while an earlier run is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlapPolicy {
    /// Skip the run.
    #[default]
    Skip,
    /// Run after the earlier run has ended; at most one run waits.
    Queue,
    /// Run at the same time, as far as the directory has a free slot.
    Allow,
}

/// Options for the worker of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct JobOptions {
    /// Permission mode, as `claude` names it.
    pub permission_mode: Option<String>,
    /// Permission rules of tools allowed without asking.
    #[serde(default)]
    pub allowed_tools: Vec<String>,
    /// Maximum cost of a run's session in US dollars.
    pub budget_usd: Option<f64>,
    /// The OpenClaw agent on whose behalf the job runs.
    pub agent_id: Option<String>,
}

/// Enables or disables a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSwitch {
    /// Run the job when it is due, from now on.
    Enable,
    /// Stop running the job.
    Disable,
}

impl JobSpec {
    /// Checks the definition; returns a message for the user if it is invalid.
    pub fn check(&self) -> Result<(), InvalidJob> {
        check_name(&self.name)?;
        self.schedule.check()?;
        let text = self.payload.text();
        if text.trim().is_empty() {
            return Err(InvalidJob("nothing is said: give a text".to_owned()));
        }
        if text.len() > LONGEST || text.contains('\0') {
            return Err(InvalidJob(format!("the text holds a NUL or more than {LONGEST} bytes")));
        }
        if matches!(self.payload, Payload::SystemEvent { .. })
            && self.session_target == SessionTarget::Isolated
        {
            return Err(InvalidJob(
                "a system event goes to the main session: a new session has nothing it would matter to"
                    .to_owned(),
            ));
        }
        match self.options.budget_usd {
            Some(budget) if !(budget.is_finite() && budget > 0.0) => {
                Err(InvalidJob("the budget is not a sum of money".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The message sent to the session.
    pub fn message(&self) -> String {
        match &self.payload {
            Payload::SystemEvent { text } => format!("System event ({}): {text}", self.name),
            Payload::AgentTurn { message, .. } => message.clone(),
        }
    }

    /// Time limit of a run in seconds; `None` if there is none.
    pub fn timeout_seconds(&self) -> Option<u64> {
        match self.payload {
            Payload::SystemEvent { .. } => None,
            Payload::AgentTurn { timeout_seconds, .. } => timeout_seconds,
        }
    }
}

impl Payload {
    /// The text as the user wrote it.
    pub fn text(&self) -> &str {
        match self {
            Self::SystemEvent { text } => text,
            Self::AgentTurn { message, .. } => message,
        }
    }
}

/// Checks that a name can be typed and cannot be mistaken for an id.
fn check_name(name: &str) -> Result<(), InvalidJob> {
    let is_sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && name.len() <= 64 && name.chars().all(is_sound) {
        return Ok(());
    }
    Err(InvalidJob(format!(
        "`{}` is no name for a job: it begins with a letter and has up to 64 letters, digits, dots, dashes",
        name.escape_debug()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, payload: Payload, session_target: SessionTarget) -> JobSpec {
        JobSpec {
            name: name.to_owned(),
            schedule: JobSchedule::At { at: Timestamp::UNIX_EPOCH },
            payload,
            session_target,
            directory: "/r".into(),
            overlap: OverlapPolicy::Skip,
            catch_up: true,
            options: JobOptions::default(),
        }
    }

    fn event(text: &str) -> Payload {
        Payload::SystemEvent { text: text.to_owned() }
    }

    #[test]
    fn invalid_jobs_are_refused() {
        let check = |job: &JobSpec, says: &str| {
            let found = job.check().map_or_else(|error| error.0, |()| String::new());
            assert!(found.contains(says) && found.is_empty() == says.is_empty(), "{found}");
        };
        check(&job("nightly", event("x"), SessionTarget::Main), "");
        for bad in ["", "1", "-x", "a b", "ü", "a/b", "\u{1b}[m", &"a".repeat(65)] {
            check(&job(bad, event("x"), SessionTarget::Main), "is no name");
        }
        check(&job("a", event(" \n"), SessionTarget::Main), "nothing is said");
        check(&job("a", event("a\0"), SessionTarget::Main), "NUL");
        check(&job("a", event(&"x".repeat(LONGEST + 1)), SessionTarget::Main), "more than");
        check(&job("a", event("x"), SessionTarget::Isolated), "main session");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut poor = job("a", event("x"), SessionTarget::Main);
            poor.options.budget_usd = Some(bad);
            check(&poor, "budget");
        }
    }

    #[test]
    fn an_event_message_names_its_source() {
        assert_eq!(job("tide", event("is in"), SessionTarget::Main).message(), "System event (tide): is in");
    }
}
