//! What the tests share: a book in a scratch folder, jobs, and hands that note what they do.

use std::path::PathBuf;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use schedule::{
    Book, Hands, Lease, NewJob, Options, Outcome, Overlap, Payload, Seen, SessionTarget, Started, Tick, When,
    tick,
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

/// A folder with a book, and a world of workers.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
    pub(crate) workers: Vec<Seen>,
    pub(crate) stopped: Vec<i64>,
    pub(crate) refuses: Option<String>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, workers: Vec::new(), stopped: Vec::new(), refuses: None }
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
        let lease: Lease = book.lease(name, now).unwrap()?;
        let Self { workers, stopped, refuses, .. } = self;
        let seen = workers.clone();
        let mut hands = Hands {
            start: &mut |job| {
                if let Some(why) = refuses {
                    Err(why.clone())
                } else {
                    let worker = i64::try_from(workers.len()).unwrap() + 1;
                    let is = Started { worker, session_id: Some(format!("s{worker}")) };
                    workers.push(seen_of(&is, job, now));
                    Ok(is)
                }
            },
            look: &mut || Ok(seen.clone()),
            stop: &mut |worker| {
                stopped.push(worker);
                Ok(())
            },
        };
        Some(tick(&mut book, &lease, &TimeZone::UTC, now, &mut hands).unwrap())
    }

    /// All workers that were started have done their tasks.
    pub(crate) fn finish(&mut self) {
        for worker in &mut self.workers {
            worker.ended = Some((Outcome::Finished, None));
            worker.cost_usd = Some(0.5);
        }
    }

    /// What the history says, oldest first: the trigger, and the run's status or outcome.
    pub(crate) fn told(&self) -> Vec<String> {
        let runs = self.book().history(None, 100).unwrap();
        let told = |run: &schedule::Run| {
            let run = serde_json::to_value(run).unwrap();
            let state = if run["status"] == "over" { &run["outcome"] } else { &run["status"] };
            format!("{} {}", run["trigger"].as_str().unwrap(), state.as_str().unwrap())
        };
        runs.iter().rev().map(told).collect()
    }
}

pub(crate) fn seen_of(is: &Started, job: &schedule::Job, created: Timestamp) -> Seen {
    Seen {
        is: is.clone(),
        task: job.order.message(),
        directory: job.order.directory.clone(),
        created,
        ended: None,
        cost_usd: None,
    }
}
