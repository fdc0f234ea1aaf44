//! A home that is watched while the real `claude` works in it: what is reported is compared with what is expected, and with
//! what the rules say of the files that were recorded beside it.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::{Activity, Evidence, SessionEvent};
use monitor::{Listener, Monitor, MonitorSettings, Timers, WorkerSource};
use testkit::recording::{ChangeKind, Recorder, Seen};
use testkit::{Claude, ModelServer, PATIENCE, ScratchHome, Script, Terminal};
use transcript::ConfigFolder;

use crate::recordings;

#[expect(clippy::disallowed_methods, reason = "what is watched is real, and so is its time")]
fn clock() -> Timestamp {
    Timestamp::now()
}

/// A home with a project, watched from before anything happens.
pub(crate) struct Stage {
    pub(crate) home: ScratchHome,
    pub(crate) server: ModelServer,
    monitor: Monitor,
    listener: Listener,
    reported: Vec<String>,
    last: Option<String>,
    /// All that was expected, in order.
    table: Vec<String>,
    pub(crate) created: usize,
    terminal: Option<Rc<Terminal>>,
    recorder: Recorder,
    killed: Vec<Seen>,
    clerk: JoinHandle<Vec<(Timestamp, Timestamp)>>,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Self {
        let home = ScratchHome::new();
        let settings = MonitorSettings {
            folders: vec![ConfigFolder::new(home.config_dir())],
            hooks: Some(home.state_dir().join("hooks")),
            timers: Timers::default(),
            poll: Duration::from_secs(1),
            events: true,
            clock,
        };
        let recorder = Recorder::start(&home.config_dir());
        let monitor = Monitor::start(settings, WorkerSource::none()).unwrap();
        let (_, listener) = monitor.listen(100_000).unwrap();
        let (_, heard) = monitor.listen(100_000).unwrap();
        Self {
            home,
            server: ModelServer::start(script),
            monitor,
            listener,
            reported: Vec::new(),
            last: None,
            table: Vec::new(),
            created: 0,
            terminal: None,
            recorder,
            killed: Vec::new(),
            clerk: std::thread::spawn(move || heard_of_registry(&heard)),
        }
    }

    pub(crate) fn open(&mut self, claude: &Claude, arguments: &[&str]) -> Rc<Terminal> {
        let shop = self.home.repository("shop").path().to_owned();
        let terminal = Rc::new(claude.open(&self.home, &self.server, &shop, arguments));
        self.terminal = Some(Rc::clone(&terminal));
        terminal
    }

