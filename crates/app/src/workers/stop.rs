//! `stop`: ends a worker, and removes its work tree if that is wanted.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workers::list::WorkerInfo;
use crate::workers::worker_name::{self, WorkerName};
use crate::workers::{control, worktree};
use crate::{Context, Error};

/// Which worker to stop.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StopRequest")]
pub struct Request {
    /// The worker's number, or its session's id or a prefix of it.
    #[serde(deserialize_with = "worker_name::deserialize")]
    #[schemars(with = "WorkerName")]
    pub worker: String,
    /// Remove its work tree, too, if nothing would be lost; also where the worker has already ended.
    #[serde(default)]
    pub remove_worktree: bool,
}

/// A worker that has ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "StopAnswer")]
pub struct Answer {
    /// The worker after it was stopped.
    #[serde(flatten)]
    pub worker: WorkerInfo,
    /// The work tree that was removed.
    #[serde(serialize_with = "model::optional_path", skip_serializing_if = "Option::is_none")]
    pub removed_worktree: Option<PathBuf>,
}

/// Stops a worker: one that waits is cancelled, one that runs is interrupted and ended.
pub fn stop(context: &Context, request: &Request) -> Result<Answer, Error> {
    if request.remove_worktree {
        let removed = worktree::remove(context, &request.worker)?;
        return Ok(Answer { worker: removed.worker, removed_worktree: Some(removed.path) });
    }
    Ok(Answer { worker: control::stop(context, &request.worker)?, removed_worktree: None })
}
