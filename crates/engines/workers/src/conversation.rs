//! The protocol of a conversation with one `claude` process: what to send when, which state follows, and when
//! it has been silent too long.
//!
//! Pure: lines, commands and times go in, actions come out. `worker` owns the process, its pipes and the
//! clock.

mod commands;
mod outcome;
mod requests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::stream::{self, Frame};
use crate::{Event, FailureReason, PermissionMode, TurnResult, WorkerState};
use outcome::{MAX_TEXT, beginning, failed, failed_turn, failure_text, out_of_budget, outcome_text, seconds};
use requests::PendingRequests;

/// How long after a result to wait for the `idle` state; releases that never report it are idle then.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limits of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until a started process answers.
    pub start: Duration,
    /// Without output during a turn, unless a tool, a sub-agent or the user is being waited for.
    pub silence: Duration,
    /// Without a message between turns.
    pub idle: Duration,
    /// Between asking a process to end and killing it.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_mins(1),
            silence: Duration::from_mins(10),
            idle: Duration::from_mins(30),
            grace: Duration::from_secs(5),
        }
    }
}

/// The current time by both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// Wall-clock time.
    pub(crate) time: Timestamp,
    /// Time since the process was started; monotonic.
    pub(crate) since_start: Duration,
}

/// What the owner of the process has to do.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "an action is carried out at once, and most are events")]
pub(crate) enum Action {
    /// Write this line to the process.
    Write(String),
    /// Send this event to the listeners.
    Emit(Event),
    /// Record that the process is in this permission mode now.
    Mode(PermissionMode),
    /// Record that this was allowed from now on.
    Granted(Vec<String>),
    /// Close the process's input; nothing more will be written.
    CloseInput,
    /// The turn was interrupted in order to end the process; end it soon if no result arrives.
    Interrupted,
    /// End the process.
    Terminate,
}

/// A conversation with one `claude` process.
#[derive(Debug)]
pub(crate) struct Conversation {
    limits: Limits,
    /// Remaining budget in US dollars.
    budget: Option<f64>,
    phase: Phase,
    /// Messages not yet written to the process, with their ids.
    unwritten: VecDeque<(String, String)>,
    /// Ids of messages not yet given to the model.
    unaccepted: BTreeSet<String>,
    /// How many messages were accepted since the last result.
    accepted: usize,
    first: String,
    /// Requests that wait for the user's answer.
    requests: PendingRequests,
    tools: BTreeSet<String>,
    agents: BTreeSet<String>,
    /// Our unanswered requests by id, with what they asked for.
    sent_requests: BTreeMap<String, &'static str>,
    /// The permission modes that unanswered requests ask for.
    sent_modes: BTreeMap<String, PermissionMode>,
    count: u64,
    last_output: Duration,
    streamed: bool,
    interrupted: bool,
    last: Option<TurnResult>,
    cost: f64,
    turns: u64,
    /// Total cost of the session at the last result, or before this run, in US dollars.
    session_cost: f64,
    closing: Closing,
    /// Whether the conversation closes when there is nothing left to do.
    once: bool,
    verdict: Option<WorkerState>,
    reported: WorkerState,
}

/// The phase of the conversation.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The process has not answered yet.
    Starting,
    /// A turn is running.
    Turn,
    /// The turn's result has arrived, and more may follow.
    Settling(Duration),
    /// The turn is over.
    Idle(Timestamp, Duration),
}

/// Whether the process should end after the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    /// The process continues.
    No,
    /// The process should end after this turn.
    Wanted,
    /// Its input has been closed.
    Done,
}

impl Conversation {
    /// A conversation that begins with this message. `spent` is the session's cost so far and `budget` the
    /// remaining budget, in US dollars.
    pub(crate) fn new(limits: Limits, message: (String, String), spent: f64, budget: Option<f64>) -> Self {
        Self {
            limits,
            budget,
            phase: Phase::Starting,
            first: message.0.clone(),
            unwritten: [message].into(),
            unaccepted: BTreeSet::new(),
            accepted: 0,
            requests: PendingRequests::default(),
            tools: BTreeSet::new(),
            agents: BTreeSet::new(),
            sent_requests: BTreeMap::new(),
            sent_modes: BTreeMap::new(),
            count: 0,
            last_output: Duration::ZERO,
            streamed: false,
            interrupted: false,
            last: None,
            cost: 0.0,
            turns: 0,
            session_cost: spent,
            closing: Closing::No,
            once: false,
            verdict: None,
            reported: WorkerState::Queued,
        }
    }

