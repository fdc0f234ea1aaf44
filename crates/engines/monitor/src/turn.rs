//! The turn of one conversation according to records and hooks: open tool calls, the last block, whether it
//! is over.
//!
//! It records what happened and when; `waiting` interprets silence and the registry.

use jiff::Timestamp;
use model::Evidence;
use transcript::{ToolCall, TurnEnd, TurnSignal};

use crate::hooks::{HookEvent, HookSignal};

/// Maximum number of open tool calls remembered.
const OPEN: usize = 256;

/// The last thing in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing is known.
    Unknown,
    /// The model was given input and has not produced a block yet.
    Given,
    /// A thinking block.
    Thought {
        /// Whether its message is complete and ends the turn.
        last: bool,
    },
    /// A text block that may be followed by more.
    Text,
    /// The turn is over.
    Over(TurnEnd),
}

/// A tool call without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenTool {
    /// Id of the call.
    pub(crate) id: String,
    /// Name of the tool: `Bash`, `Edit`, …
    pub(crate) name: String,
    /// Description of the call, safe to display.
    pub(crate) detail: Option<String>,
    /// What a person is asked about it.
    pub(crate) asking: Option<String>,
    /// When it was made.
    pub(crate) since: Timestamp,
    /// Whether it asks the user a question.
    pub(crate) asks: bool,
    /// Whether it starts a sub-agent.
    pub(crate) delegates: bool,
}

/// A permission request or question reported by a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookRequest {
    /// Name of the tool.
    pub(crate) tool: Option<String>,
    /// Description of the call, safe to display.
    pub(crate) detail: Option<String>,
    /// Whether it is a question.
    pub(crate) question: bool,
    /// When it was asked.
    pub(crate) since: Timestamp,
}

/// A turn.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    phase: Phase,
    since: Option<Timestamp>,
    made: Option<Timestamp>,
    evidence: Evidence,
    open: Vec<OpenTool>,
    asked: Option<HookRequest>,
    in_background: u64,
    last_text: Option<Timestamp>,
    active_at: Option<Timestamp>,
    file_written: Option<Timestamp>,
    failure: Option<String>,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            phase: Phase::Unknown,
            since: None,
            made: None,
            evidence: Evidence::Transcript,
            open: Vec::new(),
            asked: None,
            in_background: 0,
            last_text: None,
            active_at: None,
            file_written: None,
            failure: None,
        }
    }
}

impl Turn {
    /// The last thing in the turn.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether the turn has begun and is not over.
    pub(crate) fn runs(&self) -> bool {
        !self.open.is_empty() || !matches!(self.phase, Phase::Unknown | Phase::Over(_))
    }

    /// When the current phase began.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// When the last sign was made.
    pub(crate) fn made(&self) -> Option<Timestamp> {
        self.made
    }

    /// The source of the phase: transcript or hook.
    pub(crate) fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Open tool calls in the order they were made.
    pub(crate) fn open(&self) -> &[OpenTool] {
        &self.open
    }

    /// The open request reported by a hook.
    pub(crate) fn asked(&self) -> Option<&HookRequest> {
        self.asked.as_ref()
    }

    /// Number of sub-agents running in the background when the turn ended.
    pub(crate) fn in_background(&self) -> u64 {
        self.in_background
    }

    /// When the last text block was made.
    pub(crate) fn last_text(&self) -> Option<Timestamp> {
        self.last_text
    }

