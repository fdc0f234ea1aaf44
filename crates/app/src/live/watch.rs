//! `watch`: the activity of every session, live, for any number of subscribers.

use std::collections::{HashSet, VecDeque};
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
use crate::workers::reports;
use crate::{Context, Error, Kind, Secrets};

/// How many events a subscriber may be behind.
const BEHIND: usize = 4096;
/// How many redacted events are kept for the next subscriber.
const KEPT: usize = 256;

/// Watches all sessions until its last clone and its last subscription are dropped.
#[derive(Debug, Clone)]
pub struct Live(Arc<Shared>);

/// What all subscribers share.
#[derive(Debug)]
struct Shared {
    monitor: Monitor,
    lister: Lister,
    /// The latest events, raw and redacted.
    redacted_events: Mutex<VecDeque<(Arc<SessionEvent>, Arc<SessionEvent>)>>,
}

/// The events of the sessions that a caller may see.
#[derive(Debug)]
pub struct Subscription {
    listener: Listener,
    shared: Arc<Shared>,
    rules: Visibility,
    /// The listing that was looked at last.
    listed: Option<Listed>,
    /// Whether it has not been returned yet.
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
struct Visibility {
    secrets: Secrets,
    agent: Option<AgentId>,
}

impl Live {
    /// Starts watching.
    pub fn start(context: &Context) -> Result<Self, Error> {
        let wrong = |error: &std::io::Error| Error::caused(Kind::Unavailable, "cannot start watching", error);
        let monitor =
            Monitor::start(settings(context), reports::source(context)).map_err(|error| wrong(&error))?;
        let lister = Lister::start(context).map_err(|error| wrong(&error))?;
        let shared = Shared { monitor, lister, redacted_events: Mutex::default() };
        Ok(Self(Arc::new(shared)))
    }

    /// The state of the sessions that the caller may see, and all later events of them.
    pub fn subscribe(&self, context: &Context) -> Result<(MonitorSnapshot, Subscription), Error> {
        let (mut snapshot, listener) = self.0.monitor.listen(BEHIND).ok_or_else(ended)?;
        let rules = Visibility::new(context);
        self.0.lister.request();
        self.0.redact_snapshot(&mut snapshot, &rules);
        let shared = Arc::clone(&self.0);
        Ok((
            snapshot,
            Subscription {
                listener,
                shared,
                rules,
                listed: None,
                has_new_facts: false,
                play: context.config().is_demo.then(Play::start),
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
        self.0.redact_snapshot(&mut snapshot, &Visibility::new(context));
        Ok(snapshot)
    }
}

fn ended() -> Error {
    Error::new(Kind::Unavailable, "nobody watches the sessions any more")
}

impl Subscription {
    /// The next event, or `None` if none arrives within `timeout`. A subscriber that was too slow gets a resync, and
    /// asks for a [`snapshot`](Self::snapshot).
    ///
    /// An agent's sessions are known from the listing: where that holds others than before, a resync comes too.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<Arc<SessionEvent>>, MonitorEnded> {
        let deadline = Instant::now() + timeout;
        loop {
            self.refresh_listing();
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
            if let Some(event) = self.shared.redacted_event(&event, &self.rules) {
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

    /// Takes over the current listing if it has changed.
    fn refresh_listing(&mut self) {
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
        self.shared.redact_snapshot(&mut snapshot, &self.rules);
        Some(snapshot)
    }

    /// The sessions as they are listed now; `None` if they were returned already.
    pub fn new_facts(&mut self) -> Option<Listed> {
        self.refresh_listing();
        let listed = self.listed.clone().filter(|_| std::mem::take(&mut self.has_new_facts))?;
        let Visibility { secrets, agent } = &self.rules;
        if *secrets == Secrets::Shown && agent.is_none() {
            return Some(listed);
        }
        let visible = listed.iter().filter(|(_, facts)| agent.is_none() || facts.agent == *agent);
        let redacted = visible.map(|(id, facts)| (id.clone(), facts.clone().redacted(*secrets)));
        Some(Arc::new(redacted.collect()))
    }
}

impl Visibility {
    fn new(context: &Context) -> Self {
        Self { secrets: context.secrets, agent: context.caller.agent().cloned() }
    }

    /// Whether the subscriber may see a session. The listing has its owner; a session that is not listed yet is the
    /// person's alone.
    fn is_visible(&self, session: &SessionId, facts: &Listed) -> bool {
        self.agent.is_none() || facts.get(session).is_some_and(|facts| facts.agent == self.agent)
    }
}

impl Shared {
    /// Reduces a snapshot to what the subscriber may see, redacted.
    fn redact_snapshot(&self, snapshot: &mut MonitorSnapshot, rules: &Visibility) {
        let facts = self.lister.listed().unwrap_or_default();
        snapshot.sessions.retain(|info| rules.is_visible(&info.session_id, &facts));
        for info in &mut snapshot.sessions {
            complete(info, &facts, rules.secrets);
        }
    }

    /// The redacted event; `None` if the subscriber may not see its session.
    fn redacted_event(&self, event: &Arc<SessionEvent>, rules: &Visibility) -> Option<Arc<SessionEvent>> {
        let facts = self.lister.listed().unwrap_or_default();
        if event.session().is_some_and(|session| !rules.is_visible(session, &facts)) {
            return None;
        }
        if rules.secrets == Secrets::Shown {
            return Some(Arc::new(completed(event, &facts, rules.secrets)));
        }
        let mut redacted_events = locked(&self.redacted_events);
        if let Some((_, kept)) = redacted_events.iter().rev().find(|(source, _)| Arc::ptr_eq(source, event)) {
            return Some(Arc::clone(kept));
        }
        let completed = Arc::new(completed(event, &facts, rules.secrets));
        if redacted_events.len() == KEPT {
            redacted_events.pop_front();
        }
        redacted_events.push_back((Arc::clone(event), Arc::clone(&completed)));
        Some(completed)
    }
}

/// The redacted event, with its sessions completed from the listing.
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
