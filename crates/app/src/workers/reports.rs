//! What Backstory's own workers say of the sessions that they hold, for whoever asks what those do.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use model::{AnnouncementEvent, SessionId};
use monitor::{ReportSender, WorkerActivity, WorkerReport};
use workers::store::{FILE, Worker};
use workers::{Announcement, FailureReason, PermissionRequest, RequestKind, WorkerState, WorkerStore};

use crate::Context;

/// How often it is looked what workers say, while any holds a session, and while none does.
const LIVELY: Duration = Duration::from_millis(50);
const QUIET: Duration = Duration::from_millis(500);
/// A Backstory that was killed does not say so: how often it is checked that connected ones are alive.
const LIVES: Duration = Duration::from_secs(1);

/// What those say that hold a session at this moment.
pub(crate) fn all(context: &Context) -> HashMap<SessionId, WorkerReport> {
    let mut ear = Ear::new(context);
    ear.listen();
    ear.heard
}

/// One who listens to the workers by looking into their table.
#[derive(Debug)]
pub(crate) struct Ear {
    file: PathBuf,
    table: Option<WorkerStore>,
    /// The table's version when it was last looked into, and when that was.
    looked: Option<(i64, Instant)>,
    heard: HashMap<SessionId, WorkerReport>,
    /// The number of the last announcement, once the table was looked into.
    last_announcement: Option<i64>,
    announced: Vec<AnnouncementEvent>,
}

impl Ear {
    pub(crate) fn new(context: &Context) -> Self {
        Self::at(context.config().state.join(FILE))
    }

    fn at(file: PathBuf) -> Self {
        Self {
            last_announcement: (!file.exists()).then_some(0),
            file,
            table: None,
            looked: None,
            heard: HashMap::new(),
            announced: Vec::new(),
        }
    }

    /// What agents announced between the last two looks, oldest first; nothing of what was announced before the first.
    pub(crate) fn announcements(&mut self) -> Vec<AnnouncementEvent> {
        std::mem::take(&mut self.announced)
    }

    fn look_for_announcements(&mut self) {
        let Some(table) = &self.table else { return };
        let Some(last) = self.last_announcement else {
            self.last_announcement = table.last_announcement().ok();
            return;
        };
        for stored in table.announcements_after(last).unwrap_or_default() {
            self.last_announcement = Some(stored.number);
            let Announcement { message, timestamp } = stored.announcement;
            self.announced.push(AnnouncementEvent::new(stored.session, message, timestamp));
        }
    }

    /// What they say that they did not say the last time; nothing of those that hold their session no more.
    pub(crate) fn listen(&mut self) -> Vec<(SessionId, Option<WorkerReport>)> {
        if !self.file.exists() {
            self.table = None;
        } else if self.table.is_none() {
            self.looked = None;
            self.table = WorkerStore::open(&self.file).ok();
        }
        let Some(table) = &self.table else { return self.all_left() };
        let Ok(version) = table.data_version() else { return Vec::new() };
        if self.looked.is_some_and(|(known, at)| known == version && at.elapsed() < LIVES) {
            return Vec::new();
        }
        let Ok(living) = table.active() else { return Vec::new() };
        self.looked = Some((version, Instant::now()));
        let now: HashMap<SessionId, WorkerReport> = living.iter().filter_map(said).collect();
        let left = self.heard.keys().filter(|session| !now.contains_key(*session));
        let last_words = |session: &SessionId| {
            let workers = table.by_session(session).unwrap_or_default();
            (session.clone(), workers.first().and_then(said).map(|(_, report)| report))
        };
        let mut news: Vec<_> = left.map(last_words).collect();
        let is_new = |session: &SessionId, report: &WorkerReport| self.heard.get(session) != Some(report);
        let changed = now.iter().filter(|(session, report)| is_new(session, report));
        news.extend(changed.map(|(session, report)| (session.clone(), Some(report.clone()))));
        self.heard = now;
        self.look_for_announcements();
        news
    }

    fn all_left(&mut self) -> Vec<(SessionId, Option<WorkerReport>)> {
        self.heard.drain().map(|(session, _)| (session, None)).collect()
    }

