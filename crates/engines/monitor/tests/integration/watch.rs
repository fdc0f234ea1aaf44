//! Files that are written, moved, torn and taken away while they are watched: with the system's events, and
//! by looking alone.

mod files;
mod processes;
mod source;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::{Evidence, SessionEvent, State};
use monitor::{Listener, Monitor, MonitorSettings, MonitorSnapshot, Timers, WorkerSource};
use serde_json::{Value, json};
use testkit::PATIENCE;
use transcript::ConfigFolder;

/// No file is polled within this time, so whatever is reported within a test comes from the system.
const NEVER: Duration = Duration::from_hours(1);
/// When prompt 0 of these tests was made, in seconds: later than any file that contains them.
const BEGINNING: i64 = 4_102_444_800;

#[expect(clippy::disallowed_methods, reason = "what is watched is real, and so is its time")]
fn clock() -> Timestamp {
    Timestamp::now()
}

/// A config folder that is watched.
struct WatchedFolder {
    root: tempfile::TempDir,
    events: bool,
    poll: Duration,
    timers: Timers,
    clock: fn() -> Timestamp,
}

/// A subscriber with the events that it has received.
struct Subscriber {
    monitor: Monitor,
    listener: Listener,
    received: Vec<Arc<SessionEvent>>,
}

impl WatchedFolder {
    fn new(events: bool) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("projects/-p")).unwrap();
        let poll = Duration::from_millis(if events { 1000 } else { 100 });
        Self { root, events, poll, timers: Timers::default(), clock }
    }

    /// In which only changes that the system reports are noticed.
    fn by_events_alone() -> Self {
        Self { poll: NEVER, ..Self::new(true) }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.root.path().join("projects").join(name)
    }

    fn write(&self, name: &str, lines: &str) -> PathBuf {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines).unwrap();
        path
    }

    fn hooks(&self) -> PathBuf {
        self.root.path().join("state/hooks")
    }

    fn listen(&self) -> Subscriber {
        let settings = MonitorSettings {
            folders: vec![ConfigFolder::new(self.root.path())],
            hooks: Some(self.hooks()),
            timers: self.timers,
            poll: self.poll,
            events: self.events,
            clock: self.clock,
        };
        let monitor = Monitor::start(settings, WorkerSource::none()).unwrap();
        let (_, listener) = monitor.listen(100_000).unwrap();
        Subscriber { monitor, listener, received: Vec::new() }
    }
}

impl Subscriber {
    fn snapshot(&self) -> MonitorSnapshot {
        self.monitor.look().unwrap()
    }

    /// Receives events until one is the expected one.
    #[track_caller]
    fn until(&mut self, what: &str, mut is_it: impl FnMut(&SessionEvent) -> bool) {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(event) = self.listener.next(Duration::from_millis(50)).unwrap() {
                self.received.push(Arc::clone(&event));
                if is_it(&event) {
                    return;
                }
            }
        }
        panic!("not received within {PATIENCE:?}: {what}; but {:#?}", self.received);
    }

    #[track_caller]
    fn until_state(&mut self, id: &str, state: State, evidence: Evidence) {
        self.until(&format!("{id} {state:?} {evidence:?}"), |event| match event {
            SessionEvent::SessionActivity(event) => {
                event.session_id.as_str() == id && event.state == state && event.evidence == evidence
            }
            _ => false,
        });
    }

    /// Listens until a prompt has been reported with each of these texts as its time.
    #[track_caller]
    fn until_prompt(&mut self, number: u32) {
        self.until(&format!("prompt {number}"), |event| is_prompt(event) == Some(number));
    }

    /// All prompts that were reported so far, in order.
    fn prompts(&self) -> Vec<u32> {
        self.received.iter().filter_map(|event| is_prompt(event)).collect()
    }
}

/// Prompts of these tests are known by the second they were made in.
fn is_prompt(event: &SessionEvent) -> Option<u32> {
    match event {
        SessionEvent::SessionEvent(moment) if moment.event_type == "user_message" => {
            u32::try_from(moment.at?.as_second() - BEGINNING).ok()
        }
        _ => None,
    }
}

fn line(record: &Value) -> String {
    format!("{record}\n")
}

fn prompt(number: u32) -> String {
    line(
        &json!({"type": "user", "uuid": format!("u{number}"), "timestamp": made(number), "message": {"role": "user", "content": format!("prompt {number}")}}),
    )
}

fn made(number: u32) -> String {
    Timestamp::from_second(BEGINNING + i64::from(number)).unwrap().to_string()
}

fn prompts(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(prompt).collect()
}

fn answer() -> String {
    line(
        &json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "So."}], "stop_reason": "end_turn"}}),
    )
}

fn append(path: &Path, bytes: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes.as_bytes()).unwrap();
}

/// With events and by looking alone.
fn both(test: impl Fn(WatchedFolder)) {
    test(WatchedFolder::new(true));
    test(WatchedFolder::new(false));
}
