//! The interface of the thread that owns every session's state. Everything reaches it as an [`Input`];
//! everything that happened leaves it on one bus.
//!
//! `owner` decides what to check and when; `intake` applies what was seen to the sessions.

mod intake;
mod owner;

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use transcript::ConfigFolder;

use crate::bus::Listener;
use crate::input::Input;
use crate::monitor::owner::Owner;
use crate::{MonitorSnapshot, Timers, WorkerSource};

/// Settings of the monitor.
#[derive(Debug, Clone)]
pub struct MonitorSettings {
    /// Config folders of Claude Code.
    pub folders: Vec<ConfigFolder>,
    /// Folder of the hooks' file, if hooks are used.
    pub hooks: Option<PathBuf>,
    /// Durations after which silence has a meaning.
    pub timers: Timers,
    /// How often files, folders and processes are checked regardless of system events.
    pub poll: Duration,
    /// Whether to use system events.
    pub events: bool,
    /// Returns the current time.
    pub clock: fn() -> Timestamp,
}

/// A running monitor; ends when dropped.
#[derive(Debug)]
pub struct Monitor {
    inputs: Sender<Input>,
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Starts watching. The state of existing sessions is read from the ends of their files.
    pub fn start(settings: MonitorSettings, workers: WorkerSource) -> std::io::Result<Self> {
        let (inputs, receiver) = channel();
        let sender = inputs.clone();
        let thread = std::thread::Builder::new().name("monitor".to_owned()).spawn(move || {
            let mut owner = Owner::new(settings, workers, &sender);
            drop(sender);
            owner.begin();
            owner.run(&receiver);
        })?;
        Ok(Self { inputs, thread: Some(thread) })
    }

    /// Returns a snapshot and a listener for all later events with a queue of `capacity` events; `None` if
    /// the monitor has ended.
    pub fn listen(&self, capacity: usize) -> Option<(MonitorSnapshot, Listener)> {
        let (reply, answer) = channel();
        self.inputs.send(Input::Listen(capacity, reply)).ok()?;
        answer.recv().ok()
    }

    /// Returns a snapshot; `None` if the monitor has ended.
    pub fn look(&self) -> Option<MonitorSnapshot> {
        let (reply, answer) = channel();
        self.inputs.send(Input::Look(reply)).ok()?;
        answer.recv().ok()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.inputs.send(Input::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;
    use std::path::Path;

    use model::SessionEvent;

    use super::*;
    use crate::{WorkerActivity, WorkerReport, WorkerUpdates};

    fn append(path: &Path, records: &[&str]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        for id in records {
            let record = r#"{"type":"user","message":{"role":"user","content":"Hello."},"uuid":""#;
            writeln!(file, "{record}{id}\"}}").unwrap();
        }
    }

    /// A monitor that checks files only when it is told that something was lost.
    fn without_events(folder: &Path, workers: WorkerSource) -> Monitor {
        let settings = MonitorSettings {
            folders: vec![ConfigFolder::new(folder)],
            hooks: None,
            timers: Timers::default(),
            poll: Duration::from_hours(1),
            events: false,
            clock: || Timestamp::UNIX_EPOCH,
        };
        Monitor::start(settings, workers).unwrap()
    }

    #[test]
    fn the_first_event_of_a_workers_session_has_its_task() {
        let folder = tempfile::tempdir().unwrap();
        append(&folder.path().join("projects/-p/old.jsonl"), &["a"]);
        let report = WorkerReport {
            pid: None,
            since: Timestamp::UNIX_EPOCH,
            activity: WorkerActivity::Working,
            directory: "/harbor".into(),
            task: "Paint the boat".into(),
        };
        // Nothing at the start, then a report that only the discovery of the session asks for.
        let mut reports = vec![vec![("new".parse().unwrap(), Some(report))], Vec::new()];
        let workers = WorkerSource::new(move || WorkerUpdates {
            reports: reports.pop().unwrap_or_default(),
            announcements: Vec::new(),
            next_poll: Duration::from_hours(1),
        });
        let monitor = without_events(folder.path(), workers);
        let (_, listener) = monitor.listen(100).unwrap();
        // Nothing was said in it yet that could be its title.
        fs::write(folder.path().join("projects/-p/new.jsonl"), "{\"type\":\"queue-operation\"}\n").unwrap();
        monitor.inputs.send(Input::Overflow).unwrap();
        let first = loop {
            let event = listener.next(Duration::from_secs(20)).unwrap().expect("an event of the new session");
            if let SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) = &*event {
                break info.clone();
            }
        };
        assert_eq!(first.title.as_deref(), Some("Paint the boat"));
        assert_eq!(first.cwd.as_deref(), Some(Path::new("/harbor")));
    }

    #[test]
    fn what_was_lost_is_made_up_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join("projects/-p").join(name);
        append(&file("s1.jsonl"), &["a"]);
        append(&file("s2.jsonl"), &["b"]);
        let monitor = without_events(folder.path(), WorkerSource::none());
        let (_, listener) = monitor.listen(100).unwrap();
        append(&file("s1.jsonl"), &["c", "d"]);
        append(&file("new.jsonl"), &["e"]);
        fs::remove_file(file("s2.jsonl")).unwrap();
        // So many things, or nothing more for a moment.
        let updates = |count: usize| {
            let patience = Duration::from_millis(if count == 0 { 300 } else { 20_000 });
            let mut names = Vec::new();
            while let Some(event) = listener.next(patience).unwrap() {
                match &*event {
                    SessionEvent::SessionEvent(moment) => {
                        names.push(format!("said in {}", moment.session_id));
                    }
                    SessionEvent::SessionRemoved { session_id, .. } => {
                        names.push(format!("{session_id} is gone"));
                    }
                    _ => {}
                }
                if count > 0 && names.len() == count {
                    break;
                }
            }
            names.sort_unstable();
            names
        };
        let nothing = Vec::<String>::new();
        assert_eq!(updates(0), nothing);
        // Many notices at once cause one look.
        for _ in 0..100 {
            monitor.inputs.send(Input::Overflow).unwrap();
        }
        assert_eq!(updates(4), ["s2 is gone", "said in new", "said in s1", "said in s1"]);
        monitor.inputs.send(Input::Broken("it broke".into())).unwrap();
        assert_eq!(updates(0), nothing);
        let watching = monitor.look().unwrap().watching.unwrap();
        assert_eq!(watching.reason.as_deref(), Some("it broke"));
    }
}
