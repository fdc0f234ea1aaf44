//! One look of a daemon at everything: what has ended, what was left half started, what waits, what is due.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::book::OFF;
use crate::{Book, Claim, Error, Job, Lease, Outcome, Run, RunState, Trigger};

/// A start takes no longer than this; one that is still unfinished then has failed.
const START_TAKES: SignedDuration = SignedDuration::from_secs(60);
/// So long it is left alone when its place is taken.
const PAUSE: SignedDuration = SignedDuration::from_secs(30);

/// What a daemon does its work with.
pub trait Hands {
    /// The time.
    fn now(&self) -> Timestamp;
    /// A text that no run has had.
    fn key(&self) -> String;
    /// Whether the one who gave this text as their own still lives.
    fn lives(&self, starter: &str) -> bool;
    /// Starts the worker of a run. Where there is one of its key already, that is it.
    fn start(&mut self, job: &Job, run: &Run) -> Start;
    /// Tells of the worker of a run; `None` where it never came to be. Otherwise says why nothing can be told.
    fn look(&mut self, run: &Run) -> Result<Option<Seen>, String>;
    /// Ends a worker, or says why not.
    fn stop(&mut self, worker: i64) -> Result<(), String>;
}

/// What came of a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The worker is there.
    Begun(Started),
    /// Its place is taken, as is said here.
    Busy(String),
    /// It cannot be, for this reason.
    Failed(String),
}

/// A worker that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Its number.
    pub worker: i64,
    /// Its session.
    pub session_id: Option<String>,
}

/// A worker as it is found.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Itself.
    pub is: Started,
    /// How it ended and when, if it has.
    pub ended: Option<(Ending, Timestamp)>,
    /// What it has cost, in US dollars.
    pub cost_usd: Option<f64>,
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Its task is done.
    Finished,
    /// Its task is not done, for this reason.
    Failed(String),
    /// Somebody ended it.
    Stopped,
}

/// What a look has brought.
#[derive(Debug, Default)]
pub struct Tick {
    /// The runs that changed, as they are now, each with its job.
    pub changed: Vec<(Job, Run)>,
    /// What could not be done, in words.
    pub problems: Vec<String>,
    /// When the next job is due.
    pub next: Option<Timestamp>,
    /// Whether a run has to be looked after.
    pub is_busy: bool,
}

/// Looks at everything once. `usual` is the clock of jobs that name none.
pub fn tick(book: &mut Book, lease: &Lease, usual: &TimeZone, hands: &mut impl Hands) -> Result<Tick, Error> {
    let mut look = Look { book, lease, hands, tick: Tick::default() };
    look.after_open_runs()?;
    look.at_those_who_wait()?;
    look.at_what_is_due(usual)?;
    let (mut tick, now) = (look.tick, look.hands.now());
    let enabled = book.jobs()?.into_iter().filter(|job| job.enabled);
    tick.next = enabled.filter_map(|job| job.order.schedule.next_after(job.settled.max(now), usual)).min();
    tick.is_busy = !book.open_runs()?.is_empty();
    Ok(tick)
}

/// Does a job at once, whatever else of it goes on. `starter` tells this process from all others.
pub fn run_now(book: &mut Book, job: &Job, starter: &str, hands: &mut impl Hands) -> Result<Run, Error> {
    let run = book.begin(job.id, starter, &hands.key(), hands.now())?;
    start(book, job, run, hands)
}

/// Enters the ends of runs, whoever asks: what is told of them then is true also where no daemon runs.
pub fn settle(book: &mut Book, hands: &mut impl Hands) -> Result<(), Error> {
    for (job, run) in book.open_runs()? {
        let Some(work) = Work::of(&job, &run) else { continue };
        // What cannot be looked at now is looked at another time.
        if let Ok(found) = hands.look(&run)
            && let Some(state) = work.over(found.as_ref(), hands.now())
        {
            book.enter(&run, &state)?;
        }
    }
    Ok(())
}

struct Look<'a, H> {
    book: &'a mut Book,
    lease: &'a Lease,
    hands: &'a mut H,
    tick: Tick,
}

