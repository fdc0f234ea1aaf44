//! Reports of Backstory's own workers about the sessions they hold, read from the workers' table.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use model::{AnnouncementEvent, SessionId};
use monitor::{WorkerActivity, WorkerReport, WorkerSource, WorkerUpdates};
use workers::store::{FILE, Worker};
use workers::{Announcement, FailureReason, PermissionRequest, RequestKind, WorkerState, WorkerStore};

use crate::Context;

/// How often the table is polled while a worker holds a session, and while none does.
const POLL: Duration = Duration::from_millis(50);
const POLL_AT_REST: Duration = Duration::from_millis(500);
/// A Backstory that was killed leaves its rows as they were: how often it is checked that the owners are alive.
const CHECK_OWNERS: Duration = Duration::from_secs(1);

/// The reports of all workers that hold a session now.
pub(crate) fn all(context: &Context) -> HashMap<SessionId, WorkerReport> {
    let mut reader = ReportReader::new(context.config().state.join(FILE));
    reader.changes();
    reader.reports
}

/// The reports as a source for the monitor.
pub(crate) fn source(context: &Context) -> WorkerSource {
    let mut reader = ReportReader::new(context.config().state.join(FILE));
    WorkerSource::new(move || reader.poll())
}

/// Reads what changed in the workers' table since it was last read.
#[derive(Debug)]
struct ReportReader {
    file: PathBuf,
    table: Option<WorkerStore>,
    /// The table's version when it was last read, and when that was.
    read: Option<(i64, Instant)>,
    reports: HashMap<SessionId, WorkerReport>,
    /// Number of the last announcement; `None` before the table was first read.
    last_announcement: Option<i64>,
}

impl ReportReader {
    fn new(file: PathBuf) -> Self {
        Self {
            last_announcement: (!file.exists()).then_some(0),
            file,
            table: None,
            read: None,
            reports: HashMap::new(),
        }
    }

    fn poll(&mut self) -> WorkerUpdates {
        let reports = self.changes();
        let announcements = if reports.is_none() { Vec::new() } else { self.new_announcements() };
        let next_poll = if self.reports.is_empty() { POLL_AT_REST } else { POLL };
        WorkerUpdates { reports: reports.unwrap_or_default(), announcements, next_poll }
    }

    /// The reports that changed; `None` if the table is the same as before. A session that its worker has let go of
    /// gets that worker's last report.
    fn changes(&mut self) -> Option<Vec<(SessionId, Option<WorkerReport>)>> {
        if !self.file.exists() {
            self.table = None;
        } else if self.table.is_none() {
            self.read = None;
            self.table = WorkerStore::open(&self.file).ok();
        }
        let Some(table) = &self.table else {
            return Some(self.reports.drain().map(|(session, _)| (session, None)).collect());
        };
        let version = table.data_version().ok()?;
        if self.read.is_some_and(|(known, at)| known == version && at.elapsed() < CHECK_OWNERS) {
            return None;
        }
        let active = table.active().ok()?;
        self.read = Some((version, Instant::now()));
        let now: HashMap<SessionId, WorkerReport> = active.iter().filter_map(report).collect();
        let released = self.reports.keys().filter(|session| !now.contains_key(*session));
        let last_report = |session: &SessionId| {
            let workers = table.by_session(session).unwrap_or_default();
            (session.clone(), workers.first().and_then(report).map(|(_, report)| report))
        };
        let mut changes: Vec<_> = released.map(last_report).collect();
        let new = now.iter().filter(|(session, report)| self.reports.get(*session) != Some(*report));
        changes.extend(new.map(|(session, report)| (session.clone(), Some(report.clone()))));
        self.reports = now;
        Some(changes)
    }

    /// What agents announced between the last two reads, oldest first; nothing from before the first.
    fn new_announcements(&mut self) -> Vec<AnnouncementEvent> {
        let Some(table) = &self.table else { return Vec::new() };
        let Some(last) = self.last_announcement else {
            self.last_announcement = table.last_announcement().ok();
            return Vec::new();
        };
        let stored = table.announcements_after(last).unwrap_or_default();
        self.last_announcement = stored.last().map(|last| last.number).or(self.last_announcement);
        let event = |Announcement { message, timestamp }, session| {
            AnnouncementEvent::new(session, message, timestamp)
        };
        stored.into_iter().map(|stored| event(stored.announcement, stored.session)).collect()
    }
}

/// A worker's report about its session; `None` if it does not hold one, or its Backstory is gone.
fn report(worker: &Worker) -> Option<(SessionId, WorkerReport)> {
    let (activity, since) = match &worker.state {
        WorkerState::Queued | WorkerState::Lost { .. } => return None,
        WorkerState::Starting | WorkerState::Running => (WorkerActivity::Working, worker.stats.changed),
        WorkerState::WaitingPermission { requests } => (asking(requests.first()?), worker.stats.changed),
        WorkerState::Idle { since, .. } => (WorkerActivity::Idle, *since),
        WorkerState::Failed { reason: FailureReason::Exit, .. } => {
            (WorkerActivity::Lost, worker.stats.changed)
        }
        WorkerState::Finished { .. } | WorkerState::Failed { .. } | WorkerState::Stopped => {
            (WorkerActivity::Ended, worker.stats.changed)
        }
    };
    if !worker.state.is_over() && !worker.host.is_alive() {
        return None;
    }
    let pid = worker.process.as_ref().map(|process| process.pid);
    let (directory, task) = (worker.directory.clone(), worker.task.clone());
    Some((worker.session.clone(), WorkerReport { pid, since, activity, directory, task }))
}

