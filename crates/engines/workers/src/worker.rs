//! Runs one worker from waiting for its directory to the end of its process. One thread owns it: output
//! lines, commands and the clock are its inputs; events go to listeners and the store.

mod running;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::Timestamp;
use system::error_chain;
use transcript::ConfigFolder;

use self::running::RunningWorker;
use crate::command_line::worker_command;
use crate::conversation::Conversation;
use crate::frame_log::FrameLog;
use crate::handle::{Asker, Input, WorkerHandle};
use crate::listeners::Listeners;
use crate::pipes::Pipes;
use crate::recover::{end_orphan, has_message, mark, recover, restart};
use crate::store::{self, SlotClaim, WorkerStoreError};
use crate::{
    BridgeServer, Command, Event, FailureReason, Limits, Program, Release, WorkerId, WorkerState,
    WorkerStore, socket,
};

/// Number of inputs that may be queued before `claude` has to wait.
const MAX_WAITING_INPUTS: usize = 64;
/// How often a queued worker checks whether its directory is free.
const SLOT_POLL: Duration = Duration::from_millis(200);

/// What workers are run with.
#[derive(Debug, Clone)]
pub struct RunnerConfig {
    /// Backstory's state folder.
    pub home: PathBuf,
    /// The installed `claude`.
    pub program: Program,
    /// The program's release.
    pub release: Release,
    /// Time limits.
    pub limits: Limits,
    /// The MCP server for workers whose specification asks for it.
    pub bridge: BridgeServer,
    /// Config folders that hold transcripts.
    pub folders: Vec<ConfigFolder>,
    /// Returns the current time.
    pub clock: fn() -> Timestamp,
}

/// Path of a worker's frame log.
pub fn frame_log_path(home: &std::path::Path, id: WorkerId) -> PathBuf {
    home.join("workers").join(id.to_string()).join("frames.jsonl")
}

/// Runs a stored worker in its own thread: waits for its directory, works and ends.
///
/// Other processes reach it through its socket; if that cannot be opened, an event says so.
pub fn start(
    config: RunnerConfig,
    id: WorkerId,
) -> Result<(WorkerHandle, JoinHandle<WorkerState>), WorkerStoreError> {
    let table = WorkerStore::open(&config.home.join(store::FILE))?;
    let (sender, inputs) = sync_channel(MAX_WAITING_INPUTS);
    let listeners = Arc::<Listeners>::default();
    let handle = WorkerHandle::new(id, sender.clone(), Arc::clone(&listeners));
    let socket_guard = socket::open(&config.home, &handle);
    let owner = Runner { config, id, table, listeners, inputs, sender, stderr: Vec::new() };
    let run = move || {
        if let Err(error) = &socket_guard {
            let text = format!("other processes cannot reach this worker: {error}");
            owner.listeners.send(Event::Note { text });
        }
        let (state, inputs) = owner.run();
        drop(socket_guard);
        drop(inputs);
        state
    };
    Ok((handle, thread::spawn(run)))
}

struct Runner {
    config: RunnerConfig,
    id: WorkerId,
    table: WorkerStore,
    listeners: Arc<Listeners>,
    inputs: Receiver<Input>,
    sender: SyncSender<Input>,
    stderr: Vec<u8>,
}

impl Runner {
    fn run(mut self) -> (WorkerState, Receiver<Input>) {
        let ended = match self.wait_for_turn() {
            Ok(Some(row)) => self.work(&row).and_then(|state| self.retry_refused_start(&row, state)),
            Ok(None) => Ok(WorkerState::Stopped),
            Err(error) => Err(error),
        };
        let state = ended.unwrap_or_else(|error| WorkerState::Failed {
            reason: FailureReason::Start,
            message: error_chain(&error),
        });
        self.set_state(&state);
        self.listeners.send(Event::State(state.clone()));
        self.listeners.send(Event::Ended { state: state.clone() });
        (state, self.inputs)
    }

