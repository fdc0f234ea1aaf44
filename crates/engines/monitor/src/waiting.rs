//! Decides what a session is doing from all evidence: the registry first, then hooks and records, then
//! silence.
//!
//! This implements `docs/activity.md`. Pure: the time is a parameter.

use jiff::{SignedDuration, Timestamp};
use model::{Activity, Evidence, QUESTION, State};
use transcript::{LiveStatus, TurnEnd};

use crate::process::{ProcessState, ProcessStatus};
use crate::timers::{Timers, due, is_over};
use crate::turn::{OpenTool, Phase, Turn};
use crate::worker_report::{WorkerActivity, WorkerReport};

/// Detail shown for a background task whose turn is over.
const BACKGROUND: &str = "in the background";

/// The registry's text for a permission request.
const PERMISSION: &str = "permission prompt";
/// Prefix of that text in 2.1.119.
const APPROVE: &str = "approve ";
/// The tool that asks the user questions.
const ASK: &str = "AskUserQuestion";

/// The registry may lag behind by this much.
const LATE: SignedDuration = SignedDuration::from_millis(500);

/// All evidence about a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signs<'a> {
    /// The report of our own worker, if one holds the session.
    pub(crate) report: Option<&'a WorkerReport>,
    /// What is known about the process.
    pub(crate) process: &'a ProcessState,
    /// The session's own turn.
    pub(crate) turn: &'a Turn,
    /// A tool call open in a running sub-agent.
    pub(crate) inner: Option<&'a OpenTool>,
    /// Number of sub-agents running in the background.
    pub(crate) in_background: u64,
    /// Whether silence may be interpreted.
    pub(crate) may_guess: bool,
    /// Durations after which silence has a meaning.
    pub(crate) timers: &'a Timers,
    /// When the process last became idle.
    pub(crate) idle_from: Timestamp,
}

/// The session's activity at `now`, with what a person is asked.
pub(crate) fn activity(signs: Signs<'_>, now: Timestamp) -> Activity {
    let activity = by_evidence(signs, now);
    if !activity.is_blocked() || activity.asking.is_some() {
        return activity;
    }
    Activity { asking: asking(signs, activity.tool.as_deref()), ..activity }
}

/// What the open call of this tool asks a person; of an unknown tool, the open question.
fn asking(signs: Signs<'_>, tool: Option<&str>) -> Option<String> {
    let open = || signs.turn.open().iter().chain(signs.inner);
    let is_meant = |open: &&OpenTool| tool.map_or(open.asks, |tool| open.name == tool);
    open().find(is_meant)?.asking.clone()
}

fn by_evidence(signs: Signs<'_>, now: Timestamp) -> Activity {
    if let Some(report) = signs.report {
        let said = Activity { evidence: Evidence::Protocol, ..by_worker(signs, report) };
        return quiet(signs, said, now);
    }
    match signs.process {
        ProcessState::Alive(held) => match &held.status {
            Some(status) => by_registry(signs, status, now),
            None if signs.turn.phase() == Phase::Unknown && signs.turn.open().is_empty() => {
                Activity::new(State::WaitingInput, Evidence::Registry, Some(held.found))
            }
            None => quiet(signs, by_turn(signs, now), now),
        },
        ProcessState::Ended { at, evidence } => Activity::new(State::Ended, *evidence, Some(*at)),
        ProcessState::Lost { at, evidence } => Activity::new(State::Lost, *evidence, Some(*at)),
        ProcessState::Absent => Activity::new(State::Idle, Evidence::Registry, signs.turn.since()),
        ProcessState::Unknown => quiet(signs, by_turn(signs, now), now),
    }
}

/// The activity according to a worker; the transcript distinguishes the kinds of work.
fn by_worker(signs: Signs<'_>, report: &WorkerReport) -> Activity {
    let said = |state| Activity::new(state, Evidence::Protocol, Some(report.since));
    match &report.activity {
        WorkerActivity::Working => busy(signs, report.since),
        WorkerActivity::Asking { tool, detail, asking, question } => {
            let (state, detail) = if *question {
                (State::WaitingInput, Some(QUESTION.to_owned()))
            } else {
                (State::WaitingPermission, detail.clone())
            };
            Activity { tool: Some(tool.clone()), detail, asking: asking.clone(), ..said(state) }
        }
        WorkerActivity::Idle => over(signs, report.since),
        WorkerActivity::Ended => said(State::Ended),
        WorkerActivity::Lost => said(State::Lost),
    }
}