fn asking(request: &PermissionRequest) -> WorkerActivity {
    WorkerActivity::Asking {
        tool: request.tool.clone(),
        detail: request.detail(),
        asking: request.asking(),
        question: matches!(request.kind(), RequestKind::Questions(_)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::Timestamp;
    use workers::store::{AddOutcome, NewWorker};
    use workers::{ProcessIdentity, SessionStart, WorkerId, WorkerSpec};

    use super::*;

    struct Scene {
        _scratch: tempfile::TempDir,
        table: WorkerStore,
        reader: ReportReader,
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    impl Scene {
        fn new() -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let file = scratch.path().join(FILE);
            let table = WorkerStore::open(&file).unwrap();
            Self { table, reader: ReportReader::new(file), _scratch: scratch }
        }

        fn add(&mut self, session: &str, host: &ProcessIdentity) -> WorkerId {
            let session: SessionId = session.parse().unwrap();
            let spec = WorkerSpec::new(SessionStart::Fresh(session.clone()), "/p".into(), "Fix it".into());
            let slot = Path::new("/").join(session.as_str());
            let wanted =
                NewWorker { spec: &spec, session: &session, slot: &slot, message: session.as_str(), host };
            match self.table.add(&wanted, now()).unwrap() {
                AddOutcome::Ready(id) => id,
                other => panic!("{other:?}"),
            }
        }

        #[track_caller]
        fn check(&mut self, expected: &str) {
            let mut changes: Vec<String> =
                self.reader.changes().unwrap_or_default().iter().map(describe).collect();
            changes.sort();
            assert_eq!(changes.join(", "), expected);
        }
    }

    fn describe((session, report): &(SessionId, Option<WorkerReport>)) -> String {
        let activity = match report.as_ref().map(|report| &report.activity) {
            None => "-".to_owned(),
            Some(WorkerActivity::Asking { tool, detail, asking, question }) => {
                let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
                format!("{tool} {} ({}) {question}", text(detail), text(asking))
            }
            Some(other) => format!("{other:?}"),
        };
        format!("{session} {activity}")
    }

    fn request(tool: &str, input: &serde_json::Value) -> PermissionRequest {
        serde_json::from_value(
            serde_json::json!({"request": "r", "tool": tool, "input": input, "suggestions": []}),
        )
        .unwrap()
    }

    #[test]
    fn a_workers_reports_from_its_start_to_its_end() {
        let mut scene = Scene::new();
        let own = ProcessIdentity::current();
        let (a, b) = (scene.add("a", &own), scene.add("b", &own));
        scene.check("");
        let mut enter = |id, state: &WorkerState| scene.table.set_state(id, state, now()).unwrap();
        enter(a, &WorkerState::Starting);
        enter(b, &WorkerState::Running);
        scene.check("a Working, b Working");
        scene.check("");
        let bash = request(
            "Bash",
            &serde_json::json!({"command": "curl -H 'Key: x' https://h/", "description": "Ask h"}),
        );
        let question = serde_json::json!({"questions": [{"question": "Which?"}]});
        let question = request("AskUserQuestion", &question);
        let mut enter = |id, state: &WorkerState| scene.table.set_state(id, state, now()).unwrap();
        enter(a, &WorkerState::WaitingPermission { requests: vec![bash] });
        enter(b, &WorkerState::WaitingPermission { requests: vec![question] });
        scene.check("a Bash Ask h (curl -H 'Key: x' https://h/) false, b AskUserQuestion - (Which?) true");
        let mut enter = |id, state: &WorkerState| scene.table.set_state(id, state, now()).unwrap();
        enter(a, &WorkerState::Idle { since: now(), text: String::new(), turn_failed: false });
        enter(b, &WorkerState::Failed { reason: FailureReason::Exit, message: "killed".into() });
        scene.check("a Idle, b Lost");
        scene.table.set_state(a, &WorkerState::Finished { text: "Done.".into() }, now()).unwrap();
        scene.check("a Ended");
        scene.check("");
    }

    #[test]
    fn announcements_since_the_first_poll() {
        let mut scene = Scene::new();
        let id = scene.add("a", &ProcessIdentity::current());
        let announce = |scene: &mut Scene, message: &str| {
            let announcement = Announcement { message: message.to_owned(), timestamp: now() };
            scene.table.announce(id, &announcement).unwrap();
        };
        let polled = |scene: &mut Scene| {
            let announcements = scene.reader.poll().announcements.into_iter();
            announcements.map(|event| event.message).collect::<Vec<_>>()
        };
        announce(&mut scene, "before");
        assert!(polled(&mut scene).is_empty());
        announce(&mut scene, "one");
        announce(&mut scene, "two");
        assert_eq!(polled(&mut scene), ["one", "two"]);
        assert!(polled(&mut scene).is_empty());
    }

    #[test]
    fn a_worker_whose_backstory_is_gone_reports_nothing() {
        let mut scene = Scene::new();
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let host = ProcessIdentity::from_pid(child.id()).unwrap();
        let id = scene.add("a", &host);
        scene.table.set_state(id, &WorkerState::Running, now()).unwrap();
        scene.check("a Working");
        child.kill().unwrap();
        child.wait().unwrap();
        scene.reader.read = None;
        scene.check("a -");
    }
}
