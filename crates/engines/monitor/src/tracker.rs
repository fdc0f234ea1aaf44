//! The live state of one session: records, registry, hooks and time go in, events come out. Pure.

use jiff::{SignedDuration, Timestamp};
use model::{
    Activity, BackgroundJob, Evidence, SessionActivity, SessionEvent, SessionId, SessionInfo, State,
};
use transcript::record::Record;
use transcript::{SubagentMeta, TurnEnd, TurnSignal, preview, turn_signals};

use crate::facts::Facts;
use crate::hooks::{HookEvent, HookSignal};
use crate::process::{LiveProcess, ProcessState};
use crate::subagents::Subagents;
use crate::timers::{Timers, due};
use crate::turn::{Phase, Turn};
use crate::waiting::{Signs, activity};
use crate::worker_report::{WorkerActivity, WorkerReport};

/// First release known to report its status in the registry, so that silence need not be interpreted.
const HAS_STATUS: [u64; 3] = [2, 1, 119];
/// First release that registers its processes.
const REGISTERS: [u64; 3] = [2, 1, 100];

/// Times closer together than this count as the same.
const SAME: SignedDuration = SignedDuration::from_secs(1);

/// The live state of one session.
#[derive(Debug, Clone)]
pub struct Tracker {
    id: SessionId,
    timers: Timers,
    /// The report of our own worker, while it holds the session.
    report: Option<WorkerReport>,
    process: ProcessState,
    /// An *idle* status not accepted yet, and when it will be.
    settling: Option<(LiveProcess, Timestamp)>,
    /// When a background sub-agent was last reported as ended.
    notified: Option<Timestamp>,
    /// When the process last became idle; earlier tool calls are no longer open.
    idle_from: Option<Timestamp>,
    turn: Turn,
    subagents: Subagents,
    facts: Facts,
    job: Option<BackgroundJob>,
    has_hooks: bool,
    reported: Activity,
    facts_changed: bool,
}

impl Tracker {
    /// A session about which nothing is known yet.
    pub fn new(id: SessionId, timers: Timers) -> Self {
        Self {
            subagents: Subagents::new(id.clone()),
            id,
            timers,
            report: None,
            process: ProcessState::Unknown,
            settling: None,
            notified: None,
            idle_from: None,
            turn: Turn::default(),
            facts: Facts::default(),
            job: None,
            has_hooks: false,
            reported: Activity::new(State::Idle, Evidence::Transcript, None),
            facts_changed: false,
        }
    }

    /// Id of the session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Processes a record seen at `at`.
    pub fn observe(&mut self, record: &Record<'_>, at: Timestamp) {
        self.turn.note_activity(at);
        self.take(record, at);
    }

    /// Processes a record that existed before watching began, in a file that was last written at `written`: it is from
    /// its own time, because a file can be copied, restored or touched much later.
    pub fn recall(&mut self, record: &Record<'_>, written: Timestamp) {
        if let Some(made) = record.timestamp() {
            self.turn.note_activity(made.min(written));
        }
        self.take(record, written);
    }

    /// Takes the time at which a file was written for that of its records, until one of them has a time.
    pub(crate) fn date(&mut self, written: Timestamp) {
        self.turn.date(written);
    }

    fn take(&mut self, record: &Record<'_>, at: Timestamp) {
        let signs = turn_signals(record);
        // A record can be written seconds after it was made, never before.
        let made = record.timestamp().map_or(at, |made| made.min(at));
        self.facts_changed |= self.facts.observe(record);
        if record.is_sidechain() {
            self.subagents.observe_inline(record, &signs, made);
            return;
        }
        self.revive(&signs, made);
        if record.forked_from().is_some() {
            // Copied when the session was branched off: a turn of another session, which is over here.
            self.turn.observe(&TurnSignal::Over { how: TurnEnd::Done, in_background: 0 }, made);
            return;
        }
        for sign in &signs {
            self.turn.observe(sign, made);
            let in_background = self.subagents.in_background();
            self.subagents.observe(sign, made);
            if self.subagents.in_background() < in_background {
                self.notified = Some(made);
            }
            if let TurnSignal::Over { how, .. } = sign {
                self.end_turn(*how);
            }
        }
    }

