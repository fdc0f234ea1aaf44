//! Waits until workers have finished their turn or ask for something.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workers::store::Worker;
use workers::{WorkerId, WorkerState, WorkerStore};

use crate::workers::list::{self, WorkerInfo};
use crate::workers::table::{self, open_recovered, unusable};
use crate::workers::worker_name::{self, WorkerName};
use crate::{Context, Error, Kind, Progress, Stage};

/// The default time limit, in seconds.
const TIMEOUT: u32 = 600;
/// The longest time limit, in seconds.
const LONGEST: u32 = 3600;
/// The interval at which progress is reported and workers whose Backstory has died are noticed.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which the state of the workers is read: many may wait at once.
const PAUSE: Duration = Duration::from_millis(100);

/// Which workers to wait for.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WaitRequest")]
pub struct Request {
    /// Worker numbers, or session ids or prefixes.
    #[serde(deserialize_with = "worker_name::deserialize_list")]
    #[schemars(with = "Vec<WorkerName>")]
    pub workers: Vec<String>,
    /// Wait for `all` workers or until `any` has finished.
    #[serde(default)]
    pub mode: WaitMode,
    /// The maximum number of seconds to wait, up to 3600; default 600.
    pub timeout_seconds: Option<u32>,
}

/// How many workers are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitMode {
    /// Until every worker has finished or asks.
    #[default]
    All,
    /// Until the first worker has finished or asks.
    Any,
}

/// What has become of the workers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WaitAnswer")]
pub struct Answer {
    /// The workers as they are now.
    pub workers: Vec<WorkerInfo>,
    /// Those whose turn is over, and those that have ended; their answer is in `text`.
    pub idle: Vec<WorkerId>,
    /// Those whose turn has failed, and those that have failed or were lost: `text` or `message` says why.
    pub failed: Vec<WorkerId>,
    /// Those that ask for a permission or an answer: they go on when they are given it.
    pub asking: Vec<WorkerId>,
    /// Those that still work.
    pub waiting_on: Vec<WorkerId>,
    /// Whether none still works or asks, and none has failed.
    pub all_idle: bool,
    /// How many were waited for.
    pub mode: WaitMode,
    /// How long it took, in seconds.
    pub waited_seconds: f64,
    /// Whether the time was over first.
    pub timed_out: bool,
}

/// Waits until workers have finished their turn or ask for something.
pub fn wait(context: &Context, request: &Request) -> Result<Answer, Error> {
    if request.workers.is_empty() {
        return Err(Error::new(Kind::Usage, "no worker is named")
            .hint("give the numbers of workers")
            .next(crate::NextStep::ListWorkers));
    }
    let table = open_recovered(context)?;
    let named = request.workers.iter().map(|text| Ok(table::find(context, &table, text)?.id));
    let mut ids: Vec<WorkerId> = named.collect::<Result<_, Error>>()?;
    ids.sort_unstable();
    ids.dedup();
    let limit = request.timeout_seconds.unwrap_or(TIMEOUT).min(LONGEST);
    let wait = Wait { context, ids, mode: request.mode, limit: Duration::from_secs(limit.into()) };
    wait.run(table)
}

/// What waiting for a worker depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnStatus {
    Busy,
    Asking,
    Idle,
    Failed,
}

impl TurnStatus {
    fn new(worker: &Worker) -> Self {
        match worker.state {
            WorkerState::WaitingPermission { .. } => Self::Asking,
            // The last message has not reached the model yet.
            WorkerState::Idle { .. } if worker.follow_up.is_some() => Self::Busy,
            WorkerState::Queued | WorkerState::Starting | WorkerState::Running => Self::Busy,
            WorkerState::Idle { turn_failed: true, .. }
            | WorkerState::Failed { .. }
            | WorkerState::Lost { .. } => Self::Failed,
            WorkerState::Idle { .. } | WorkerState::Finished { .. } | WorkerState::Stopped => Self::Idle,
        }
    }
}

/// Waits a moment for other processes, which change the table without a signal.
#[expect(clippy::disallowed_methods, reason = "another process's change of the table cannot be waited for")]
fn pause() {
    std::thread::sleep(PAUSE);
}

struct Wait<'a> {
    context: &'a Context,
    ids: Vec<WorkerId>,
    mode: WaitMode,
    limit: Duration,
}

impl Wait<'_> {
    fn run(&self, mut table: WorkerStore) -> Result<Answer, Error> {
        let began = Instant::now();
        let mut looked = began;
        loop {
            let statuses = self.statuses(&table)?;
            let is_over = self.is_over(&statuses);
            let elapsed = began.elapsed();
            if is_over || elapsed >= self.limit || self.context.cancellation.is_hurried() {
                self.context.check_cancelled()?;
                return self.answer(&table, &statuses, elapsed, !is_over);
            }
            if looked.elapsed() >= REPORT_INTERVAL {
                looked = Instant::now();
                table = open_recovered(self.context)?;
                self.report(elapsed);
            }
            pause();
        }
    }

    fn statuses(&self, table: &WorkerStore) -> Result<Vec<(WorkerId, TurnStatus)>, Error> {
        let mut statuses = Vec::with_capacity(self.ids.len());
        for id in &self.ids {
            let worker = table.get(*id).map_err(unusable)?;
            statuses.push((*id, worker.as_ref().map_or(TurnStatus::Idle, TurnStatus::new)));
        }
        Ok(statuses)
    }

    fn is_over(&self, statuses: &[(WorkerId, TurnStatus)]) -> bool {
        let mut still = statuses.iter().map(|(_, status)| *status == TurnStatus::Busy);
        match self.mode {
            WaitMode::All => !still.any(|works| works),
            WaitMode::Any => !still.all(|works| works),
        }
    }

    fn report(&self, elapsed: Duration) {
        let (done, total) = (elapsed.as_secs(), self.limit.as_secs());
        self.context.report(Progress::new(Stage::Waiting, done, total));
    }

    fn answer(
        &self,
        table: &WorkerStore,
        statuses: &[(WorkerId, TurnStatus)],
        elapsed: Duration,
        timed_out: bool,
    ) -> Result<Answer, Error> {
        let which = |wanted: TurnStatus| -> Vec<WorkerId> {
            statuses.iter().filter(|(_, status)| *status == wanted).map(|(id, _)| *id).collect()
        };
        let now = self.ids.iter().map(|id| {
            let worker = table::find(self.context, table, &id.to_string())?;
            list::describe(self.context, table, &worker)
        });
        Ok(Answer {
            workers: now.collect::<Result<_, Error>>()?,
            idle: which(TurnStatus::Idle),
            failed: which(TurnStatus::Failed),
            asking: which(TurnStatus::Asking),
            waiting_on: which(TurnStatus::Busy),
            all_idle: statuses.iter().all(|(_, status)| *status == TurnStatus::Idle),
            mode: self.mode,
            waited_seconds: (elapsed.as_secs_f64() * 10.0).round() / 10.0,
            timed_out,
        })
    }
}