impl<H: Hands> Look<'_, H> {
    /// Sees which runs have ended, ends those that take too long, and finishes starts that were killed.
    fn after_open_runs(&mut self) -> Result<(), Error> {
        for (job, run) in self.book.open_runs()? {
            if let Some(work) = Work::of(&job, &run) {
                if let Some(state) = self.ended(&work, &run)
                    && self.book.enter(&run, &state)?
                {
                    self.tick.changed.push((job, Run { state, ..run }));
                }
            } else if run.state == RunState::Starting && self.was_killed(&run) {
                self.finish_start(job, run)?;
            }
        }
        Ok(())
    }

    fn at_those_who_wait(&mut self) -> Result<(), Error> {
        for (job, run) in self.book.open_runs()? {
            let now = self.hands.now();
            let is_time = matches!(run.state, RunState::Waiting { again, .. } if again <= now);
            if is_time && self.keeps_lease()? && self.book.promote(self.lease, &run, now)? {
                self.start(job, Run { state: RunState::Starting, claimed: now, ..run })?;
            }
        }
        Ok(())
    }

    fn at_what_is_due(&mut self, usual: &TimeZone) -> Result<(), Error> {
        for job in self.book.jobs()? {
            if !self.keeps_lease()? {
                break;
            }
            let (key, now) = (self.hands.key(), self.hands.now());
            let Claim::Written(run) = self.book.take(self.lease, job.id, &key, now, usual)? else { continue };
            if run.state == RunState::Starting {
                self.start(job, *run)?;
            } else {
                self.tick.changed.push((job, *run));
            }
        }
        Ok(())
    }

    /// Starts take their time: the right to fire is renewed before each.
    fn keeps_lease(&mut self) -> Result<bool, Error> {
        let (now, hands) = (self.hands.now(), &self.hands);
        Ok(self.book.lease(&self.lease.holder, now, |other| hands.lives(other))?.is_some())
    }

    fn was_killed(&self, run: &Run) -> bool {
        let takes = self.hands.now().duration_since(run.claimed).abs();
        takes > START_TAKES || !self.hands.lives(&run.starter)
    }

    /// A start that was killed: its worker is there already, or it is started now.
    fn finish_start(&mut self, job: Job, run: Run) -> Result<(), Error> {
        let now = self.hands.now();
        if !self.book.take_over(self.lease, &run, now)? {
            return Ok(());
        }
        let run = Run { claimed: now, ..run };
        let state = match self.hands.look(&run) {
            Ok(Some(seen)) => running(seen.is, now),
            Ok(None) if job.enabled || run.trigger == Trigger::Manual => return self.start(job, run),
            Ok(None) => RunState::skipped(OFF, now),
            Err(why) => {
                self.tick.problems.push(why);
                return Ok(());
            }
        };
        self.book.enter(&run, &state)?;
        self.tick.changed.push((job, Run { state, ..run }));
        Ok(())
    }

    fn start(&mut self, job: Job, run: Run) -> Result<(), Error> {
        let run = start(self.book, &job, run, self.hands)?;
        self.tick.changed.push((job, run));
        Ok(())
    }

    fn ended(&mut self, work: &Work, run: &Run) -> Option<RunState> {
        let found = match self.hands.look(run) {
            Ok(found) => found,
            Err(why) => {
                self.tick.problems.push(why);
                return None;
            }
        };
        let now = self.hands.now();
        if let Some(over) = work.over(found.as_ref(), now) {
            return Some(over);
        }
        if !work.takes_too_long(now) {
            return None;
        }
        if let Err(why) = self.hands.stop(work.is.worker) {
            self.tick.problems.push(why);
            return None;
        }
        let stopped = found.map(|seen| Seen { ended: Some((Ending::Stopped, now)), ..seen });
        work.over(stopped.as_ref(), now)
    }
}

/// The work of a run that goes on.
struct Work {
    is: Started,
    since: Timestamp,
    /// It is to take no longer than this.
    most: Option<SignedDuration>,
}

impl Work {
    fn of(job: &Job, run: &Run) -> Option<Self> {
        let RunState::Running { worker, session_id, since } = &run.state else { return None };
        let is = Started { worker: *worker, session_id: session_id.clone() };
        let seconds = job.order.timeout_seconds().and_then(|seconds| i64::try_from(seconds).ok());
        Some(Self { is, since: *since, most: seconds.map(SignedDuration::from_secs) })
    }

    fn takes_too_long(&self, now: Timestamp) -> bool {
        self.most.is_some_and(|most| now.duration_since(self.since) > most)
    }

    /// What it has come to, with its worker found like this; `None` while it goes on.
    fn over(&self, found: Option<&Seen>, now: Timestamp) -> Option<RunState> {
        let (ending, at) = match found {
            Some(seen) => seen.ended.clone()?,
            None => (Ending::Failed("nothing is known of its worker any more".to_owned()), now),
        };
        let (outcome, message) = self.outcome(ending, at);
        Some(RunState::Over {
            outcome,
            message,
            worker: Some(self.is.worker),
            session_id: self.is.session_id.clone(),
            cost_usd: found.and_then(|seen| seen.cost_usd),
            ended: at,
        })
    }

    /// Who ended a worker cannot be seen on it, and a daemon may be killed, or somebody look, just after it did: one
    /// that was ended after its time was ended for that.
    fn outcome(&self, ending: Ending, at: Timestamp) -> (Outcome, Option<String>) {
        match ending {
            Ending::Finished => (Outcome::Finished, None),
            Ending::Failed(why) => (Outcome::Failed, Some(why)),
            Ending::Stopped if self.takes_too_long(at) => {
                let took = at.duration_since(self.since).as_secs();
                (Outcome::TimedOut, Some(format!("it was ended after {took} s")))
            }
            Ending::Stopped => (Outcome::Failed, Some("somebody ended it".to_owned())),
        }
    }
}

/// Starts a run's worker, and keeps what came of it.
fn start(book: &mut Book, job: &Job, run: Run, hands: &mut impl Hands) -> Result<Run, Error> {
    let started = hands.start(job, &run);
    let now = hands.now();
    // Whoever asked for it by hand is told; a moment that has come is not forgotten.
    let waits = run.trigger != Trigger::Manual;
    let state = match started {
        Start::Begun(is) => running(is, now),
        Start::Busy(why) if waits => RunState::waits(&why, now + PAUSE),
        Start::Busy(why) => RunState::skipped(&why, now),
        Start::Failed(why) => RunState::ended(Outcome::Failed, Some(why), now),
    };
    book.enter(&run, &state)?;
    Ok(Run { state, ..run })
}

fn running(is: Started, since: Timestamp) -> RunState {
    RunState::Running { worker: is.worker, session_id: is.session_id, since }
}