    /// The worker's row once its directory is free; `None` if it was cancelled.
    fn wait_for_turn(&mut self) -> Result<Option<store::Worker>, WorkerStoreError> {
        let mut behind = None;
        loop {
            match self.table.claim_slot(self.id, self.now())? {
                SlotClaim::Granted => break,
                SlotClaim::Over => return Ok(None),
                SlotClaim::Behind(other) => {
                    self.clear_lost_holder(other)?;
                    if behind != Some(other) {
                        behind = Some(other);
                        self.listeners.send(Event::State(WorkerState::Queued));
                        self.listeners.send(Event::Queued { behind });
                    }
                }
            }
            match self.inputs.recv_timeout(SLOT_POLL) {
                Ok(Input::Command(Command::Stop, asker)) => {
                    answer(asker, Ok(()));
                    return Ok(None);
                }
                Ok(Input::Command(_, asker)) => {
                    answer(asker, Err("the worker waits for its directory".to_owned()));
                }
                Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        let row = self.table.get(self.id)?;
        if let Some(row) = &row {
            let idle = self.table.idle_in(&row.slot).unwrap_or_default().into_iter().map(|idle| idle.id);
            ask_to_yield(self.config.home.clone(), idle.filter(|idle| *idle != self.id).collect());
        }
        Ok(row)
    }

    /// Recovers a lost worker that holds the directory, so that it does not block others.
    fn clear_lost_holder(&mut self, other: WorkerId) -> Result<(), WorkerStoreError> {
        let is_lost = |worker: &store::Worker| !worker.host.is_alive();
        if self.table.get(other)?.is_some_and(|ahead| is_lost(&ahead)) {
            self.recover()?;
            if let Some(lost) = self.table.get(other)? {
                end_orphan(&lost, self.config.limits.grace);
            }
            self.recover()?;
            // A requeued worker starts when the next Backstory runs, which may be never.
            let is_again = |worker: &store::Worker| is_lost(worker) && worker.state == WorkerState::Queued;
            if let Some(again) = self.table.get(other)?.filter(is_again) {
                self.table.overtake(self.id, other, &again.host)?;
            }
        }
        Ok(())
    }

    fn recover(&mut self) -> Result<(), WorkerStoreError> {
        let now = self.now();
        recover(&mut self.table, &self.config.folders, &self.config.home, now).map(drop)
    }

    fn work(&mut self, row: &store::Worker) -> Result<WorkerState, WorkerStoreError> {
        let failed = |why, message| Ok(WorkerState::Failed { reason: why, message });
        let spent = self.table.session_cost(&row.session)?;
        let left = row.spec.options.budget_usd.map(|budget| budget - spent);
        if let (Some(budget), Some(left)) = (row.spec.options.budget_usd, left)
            && left <= 0.0
        {
            let message =
                format!("the budget is used up: the session has cost ${spent:.4} already, of ${budget:.4}");
            return failed(FailureReason::Budget, message);
        }
        let mark = mark(&self.config.home, self.id);
        let mut spec = row.spec.clone();
        if spec.bridge {
            self.config.bridge.add_to(&mut spec.options, self.id);
        }
        let command = worker_command(&spec, &self.config.program, self.config.release, &mark, left);
        let log = FrameLog::open(&frame_log_path(&self.config.home, self.id));
        if let Err(error) = &log {
            self.listeners.send(Event::Note { text: format!("frames cannot be kept: {error}") });
        }
        let pipes = match Pipes::start(command, &self.sender) {
            Ok(pipes) => pipes,
            Err(error) => {
                let program = self.config.program.path.display();
                let place = row.spec.directory.display();
                return failed(FailureReason::Start, format!("cannot start {program} in {place}: {error}"));
            }
        };
        self.table.set_process(self.id, &pipes.identity, self.now())?;
        let message = (row.message.clone(), row.spec.first_message());
        let rules = Conversation::new(self.config.limits, message, spent, left).once(row.spec.once);
        Ok(RunningWorker::new(self, pipes, log.ok(), rules).run())
    }

    /// Starts once more, under another session id, if `claude` refused the first one.
    ///
    /// A `claude` that outlived its Backstory may begin the session's transcript after recovery found none and before
    /// the task is started again; `claude` then says that the id is already in use.
    fn retry_refused_start(
        &mut self,
        row: &store::Worker,
        state: WorkerState,
    ) -> Result<WorkerState, WorkerStoreError> {
        let is_refused = matches!(&state, WorkerState::Failed { reason: FailureReason::Start, .. })
            && !has_message(&self.config.folders, &row.session, &row.message);
        let restart = is_refused.then(|| restart(row, &self.config.folders)).flatten();
        let Some((start, session)) = restart else { return Ok(state) };
        if !self.table.replace_session(row, start, &session)? {
            return Ok(state);
        }
        self.stderr.clear();
        match self.table.get(self.id)? {
            Some(row) => self.work(&row),
            None => Ok(state),
        }
    }

    fn now(&self) -> Timestamp {
        (self.config.clock)()
    }

    fn set_state(&mut self, state: &WorkerState) {
        let now = self.now();
        let kept = self.table.set_state(self.id, state, now);
        self.note_failure(kept);
    }

    fn note_failure(&self, kept: Result<(), WorkerStoreError>) {
        if let Err(error) = kept {
            self.listeners.send(Event::Note { text: error_chain(&error) });
        }
    }
}

/// Asks idle workers to end without waiting for their answers, since one of them may be waiting for this
/// worker's.
fn ask_to_yield(home: PathBuf, idle: Vec<WorkerId>) {
    thread::spawn(move || {
        for id in idle {
            // A worker that cannot be reached is ending, or is recovered later.
            let _ = socket::send_command(&home, id, &Command::Yield);
        }
    });
}

fn answer(asker: Asker, done: Result<(), String>) {
    if let Some(asker) = asker {
        // The caller may be gone.
        let _ = asker.send(done);
    }
}