fn by_registry(signs: Signs<'_>, status: &ProcessStatus, now: Timestamp) -> Activity {
    match status.activity {
        LiveStatus::Busy => busy(signs, status.since),
        LiveStatus::Waiting => waiting(signs, status),
        LiveStatus::Idle => quiet(signs, over(signs, status.since), now),
    }
}

/// The activity after a turn; the transcript tells whether it failed.
fn over(signs: Signs<'_>, since: Timestamp) -> Activity {
    match signs.turn.failure() {
        Some(reason) => Activity { detail: Some(reason.to_owned()), ..registry(State::Failed, since) },
        None => registry(State::WaitingInput, since),
    }
}

/// The activity during a turn while nobody is asked; the transcript distinguishes the kinds of work.
fn busy(signs: Signs<'_>, since: Timestamp) -> Activity {
    let turn = signs.turn;
    // An earlier question has been answered, or the process would be waiting.
    let is_open = |open: &&OpenTool| open.since >= signs.idle_from && (!open.asks || open.since > since);
    let open = turn.open().iter().find(is_open);
    if let Some(open) = open {
        let from = open.since.max(since);
        return Activity {
            tool: Some(open.name.clone()),
            detail: open.detail.clone(),
            ..registry(State::ToolUse, from)
        };
    }
    // What was made before the process became busy belongs to an earlier turn.
    let made = turn.made().unwrap_or(Timestamp::MIN);
    match turn.phase() {
        Phase::Over(_) if due(made, LATE) >= since && signs.in_background.max(turn.in_background()) > 0 => {
            in_the_background(registry(State::ToolUse, turn.since().unwrap_or(made)))
        }
        Phase::Text | Phase::Over(TurnEnd::Done) => match turn.last_text().filter(|at| *at >= since) {
            Some(at) => registry(State::Responding, at),
            None => registry(State::Thinking, since),
        },
        Phase::Unknown | Phase::Given | Phase::Thought { .. } | Phase::Over(_) => {
            registry(State::Thinking, since.max(turn.since().unwrap_or(since)))
        }
    }
}

fn waiting(signs: Signs<'_>, status: &ProcessStatus) -> Activity {
    let waiting_for = status.waiting_for.as_deref();
    let question = signs.turn.open().iter().find(|open| open.asks);
    match waiting_for {
        Some("input needed") => asks(question.map(|open| open.name.clone()), status.since),
        // 2.1.119 names the tool, whatever is asked.
        Some(what) if let Some(named) = what.strip_prefix(APPROVE) => {
            let named = named.split(':').next().unwrap_or(named).trim();
            if named == ASK {
                return asks(Some(ASK.to_owned()), status.since);
            }
            let (tool, detail) = asked_for(signs);
            let detail = detail.filter(|_| tool.as_deref() == Some(named));
            let tool = Some(transcript::preview(named));
            Activity { tool, detail, ..registry(State::WaitingPermission, status.since) }
        }
        Some("permission prompt" | "sandbox request" | "worker request") => {
            let (tool, detail) = asked_for(signs);
            // 2.1.143 uses the same text for a question.
            if waiting_for == Some(PERMISSION) && tool.as_deref() == Some(ASK) {
                return asks(tool, status.since);
            }
            let detail = detail.or_else(|| waiting_for.filter(|what| *what != PERMISSION).map(Into::into));
            Activity { tool, detail, ..registry(State::WaitingPermission, status.since) }
        }
        // Opened by the person, for the turn is over: `/model` and the like.
        Some(dialog @ "dialog open") if !signs.turn.runs() => {
            Activity { detail: Some(dialog.to_owned()), ..registry(State::WaitingInput, status.since) }
        }
        // Anything else a release waits for means the turn is not over.
        other => {
            let what = other.map_or_else(
                || QUESTION.to_owned(),
                |what| format!("{QUESTION}: {}", transcript::preview(what)),
            );
            Activity { detail: Some(what), ..registry(State::WaitingInput, status.since) }
        }
    }
}

/// The activity while background tasks run after a turn.
fn in_the_background(mut activity: Activity) -> Activity {
    activity.tool = Some("Agent".to_owned());
    activity.detail = Some(BACKGROUND.to_owned());
    activity
}

/// The activity while a question is open.
fn asks(tool: Option<String>, since: Timestamp) -> Activity {
    Activity { tool, detail: Some(QUESTION.to_owned()), ..registry(State::WaitingInput, since) }
}

