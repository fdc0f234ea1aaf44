//! `watch`: the activity of every session, live, for any number of subscribers.

use std::collections::{HashSet, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::{AgentId, SessionEvent, SessionId, SessionInfo};
use monitor::{Listener, Monitor, MonitorSettings};
pub use monitor::{MonitorEnded, MonitorSnapshot};
use transcript::ConfigFolder;

pub use crate::live::facts::{Facts, Listed};
use crate::live::facts::{Lister, locked};
use crate::live::hooks;
use crate::live::play::Play;
use crate::sessions::activity;
use crate::workers::reports::Ear;
use crate::{Context, Error, Kind, Secrets};

/// How many events a subscriber may be behind.
const BEHIND: usize = 4096;
/// How many events are kept as they leave, for the next subscriber that comes for them.
const KEPT: usize = 256;

/// Watches all sessions until its last clone and its last subscription are dropped.
#[derive(Debug, Clone)]
pub struct Live(Arc<Shared>);

/// What all subscribers share.
#[derive(Debug)]
struct Shared {
    monitor: Monitor,
    lister: Lister,
    /// The latest events, as they happened and as they leave without secrets.
    leaving: Mutex<VecDeque<(Arc<SessionEvent>, Arc<SessionEvent>)>>,
    /// Workers are listened to until this is dropped.
    _workers: Mutex<Sender<()>>,
}

/// The events of the sessions that a caller may see.
#[derive(Debug)]
pub struct Subscription {
    listener: Listener,
    shared: Arc<Shared>,
    rules: Rules,
    /// The listing that was looked at last.
    listed: Option<Listed>,
    /// Whether it has not been given out yet.
    has_new_facts: bool,
    /// The scripted minute of `--demo`, played to each subscriber.
    play: Option<Play>,
    clock: fn() -> jiff::Timestamp,
    /// An agent's sessions by that listing.
    admitted: HashSet<SessionId>,
    /// Whether they are others than the subscriber knows of.
    has_other_sessions: bool,
}

/// What a subscriber may see.
#[derive(Debug, Clone)]
struct Rules {
    secrets: Secrets,
    agent: Option<AgentId>,
}

impl Live {
    /// Starts watching.
    pub fn start(context: &Context) -> Result<Self, Error> {
        let wrong = |error: &std::io::Error| Error::caused(Kind::Unavailable, "cannot start watching", error);
        let monitor = Monitor::start(settings(context)).map_err(|error| wrong(&error))?;
        let workers = hear_workers(context, &monitor).map_err(|error| wrong(&error))?;
        let lister = Lister::start(context).map_err(|error| wrong(&error))?;
        let shared = Shared { monitor, lister, leaving: Mutex::default(), _workers: Mutex::new(workers) };
        Ok(Self(Arc::new(shared)))
    }

    /// The state of the sessions that the caller may see, and all later events of them.
    pub fn subscribe(&self, context: &Context) -> Result<(MonitorSnapshot, Subscription), Error> {
        let (mut snapshot, listener) = self.0.monitor.listen(BEHIND).ok_or_else(ended)?;
        let rules = Rules::of(context);
        self.0.lister.request();
        self.0.make_leave(&mut snapshot, &rules);
        let shared = Arc::clone(&self.0);
        Ok((
            snapshot,
            Subscription {
                listener,
                shared,
                rules,
                listed: None,
                has_new_facts: false,
                play: context.config().is_demo.then(Play::begin),
                clock: context.app.clock,
                admitted: HashSet::new(),
                has_other_sessions: false,
            },
        ))
    }

    /// Asks for a new listing of every session, for the facts that are not watched.
    pub fn request_listing(&self) {
        self.0.lister.request();
    }

    /// The state of the sessions that the caller may see.
    pub fn snapshot(&self, context: &Context) -> Result<MonitorSnapshot, Error> {
        let mut snapshot = self.0.monitor.look().ok_or_else(ended)?;
        self.0.make_leave(&mut snapshot, &Rules::of(context));
        Ok(snapshot)
    }
}

fn ended() -> Error {
    Error::new(Kind::Unavailable, "nobody watches the sessions any more")
}

impl Subscription {
    /// The next event, or `None` if none arrives within `patience`. A subscriber that was too slow gets a resync, and
    /// asks for a [`snapshot`](Self::snapshot).
    ///
    /// An agent's sessions are known from the listing: where that holds others than before, a resync comes too.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Arc<SessionEvent>>, MonitorEnded> {
        let deadline = Instant::now() + patience;
        loop {
            self.look();
            if std::mem::take(&mut self.has_other_sessions) {
                return Ok(Some(Arc::new(SessionEvent::Resync { lost: 0 })));
            }
            if let Some(event) = self.played() {
                return Ok(Some(event));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let play = self.play.as_ref().filter(|_| self.listed.is_some());
            let left = play.and_then(Play::due_in).map_or(left, |due| left.min(due));
            let Some(event) = self.listener.next(left)? else { return Ok(None) };
            if matches!(*event, SessionEvent::SessionsChanged { .. }) {
                self.shared.lister.request();
            }
            if let Some(event) = self.shared.leave(&event, &self.rules) {
                return Ok(Some(event));
            }
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    /// What the scripted minute of `--demo` brings now; it begins when the sessions are listed.
    fn played(&mut self) -> Option<Arc<SessionEvent>> {
        let listed = self.listed.as_ref()?;
        self.play.as_mut()?.next(listed, (self.clock)())
    }

    /// Looks at the current listing, where it is another than before.
    fn look(&mut self) {
        let Some(listed) = self.shared.lister.listed() else { return };
        if self.listed.as_ref().is_some_and(|known| Arc::ptr_eq(known, &listed)) {
            return;
        }
        if let Some(agent) = &self.rules.agent {
            let own = listed.iter().filter(|(_, facts)| facts.agent.as_ref() == Some(agent));
            let own: HashSet<SessionId> = own.map(|(id, _)| id.clone()).collect();
            self.has_other_sessions |= self.admitted != own;
            self.admitted = own;
        }
        self.has_new_facts = true;
        self.listed = Some(listed);
    }

    /// The current state, after events were missed.
    pub fn snapshot(&self) -> Option<MonitorSnapshot> {
        let mut snapshot = self.shared.monitor.look()?;
        self.shared.make_leave(&mut snapshot, &self.rules);
        Some(snapshot)
    }

    /// The sessions as they are listed now; `None` where that is what was given out last.
    pub fn new_facts(&mut self) -> Option<Listed> {
        self.look();
        let listed = self.listed.clone().filter(|_| std::mem::take(&mut self.has_new_facts))?;
        let Rules { secrets, agent } = &self.rules;
        if *secrets == Secrets::Shown && agent.is_none() {
            return Some(listed);
        }
        let visible = listed.iter().filter(|(_, facts)| agent.is_none() || facts.agent == *agent);
        let leaving = visible.map(|(id, facts)| (id.clone(), facts.clone().redacted(*secrets)));
        Some(Arc::new(leaving.collect()))
    }
}

impl Rules {
    fn of(context: &Context) -> Self {
        Self { secrets: context.secrets, agent: context.caller.agent().cloned() }
    }

    /// Whether the subscriber may know of a session. Whose it is says the listing; what is not listed yet is the
    /// person's alone.
    fn admit(&self, session: &SessionId, facts: &Listed) -> bool {
        self.agent.is_none() || facts.get(session).is_some_and(|facts| facts.agent == self.agent)
    }
}

impl Shared {
    /// Makes a snapshot what the subscriber may see.
    fn make_leave(&self, snapshot: &mut MonitorSnapshot, rules: &Rules) {
        let facts = self.lister.listed().unwrap_or_default();
        snapshot.sessions.retain(|info| rules.admit(&info.session_id, &facts));
        for info in &mut snapshot.sessions {
            complete(info, &facts, rules.secrets);
        }
    }

    /// The event as the subscriber may see it; `None` where it is none of its sessions.
    fn leave(&self, event: &Arc<SessionEvent>, rules: &Rules) -> Option<Arc<SessionEvent>> {
        let facts = self.lister.listed().unwrap_or_default();
        if event.session().is_some_and(|session| !rules.admit(session, &facts)) {
            return None;
        }
        if rules.secrets == Secrets::Shown {
            return Some(Arc::new(completed(event, &facts, rules.secrets)));
        }
        let mut leaving = locked(&self.leaving);
        if let Some((_, kept)) = leaving.iter().rev().find(|(source, _)| Arc::ptr_eq(source, event)) {
            return Some(Arc::clone(kept));
        }
        let completed = Arc::new(completed(event, &facts, rules.secrets));
        if leaving.len() == KEPT {
            leaving.pop_front();
        }
        leaving.push_back((Arc::clone(event), Arc::clone(&completed)));
        Some(completed)
    }
}

/// An event whose sessions are completed from the listing, as it may leave.
fn completed(event: &SessionEvent, facts: &Listed, secrets: Secrets) -> SessionEvent {
    let mut event = event.clone();
    match &mut event {
        SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) => {
            complete(info, facts, secrets);
        }
        other => secrets.redact_event(other),
    }
    event
}

fn complete(info: &mut SessionInfo, facts: &Listed, secrets: Secrets) {
    if let Some(facts) = facts.get(&info.session_id) {
        facts.complete(info);
    }
    secrets.redact_info(info);
}

fn settings(context: &Context) -> MonitorSettings {
    let activity = &context.config().settings.activity;
    MonitorSettings {
        folders: context.config().claude_folders.iter().map(ConfigFolder::new).collect(),
        hooks: Some(hooks::folder(context)),
        timers: activity::timers(context),
        poll: Duration::from_millis(activity.poll_milliseconds.max(10).into()),
        events: activity.events,
        clock: context.app.clock,
    }
}

/// Sends the reports of workers to the monitor, the current ones before the first snapshot.
fn hear_workers(context: &Context, monitor: &Monitor) -> std::io::Result<Sender<()>> {
    let (mut ear, sender) = (Ear::new(context), monitor.report_sender());
    for (session, spoken) in ear.listen() {
        sender.send(session, spoken);
    }
    ear.keep_listening(sender)
}
