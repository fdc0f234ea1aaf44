//! What the tests share: a book in a scratch folder, jobs, and hands that note what they do.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use schedule::{
    Book, Ending, Hands, Job, Lease, NewJob, Options, Overlap, Payload, Run, Seen, SessionTarget, Start,
    Started, Tick, When, run_now, settle, tick,
};

pub(crate) fn time(text: &str) -> Timestamp {
    format!("2026-{text}Z").parse().unwrap()
}

pub(crate) fn after(moment: Timestamp, seconds: i64) -> Timestamp {
    moment + SignedDuration::from_secs(seconds)
}

/// A job that is due every hour from midnight on the first of January.
pub(crate) fn hourly(name: &str) -> NewJob {
    NewJob {
        name: name.to_owned(),
        schedule: When::Every { every_ms: 3_600_000, anchor: time("01-01T00:00:00") },
        payload: Payload::AgentTurn {
            message: format!("do {name}"),
            model: None,
            thinking: None,
            timeout_seconds: None,
        },
        session_target: SessionTarget::Isolated,
        directory: "/r".into(),
        overlap: Overlap::Skip,
        catch_up: true,
        options: Options::default(),
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
pub(crate) struct Desk {
    folder: tempfile::TempDir,
    /// Each with its run's key.
    pub(crate) workers: Vec<(String, Seen)>,
    pub(crate) stopped: Vec<i64>,
    /// What every start comes to, where it does not begin.
    pub(crate) refuses: Option<Start>,
    /// Daemons that were killed, and are known to be.
    pub(crate) gone: Vec<&'static str>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, workers: Vec::new(), stopped: Vec::new(), refuses: None, gone: Vec::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(schedule::FILE)
    }

    pub(crate) fn book(&self) -> Book {
        Book::open(&self.path()).unwrap()
    }

    /// A daemon of this name looks at everything once, if it has the right to.
    pub(crate) fn tick(&mut self, name: &str, now: Timestamp) -> Option<Tick> {
        let mut book = self.book();
        let mut hands = AtDesk { desk: self, now };
        let lease: Lease = book.lease(name, now, |other| hands.lives(other)).unwrap()?;
        Some(tick(&mut book, &lease, &TimeZone::UTC, &mut hands).unwrap())
    }

    /// Somebody looks at what was done.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        settle(&mut self.book(), &mut AtDesk { desk: self, now }).unwrap();
    }

    /// Somebody has a job done.
    pub(crate) fn run_now(&mut self, name: &str, now: Timestamp) -> Run {
        let mut book = self.book();
        let job = book.job(name).unwrap().unwrap();
        run_now(&mut book, &job, "somebody", &mut AtDesk { desk: self, now }).unwrap()
    }

    /// All workers that were started end so, at this time.
    pub(crate) fn end(&mut self, ending: &Ending, at: Timestamp) {
        for (_, worker) in &mut self.workers {
            worker.ended = Some((ending.clone(), at));
            worker.cost_usd = Some(0.5);
        }
    }

    /// All workers that were started have done their tasks.
    pub(crate) fn finish(&mut self) {
        self.end(&Ending::Finished, time("01-01T00:00:00"));
    }

    /// What the history says, oldest first: the trigger, and the run's status or outcome.
    pub(crate) fn told(&self) -> Vec<String> {
        let runs = self.book().history(None, 100).unwrap();
        let told = |run: &Run| {
            let run = serde_json::to_value(run).unwrap();
            let state = if run["status"] == "over" { &run["outcome"] } else { &run["status"] };
            format!("{} {}", run["trigger"].as_str().unwrap(), state.as_str().unwrap())
        };
        runs.iter().rev().map(told).collect()
    }
}

/// The hands of a daemon at a moment.
struct AtDesk<'a> {
    desk: &'a mut Desk,
    now: Timestamp,
}

impl Hands for AtDesk<'_> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn key(&self) -> String {
        key()
    }

    fn lives(&self, starter: &str) -> bool {
        !self.desk.gone.contains(&starter)
    }

    fn start(&mut self, _: &Job, run: &Run) -> Start {
        if let Some(refusal) = &self.desk.refuses {
            return refusal.clone();
        }
        let worker = i64::try_from(self.desk.workers.len()).unwrap() + 1;
        let is = Started { worker, session_id: Some(format!("s{worker}")) };
        self.desk.workers.push((run.key.clone(), begun(&is)));
        Start::Begun(is)
    }

    fn look(&mut self, run: &Run) -> Result<Option<Seen>, String> {
        let of_run = self.desk.workers.iter().find(|(key, _)| *key == run.key);
        Ok(of_run.map(|(_, seen)| seen.clone()))
    }

    fn stop(&mut self, worker: i64) -> Result<(), String> {
        self.desk.stopped.push(worker);
        Ok(())
    }
}

/// A worker that works.
pub(crate) fn begun(is: &Started) -> Seen {
    Seen { is: is.clone(), ended: None, cost_usd: None }
}
