//! The protocol of a conversation with one `claude` process: what to send when, which state follows, and when
//! it has been silent too long.
//!
//! Pure: lines, commands and times go in, actions come out. `worker` owns the process, its pipes and the
//! clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::stream::{self, Frame};
use crate::{
    Announcement, Command, Event, FailureReason, PermissionMode, PermissionReply, PermissionRequest,
    TurnResult, WorkerState,
};

/// How long after a result to wait for the `idle` state; releases that never report it are idle then.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of kept texts in characters.
const MAX_TEXT: usize = 2000;
/// Minimum length of a prefix that may stand for a request's id.
const MIN_ID_PREFIX: usize = 4;

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
pub(crate) enum Action {
    /// Write this line to the process.
    Write(String),
    /// Send this event to the listeners.
    Emit(Event),
    /// Record that the process is in this permission mode now.
    Mode(PermissionMode),
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
    first: String,
    waiting: BTreeMap<String, PermissionRequest>,
    order: Vec<String>,
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
    /// Sets whether the conversation closes when there is nothing left to do.
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
            waiting: BTreeMap::new(),
            order: Vec::new(),
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
            Frame::Accepted(id) => {
                self.phase = Phase::Turn;
                self.unaccepted.remove(&id);
                actions.push(Action::Emit(Event::Accepted { message: id }));
            }
            Frame::Busy(true) if self.is_idle() => self.phase = Phase::Turn,
            Frame::Busy(false) if matches!(self.phase, Phase::Settling(_)) => self.turn_is_over(now),
            Frame::Asked(request) => {
                self.order.push(request.request.clone());
                self.waiting.insert(request.request.clone(), request.clone());
                actions.push(Action::Emit(Event::Asked(request)));
            }
            Frame::Withdrawn(id) => self.withdraw(&id, &mut actions),
            Frame::Hook(id) => actions.push(Action::Write(stream::answer(&id, &serde_json::json!({})))),
            Frame::Unknown(id, name) => {
                let error = format!("Unsupported control request subtype: {name}");
                actions.push(Action::Write(stream::refuse(&id, &error)));
            }
            Frame::Response(id, error) => self.answered(&id, error, &mut actions),
            Frame::Result(result) => self.result(result, now, &mut actions),
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

