//! `workers`: what Backstory has started, newest first.

use std::path::PathBuf;

use catalog::ProjectScope;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::after_crewhub_context;
use workers::store::{SlotState, Worker, WorkerStats};
use workers::{Announcement, PermissionMode, WorkerId, WorkerState, WorkerStore};

use crate::workers::host::recover_orphans;
use crate::workers::table;
use crate::workers::table::{open_recovered, state_folder, unusable};
use crate::{Context, Error, Kind};

/// How many workers are listed without a limit, newest first.
const LISTED: usize = 50;

/// Which workers to list; the newest 50 without a condition.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WorkersRequest")]
pub struct Request {
    /// Only workers with this status: `queued`, `starting`, `running`, `waiting_permission`, `idle`, `finished`,
    /// `failed`, `stopped` or `lost`.
    pub status: Option<String>,
    /// Only workers of this project: its name, or a path inside it.
    pub project: Option<String>,
    /// Leave out workers that have ended.
    pub active: bool,
    /// The maximum number of workers; default 50.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// The workers that a request selects.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WorkersAnswer")]
pub struct Answer {
    /// The workers, newest first.
    pub workers: Vec<WorkerInfo>,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A worker as answers show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkerInfo {
    /// The worker's number.
    pub worker: WorkerId,
    /// The id of the session it writes to.
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
    /// The permission mode that its `claude` is in.
    pub permission_mode: PermissionMode,
    /// What else it may do without asking, from its options and from answers to its requests, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// The process id of its `claude`; absent when it has none.
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

/// Lists the workers, newest first. Workers of a killed Backstory get host processes of their own.
pub fn list(context: &Context, request: &Request) -> Result<Answer, Error> {
    if let Some(status) = request.status.as_deref().filter(|status| !WorkerState::NAMES.contains(status)) {
        return Err(Error::new(Kind::Usage, format!("unknown status `{status}`"))
            .hint(format!("a status is one of {}", WorkerState::NAMES.join(", "))));
    }
    if !table::exists(context) {
        return Ok(Answer { workers: Vec::new(), notes: vec![NONE_EVER.to_owned()] });
    }
    recover_orphans(context)?;
    let table = open_recovered(context)?;
    let scope = request.project.as_deref().map(|project| named(context, project));
    let is_wanted = |worker: &&Worker| {
        let is_there = !request.active || worker.slot_state.is_some();
        let has_status = request.status.as_deref().is_none_or(|status| worker.state.as_str() == status);
        let root = || catalog::repository(&context.config().places(), &worker.directory);
        is_there
            && has_status
            && context.may_see_worker(worker)
            && scope.as_ref().is_none_or(|scope| scope.admits_directory(&root(), &worker.directory))
    };
    // With a condition, older workers are examined too.
    let is_plain = scope.is_none() && request.status.is_none() && !request.active;
    let limit = request.limit.unwrap_or(LISTED);
    let newest = table.newest(if is_plain { limit } else { usize::MAX }).map_err(unusable)?;
    let wanted = newest.iter().filter(is_wanted).take(limit);
    let workers: Vec<WorkerInfo> =
        wanted.map(|worker| describe(context, &table, worker)).collect::<Result<_, _>>()?;
    let notes = if workers.is_empty() { why_none(context, request, &table)? } else { Vec::new() };
    Ok(Answer { workers, notes })
}

const NONE_EVER: &str = "no worker was ever started";

/// Notes on which workers exist if none meets the conditions.
fn why_none(context: &Context, request: &Request, table: &WorkerStore) -> Result<Vec<String>, Error> {
    let all = table.newest(usize::MAX).map_err(unusable)?;
    let all: Vec<_> = all.iter().filter(|worker| context.may_see_worker(worker)).collect();
    let active = all.iter().filter(|worker| worker.slot_state.is_some()).count();
    Ok(match all.len() {
        0 => vec![NONE_EVER.to_owned()],
        number if request.active || request.status.is_some() || request.project.is_some() => {
            vec![format!(
                "no worker meets all conditions; of {number} workers in all {active} have not ended"
            )]
        }
        _ => Vec::new(),
    })
}

/// The one project that a person names.
fn named(context: &Context, project: &str) -> ProjectScope {
    let path = context.path(project);
    let text = if path.is_dir() { path.to_string_lossy().into_owned() } else { project.to_owned() };
    ProjectScope::new(&[text], &[], &context.config().home)
}

/// One worker, by its number or by its session's id or the beginning of it.
pub fn find(context: &Context, text: &str) -> Result<WorkerInfo, Error> {
    let table = open_recovered(context)?;
    describe(context, &table, &table::find(context, &table, text)?)
}

/// The rules and directories that are in force for a worker.
fn allowed(worker: &Worker) -> Vec<String> {
    let options = &worker.spec.options;
    let directory = |path: &PathBuf| format!("work in {}", path.display());
    let from_options =
        options.allowed_tools.iter().cloned().chain(options.add_directories.iter().map(directory));
    from_options.chain(worker.granted.iter().cloned()).collect()
}

pub(crate) fn describe(context: &Context, table: &WorkerStore, worker: &Worker) -> Result<WorkerInfo, Error> {
    let spent = table.session_cost(&worker.session).map_err(unusable)?;
    Ok(WorkerInfo {
        worker: worker.id,
        session_id: worker.session.clone(),
        state: context.redacted(&worker.state)?,
        slot: worker.slot_state,
        directory: worker.directory.clone(),
        task: context.secrets.redacted(after_crewhub_context(&worker.task).into()),
        agent_id: worker.agent.as_ref().map(ToString::to_string),
        permission_mode: worker.spec.options.permission_mode,
        allowed: context.redacted(&allowed(worker))?,
        // The table keeps the process of an ended worker, so that a reused process id is recognized.
        pid: worker.process.as_ref().filter(|_| worker.slot_state.is_some()).map(|process| process.pid),
        host_pid: worker.host.pid,
        budget_used_pct: worker.stats.budget_usd.map(|budget| model::budget_used(spent, budget)),
        facts: WorkerStats {
            model: worker.stats.model.as_deref().map(|model| context.secrets.redacted(model.into())),
            version: worker.stats.version.as_deref().map(|version| context.secrets.redacted(version.into())),
            ..worker.stats.clone()
        },
        announcements: context.redacted(&table.announcements(worker.id).map_err(unusable)?)?,
        frames: workers::frame_log_path(&state_folder(context), worker.id),
    })
}