    /// Processes a record of a sub-agent's own file; `meta` is its side file.
    pub fn observe_subagent(&mut self, agent: &str, meta: &SubagentMeta, record: &Record<'_>, at: Timestamp) {
        let made = record.timestamp().map_or(at, |made| made.min(at));
        if self.subagents.running().any(|event| event.subagent_id.as_deref() == Some(agent)) {
            self.turn.note_activity(at);
        }
        self.subagents.observe_file(agent, meta, &turn_signals(record), made);
    }

    /// Processes the state of the session's process, seen at `at`.
    pub fn registry(&mut self, process: ProcessState, at: Timestamp) {
        let idle = |held: &LiveProcess| {
            held.status.as_ref().is_some_and(|status| status.activity == transcript::LiveStatus::Idle)
        };
        match (&self.process, process) {
            (ProcessState::Alive(before), ProcessState::Alive(now)) if before.pid == now.pid => {
                let found = before.found;
                let now = LiveProcess { found, ..now };
                // It reports *idle* between the end of a background task and the turn that reports that.
                let ends = idle(&now) && before.status.is_some() && !idle(before);
                if ends && self.may_be_between() && !self.has_passed(&now) {
                    self.settling.get_or_insert((now, due(at, self.timers.settle)));
                } else {
                    self.settling = None;
                    if idle(before) && !idle(&now) {
                        self.idle_from = before.status.as_ref().map(|status| status.since);
                    }
                    self.process = ProcessState::Alive(now);
                }
            }
            // The first source that saw the end has reported it.
            (
                ProcessState::Ended { .. } | ProcessState::Lost { .. },
                ProcessState::Absent
                | ProcessState::Unknown
                | ProcessState::Ended { .. }
                | ProcessState::Lost { .. },
            ) => {}
            (_, process) => {
                self.settling = None;
                if matches!(
                    process,
                    ProcessState::Ended { .. } | ProcessState::Lost { .. } | ProcessState::Absent
                ) {
                    self.subagents.abandoned();
                }
                self.process = process;
            }
        }
    }

    /// Concludes that there is no process if the session's release would have registered one, none is registered, here
    /// or in another container, and the session has been silent for `quiet`.
    pub fn settle_absent(&mut self, is_foreign: bool, quiet: SignedDuration, now: Timestamp) {
        let is_quiet = self.last_active().is_none_or(|at| now.duration_since(at) >= quiet);
        if self.registers() && is_quiet && !is_foreign && !self.knows_process() {
            self.registry(ProcessState::Absent, now);
        }
    }

    /// Processes the report of our own worker; `None` if no worker holds the session any more.
    pub fn worker_report(&mut self, report: Option<WorkerReport>, at: Timestamp) {
        let left = report.as_ref().and_then(|report| match report.activity {
            WorkerActivity::Ended => {
                Some(ProcessState::Ended { at: report.since, evidence: Evidence::Protocol })
            }
            WorkerActivity::Lost => {
                Some(ProcessState::Lost { at: report.since, evidence: Evidence::Protocol })
            }
            WorkerActivity::Working | WorkerActivity::Asking { .. } | WorkerActivity::Idle => None,
        });
        let report = report.filter(WorkerReport::is_holding);
        if report.is_some() && self.report.is_none() && self.is_gone() {
            self.process = ProcessState::Unknown;
        }
        self.report = report;
        if let Some(left) = left {
            self.registry(left, at);
        }
    }

    /// Processes what is known of the background job that the session is, if it is one.
    pub fn background_job(&mut self, job: Option<&BackgroundJob>) {
        if self.job.as_ref() != job {
            self.job = job.cloned();
            self.facts_changed = true;
        }
    }

    /// Processes an event reported to a hook.
    pub fn hook(&mut self, hook: &HookEvent) {
        self.has_hooks = true;
        if hook.agent.is_none()
            || matches!(hook.signal, HookSignal::Asked { .. } | HookSignal::Answered { .. })
        {
            self.turn.hook(hook, hook.at);
        }
        match &hook.signal {
            HookSignal::SessionLeft { .. } if !matches!(self.process, ProcessState::Lost { .. }) => {
                self.registry(ProcessState::Ended { at: hook.at, evidence: Evidence::Hook }, hook.at);
            }
            HookSignal::SessionOpened | HookSignal::PromptSubmitted => {
                if self.is_gone() {
                    self.process = ProcessState::Unknown;
                }
                if hook.signal == HookSignal::SessionOpened {
                    self.turn.opened(hook.at);
                }
            }
            _ => {}
        }
    }