    /// Sets whether the conversation closes when there is nothing left to do.
    pub(crate) fn once(self, is_so: bool) -> Self {
        Self { once: is_so, ..self }
    }

    /// The first actions.
    pub(crate) fn begin(&mut self) -> Vec<Action> {
        let hello = self.ask("initialize", stream::initialize);
        let mut actions = vec![hello];
        self.emit_state(&mut actions);
        actions
    }

    /// Cost of this run in US dollars.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    /// Number of calls of the model in this run.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// Id of a follow-up not yet given to the model.
    pub(crate) fn pending(&self) -> Option<String> {
        let unwritten = self.unwritten.iter().map(|(id, _)| id);
        unwritten.chain(&self.unaccepted).find(|id| **id != self.first).cloned()
    }

    /// Whether no turn is running.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle(..))
    }

    /// Handles a line of the process's output.
    pub(crate) fn handle_line(&mut self, line: &[u8], now: Now) -> Vec<Action> {
        self.last_output = now.since_start;
        let mut actions = Vec::new();
        match Frame::read(line) {
            Frame::Events(events) => events.into_iter().for_each(|event| self.emit(event, &mut actions)),
            Frame::Started(started) => {
                let mode = started.permission_mode.as_deref().and_then(PermissionMode::from_name);
                actions.push(Action::Emit(Event::Started(started)));
                actions.extend(mode.map(Action::Mode));
            }
            Frame::Mode(mode) => actions.extend(PermissionMode::from_name(&mode).map(Action::Mode)),
            Frame::Accepted(id) => {
                self.phase = Phase::Turn;
                self.accepted += 1;
                self.unaccepted.remove(&id);
                actions.push(Action::Emit(Event::Accepted { message: id }));
            }
            Frame::Busy(true) if self.is_idle() => self.phase = Phase::Turn,
            Frame::Busy(false) if matches!(self.phase, Phase::Settling(_)) => self.turn_is_over(now),
            Frame::Asked(request) => {
                self.requests.add(request.clone());
                actions.push(Action::Emit(Event::Asked(request)));
            }
            Frame::Withdrawn(id) => self.withdraw(&id, &mut actions),
            Frame::Hook(id) => actions.push(Action::Write(stream::answer(&id, &serde_json::json!({})))),
            Frame::Unknown(id, name) => {
                let error = format!("Unsupported control request subtype: {name}");
                actions.push(Action::Write(stream::refuse(&id, &error)));
            }
            Frame::Response(id, error) => self.answered(&id, error, &mut actions),
            Frame::Result(result, message) => {
                self.accept_unreplayed(message, &result, &mut actions);
                self.result(result, now, &mut actions);
            }
            Frame::Busy(_) | Frame::Other => {}
            Frame::NotJson if line.iter().all(u8::is_ascii_whitespace) => {}
            Frame::NotJson => {
                let text = String::from_utf8_lossy(&line[..line.len().min(MAX_TEXT)]).into_owned();
                actions.push(Action::Emit(Event::Note { text }));
            }
        }
        self.advance(now, &mut actions);
        actions
    }

    /// Handles the passing of time.
    pub(crate) fn tick(&mut self, now: Now) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.verdict.is_some() {
            return actions;
        }
        let passed = |since: Duration, limit: Duration| now.since_start.saturating_sub(since) >= limit;
        match self.phase {
            Phase::Starting if passed(Duration::ZERO, self.limits.start) => {
                let message = format!(
                    "claude did not answer within {}: see in a terminal whether `claude -p hello` does",
                    seconds(self.limits.start)
                );
                self.end(FailureReason::Silent, message, &mut actions);
            }
            Phase::Settling(since) if passed(since, SETTLE_TIMEOUT) => self.turn_is_over(now),
            Phase::Idle(_, since) if passed(since, self.limits.idle) => self.close(),
            Phase::Turn if self.is_watched() && passed(self.last_output, self.limits.silence) => {
                let message = format!("claude said nothing for {}", seconds(self.limits.silence));
                self.end(FailureReason::Silent, message, &mut actions);
            }
            Phase::Starting | Phase::Turn | Phase::Settling(_) | Phase::Idle(..) => {}
        }
        self.advance(now, &mut actions);
        actions
    }

    /// How long until the passing of time alone may have an effect.
    pub(crate) fn next_tick(&self, now: Now) -> Duration {
        let until = |since: Duration, limit: Duration| (since + limit).saturating_sub(now.since_start);
        if self.verdict.is_some() || self.closing == Closing::Done {
            return self.limits.silence;
        }
        let left = match self.phase {
            Phase::Starting => until(Duration::ZERO, self.limits.start),
            Phase::Settling(since) => until(since, SETTLE_TIMEOUT),
            Phase::Idle(_, since) => until(since, self.limits.idle),
            Phase::Turn if self.is_watched() => until(self.last_output, self.limits.silence),
            Phase::Turn => self.limits.silence,
        };
        left.max(Duration::from_millis(1))
    }

    /// The current state.
    pub(crate) fn state(&self) -> WorkerState {
        if !self.requests.is_empty() {
            return WorkerState::WaitingPermission { requests: self.requests.all() };
        }
        match self.phase {
            Phase::Starting => WorkerState::Starting,
            Phase::Turn | Phase::Settling(_) => WorkerState::Running,
            Phase::Idle(since, _) => WorkerState::Idle {
                since,
                text: self.last.as_ref().map(outcome_text).unwrap_or_default(),
                turn_failed: self.last.as_ref().is_some_and(|last| last.is_error && !self.interrupted),
            },
        }
    }

    /// The final state of a worker whose process has ended; `stderr` is the end of its error output.
    pub(crate) fn final_state(&self, how: &str, stderr: &str) -> WorkerState {
        if let Some(verdict) = &self.verdict {
            return verdict.clone();
        }
        let why = if stderr.is_empty() { how.to_owned() } else { format!("{how}: {stderr}") };
        match (&self.last, self.phase) {
            (_, Phase::Starting) => failed(FailureReason::Start, format!("claude did not start: {why}")),
            (Some(last), Phase::Settling(_) | Phase::Idle(..)) if !last.is_error => {
                WorkerState::Finished { text: beginning(&last.text) }
            }
            (Some(_), Phase::Settling(_) | Phase::Idle(..)) if self.interrupted => WorkerState::Stopped,
            (Some(last), Phase::Settling(_) | Phase::Idle(..)) => failed_turn(last, stderr),
            (_, Phase::Turn) | (None, _) => {
                failed(FailureReason::Exit, format!("claude ended in the middle of a turn: {why}"))
            }
        }
    }

    /// Follows up on any change: writes waiting messages, closes the input, reports a new state.
    fn advance(&mut self, now: Now, actions: &mut Vec<Action>) {
        if self.phase != Phase::Starting && self.verdict.is_none() {
            while let Some((id, text)) = self.unwritten.pop_front() {
                actions.push(Action::Write(stream::message(&id, &text)));
                self.unaccepted.insert(id);
                self.phase = Phase::Turn;
                self.last_output = now.since_start;
                self.interrupted = false;
            }
        }
        self.emit_state(actions);
        if self.once && self.is_idle() {
            self.close();
        }
        if self.closing == Closing::Wanted && self.is_idle() && self.verdict.is_none() {
            self.closing = Closing::Done;
            actions.push(Action::CloseInput);
        }
    }

    fn emit_state(&mut self, actions: &mut Vec<Action>) {
        let state = self.state();
        if state != self.reported && self.verdict.is_none() {
            self.reported = state.clone();
            actions.push(Action::Emit(Event::State(state)));
        }
    }

    fn emit(&mut self, mut event: Event, actions: &mut Vec<Action>) {
        match &mut event {
            Event::Delta { .. } => self.streamed = true,
            Event::Text { agent: None, streamed, .. } => *streamed = std::mem::take(&mut self.streamed),
            Event::Tool { id, .. } => drop(self.tools.insert(id.clone())),
            Event::ToolResult { id, .. } => drop(self.tools.remove(id)),
            Event::TaskStarted { id, kind, .. } if kind == "local_agent" => {
                self.agents.insert(id.clone());
            }
            Event::TaskEnded { id, .. } => drop(self.agents.remove(id)),
            _ => {}
        }
        actions.push(Action::Emit(event));
    }

    /// Commands that Claude Code answers itself, such as `/help`, are not replayed. Their result names them; in older
    /// releases it is the only one for which no message was accepted.
    fn accept_unreplayed(&mut self, message: Option<String>, result: &TurnResult, actions: &mut Vec<Action>) {
        let is_sole =
            std::mem::take(&mut self.accepted) == 0 && !result.is_error && self.unaccepted.len() == 1;
        let sole = self.unaccepted.first().filter(|id| is_sole && **id != self.first);
        let message = message.or_else(|| sole.cloned());
        if let Some(message) = message.filter(|message| self.unaccepted.remove(message)) {
            actions.push(Action::Emit(Event::Accepted { message }));
        }
    }

    fn result(&mut self, mut result: TurnResult, now: Now, actions: &mut Vec<Action>) {
        if result.cost_usd < 0.0 {
            let sum = result.session_cost_usd;
            // A release that counts each run alone begins under what the session has cost before.
            result.cost_usd = if sum < self.session_cost { sum } else { sum - self.session_cost };
        }
        self.session_cost = result.session_cost_usd;
        self.cost += result.cost_usd;
        self.turns += result.turns;
        self.streamed = false;
        // A result answers at least the first message, whether or not the release has acknowledged it.
        self.unaccepted.remove(&self.first);
        self.tools.clear();
        // An agent in the background outlives the turn that began it, and so do its requests.
        let agents = &self.agents;
        let is_of_an_agent = |agent: &Option<String>| agent.as_ref().is_some_and(|id| agents.contains(id));
        for request in self.requests.remove_unless(|request| is_of_an_agent(&request.agent)) {
            actions.push(Action::Emit(Event::Withdrawn { request }));
        }
        actions.push(Action::Emit(Event::Result(result.clone())));
        if self.phase == Phase::Starting && result.is_error && self.verdict.is_none() {
            // Without an answer to the first request, only the start can have failed.
            self.end(
                FailureReason::Start,
                format!("claude did not start: {}", failure_text(&result, "")),
                actions,
            );
        }
        self.phase = Phase::Settling(now.since_start);
        if self.verdict == Some(WorkerState::Stopped) {
            actions.push(Action::Terminate);
        }
        let is_spent = self.budget.is_some_and(|budget| self.cost >= budget);
        if self.verdict.is_none()
            && (is_spent || result.terminal_reason.as_deref() == Some("budget_exhausted"))
        {
            self.verdict = Some(failed(FailureReason::Budget, out_of_budget(self.budget, self.cost)));
            actions.push(Action::CloseInput);
        }
        self.last = Some(result);
    }

    fn turn_is_over(&mut self, now: Now) {
        // A message sent during the turn may have become a turn of its own; background agents
        // start turns of their own.
        self.phase = if self.unaccepted.is_empty() && self.agents.is_empty() {
            Phase::Idle(now.time, now.since_start)
        } else {
            Phase::Turn
        };
    }

    fn answered(&mut self, id: &str, error: Option<String>, actions: &mut Vec<Action>) {
        let Some(asked) = self.sent_requests.remove(id) else { return };
        let mode = self.sent_modes.remove(id).filter(|_| error.is_none());
        actions.extend(mode.map(Action::Mode));
        if asked == "initialize" && self.phase == Phase::Starting {
            self.phase = Phase::Turn;
        }
        if let Some(error) = error {
            actions.push(Action::Emit(Event::Note { text: format!("claude does not {asked}: {error}") }));
        }
    }

    fn close(&mut self) {
        if self.closing == Closing::No {
            self.closing = Closing::Wanted;
        }
    }

    fn ask(&mut self, what: &'static str, line: impl FnOnce(&str) -> String) -> Action {
        self.count += 1;
        let id = self.last_request();
        let line = line(&id);
        self.sent_requests.insert(id, what);
        Action::Write(line)
    }

    /// The id of the request that was sent last.
    fn last_request(&self) -> String {
        format!("backstory-{}", self.count)
    }

    fn withdraw(&mut self, id: &str, actions: &mut Vec<Action>) {
        if self.requests.remove(id) {
            actions.push(Action::Emit(Event::Withdrawn { request: id.to_owned() }));
        }
    }

    /// Whether silence means that something is wrong.
    fn is_watched(&self) -> bool {
        self.tools.is_empty() && self.requests.is_empty() && self.agents.is_empty()
    }

    fn end(&mut self, why: FailureReason, message: String, actions: &mut Vec<Action>) {
        self.verdict = Some(failed(why, message));
        actions.push(Action::Terminate);
    }
}

#[cfg(test)]
mod tests;
