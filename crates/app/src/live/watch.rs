//! `watch`: the activity of every session, live.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use jiff::Timestamp;
use model::{Activity, Session, SessionEvent, SessionId, SessionInfo};
pub use monitor::{Listener, MonitorEnded, MonitorSnapshot};
use monitor::{Monitor, MonitorSettings};
use transcript::ConfigFolder;

use crate::live::hooks;
use crate::sessions::activity;
use crate::sessions::listing::all;
use crate::workers::reports::Ear;
use crate::{Context, Error, Kind, Secrets};

/// How many events a listener may be behind.
const BEHIND: usize = 4096;

/// The facts of a session that come from a listing: only those that are shown, because there are thousands of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Its title.
    pub title: Option<Arc<str>>,
    /// Its project.
    pub project: Option<Arc<str>>,
    /// The directory it started in.
    pub cwd: Option<Arc<Path>>,
    /// When it began.
    pub created: Option<Timestamp>,
    /// When something last happened in it.
    pub last: Option<Timestamp>,
    /// Whether a live process holds it.
    pub is_running: bool,
    /// What it did when it was listed.
    pub activity: Option<Activity>,
    /// Tokens the model would have before it.
    pub context_tokens: u64,
    /// What it has cost, in US dollars.
    pub cost_usd: Option<f64>,
}

impl From<Session> for Facts {
    fn from(session: Session) -> Self {
        Self {
            title: session.title,
            project: session.project,
            cwd: session.cwd,
            created: session.created,
            last: session.last_modified,
            is_running: session.is_running,
            activity: session.activity,
            context_tokens: session.context_tokens,
            cost_usd: session.registry_cost_usd.or(session.cost_usd),
        }
    }
}

/// The facts of every session by its id.
pub type Listed = Arc<HashMap<SessionId, Facts>>;

/// Watches all sessions until it is dropped.
#[derive(Debug)]
pub struct Watch {
    monitor: Monitor,
    wanted: Sender<()>,
    listed: Receiver<Listed>,
    facts: Listed,
    secrets: Secrets,
    /// Workers are listened to until this is dropped.
    _workers: Sender<()>,
}

impl Watch {
    /// Starts watching; returns the current state and a listener for all later events.
    pub fn start(context: &Context) -> Result<(Self, MonitorSnapshot, Listener), Error> {
        context.require_person("watching all sessions")?;
        let wrong = |error: &std::io::Error| Error::caused(Kind::Unavailable, "cannot start watching", error);
        let monitor = Monitor::start(settings(context)).map_err(|error| wrong(&error))?;
        let workers = hear_workers(context, &monitor).map_err(|error| wrong(&error))?;
        let (wanted, listed) = lister(context.clone()).map_err(|error| wrong(&error))?;
        let Some((snapshot, listener)) = monitor.listen(BEHIND) else {
            return Err(Error::new(Kind::Unavailable, "the monitor ended before it started"));
        };
        Ok((
            Self {
                monitor,
                wanted,
                listed,
                facts: Listed::default(),
                secrets: context.secrets,
                _workers: workers,
            },
            snapshot,
            listener,
        ))
    }

    /// The current state, for a listener that has missed events.
    pub fn snapshot(&self) -> Option<MonitorSnapshot> {
        self.monitor.look()
    }

    /// Requests a new listing of every session.
    pub fn request_facts(&self) {
        // Where nobody lists any more, the facts stay as they are.
        let _ = self.wanted.send(());
    }

    /// Takes over the latest listing; returns false if there is no new one.
    pub fn take_facts(&mut self) -> bool {
        let Some(listed) = self.listed.try_iter().last() else { return false };
        self.facts = listed;
        true
    }

    /// The sessions as they were listed last.
    pub fn facts(&self) -> Listed {
        Arc::clone(&self.facts)
    }

    /// The state of a session completed from its listing, redacted.
    pub fn complete(&self, mut info: SessionInfo) -> SessionInfo {
        if let Some(facts) = self.facts.get(&info.session_id) {
            info.title = facts.title.as_deref().map(ToOwned::to_owned).or(info.title);
            info.project = facts.project.as_deref().map(ToOwned::to_owned).or(info.project);
            info.cwd = facts.cwd.as_deref().map(ToOwned::to_owned).or(info.cwd);
            info.created = facts.created.or(info.created);
        }
        self.secrets.redact_info(&mut info);
        info
    }

    /// An event whose sessions are completed from the listing, redacted.
    pub fn completed(&self, event: &SessionEvent) -> SessionEvent {
        let complete = |info: &SessionInfo| Box::new(self.complete(info.clone()));
        match event {
            SessionEvent::SessionCreated(info) => SessionEvent::SessionCreated(complete(info)),
            SessionEvent::SessionUpdated(info) => SessionEvent::SessionUpdated(complete(info)),
            other => {
                let mut event = other.clone();
                self.secrets.redact_event(&mut event);
                event
            }
        }
    }
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

/// Lists sessions on request on a thread of its own, because their cost takes every transcript.
fn lister(mut context: Context) -> std::io::Result<(Sender<()>, Receiver<Listed>)> {
    let (wanted, wishes) = channel::<()>();
    let (facts, received) = channel();
    std::thread::Builder::new().name("lister".to_owned()).spawn(move || {
        while wishes.recv().is_ok() {
            // Several wishes are one.
            while wishes.try_recv().is_ok() {}
            context = context.refreshed();
            let Ok(answer) = all(&context) else { continue };
            let listed =
                answer.sessions.into_iter().map(|session| (session.id.clone(), Facts::from(session)));
            if facts.send(Arc::new(listed.collect())).is_err() {
                return;
            }
        }
    })?;
    Ok((wanted, received))
}