    /// Why the turn failed, where it did.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref().filter(|_| self.phase == Phase::Over(TurnEnd::Failed))
    }

    /// When something was last observed, or else when the file was written.
    pub(crate) fn last_active(&self) -> Option<Timestamp> {
        self.active_at.or(self.file_written)
    }

    /// A turn of which nothing is known, in a session that was active when this one was.
    pub(crate) fn restarted(&self) -> Self {
        Self { active_at: self.active_at, file_written: self.file_written, ..Self::default() }
    }

    /// Takes the time at which a file was written for that of its records, until one of them has a time.
    pub(crate) fn date(&mut self, written: Timestamp) {
        self.file_written = Some(written);
    }

    /// Records that something was observed, which may say nothing about the turn.
    pub(crate) fn note_activity(&mut self, at: Timestamp) {
        self.active_at = self.active_at.max(Some(at));
    }

    /// Processes a sign made at `made`.
    pub(crate) fn observe(&mut self, sign: &TurnSignal<'_>, made: Timestamp) {
        match sign {
            TurnSignal::Begins { .. } => {
                self.close();
                self.set_from_record(Phase::Given, made);
            }
            TurnSignal::GoesOn => self.set_from_record(Phase::Given, made),
            TurnSignal::Thinks { last } => self.block(Phase::Thought { last: *last }, made),
            TurnSignal::Says { last: false } => {
                self.last_text = Some(made);
                self.block(Phase::Text, made);
            }
            TurnSignal::Says { last: true } => {
                self.last_text = Some(made);
                self.over(TurnEnd::Done, 0, made);
            }
            TurnSignal::Calls(call) => self.call(call, made),
            TurnSignal::Answered { id, .. } => self.answered(id, made),
            TurnSignal::Progress { .. } | TurnSignal::Notified { .. } => {}
            // A hook's output was given to the model before.
            TurnSignal::StopHooks { prevented: false } if self.phase == Phase::Given => {}
            TurnSignal::StopHooks { .. } => self.over(TurnEnd::Done, 0, made),
            TurnSignal::Fails { reason } => self.failure = Some(reason.clone()),
            TurnSignal::Over { how, in_background } => self.over(*how, *in_background, made),
        }
    }

    /// Processes an event reported to a hook.
    pub(crate) fn hook(&mut self, hook: &HookEvent, at: Timestamp) {
        self.note_activity(at);
        match &hook.signal {
            HookSignal::PromptSubmitted => {
                self.close();
                self.set_from_hook(Phase::Given, at);
            }
            HookSignal::Asked { tool, detail, question } => {
                let known = self.asked.as_ref().filter(|asked| asked.tool == *tool);
                let since = known.map_or(at, |asked| asked.since);
                self.asked = Some(HookRequest {
                    tool: tool.clone(),
                    detail: detail.clone(),
                    question: *question,
                    since,
                });
            }
            // Arrives late, for a request that is already known.
            HookSignal::StillAsking => {
                self.asked.get_or_insert(HookRequest {
                    tool: None,
                    detail: None,
                    question: false,
                    since: at,
                });
            }
            HookSignal::Answered { tool, tool_use } => {
                if self.asked.as_ref().is_some_and(|asked| asked.tool.is_none() || asked.tool == *tool) {
                    self.asked = None;
                }
                // A sub-agent's tool is no evidence about the session's own turn, which may be over.
                if hook.agent.is_none() {
                    let id = tool_use.as_deref().unwrap_or("");
                    self.open.retain(|open| open.id != id);
                    self.set_from_hook(Phase::Given, at);
                }
            }
            HookSignal::TurnEnded { in_background } => {
                self.close();
                self.in_background = *in_background;
                self.set_from_hook(Phase::Over(TurnEnd::Done), at);
            }
            HookSignal::WaitingForPrompt => {
                if !matches!(self.phase, Phase::Over(_)) {
                    self.close();
                    self.set_from_hook(Phase::Over(TurnEnd::Done), at);
                }
            }
            HookSignal::SessionOpened
            | HookSignal::SessionLeft { .. }
            | HookSignal::SubagentEnded
            | HookSignal::Other => {}
        }
    }

    /// Records that a process opened the session and waits for a prompt.
    pub(crate) fn opened(&mut self, at: Timestamp) {
        self.close();
        self.set_from_hook(Phase::Over(TurnEnd::Done), at);
    }

    fn block(&mut self, phase: Phase, made: Timestamp) {
        self.withdraw(made);
        self.set_from_record(phase, made);
    }

    fn call(&mut self, call: &ToolCall<'_>, made: Timestamp) {
        self.withdraw(made);
        // Thinking after the tool is a new block.
        self.set_from_record(Phase::Unknown, made);
        self.set_from_record(Phase::Given, made);
        if self.open.len() < OPEN && self.open.iter().all(|open| open.id != call.id) {
            self.open.push(OpenTool {
                id: call.id.to_owned(),
                name: call.name.to_owned(),
                detail: call.detail(),
                asking: call.asking(),
                since: made,
                asks: call.is_question(),
                delegates: call.starts_subagent(),
            });
        }
    }

    fn answered(&mut self, id: &str, made: Timestamp) {
        let before = self.open.len();
        self.open.retain(|open| open.id != id);
        if self.open.len() < before {
            self.asked = None;
            self.set_from_record(Phase::Unknown, made);
        }
        self.set_from_record(Phase::Given, made);
    }

    fn over(&mut self, how: TurnEnd, in_background: u64, made: Timestamp) {
        // A mark that the turn is over follows the answer, and says nothing new of how it was over.
        let known = match (self.phase, how) {
            (Phase::Over(known), TurnEnd::Done) => known,
            _ => how,
        };
        self.close();
        self.in_background = in_background;
        self.set_from_record(Phase::Over(known), made);
    }

    fn close(&mut self) {
        self.open.clear();
        self.asked = None;
        self.in_background = 0;
    }

    /// Closes a request that was answered, as a later block shows.
    fn withdraw(&mut self, made: Timestamp) {
        if self.asked.as_ref().is_some_and(|asked| made > asked.since) {
            self.asked = None;
        }
    }

    /// Sets the phase from a record, unless the record is older than a hook's event.
    fn set_from_record(&mut self, phase: Phase, made: Timestamp) {
        let is_late = self.made.is_some_and(|before| made < before);
        if self.evidence == Evidence::Hook && (is_late || self.phase.is_same_activity(phase)) {
            return;
        }
        self.set_phase(phase, made, Evidence::Transcript);
    }

    fn set_from_hook(&mut self, phase: Phase, at: Timestamp) {
        self.set_phase(phase, at, Evidence::Hook);
    }

    fn set_phase(&mut self, phase: Phase, made: Timestamp, evidence: Evidence) {
        let goes_on = self.phase.is_same_activity(phase) && self.evidence == evidence;
        self.since = self.since.filter(|_| goes_on).or(Some(made));
        self.phase = phase;
        self.made = Some(made);
        self.evidence = evidence;
    }
}

impl Phase {
    /// Whether both phases count as the same activity.
    fn is_same_activity(self, other: Self) -> bool {
        let thinks = |phase| matches!(phase, Self::Given | Self::Thought { .. });
        self == other || (thinks(self) && thinks(other))
    }
}
