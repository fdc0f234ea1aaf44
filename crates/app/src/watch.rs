//! `watch`: what every session does, from now on.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use jiff::Timestamp;
use model::{Session, SessionEvent, SessionId, SessionInfo};
pub use monitor::{Ended, Listener, Snapshot};
use monitor::{Monitor, Settings};
use transcript::ConfigFolder;

use crate::list::{Request, list};
use crate::spoken::Ear;
use crate::{App, Error, Kind, activity, hooks};

/// How many events one who watches may be behind.
const BEHIND: usize = 4096;

/// The sessions, watched; it ends when dropped.
#[derive(Debug)]
pub struct Watch {
    monitor: Monitor,
    wanted: Sender<()>,
    listed: Receiver<Vec<Session>>,
    facts: HashMap<SessionId, Session>,
    /// Workers are listened to until this is dropped.
    _workers: Sender<()>,
}

impl Watch {
    /// Begins to watch by this clock: how things stand, and one who hears all that happens from then on.
    pub fn start(app: &App, clock: fn() -> Timestamp) -> Result<(Self, Snapshot, Listener), Error> {
        let wrong = |error: &std::io::Error| Error::caused(Kind::Unavailable, "cannot begin to watch", error);
        let monitor = Monitor::start(settings(app, clock)).map_err(|error| wrong(&error))?;
        let workers = hear_workers(app, &monitor).map_err(|error| wrong(&error))?;
        let (wanted, listed) = lister(app.clone(), clock).map_err(|error| wrong(&error))?;
        let Some((snapshot, listener)) = monitor.listen(BEHIND) else {
            return Err(Error::new(Kind::Unavailable, "the watching ended before it began"));
        };
        Ok((Self { monitor, wanted, listed, facts: HashMap::new(), _workers: workers }, snapshot, listener))
    }

    /// How things stand, for one who has missed events.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.monitor.look()
    }

    /// Has every session listed again, beside what is watched.
    pub fn want_facts(&self) {
        // Where nobody lists any more, the facts stay as they are.
        let _ = self.wanted.send(());
    }

    /// Takes in the sessions as they were listed since the last time; true when there was a listing.
    pub fn take_facts(&mut self) -> bool {
        let Some(listed) = self.listed.try_iter().last() else { return false };
        self.facts = listed.into_iter().map(|session| (session.id.clone(), session)).collect();
        true
    }

    /// The sessions as they were listed last.
    pub fn facts(&self) -> &HashMap<SessionId, Session> {
        &self.facts
    }

    /// What is watched of a session, with what its listing knows better.
    pub fn complete(&self, mut info: SessionInfo) -> SessionInfo {
        if let Some(facts) = self.facts.get(&info.session_id) {
            info.title = facts.title.clone().or(info.title);
            info.project = facts.project.clone().or(info.project);
            info.cwd = facts.cwd.clone().or(info.cwd);
            info.created = facts.created.or(info.created);
        }
        info
    }

    /// An event, with what the listing knows better of the session that it shows.
    pub fn completed(&self, event: &SessionEvent) -> SessionEvent {
        let complete = |info: &SessionInfo| Box::new(self.complete(info.clone()));
        match event {
            SessionEvent::SessionCreated(info) => SessionEvent::SessionCreated(complete(info)),
            SessionEvent::SessionUpdated(info) => SessionEvent::SessionUpdated(complete(info)),
            other => other.clone(),
        }
    }
}

fn settings(app: &App, clock: fn() -> Timestamp) -> Settings {
    let activity = &app.config.settings.activity;
    Settings {
        folders: app.config.claude_folders.iter().map(ConfigFolder::new).collect(),
        hooks: Some(hooks::folder(app)),
        timers: activity::timers(app),
        poll: Duration::from_millis(activity.poll_milliseconds.max(10).into()),
        events: activity.events,
        clock,
    }
}

/// What workers say is heard before it is asked how things stand.
fn hear_workers(app: &App, monitor: &Monitor) -> std::io::Result<Sender<()>> {
    let (mut ear, voice) = (Ear::new(app), monitor.voice());
    for (session, spoken) in ear.listen() {
        voice.say(session, spoken);
    }
    ear.keep_listening(voice)
}

/// Lists sessions whenever it is asked to, on a thread of its own: their cost takes every transcript.
fn lister(mut app: App, clock: fn() -> Timestamp) -> std::io::Result<(Sender<()>, Receiver<Vec<Session>>)> {
    let (wanted, wishes) = channel::<()>();
    let (facts, received) = channel();
    std::thread::Builder::new().name("lister".to_owned()).spawn(move || {
        while wishes.recv().is_ok() {
            // Several wishes are one.
            while wishes.try_recv().is_ok() {}
            app.now = clock();
            if facts.send(list(&app, &Request::default(), |_| {}).sessions).is_err() {
                return;
            }
        }
    })?;
    Ok((wanted, received))
}