    /// Has a thread listen from now on, and tell the monitor; it ends with what is returned.
    pub(crate) fn keep_listening(mut self, sender: ReportSender) -> std::io::Result<Sender<()>> {
        let (end, ended): (_, Receiver<()>) = channel();
        std::thread::Builder::new().name("workers".to_owned()).spawn(move || {
            loop {
                let patience = if self.heard.is_empty() { QUIET } else { LIVELY };
                let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(patience) else { return };
                for (session, report) in self.listen() {
                    if !sender.send(session, report) {
                        return;
                    }
                }
                for announcement in self.announcements() {
                    if !sender.announce(announcement) {
                        return;
                    }
                }
            }
        })?;
        Ok(end)
    }
}

/// What a worker says; nothing where it does not hold its session, or nobody is connected to it.
fn said(worker: &Worker) -> Option<(SessionId, WorkerReport)> {
    let (activity, since) = match &worker.state {
        WorkerState::Queued | WorkerState::Lost { .. } => return None,
        WorkerState::Starting | WorkerState::Running => (WorkerActivity::Working, worker.stats.changed),
        WorkerState::WaitingPermission { requests } => (asks(requests.first()?), worker.stats.changed),
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
    Some((worker.session.clone(), WorkerReport { pid, since, activity }))
}

fn asks(request: &PermissionRequest) -> WorkerActivity {
    WorkerActivity::Asking {
        tool: request.tool.clone(),
        detail: request.detail(),
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
        ear: Ear,
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    impl Scene {
        fn new() -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let file = scratch.path().join(FILE);
            let table = WorkerStore::open(&file).unwrap();
            Self { table, ear: Ear::at(file), _scratch: scratch }
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
            let mut heard: Vec<String> = self.ear.listen().iter().map(word).collect();
            heard.sort();
            assert_eq!(heard.join(", "), expected);
        }
    }

    fn word((session, report): &(SessionId, Option<WorkerReport>)) -> String {
        let word = match report.as_ref().map(|report| &report.activity) {
            None => "-".to_owned(),
            Some(WorkerActivity::Asking { tool, detail, question }) => {
                format!("{tool} {} {question}", detail.as_deref().unwrap_or("-"))
            }
            Some(other) => format!("{other:?}"),
        };
        format!("{session} {word}")
    }

    fn request(tool: &str, input: &serde_json::Value) -> PermissionRequest {
        serde_json::from_value(
            serde_json::json!({"request": "r", "tool": tool, "input": input, "suggestions": []}),
        )
        .unwrap()
    }

    #[test]
    fn what_a_worker_says_from_its_start_to_its_end() {
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
        scene.check("a Bash Ask h false, b AskUserQuestion - true");
        let mut enter = |id, state: &WorkerState| scene.table.set_state(id, state, now()).unwrap();
        enter(a, &WorkerState::Idle { since: now(), text: String::new(), turn_failed: false });
        enter(b, &WorkerState::Failed { reason: FailureReason::Exit, message: "killed".into() });
        scene.check("a Idle, b Lost");
        scene.table.set_state(a, &WorkerState::Finished { text: "Done.".into() }, now()).unwrap();
        scene.check("a Ended");
        scene.check("");
    }

    #[test]
    fn what_is_announced_from_now_on() {
        let mut scene = Scene::new();
        let id = scene.add("a", &ProcessIdentity::current());
        let announce = |scene: &mut Scene, message: &str| {
            let announcement = Announcement { message: message.to_owned(), timestamp: now() };
            scene.table.announce(id, &announcement).unwrap();
        };
        let heard = |scene: &mut Scene| {
            scene.ear.listen();
            let messages = scene.ear.announcements().into_iter().map(|event| event.message);
            messages.collect::<Vec<_>>()
        };
        announce(&mut scene, "before");
        assert!(heard(&mut scene).is_empty());
        announce(&mut scene, "one");
        announce(&mut scene, "two");
        assert_eq!(heard(&mut scene), ["one", "two"]);
        assert!(heard(&mut scene).is_empty());
    }

    #[test]
    fn nobody_speaks_for_a_backstory_that_is_gone() {
        let mut scene = Scene::new();
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let host = ProcessIdentity::from_pid(child.id()).unwrap();
        let id = scene.add("a", &host);
        scene.table.set_state(id, &WorkerState::Running, now()).unwrap();
        scene.check("a Working");
        child.kill().unwrap();
        child.wait().unwrap();
        scene.ear.looked = None;
        scene.check("a -");
    }
}