    /// The activity at `now`.
    pub fn activity(&self, now: Timestamp) -> Activity {
        let found = activity(self.signs(), now);
        // Two sources report the same thing at slightly different times.
        let is_near = |since: Timestamp| {
            let reported = self.reported.since.unwrap_or(since);
            since.duration_since(reported).abs() < SAME
        };
        let is_near = found.since.is_none_or(is_near);
        let is_reported = Activity { since: self.reported.since, ..found.clone() } == self.reported;
        // The answer to what is asked is written a moment before the registry says that it was given.
        let is_answered = found.is_blocked()
            && found.tool.is_none()
            && self.reported.tool.is_some()
            && (found.state, found.evidence) == (self.reported.state, self.reported.evidence);
        if is_near && (is_reported || is_answered) { self.reported.clone() } else { found }
    }

    /// Advances the time to `now`; returns the events since the last call.
    pub fn tick(&mut self, now: Timestamp) -> Vec<SessionEvent> {
        let is_over = !self.may_be_between();
        if let Some((held, _)) = self.settling.take_if(|(_, at)| is_over || *at <= now) {
            self.process = ProcessState::Alive(held);
        }
        let mut events = self.subagents.take_events();
        let activity = self.activity(now);
        let is_new = self.reported != activity;
        if is_new {
            events.push(SessionEvent::SessionActivity(SessionActivity::new(&self.id, &activity)));
            self.reported = activity;
        }
        if std::mem::take(&mut self.facts_changed) || is_new || !events.is_empty() {
            events.push(SessionEvent::SessionUpdated(Box::new(self.info(now))));
        }
        events
    }

    /// Discards what records said, because the file was rewritten and is read again.
    pub fn reread(&mut self) {
        self.turn = self.turn.restarted();
    }

    /// Whether the records seen so far determine the activity.
    pub fn is_clear(&self) -> bool {
        self.turn.phase() != Phase::Unknown
    }

    /// Whether sub-agents are running.
    pub fn has_subagents(&self) -> bool {
        self.subagents.running().next().is_some()
    }

    /// Discards all events so far, which are history.
    pub fn discard_events(&mut self, now: Timestamp) {
        self.subagents.take_events();
        self.facts_changed = false;
        self.reported = self.activity(now);
    }

