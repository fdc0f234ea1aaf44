//! Shared by the tests: a job store in a scratch folder, jobs, and hands that note what they do.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use schedule::{
    Executor, Job, JobOptions, JobSchedule, JobSpec, JobStore, Lease, OverlapPolicy, Payload, Run,
    SessionTarget, StartOutcome, StartedWorker, TickReport, WorkerOutcome, WorkerStatus,
    record_finished_runs, run_now, tick,
};

pub(crate) fn time(text: &str) -> Timestamp {
    format!("2026-{text}Z").parse().unwrap()
}

pub(crate) fn after(moment: Timestamp, seconds: i64) -> Timestamp {
    moment + SignedDuration::from_secs(seconds)
}

/// A job that is due every hour from midnight on the first of January.
pub(crate) fn hourly(name: &str) -> JobSpec {
    JobSpec {
        name: name.to_owned(),
        schedule: JobSchedule::Every { every_ms: 3_600_000, anchor: time("01-01T00:00:00") },
        payload: Payload::AgentTurn {
            message: format!("do {name}"),
            model: None,
            thinking: None,
            timeout_seconds: None,
        },
        session_target: SessionTarget::Isolated,
        directory: "/r".into(),
        overlap: OverlapPolicy::Skip,
        catch_up: true,
        options: JobOptions::default(),
    }
}

/// A text that no other run has.
pub(crate) fn key() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("key-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Nobody is known to be gone.
pub(crate) fn lives(_: &str) -> bool {
    true
}

/// A folder with a book, and a world of workers.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
    /// Each with its run's key.
    pub(crate) workers: Vec<(String, WorkerStatus)>,
    pub(crate) stopped: Vec<i64>,
    /// The result of every start, if runs do not begin.
    pub(crate) refuses: Option<StartOutcome>,
    /// Daemons that were killed, and are known to be.
    pub(crate) gone: Vec<&'static str>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, workers: Vec::new(), stopped: Vec::new(), refuses: None, gone: Vec::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(schedule::FILE)
    }

    pub(crate) fn store(&self) -> JobStore {
        JobStore::open(&self.path()).unwrap()
    }

    /// A daemon of this name looks at everything once, if it has the right to.
    pub(crate) fn tick(&mut self, name: &str, now: Timestamp) -> Option<TickReport> {
        let mut store = self.store();
        let mut executor = SceneExecutor { scene: self, now };
        let lease: Lease = store.acquire_lease(name, now, |other| executor.is_alive(other)).unwrap()?;
        Some(tick(&mut store, &lease, &TimeZone::UTC, &mut executor).unwrap())
    }

    /// Somebody looks at what was done.
    pub(crate) fn record_finished_runs(&mut self, now: Timestamp) {
        record_finished_runs(&mut self.store(), &mut SceneExecutor { scene: self, now }).unwrap();
    }

    /// Somebody has a job done.
    pub(crate) fn run_now(&mut self, name: &str, now: Timestamp) -> Run {
        let mut store = self.store();
        let job = store.job(name).unwrap().unwrap();
        run_now(&mut store, &job, "somebody", &mut SceneExecutor { scene: self, now }).unwrap()
    }

    /// All workers that were started end so, at this time.
    pub(crate) fn end(&mut self, ending: &WorkerOutcome, at: Timestamp) {
        for (_, worker) in &mut self.workers {
            worker.ended = Some((ending.clone(), at));
            worker.cost_usd = Some(0.5);
        }
    }

    /// All workers that were started have done their tasks.
    pub(crate) fn finish(&mut self) {
        self.end(&WorkerOutcome::Finished, time("01-01T00:00:00"));
    }

    /// The history, oldest first: the trigger, and the run's status or outcome.
    pub(crate) fn history(&self) -> Vec<String> {
        let runs = self.store().history(None, 100).unwrap();
        let described = |run: &Run| {
            let run = serde_json::to_value(run).unwrap();
            let state = if run["status"] == "over" { &run["outcome"] } else { &run["status"] };
            format!("{} {}", run["trigger"].as_str().unwrap(), state.as_str().unwrap())
        };
        runs.iter().rev().map(described).collect()
    }
}

/// The hands of a daemon at a moment.
struct SceneExecutor<'a> {
    scene: &'a mut Scene,
    now: Timestamp,
}

impl Executor for SceneExecutor<'_> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn new_run_key(&self) -> String {
        key()
    }

    fn is_alive(&self, starter: &str) -> bool {
        !self.scene.gone.contains(&starter)
    }

    fn start(&mut self, _: &Job, run: &Run) -> StartOutcome {
        if let Some(refusal) = &self.scene.refuses {
            return refusal.clone();
        }
        let worker = i64::try_from(self.scene.workers.len()).unwrap() + 1;
        let worker_started = StartedWorker { id: worker, session_id: Some(format!("s{worker}")) };
        self.scene.workers.push((run.key.clone(), begun(&worker_started)));
        StartOutcome::Started(worker_started)
    }

    fn worker_status(&mut self, run: &Run) -> Result<Option<WorkerStatus>, String> {
        let of_run = self.scene.workers.iter().find(|(key, _)| *key == run.key);
        Ok(of_run.map(|(_, status)| status.clone()))
    }

    fn stop(&mut self, worker: i64) -> Result<(), String> {
        self.scene.stopped.push(worker);
        Ok(())
    }
}

/// A worker that works.
pub(crate) fn begun(worker: &StartedWorker) -> WorkerStatus {
    WorkerStatus { worker: worker.clone(), ended: None, cost_usd: None }
}