    /// Waits for an event.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, is_it: impl Fn(&SessionEvent) -> bool) {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let Some(event) = self.listener.next(Duration::from_millis(100)).unwrap() else { continue };
            self.take(&event);
            if is_it(&event) {
                return;
            }
        }
        let screen = self.terminal.as_ref().map(|terminal| terminal.screen()).unwrap_or_default();
        panic!("not heard within {PATIENCE:?}: {what}; but {:#?}\n{screen}", self.reported);
    }

    /// Answers a dialog by a key, which is pressed again while the dialog is shown: it takes none in its first moments.
    /// Then waits for a state.
    #[track_caller]
    pub(crate) fn answer(&mut self, terminal: &Terminal, dialog: &str, key: &str, expected: &str) {
        const TRIES: u32 = 60;
        terminal.until(|screen| screen.contains(dialog));
        for _ in 0..TRIES {
            if terminal.screen().contains(dialog) {
                terminal.key(key);
            }
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(2) {
                let Some(event) = self.listener.next(Duration::from_millis(100)).unwrap() else { continue };
                self.take(&event);
                if word(&event).is_some_and(|word| word == expected) {
                    return;
                }
            }
        }
        panic!(
            "not within {TRIES} tries of {key}: {expected}; but {:#?}\n{}",
            self.reported,
            terminal.screen()
        );
    }

    /// Waits for a state, written as `state E tool (detail)`.
    #[track_caller]
    pub(crate) fn until_state(&mut self, expected: &str) {
        let words = expected.to_owned();
        self.until(expected, |event| word(event).is_some_and(|word| word == words));
    }

    fn take(&mut self, event: &Arc<SessionEvent>) {
        self.created += usize::from(event.name() == "session-created");
        if let Some(word) = word(event).filter(|word| self.last.as_ref() != Some(word)) {
            self.last = Some(word.clone());
            self.reported.push(word);
        }
    }

    /// All states since the last look: those in brackets may be too short to be seen.
    #[track_caller]
    pub(crate) fn check(&mut self, expected: &[&str]) {
        let reported = std::mem::take(&mut self.reported);
        let expected: Vec<String> = expected.iter().map(|state| (*state).to_owned()).collect();
        assert!(
            recordings::are_as_reported(&reported, &expected),
            "reported {reported:#?}, and not {expected:#?}"
        );
        self.table.extend(expected);
    }

    /// Kills the process that the registry names, as nothing could prepare for it.
    pub(crate) fn kill(&mut self) {
        self.recorder.catch_up();
        for record in transcript::live_records(&self.home.config_dir().join("sessions")) {
            let pid = record.file_stem().unwrap().to_string_lossy().into_owned();
            let status = std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap();
            assert!(status.success());
            let file = Path::new("sessions").join(record.file_name().unwrap());
            self.killed.push(Seen { at: clock(), file, what: ChangeKind::Killed });
        }
    }

    /// The end of the play: what was recorded beside it gives the same states, by the rules alone. How late the
    /// registry's signs were reported, and how late one heard of them who only waits for the system's events.
    #[track_caller]
    pub(crate) fn end(self) -> (Lateness, Lateness) {
        drop((self.listener, self.monitor));
        let heard = self.clerk.join().unwrap();
        let mut seen = [self.recorder.stop(), self.killed].concat();
        seen.sort_by_key(|seen| seen.at);
        let replayed = recordings::states(&seen);
        assert!(
            recordings::are_as_reported(&replayed, &self.table),
            "live {:#?}; replayed {replayed:#?}",
            self.table
        );
        lateness(&seen, &heard)
    }
}

/// How late things were reported, in milliseconds, the least first.
pub(crate) type Lateness = Vec<i64>;

/// When each state that the registry vouches for was reported, and since when it is so.
fn heard_of_registry(listener: &Listener) -> Vec<(Timestamp, Timestamp)> {
    let mut heard = Vec::new();
    while let Ok(event) = listener.next(PATIENCE) {
        if let Some(SessionEvent::SessionActivity(activity)) = event.as_deref()
            && activity.evidence == Evidence::Registry
        {
            heard.extend(activity.since.map(|since| (since, clock())));
        }
    }
    heard
}

fn lateness(seen: &[Seen], heard: &[(Timestamp, Timestamp)]) -> (Lateness, Lateness) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for Seen { at, what, .. } in seen {
        let ChangeKind::Content(content) = what else { continue };
        let Some(since) = transcript::RegisteredProcess::parse_record(content.as_bytes())
            .and_then(|live| live.status_since)
        else {
            continue;
        };
        let reported = heard.iter().find(|(of, _)| *of == since).filter(|_| known.insert(since));
        if let Some((_, reported)) = reported {
            ours.push(reported.as_millisecond() - since.as_millisecond());
            theirs.push(at.as_millisecond() - since.as_millisecond());
        }
    }
    ours.sort_unstable();
    theirs.sort_unstable();
    (ours, theirs)
}

fn word(event: &SessionEvent) -> Option<String> {
    let SessionEvent::SessionActivity(event) = event else { return None };
    Some(recordings::word(&Activity {
        state: event.state,
        evidence: event.evidence,
        since: event.since,
        tool: event.tool_name.clone(),
        detail: event.detail.clone(),
        asking: None,
    }))
}
