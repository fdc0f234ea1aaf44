//! A worker whose process is running: one loop over output lines, commands and the clock.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use system::error_chain;

use super::{Runner, answer};
use crate::conversation::{Action, Conversation, Now};
use crate::frame_log::{Direction, FrameLog};
use crate::handle::Input;
use crate::pipes::{Pipes, describe_exit};
use crate::{Command, Event, WorkerState};

/// Maximum size of the error output kept, in bytes.
const MAX_STDERR: usize = 2000;
/// How long an interrupted turn may take to end before the process is terminated.
const INTERRUPT_GRACE: Duration = Duration::from_secs(2);
/// How long to read the remaining output of an ended process.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A worker whose process is running.
pub(super) struct RunningWorker<'a> {
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

impl<'a> RunningWorker<'a> {
    /// A worker whose process has just started.
    pub(super) fn new(
        owner: &'a mut Runner,
        pipes: Pipes,
        log: Option<FrameLog>,
        rules: Conversation,
    ) -> Self {
        Self { owner, pipes, log, rules, began: Instant::now(), end: End::default() }
    }

    /// Talks with the process until it has ended.
    pub(super) fn run(mut self) -> WorkerState {
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
        // Who hears of a request may answer at once, and has to find it in the table.
        let asks = actions.iter().any(|action| matches!(action, Action::Emit(Event::Asked(_))));
        if asks {
            for action in &actions {
                if let Action::Emit(event) = action {
                    self.remember(event);
                }
            }
        }
        for action in actions {
            match action {
                Action::Write(line) => {
                    self.log_frame(Direction::In, line.as_bytes());
                    self.pipes.write(line);
                }
                Action::Emit(event) => {
                    if !asks {
                        self.remember(&event);
                    }
                    self.owner.listeners.send(event);
                }
                Action::Mode(mode) => {
                    let kept = self.owner.table.set_mode(self.owner.id, mode);
                    self.owner.note_failure(kept);
                }
                Action::Granted(granted) => {
                    let kept = self.owner.table.add_granted(self.owner.id, &granted);
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
            (Some((_, when)), _) => left(when, DRAIN_TIMEOUT),
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
        self.end.exited.is_some_and(|(_, when)| said_all || when.elapsed() >= DRAIN_TIMEOUT)
    }

    fn signal_group(&self, signal: Signal) {
        let group = i32::try_from(self.pipes.identity.pid).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // A group that is empty has nothing left to end.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}
