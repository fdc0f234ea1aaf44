//! A job: what is to be done, when, where, and how its session is chosen.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{InvalidJob, JobSchedule};

/// A job's number; it is never given twice.
pub type JobId = i64;

/// The longest text of a job, in bytes: more does not fit into an argument of a program.
const LONGEST: usize = 100_000;

/// A job as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// What it is to be, as it was given.
    #[serde(flatten)]
    pub spec: JobSpec,
    /// Whether it is done when it is due.
    pub enabled: bool,
    /// When it was made.
    pub created: Timestamp,
    /// Up to this moment nothing is owed any more.
    #[serde(skip)]
    pub settled: Timestamp,
}

/// What a job is to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// Its name, which no other job has.
    pub name: String,
    /// When it is to be done.
    pub schedule: JobSchedule,
    /// What is said.
    pub payload: Payload,
    /// To which session.
    pub session_target: SessionTarget,
    /// The directory it is done in.
    pub directory: PathBuf,
    /// What happens when it is due and an earlier run of it still goes on.
    pub overlap: OverlapPolicy,
    /// Whether a moment that was missed is made up for, once.
    pub catch_up: bool,
    /// How its worker works.
    #[serde(flatten)]
    pub options: JobOptions,
}

/// What is said to the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Payload {
    /// Something happened; the session is told of it.
    SystemEvent {
        /// In these words.
        text: String,
    },
    /// Something is to be done.
    AgentTurn {
        /// The task.
        message: String,
        /// The model that does it.
        model: Option<String>,
        /// How hard it thinks: what `claude` calls effort.
        thinking: Option<String>,
        /// After so many seconds it is ended.
        timeout_seconds: Option<u64>,
    },
}

/// The session a job speaks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionTarget {
    /// The directory's session that is labelled `main`; made when there is none.
    Main,
    /// A new one for each run.
    Isolated,
}

/// What happens when a job is due while an earlier run of it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlapPolicy {
    /// It is passed over.
    Skip,
    /// One run waits until the earlier has ended; more than one never wait.
    Queue,
    /// It is done beside it, as far as the directory has room.
    Allow,
}

/// How a job's worker works.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobOptions {
    /// What it may do without asking, in `claude`'s own word.
    pub permission_mode: Option<String>,
    /// Rules of tools it may use without asking.
    #[serde(default)]
    pub allowed_tools: Vec<String>,
    /// What a run's session may cost, in US dollars.
    pub budget_usd: Option<f64>,
    /// The OpenClaw agent for whom it works.
    pub agent_id: Option<String>,
}

/// A change of a job that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSwitch {
    /// It is done when it is due, from now on.
    Enable,
    /// It is not.
    Disable,
}

impl JobSpec {
    /// Says what is wrong with it, if something is.
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

    /// What the session is told.
    pub fn message(&self) -> String {
        match &self.payload {
            Payload::SystemEvent { text } => format!("System event ({}): {text}", self.name),
            Payload::AgentTurn { message, .. } => message.clone(),
        }
    }

    /// After so many seconds a run is ended.
    pub fn timeout_seconds(&self) -> Option<u64> {
        match self.payload {
            Payload::SystemEvent { .. } => None,
            Payload::AgentTurn { timeout_seconds, .. } => timeout_seconds,
        }
    }
}

impl Payload {
    /// The words as they were given.
    pub fn text(&self) -> &str {
        match self {
            Self::SystemEvent { text } => text,
            Self::AgentTurn { message, .. } => message,
        }
    }
}

/// A name that can be typed, and is no number: numbers are ids.
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
    fn what_is_refused() {
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
    fn an_event_says_whose_it_is() {
        assert_eq!(job("tide", event("is in"), SessionTarget::Main).message(), "System event (tide): is in");
    }
}