    /// Executes a command, or returns a message saying why not.
    pub(crate) fn command(&mut self, command: Command, now: Now) -> Result<Vec<Action>, String> {
        let mut actions = Vec::new();
        if self.verdict.is_some() {
            return Err("the worker is being ended".to_owned());
        }
        match command {
            Command::Answer { request, reply } => {
                let asked = self.find_request(&request).ok_or_else(|| self.not_waiting(&request))?;
                let (request, response) = (asked.request.clone(), asked.response(&reply)?);
                // A no that ends the turn is an interrupt, and no failure.
                self.interrupted |= matches!(reply, PermissionReply::Deny { interrupt: true, .. });
                actions.push(Action::Write(stream::answer(&request, &response)));
                self.forget(&request);
                self.last_output = now.since_start;
                let allowed = response["behavior"] == "allow";
                actions.push(Action::Emit(Event::Answered { request, allowed }));
            }
            Command::Message { id, text } => {
                if self.closing != Closing::No {
                    return Err("the worker ends after this turn".to_owned());
                }
                if self.pending().is_some() {
                    return Err("a follow-up is already pending".to_owned());
                }
                self.unwritten.push_back((id, text));
            }
            Command::Announce { message } => {
                let announcement = Announcement { message, timestamp: now.time };
                actions.push(Action::Emit(Event::Announced(announcement)));
            }
            Command::Interrupt => {
                if self.phase != Phase::Turn {
                    return Err("no turn runs that could be interrupted".to_owned());
                }
                self.interrupted = true;
                actions.push(self.ask("interrupt", stream::interrupt));
            }
            Command::SetMode { mode } => {
                actions.push(self.ask("set the permission mode", |id| stream::set_mode(id, mode)));
                self.sent_modes.insert(self.last_request(), mode);
            }
            Command::SetModel { model } => {
                actions.push(self.ask("set the model", |id| stream::set_model(id, &model)));
            }
            Command::Yield if !self.is_idle() => return Err("a turn runs".to_owned()),
            Command::Close | Command::Yield => self.close(),
            Command::Stop => {
                self.withdraw_messages(&mut actions);
                if self.phase == Phase::Turn {
                    // The transcript then says why its turn has no end.
                    actions.push(self.ask("interrupt", stream::interrupt));
                    actions.push(Action::Interrupted);
                } else {
                    actions.push(Action::Terminate);
                }
                self.verdict = Some(WorkerState::Stopped);
            }
        }
        self.advance(now, &mut actions);
        Ok(actions)
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
                self.end(FailureReason::Start, message, &mut actions);
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
        if !self.waiting.is_empty() {
            let requests = self.order.iter().filter_map(|id| self.waiting.get(id)).cloned().collect();
            return WorkerState::WaitingPermission { requests };
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
        // A result is one to the first message at least, whether or not the release has said that it took it.
        self.unaccepted.remove(&self.first);
        self.tools.clear();
        // An agent in the background outlives the turn that began it, and so do its requests.
        let (kept, over): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.order).into_iter().partition(|id| self.is_of_an_agent(id));
        self.order = kept;
        for request in over.into_iter().filter(|id| self.waiting.remove(id).is_some()) {
            actions.push(Action::Emit(Event::Withdrawn { request }));
        }
        actions.push(Action::Emit(Event::Result(result.clone())));
        if self.phase == Phase::Starting && result.is_error && self.verdict.is_none() {
            // Without an answer to our greeting there was nothing to fail but the start.
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
        // What was sent in the middle of the turn may have become a turn of its own; agents in the background
        // bring one of their own.
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

    /// Withdraws waiting messages, which would otherwise start another turn.
    fn withdraw_messages(&mut self, actions: &mut Vec<Action>) {
        for message in self.unaccepted.clone() {
            actions.push(self.ask("withdraw a message", |id| stream::withdraw(id, &message)));
        }
        if self.pending().is_some() {
            let text = "a message that waited for the end of the turn was not said".to_owned();
            actions.push(Action::Emit(Event::Note { text }));
        }
    }

    fn withdraw(&mut self, id: &str, actions: &mut Vec<Action>) {
        if self.waiting.contains_key(id) {
            self.forget(id);
            actions.push(Action::Emit(Event::Withdrawn { request: id.to_owned() }));
        }
    }

    /// Whether a running sub-agent made this request.
    fn is_of_an_agent(&self, id: &str) -> bool {
        let agent = self.waiting.get(id).and_then(|request| request.agent.as_ref());
        agent.is_some_and(|agent| self.agents.contains(agent))
    }

    /// The request with this id, or the only one whose id begins with it.
    fn find_request(&self, id: &str) -> Option<&PermissionRequest> {
        let begun = || {
            let mut all = self.waiting.values().filter(|asked| asked.request.starts_with(id));
            all.next().filter(|_| id.len() >= MIN_ID_PREFIX && all.next().is_none())
        };
        self.waiting.get(id).or_else(begun)
    }

    fn forget(&mut self, id: &str) {
        self.waiting.remove(id);
        self.order.retain(|other| other != id);
    }

    /// Whether silence means that something is wrong.
    fn is_watched(&self) -> bool {
        self.tools.is_empty() && self.waiting.is_empty() && self.agents.is_empty()
    }

    fn end(&mut self, why: FailureReason, message: String, actions: &mut Vec<Action>) {
        self.verdict = Some(failed(why, message));
        actions.push(Action::Terminate);
    }

    fn not_waiting(&self, request: &str) -> String {
        match self.order.as_slice() {
            [] => "nothing is asked at the moment".to_owned(),
            ids => format!("`{request}` is not asked; what waits for an answer: {}", ids.join(", ")),
        }
    }
}

/// A time limit for display.
fn seconds(limit: Duration) -> String {
    if limit.subsec_millis() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{:.1} s", limit.as_secs_f64())
    }
}

fn failed(why: FailureReason, message: String) -> WorkerState {
    WorkerState::Failed { reason: why, message }
}

fn failed_turn(last: &TurnResult, stderr: &str) -> WorkerState {
    let why = match last.terminal_reason.as_deref() {
        Some("api_error") => FailureReason::Api,
        _ if last.text.starts_with("API Error") => FailureReason::Api,
        _ => FailureReason::Turn,
    };
    failed(why, failure_text(last, stderr))
}

/// Describes a failed turn.
fn failure_text(last: &TurnResult, stderr: &str) -> String {
    let errors = last.errors.join("; ");
    let all = [last.text.as_str(), &errors, stderr, &last.subtype];
    let said = all.into_iter().find(|said| !said.is_empty());
    said.unwrap_or_default().chars().take(MAX_TEXT).collect()
}

/// The beginning of an answer, or of what ended a turn without one.
fn outcome_text(last: &TurnResult) -> String {
    if last.is_error { failure_text(last, "") } else { beginning(&last.text) }
}

/// The beginning of an answer, as far as a state holds it.
fn beginning(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// Describes an exhausted budget.
fn out_of_budget(budget: Option<f64>, cost: f64) -> String {
    match budget {
        Some(budget) => format!("the budget is used up: ${cost:.4} of the ${budget:.4} that were left"),
        None => format!("Claude Code says that the budget is used up, after ${cost:.4}"),
    }
}

#[cfg(test)]
mod tests;
