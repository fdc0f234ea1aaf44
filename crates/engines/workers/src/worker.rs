//! Runs one worker from waiting for its directory to the end of its process. One thread owns it: output
//! lines, commands and the clock are its inputs; events go to listeners and the store.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::Signal;
use system::error_chain;
use transcript::ConfigFolder;

use crate::command_line::worker_command;
use crate::conversation::{Action, Conversation, Now};
use crate::frame_log::{Direction, FrameLog};
use crate::handle::{Asker, Input, WorkerHandle};
use crate::listeners::Listeners;
use crate::pipes::{Pipes, describe_exit};
use crate::recover::{end_orphan, mark, recover};
use crate::store::{self, SlotClaim, WorkerStoreError};
use crate::{
    BridgeServer, Command, Event, FailureReason, Limits, Program, Release, WorkerId, WorkerState,
    WorkerStore, socket,
};

/// Number of inputs that may be queued before `claude` has to wait.
const MAX_WAITING_INPUTS: usize = 64;
/// How often a queued worker checks whether its directory is free.
const SLOT_POLL: Duration = Duration::from_millis(200);
/// Maximum size of the error output kept, in bytes.
const MAX_STDERR: usize = 2000;
/// How long an interrupted turn may take to end before the process is terminated.
const INTERRUPT_GRACE: Duration = Duration::from_secs(2);
/// How long to read the remaining output of an ended process.
const LAST_WORDS: Duration = Duration::from_secs(2);

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
            Ok(Some(row)) => self.work(&row),
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
        let talk = RunningWorker {
            owner: self,
            pipes,
            log: log.ok(),
            rules,
            began: Instant::now(),
            end: End::default(),
        };
        Ok(talk.run())
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

/// A worker whose process is running.
struct RunningWorker<'a> {
    owner: &'a mut Runner,
    pipes: Pipes,
    log: Option<FrameLog>,
    rules: Conversation,
    began: Instant,
    end: End,
}

/// Progress of ending the process.
#[derive(Debug, Default)]
struct End {
    /// When the turn was interrupted; the process is terminated after [`INTERRUPT_GRACE`].
    interrupted: Option<Instant>,
    /// When the process was asked to end, and whether it was killed.
    asked: Option<(Instant, bool)>,
    /// When its input was closed.
    closed: Option<Instant>,
    /// How and when the process ended.
    exited: Option<(Option<ExitStatus>, Instant)>,
    /// Number of output pipes that were closed.
    silent: u8,
}

