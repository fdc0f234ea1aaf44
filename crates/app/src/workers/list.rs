//! `workers`: what Backstory has started, newest first.

use std::path::PathBuf;

use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workers::store::{SlotState, Worker, WorkerStats};
use workers::{Announcement, PermissionMode, WorkerId, WorkerState, WorkerStore};

use crate::workers::host::recover_orphans;
use crate::workers::table;
use crate::workers::table::{home, open_recovered, unusable};
use crate::{Context, Error};

/// How many workers are listed, newest first.
const LISTED: usize = 50;

/// Which workers to list: all that can be.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WorkersRequest")]
pub struct Request {}

/// The workers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WorkersAnswer")]
pub struct Answer {
    /// Newest first.
    pub workers: Vec<WorkerInfo>,
}

/// A worker as answers show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkerInfo {
    /// Its number.
    pub worker: WorkerId,
    /// Its session.
    pub session_id: SessionId,
    /// Its state, with what is true in it.
    #[serde(flatten)]
    pub state: WorkerState,
    /// What it has of its directory; absent where it is over.
    pub slot: Option<SlotState>,
    /// The directory it works in.
    #[serde(serialize_with = "model::path")]
    pub directory: PathBuf,
    /// What it is to do.
    pub task: String,
    /// The OpenClaw agent it works for.
    pub agent_id: Option<String>,
    /// What it may do without asking.
    pub permission_mode: PermissionMode,
    /// Its process.
    pub pid: Option<u32>,
    /// The Backstory that runs it, or waits with it; where it is over, that ran it.
    pub host_pid: u32,
    /// What has become of it.
    #[serde(flatten)]
    pub facts: WorkerStats,
    /// How much of its budget is used, in percent.
    pub budget_used_pct: Option<f64>,
    /// What its agent announced to the user of its chat, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub announcements: Vec<Announcement>,
    /// Where its frames are kept.
    #[serde(serialize_with = "model::path")]
    pub frames: PathBuf,
}

/// The workers, newest first. What a killed Backstory left is run by hosts of their own.
pub fn list(context: &Context, _: &Request) -> Result<Answer, Error> {
    recover_orphans(context)?;
    let table = open_recovered(context)?;
    let workers = table.newest(LISTED).map_err(unusable)?;
    let visible = workers.iter().filter(|worker| context.may_see_worker(worker));
    let workers = visible.map(|worker| describe(context, &table, worker)).collect::<Result<_, _>>()?;
    Ok(Answer { workers })
}

/// One worker, by its number or by its session's id or the beginning of it.
pub fn find(context: &Context, text: &str) -> Result<WorkerInfo, Error> {
    let table = open_recovered(context)?;
    describe(context, &table, &table::find(context, &table, text)?)
}

pub(crate) fn describe(context: &Context, table: &WorkerStore, worker: &Worker) -> Result<WorkerInfo, Error> {
    let spent = table.session_cost(&worker.session).map_err(unusable)?;
    Ok(WorkerInfo {
        worker: worker.id,
        session_id: worker.session.clone(),
        state: context.redacted(&worker.state),
        slot: worker.slot_state,
        directory: worker.directory.clone(),
        task: context.secrets.redacted(worker.task.as_str().into()),
        agent_id: worker.agent.as_ref().map(ToString::to_string),
        permission_mode: worker.spec.options.permission_mode,
        pid: worker.process.as_ref().map(|process| process.pid),
        host_pid: worker.host.pid,
        budget_used_pct: worker.stats.budget_usd.map(|budget| spent / budget * 100.0),
        facts: WorkerStats {
            model: worker.stats.model.as_deref().map(|model| context.secrets.redacted(model.into())),
            version: worker.stats.version.as_deref().map(|version| context.secrets.redacted(version.into())),
            ..worker.stats.clone()
        },
        announcements: context.redacted(&table.announcements(worker.id).map_err(unusable)?),
        frames: workers::frame_log_path(&home(context), worker.id),
    })
}
