//! Sends one message to several workers and, if asked to, waits for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workers::instruction::require_message;
use crate::workers::send::{self, send};
use crate::workers::wait::{self, WaitMode};
use crate::workers::worker_name::{self, WorkerName};
use crate::{Context, Error, Kind, NextStep};

/// A message, to whom it goes, and what to wait for.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MessageRequest")]
pub struct Request {
    /// Worker numbers, or session ids or prefixes. A session that nobody has open is resumed.
    #[serde(deserialize_with = "worker_name::deserialize_list")]
    #[schemars(with = "Vec<WorkerName>")]
    pub workers: Vec<String>,
    /// The text to send.
    pub message: String,
    /// Whether to wait for the workers to finish: `none` (the default), `any` or `all`.
    #[serde(default)]
    pub wait_mode: WaitFor,
    /// The maximum number of seconds to wait, up to 3600; default 600.
    pub timeout_seconds: Option<u32>,
}

/// Whom to wait for after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// Does not wait.
    #[default]
    None,
    /// Waits for the first worker that finishes.
    Any,
    /// Waits until every worker has finished.
    All,
}

/// What became of a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "MessageAnswer")]
pub struct Answer {
    /// Those that have it.
    pub sent: Vec<send::Answer>,
    /// Those that do not.
    pub failed: Vec<Unsent>,
    /// What became of the workers, where they were waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited: Option<wait::Answer>,
}

/// A worker that does not have a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "UnsentMessage")]
pub struct Unsent {
    /// The worker, as it was named.
    pub worker: String,
    /// What sort of failure it is.
    pub error: Kind,
    /// Why it does not.
    pub message: String,
}

/// Sends a message to workers; an error if none of them has it.
pub fn message(context: &Context, request: &Request) -> Result<Answer, Error> {
    if request.workers.is_empty() {
        return Err(Error::new(Kind::Usage, "no worker is named").next(NextStep::ListWorkers));
    }
    require_message(&request.message)?;
    let (mut sent, mut failed, mut last) = (Vec::new(), Vec::new(), None);
    for worker in &request.workers {
        context.check_cancelled()?;
        let one = send::Request { to: worker.clone(), message: request.message.clone() };
        match send(context, &one) {
            Ok(answer) => sent.push(answer),
            Err(error) => {
                failed.push(Unsent {
                    worker: worker.clone(),
                    error: error.kind,
                    message: error.message.clone(),
                });
                last = Some(error);
            }
        }
    }
    if let (true, Some(error)) = (sent.is_empty(), last) {
        return Err(error);
    }
    let mode = match request.wait_mode {
        WaitFor::None => None,
        WaitFor::Any => Some(WaitMode::Any),
        WaitFor::All => Some(WaitMode::All),
    };
    let workers = || sent.iter().map(|sent| sent.worker.to_string()).collect();
    let waited = mode.map(|mode| {
        let request = wait::Request { workers: workers(), mode, timeout_seconds: request.timeout_seconds };
        wait::wait(context, &request)
    });
    Ok(Answer { waited: waited.transpose()?, sent, failed })
}
