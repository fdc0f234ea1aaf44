//! Recovers workers of a Backstory process that was killed: finds lost workers and surviving processes, and
//! requeues tasks that never started.
//!
//! A task has started once its first message is in the transcript; this is checked so that no task runs twice
//! or is forgotten.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use rustix::process::Signal;
use transcript::{ConfigFolder, Reader};

use crate::store::{AddOutcome, NewWorker, SlotState, Worker, WorkerStoreError};
use crate::{ProcessIdentity, SessionStart, WorkerId, WorkerSpec, WorkerState, WorkerStore};

/// What recovery found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecoveryReport {
    /// Workers newly found to be lost.
    pub lost: Vec<WorkerId>,
    /// Workers whose task waits for a process to run it.
    pub requeued: Vec<WorkerId>,
}

/// Updates every worker whose host process is gone.
///
/// `folders` hold the transcripts; `home` distinguishes this Backstory's workers from those of others.
pub fn recover(
    table: &mut WorkerStore,
    folders: &[ConfigFolder],
    home: &Path,
    now: Timestamp,
) -> Result<RecoveryReport, WorkerStoreError> {
    let mut found = RecoveryReport::default();
    for worker in table.active()?.into_iter().filter(|worker| !worker.host.is_alive()) {
        let process = living_process(&worker, home);
        let began = |message: &str| has_message(folders, &worker.session, message);
        if let Some(process) = process {
            let is_known = matches!(worker.state, WorkerState::Lost { .. });
            if !is_known && table.mark_lost(worker.id, &worker.host, Some(&process), now)? {
                found.lost.push(worker.id);
            }
        } else if worker.slot_state == Some(SlotState::Queued) || !began(&worker.message) {
            let restart = restart(&worker, folders);
            // Another Backstory may have taken it over since.
            if let Some((start, session)) = restart
                && !table.replace_session(&worker, start, &session)?
            {
                continue;
            }
            if table.requeue(worker.id, &worker.host, now)? {
                found.requeued.push(worker.id);
            }
        } else if table.mark_lost(worker.id, &worker.host, None, now)? {
            found.lost.push(worker.id);
            let unsaid = worker.follow_up.as_ref().filter(|(id, _)| !began(id));
            if let Some((message, text)) = unsaid {
                found.requeued.extend(follow_up(table, &worker, message, text, now)?);
            }
        }
    }
    Ok(found)
}

/// Ends the process of a lost worker with `SIGTERM`, then `SIGKILL`, waiting up to `grace` after each.
pub fn end_orphan(worker: &Worker, grace: std::time::Duration) {
    let Some(process) = worker.process.as_ref().filter(|_| !worker.host.is_alive()) else { return };
    for signal in [Signal::TERM, Signal::KILL] {
        process.signal_group(signal);
        let began = std::time::Instant::now();
        while process.is_alive() && began.elapsed() < grace {
            pause();
        }
    }
}

/// Waits briefly: only its parent is notified when a process ends.
#[expect(clippy::disallowed_methods, reason = "only a parent is notified of a process's end")]
pub(crate) fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(20));
}

/// The mark of a worker's processes; `home` is Backstory's state folder.
pub(crate) fn mark(home: &Path, id: WorkerId) -> String {
    format!("{}#{id}", home.display())
}

/// The surviving process of a worker, found by its mark if it was not recorded in time.
fn living_process(worker: &Worker, home: &Path) -> Option<ProcessIdentity> {
    match &worker.process {
        Some(process) => Some(process.clone()).filter(ProcessIdentity::is_alive),
        None if worker.slot_state == Some(SlotState::Queued) => None,
        None => ProcessIdentity::find_by_mark(&mark(home, worker.id)),
    }
}