impl RunningWorker<'_> {
    fn run(mut self) -> WorkerState {
        let actions = self.rules.begin();
        self.perform(actions);
        while !self.has_ended() {
            let wait = self.rules.next_tick(self.clock_now()).min(self.until_next_signal());
            if let Ok(input) = self.owner.inputs.recv_timeout(wait) {
                self.handle(input);
            } else {
                let actions = self.rules.tick(self.clock_now());
                self.perform(actions);
            }
            self.escalate();
        }
        // End the processes it has started.
        self.signal_group(Signal::KILL);
        let ended = self.end.exited.and_then(|(status, _)| status);
        let stderr = String::from_utf8_lossy(&self.owner.stderr).trim().to_owned();
        self.rules.final_state(&describe_exit(ended), &stderr)
    }

    fn handle(&mut self, input: Input) {
        match input {
            Input::Line(line) => {
                self.log_frame(Direction::Out, &line);
                let actions = self.rules.handle_line(&line, self.clock_now());
                self.perform(actions);
            }
            Input::TooLong => {
                let text = "a line of claude's was too long to be read and was passed over".to_owned();
                self.owner.listeners.send(Event::Note { text });
            }
            Input::Stderr(line) => {
                self.log_frame(Direction::Err, &line);
                let stderr = &mut self.owner.stderr;
                stderr.extend_from_slice(&line[..line.len().min(MAX_STDERR)]);
                stderr.push(b'\n');
                let excess = stderr.len().saturating_sub(MAX_STDERR);
                stderr.drain(..excess);
                let text = String::from_utf8_lossy(&line[..line.len().min(MAX_STDERR)]).into_owned();
                self.owner.listeners.send(Event::Note { text });
            }
            Input::PipeClosed => self.end.silent += 1,
            Input::Exited(status) => self.end.exited = Some((status, Instant::now())),
            Input::Command(command, asker) => {
                let done = self.command(command);
                answer(asker, done);
            }
        }
    }

    fn command(&mut self, command: Command) -> Result<(), String> {
        let message = match &command {
            Command::Message { id, text } => Some((id.clone(), text.clone())),
            _ => None,
        };
        if message.is_some() && self.rules.is_idle() {
            let woken = self.owner.table.reclaim_slot(self.owner.id).map_err(|error| error_chain(&error))?;
            if let Some(other) = woken {
                return Err(format!(
                    "worker {other} has the directory now; send it again when that has ended"
                ));
            }
        }
        let actions = self.rules.command(command, self.clock_now())?;
        if let Some((id, text)) = &message {
            let kept = self.owner.table.queue_follow_up(self.owner.id, id, text);
            self.owner.note_failure(kept);
        }
        self.perform(actions);
        Ok(())
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Write(line) => {
                    self.log_frame(Direction::In, line.as_bytes());
                    self.pipes.write(line);
                }
                Action::Emit(event) => {
                    self.remember(&event);
                    self.owner.listeners.send(event);
                }
                Action::Mode(mode) => {
                    let kept = self.owner.table.set_mode(self.owner.id, mode);
                    self.owner.note_failure(kept);
                }
                Action::CloseInput => {
                    self.pipes.close();
                    self.end.closed = Some(Instant::now());
                }
                Action::Interrupted => self.end.interrupted = Some(Instant::now()),
                Action::Terminate => self.terminate(),
            }
        }
    }

    /// Records an event in the store.
    fn remember(&mut self, event: &Event) {
        let id = self.owner.id;
        let table = &mut self.owner.table;
        let kept = match event {
            Event::State(state) => {
                let now = (self.owner.config.clock)();
                // A background agent can begin a turn by itself: then the directory is reclaimed, or shared.
                let moved = if self.rules.is_idle() {
                    table.release_slot(id)
                } else {
                    table.reclaim_slot(id).map(drop)
                };
                moved.and_then(|()| table.set_state(id, state, now))
            }
            Event::Started(started) => {
                table.set_model(id, started.model.as_deref(), started.version.as_deref())
            }
            Event::Accepted { .. } if self.rules.pending().is_none() => table.mark_follow_up_delivered(id),
            Event::Announced(announcement) => table.announce(id, announcement),
            Event::Result(_) => table.set_cost(id, self.rules.cost(), self.rules.turns()),
            _ => Ok(()),
        };
        self.owner.note_failure(kept);
    }

    fn log_frame(&mut self, way: Direction, line: &[u8]) {
        let at = self.owner.now();
        if let Some(Err(error)) = self.log.as_mut().map(|log| log.append(way, at, line)) {
            self.log = None;
            self.owner.listeners.send(Event::Note { text: format!("frames are no longer kept: {error}") });
        }
    }

    fn clock_now(&self) -> Now {
        Now { time: self.owner.now(), since_start: self.began.elapsed() }
    }

    /// Ends the process with more force when its time is up.
    fn escalate(&mut self) {
        let grace = self.owner.config.limits.grace;
        if self.end.exited.is_some() {
            return;
        }
        let over = |when: Option<Instant>, limit| when.is_some_and(|when: Instant| when.elapsed() >= limit);
        match self.end.asked {
            Some((when, false)) if when.elapsed() >= grace => {
                self.signal_group(Signal::KILL);
                self.end.asked = Some((when, true));
            }
            // After its input was closed it should end by itself; some releases do not.
            None if over(self.end.interrupted, INTERRUPT_GRACE) || over(self.end.closed, 2 * grace) => {
                self.terminate();
            }
            _ => {}
        }
    }

    fn terminate(&mut self) {
        self.signal_group(Signal::TERM);
        self.end.asked = Some((Instant::now(), false));
    }

    fn until_next_signal(&self) -> Duration {
        let grace = self.owner.config.limits.grace;
        let left =
            |when: Instant, limit: Duration| limit.saturating_sub(when.elapsed()) + Duration::from_millis(1);
        match (self.end.exited, self.end.asked) {
            (Some((_, when)), _) => left(when, LAST_WORDS),
            (None, Some((when, false))) => left(when, grace),
            (None, Some((_, true))) => Duration::MAX,
            (None, None) => {
                let interrupted = self.end.interrupted.map(|when| left(when, INTERRUPT_GRACE));
                let closed = self.end.closed.map(|when| left(when, 2 * grace));
                interrupted.into_iter().chain(closed).min().unwrap_or(Duration::MAX)
            }
        }
    }

    /// Whether the process has ended and all its output was read; its children may keep the pipes open
    /// forever.
    fn has_ended(&self) -> bool {
        let said_all = self.end.silent >= 2;
        self.end.exited.is_some_and(|(_, when)| said_all || when.elapsed() >= LAST_WORDS)
    }

    fn signal_group(&self, signal: Signal) {
        let group = i32::try_from(self.pipes.identity.pid).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // A group that is empty has nothing left to end.
            let _ = rustix::process::kill_process_group(group, signal);
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