    /// The next time after `now` at which the passing of time may change something.
    pub fn next_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let timers = &self.timers;
        let spans = [timers.whole_message, timers.text_idle, timers.permission, timers.silent];
        let silence = spans.iter().filter_map(|span| Some(due(self.turn.last_active()?, *span)));
        let settles = self.settling.as_ref().map(|(_, at)| *at);
        silence.chain(settles).filter(|at| *at > now).min()
    }

    /// Whether the passing of time has changed something by `now`.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.settling.as_ref().is_some_and(|(_, at)| *at <= now) || self.reported != self.activity(now)
    }

    /// Whether anything is known about the session's process.
    pub fn knows_process(&self) -> bool {
        self.process != ProcessState::Unknown || self.report.is_some()
    }

    /// The session as shown to listeners.
    pub fn info(&self, now: Timestamp) -> SessionInfo {
        let facts = &self.facts;
        let held = match &self.process {
            ProcessState::Alive(held) => Some(held),
            _ => None,
        };
        let report = self.report.as_ref();
        let cwd = facts.cwd.clone().or_else(|| held.and_then(|held| held.cwd.clone()));
        let cwd = cwd.or_else(|| Some(report?.directory.clone()));
        let task = || Some(preview(&report?.task)).filter(|task| !task.is_empty());
        SessionInfo {
            session_id: self.id.clone(),
            activity: self.activity(now),
            title: facts.title().map(ToOwned::to_owned).or_else(task),
            project: cwd.as_ref().and_then(|cwd| Some(cwd.file_name()?.to_string_lossy().into_owned())),
            cwd,
            branch: facts.branch.clone(),
            model: facts.model.clone(),
            context_tokens: facts.context_tokens,
            created: facts.first,
            last_activity: facts.last.max(self.turn.last_active()),
            pid: held.map(|held| held.pid).or_else(|| report?.pid),
            subagents: self.subagents.running().cloned().collect(),
            background_job: self.job.clone(),
        }
    }

    /// Whether the session's release registers live processes.
    pub fn registers(&self) -> bool {
        self.release().is_some_and(|release| release >= REGISTERS)
    }

    /// Whether a live process is known to have the session open.
    pub fn is_alive(&self) -> bool {
        matches!(self.process, ProcessState::Alive(_)) || self.report.is_some()
    }

    /// When something was last observed.
    pub fn last_active(&self) -> Option<Timestamp> {
        self.turn.last_active()
    }

    /// Whether an *idle* status may mark the gap between the end of a background sub-agent and the turn that
    /// reports it. If the process became busy after the last one ended, that was this turn.
    fn may_be_between(&self) -> bool {
        let ProcessState::Alive(LiveProcess { status: Some(status), .. }) = &self.process else {
            return false;
        };
        let still = self.subagents.in_background();
        let has_told = still == 0 && self.notified.is_some_and(|at| status.since >= at);
        still.max(self.turn.in_background()) > 0 && !has_told
    }

    /// Whether this *idle* status differs from the one not accepted yet, so that a turn ran in between.
    fn has_passed(&self, now: &LiveProcess) -> bool {
        let since = |held: &LiveProcess| held.status.as_ref().map(|status| status.since);
        self.settling.as_ref().is_some_and(|(held, _)| since(held) != since(now))
    }

    fn signs(&self) -> Signs<'_> {
        Signs {
            report: self.report.as_ref(),
            process: &self.process,
            turn: &self.turn,
            inner: self.subagents.open_tool(),
            in_background: self.subagents.in_background(),
            may_guess: self.may_guess(),
            timers: &self.timers,
            idle_from: self.idle_from.unwrap_or(Timestamp::MIN),
        }
    }

    /// Whether silence may be interpreted, for lack of better evidence.
    fn may_guess(&self) -> bool {
        let tells = self.release().is_some_and(|release| release >= HAS_STATUS);
        let never_asks = matches!(self.facts.mode.as_deref(), Some("bypassPermissions" | "dontAsk"));
        !tells && !never_asks && !self.has_hooks
    }

    fn is_gone(&self) -> bool {
        matches!(self.process, ProcessState::Ended { .. } | ProcessState::Lost { .. } | ProcessState::Absent)
    }

    /// The session's release; parts that cannot be parsed count as new.
    fn release(&self) -> Option<[u64; 3]> {
        let mut parts = self.facts.version.as_deref()?.trim_start_matches('v').split(['.', '-', '+']);
        Some(std::array::from_fn(|_| parts.next().map_or(0, |part| part.parse().unwrap_or(u64::MAX))))
    }

    fn end_turn(&mut self, how: TurnEnd) {
        match how {
            TurnEnd::Interrupted => self.subagents.interrupted(),
            TurnEnd::Left => self.subagents.abandoned(),
            TurnEnd::Done | TurnEnd::Failed => {}
        }
    }

    /// A turn that continues after its process ended belongs to another process, about which nothing is
    /// known.
    fn revive(&mut self, signs: &[TurnSignal<'_>], made: Timestamp) {
        let gone = match &self.process {
            ProcessState::Ended { at, .. } | ProcessState::Lost { at, .. } => *at,
            ProcessState::Absent => self.turn.made().unwrap_or(Timestamp::MIN),
            ProcessState::Unknown | ProcessState::Alive(_) => return,
        };
        let goes_on = signs.iter().any(|sign| {
            !matches!(
                sign,
                TurnSignal::Fails { .. }
                    | TurnSignal::Over { .. }
                    | TurnSignal::StopHooks { .. }
                    | TurnSignal::Notified { .. }
            )
        });
        // A record that an ending process wrote was made before its end was noticed, or hardly after it.
        if goes_on && made.duration_since(gone) > SAME {
            self.process = ProcessState::Unknown;
        }
    }
}