/// The tool a permission is requested for: from a hook, else a sub-agent's, else the first one called.
fn asked_for(signs: Signs<'_>) -> (Option<String>, Option<String>) {
    if let Some(asked) = signs.turn.asked().filter(|asked| asked.tool.is_some()) {
        return (asked.tool.clone(), asked.detail.clone());
    }
    let own = signs.turn.open().iter().find(|open| !open.delegates);
    let open = own.or(signs.inner).or(signs.turn.open().first());
    open.map_or((None, None), |open| (Some(open.name.clone()), open.detail.clone()))
}

/// The activity according to records and hooks, and silence if it may be interpreted.
fn by_turn(signs: Signs<'_>, now: Timestamp) -> Activity {
    let turn = signs.turn;
    if let Some(asked) = turn.asked() {
        let (tool, detail) = asked_for(signs);
        let (state, detail) = if asked.question {
            (State::WaitingInput, Some(QUESTION.to_owned()))
        } else {
            (State::WaitingPermission, detail)
        };
        return Activity { tool, detail, ..Activity::new(state, Evidence::Hook, Some(asked.since)) };
    }
    if let Some(question) = turn.open().iter().find(|open| open.asks) {
        return Activity {
            tool: Some(question.name.clone()),
            detail: Some(QUESTION.to_owned()),
            ..Activity::new(State::WaitingInput, Evidence::Transcript, Some(question.since))
        };
    }
    if let Some(open) = turn.open().first() {
        return tool_open(signs, open, now);
    }
    let silent_for = |span| turn.last_active().is_some_and(|at| is_over(now, at, span));
    let said = |state| Activity::new(state, turn.evidence(), turn.since());
    match turn.phase() {
        Phase::Unknown => said(State::Idle),
        Phase::Thought { last: true } if silent_for(signs.timers.whole_message) => said(State::WaitingInput),
        Phase::Given | Phase::Thought { .. } => said(State::Thinking),
        Phase::Text if signs.may_guess && silent_for(signs.timers.text_idle) => {
            Activity { evidence: Evidence::Timer, ..said(State::WaitingInput) }
        }
        Phase::Text => said(State::Responding),
        Phase::Over(TurnEnd::Left) => said(State::Ended),
        Phase::Over(TurnEnd::Failed) => {
            Activity { detail: turn.failure().map(ToOwned::to_owned), ..said(State::Failed) }
        }
        Phase::Over(TurnEnd::Done | TurnEnd::Interrupted) => {
            if signs.in_background.max(turn.in_background()) == 0 {
                return said(State::WaitingInput);
            }
            in_the_background(said(State::ToolUse))
        }
    }
}

fn tool_open(signs: Signs<'_>, open: &OpenTool, now: Timestamp) -> Activity {
    // Long-running tools with an output file of their own are no sign of a permission request.
    let exempt = signs.turn.open().iter().any(|open| open.delegates);
    let silent = signs.turn.last_active().is_some_and(|at| is_over(now, at, signs.timers.permission));
    let (state, evidence) = if signs.may_guess && silent && !exempt {
        (State::WaitingPermission, Evidence::Timer)
    } else {
        (State::ToolUse, Evidence::Transcript)
    };
    Activity {
        tool: Some(open.name.clone()),
        detail: open.detail.clone(),
        ..Activity::new(state, evidence, Some(open.since))
    }
}

/// Turns a long-silent session idle, unless the user is asked or the session certainly works.
fn quiet(signs: Signs<'_>, activity: Activity, now: Timestamp) -> Activity {
    let is_alive = matches!(signs.process, ProcessState::Alive(_));
    let is_sure = is_alive || matches!(activity.evidence, Evidence::Protocol | Evidence::Hook);
    // What runs in the background may end without an event that reaches us.
    let is_vouched_for = matches!(activity.evidence, Evidence::Registry | Evidence::Protocol);
    let may_be_over = activity.detail.as_deref() == Some(BACKGROUND) && !is_vouched_for;
    let stays = is_sure && (activity.is_blocked() || (activity.state.is_working() && !may_be_over));
    let is_rest = matches!(activity.state, State::Idle | State::Ended | State::Lost);
    let last = signs.turn.last_active().max(activity.since).unwrap_or(now);
    if stays || is_rest || !is_over(now, last, signs.timers.silent) {
        return activity;
    }
    Activity::new(State::Idle, Evidence::Timer, last.checked_add(signs.timers.silent).ok())
}

fn registry(state: State, since: Timestamp) -> Activity {
    Activity::new(state, Evidence::Registry, Some(since))
}