/// The start of a new session once more, under another id: `claude` writes that it received a message before the
/// message itself, and starts no session whose transcript exists.
pub(crate) fn restart(worker: &Worker, folders: &[ConfigFolder]) -> Option<(SessionStart, SessionId)> {
    transcripts(folders, &worker.session).next()?;
    let session: SessionId = uuid::Uuid::new_v4().to_string().parse().ok()?;
    let start = match &worker.spec.start {
        SessionStart::Fresh(_) => SessionStart::Fresh(session.clone()),
        SessionStart::Fork { from, to: Some(_) } => {
            SessionStart::Fork { from: from.clone(), to: Some(session.clone()) }
        }
        SessionStart::Resume(_) | SessionStart::Fork { to: None, .. } => return None,
    };
    Some((start, session))
}

/// Whether a session's transcript contains a message.
pub(crate) fn has_message(folders: &[ConfigFolder], session: &SessionId, message: &str) -> bool {
    transcripts(folders, session).any(|file| file_has_message(&file, message))
}

fn transcripts(folders: &[ConfigFolder], session: &SessionId) -> impl Iterator<Item = PathBuf> {
    let name = format!("{session}.jsonl");
    let folders = folders.iter().filter_map(|folder| folder.projects().read_dir().ok());
    let files = folders.flatten().flatten().map(move |project| project.path().join(&name));
    files.filter(|file| file.is_file())
}

fn file_has_message(file: &Path, message: &str) -> bool {
    let Ok(mut reader) = Reader::open(file) else { return false };
    let wanted = format!("\"{message}\"");
    while let Ok(Some(line)) = reader.next_line() {
        if line.bytes.windows(wanted.len()).any(|part| part == wanted.as_bytes()) {
            return true;
        }
    }
    false
}

/// Creates a worker for a follow-up that was not delivered, if its directory has a free slot.
fn follow_up(
    table: &mut WorkerStore,
    lost: &Worker,
    message: &str,
    text: &str,
    now: Timestamp,
) -> Result<Option<WorkerId>, WorkerStoreError> {
    let start = SessionStart::Resume(lost.session.clone());
    // Its label may belong to another session by now.
    let spec = WorkerSpec { start, task: text.to_owned(), label: None, ..lost.spec.clone() };
    let wanted =
        NewWorker { spec: &spec, session: &lost.session, slot: &lost.slot, message, host: &lost.host };
    Ok(match table.add(&wanted, now)? {
        AddOutcome::Ready(id) | AddOutcome::Queued(id, _) => {
            table.mark_follow_up_delivered(lost.id)?;
            Some(id)
        }
        AddOutcome::Full { .. } | AddOutcome::InUse(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    struct Scene {
        scratch: tempfile::TempDir,
        table: WorkerStore,
    }

    fn gone() -> ProcessIdentity {
        ProcessIdentity { pid: 1, started: Some("another-boot/1".into()) }
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    impl Scene {
        fn new() -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let table = WorkerStore::open(&scratch.path().join("workers.sqlite")).unwrap();
            Self { scratch, table }
        }

        fn add(&mut self, session: &str, message: &str) -> WorkerId {
            let id: SessionId = session.parse().unwrap();
            let spec = WorkerSpec::new(SessionStart::Fresh(id.clone()), "/p".into(), "Fix it".into());
            let host = gone();
            let wanted = NewWorker { spec: &spec, session: &id, slot: Path::new("/p"), message, host: &host };
            match self.table.add(&wanted, now()).unwrap() {
                AddOutcome::Ready(id) | AddOutcome::Queued(id, _) => id,
                other => panic!("{other:?}"),
            }
        }

        fn say(&self, session: &str, message: &str) {
            let folder = self.scratch.path().join("claude/projects/-p");
            std::fs::create_dir_all(&folder).unwrap();
            let record = format!("{{\"type\":\"user\",\"uuid\":\"{message}\"}}\n");
            std::fs::write(folder.join(format!("{session}.jsonl")), record).unwrap();
        }

        fn recover(&mut self) -> RecoveryReport {
            let folders = [ConfigFolder::new(self.scratch.path().join("claude"))];
            recover(&mut self.table, &folders, self.scratch.path(), now()).unwrap()
        }

        fn process(&self, id: WorkerId) -> Child {
            use std::os::unix::process::CommandExt as _;
            let mark = mark(self.scratch.path(), id);
            let mut command = Command::new("sleep");
            command.arg("600").env(crate::command_line::MARK_VARIABLE, mark).process_group(0).spawn().unwrap()
        }
    }

    #[test]
    fn an_unstarted_task_is_requeued_and_a_started_one_lost() {
        let mut scene = Scene::new();
        let (one, two) = (scene.add("a", "m1"), scene.add("b", "m2"));
        scene.table.set_state(one, &WorkerState::Running, now()).unwrap();
        assert_eq!(scene.recover(), RecoveryReport { lost: vec![], requeued: vec![one, two] });
        assert_eq!(
            scene.table.get(one).unwrap().unwrap().slot_state,
            Some(SlotState::Running),
            "its turn is kept"
        );
        scene.say("a", "m1");
        assert_eq!(scene.recover(), RecoveryReport { lost: vec![one], requeued: vec![two] });
        let lost = scene.table.get(one).unwrap().unwrap();
        assert_eq!((lost.state, lost.slot_state), (WorkerState::Lost { is_living: false }, None));
        assert_eq!(scene.recover(), RecoveryReport { lost: vec![], requeued: vec![two] });
    }

    #[test]
    fn a_task_that_was_received_but_not_begun_gets_a_session_that_does_not_exist() {
        let mut scene = Scene::new();
        let id = scene.add("a", "m1");
        // The record of the queue, as `claude` writes it some 80 ms before that of the message.
        scene.say("a", "of the queue");
        assert_eq!(scene.recover().requeued, [id]);
        let again = scene.table.get(id).unwrap().unwrap();
        assert_ne!(again.session.as_str(), "a");
        assert_eq!(again.spec.start, SessionStart::Fresh(again.session.clone()));
        assert_eq!(scene.recover().requeued, [id]);
        assert_eq!(scene.table.get(id).unwrap().unwrap().session, again.session, "a new one will do");
    }

    #[test]
    fn a_living_process_is_found_though_it_was_not_recorded() {
        let mut scene = Scene::new();
        let id = scene.add("a", "m1");
        let mut child = scene.process(id);
        // Until it has become `sleep`, a new process has its parent's environment.
        while ProcessIdentity::find_by_mark(&mark(scene.scratch.path(), id)).is_none() {
            pause();
        }
        assert_eq!(scene.recover(), RecoveryReport { lost: vec![id], requeued: vec![] });
        let lost = scene.table.get(id).unwrap().unwrap();
        assert_eq!(lost.state, WorkerState::Lost { is_living: true });
        assert_eq!(lost.process.as_ref().map(|process| process.pid), Some(child.id()));
        assert_eq!(lost.slot_state, Some(SlotState::Running), "it works there still");
        end_orphan(&lost, std::time::Duration::from_secs(5));
        child.wait().unwrap();
        assert_eq!(scene.recover().requeued, [id], "it never began");
    }

    #[test]
    fn an_unsent_follow_up_becomes_a_task() {
        let mut scene = Scene::new();
        let id = scene.add("a", "m1");
        scene.say("a", "m1");
        scene.table.queue_follow_up(id, "m2", "And more").unwrap();
        assert_eq!(scene.recover(), RecoveryReport { lost: vec![id], requeued: vec![id + 1] });
        let next = scene.table.get(id + 1).unwrap().unwrap();
        assert_eq!((next.task.as_str(), next.message.as_str()), ("And more", "m2"));
        assert_eq!(next.spec.start, SessionStart::Resume("a".parse().unwrap()));
        assert_eq!(scene.recover().lost, [0; 0]);
    }
}
