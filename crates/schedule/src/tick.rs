//! One look of a daemon at everything: what has ended, what was left half started, what waits, what is due.

use std::path::PathBuf;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::{Book, Claim, Error, Job, Lease, Outcome, Run, RunState};

/// A start takes no longer than this; one that is still unfinished then was killed.
const START_TAKES: SignedDuration = SignedDuration::from_secs(60);

/// What a daemon does its work with; each says in words why it could not.
pub struct Hands<'a> {
    /// Starts a worker for a job.
    pub start: &'a mut dyn FnMut(&Job) -> Result<Started, String>,
    /// Tells of all workers that are known.
    pub look: &'a mut dyn FnMut() -> Result<Vec<Seen>, String>,
    /// Ends a worker.
    pub stop: &'a mut dyn FnMut(i64) -> Result<(), String>,
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
    /// What it was told to do.
    pub task: String,
    /// Where.
    pub directory: PathBuf,
    /// When it was asked for.
    pub created: Timestamp,
    /// How it ended, if it has, and more in words.
    pub ended: Option<(Outcome, Option<String>)>,
    /// What it has cost, in US dollars.
    pub cost_usd: Option<f64>,
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
pub fn tick(
    book: &mut Book,
    lease: &Lease,
    usual: &TimeZone,
    now: Timestamp,
    hands: &mut Hands<'_>,
) -> Result<Tick, Error> {
    let mut tick = Tick::default();
    look_after(book, now, hands, &mut tick)?;
    for (job, run) in book.open_runs()? {
        if run.state == RunState::Waiting && book.promote(lease, &run, now)? {
            let run = Run { state: RunState::Starting, claimed: now, ..run };
            tick.changed.push(start(book, job, run, now, hands)?);
        }
    }
    for job in book.jobs()? {
        let Claim::Written(run) = book.take(lease, job.id, now, usual)? else { continue };
        let changed =
            if run.state == RunState::Starting { start(book, job, run, now, hands)? } else { (job, run) };
        tick.changed.push(changed);
    }
    let enabled = book.jobs()?.into_iter().filter(|job| job.enabled);
    tick.next = enabled.filter_map(|job| job.order.schedule.next_after(job.settled.max(now), usual)).min();
    tick.is_busy = !book.open_runs()?.is_empty();
    Ok(tick)
}

/// Does a job at once, whatever else of it goes on.
pub fn run_now(book: &mut Book, job: &Job, now: Timestamp, hands: &mut Hands<'_>) -> Result<Run, Error> {
    let run = book.begin(job.id, now)?;
    start(book, job.clone(), run, now, hands).map(|(_, run)| run)
}

/// Sees which runs have ended, ends those that take too long, and finishes starts that were killed.
fn look_after(book: &mut Book, now: Timestamp, hands: &mut Hands<'_>, tick: &mut Tick) -> Result<(), Error> {
    let was_killed = |run: &Run| now.duration_since(run.claimed).abs() > START_TAKES;
    let open = book.open_runs()?.into_iter().filter(|(_, run)| match run.state {
        RunState::Running { .. } => true,
        RunState::Starting => was_killed(run),
        RunState::Waiting | RunState::Over { .. } => false,
    });
    let open: Vec<_> = open.collect();
    if open.is_empty() {
        return Ok(());
    }
    let seen = match (hands.look)() {
        Ok(seen) => seen,
        Err(why) => {
            tick.problems.push(why);
            return Ok(());
        }
    };
    for (job, run) in open {
        match run.state.clone() {
            RunState::Running { worker, session_id, since } => {
                let is = Started { worker, session_id };
                let found = seen.iter().find(|seen| seen.is.worker == worker);
                if let Some(state) = ended(&job, &is, since, found, now, hands, tick)
                    && book.enter(&run, &state)?
                {
                    tick.changed.push((job, Run { state, ..run }));
                }
            }
            _ => finish_start(book, job, run, &seen, now, hands, tick)?,
        }
    }
    Ok(())
}

fn ended(
    job: &Job,
    is: &Started,
    since: Timestamp,
    found: Option<&Seen>,
    now: Timestamp,
    hands: &mut Hands<'_>,
    tick: &mut Tick,
) -> Option<RunState> {
    let cost_usd = found.and_then(|seen| seen.cost_usd);
    let over = |outcome, message| RunState::Over {
        outcome,
        message,
        worker: Some(is.worker),
        session_id: is.session_id.clone(),
        cost_usd,
        ended: now,
    };
    let Some(found) = found else {
        return Some(over(Outcome::Failed, Some("nothing is known of its worker any more".to_owned())));
    };
    if let Some((outcome, message)) = found.ended.clone() {
        return Some(over(outcome, message));
    }
    let most = job.order.timeout_seconds()?;
    let took = now.duration_since(since);
    if took <= SignedDuration::from_secs(i64::try_from(most).ok()?) {
        return None;
    }
    if let Err(why) = (hands.stop)(is.worker) {
        tick.problems.push(why);
        return None;
    }
    Some(over(Outcome::TimedOut, Some(format!("it was ended after {} s", took.as_secs()))))
}

/// A start that was killed: its worker is there already, or it is started now.
fn finish_start(
    book: &mut Book,
    job: Job,
    run: Run,
    seen: &[Seen],
    now: Timestamp,
    hands: &mut Hands<'_>,
    tick: &mut Tick,
) -> Result<(), Error> {
    if !book.take_over(&run, now)? {
        return Ok(());
    }
    let earliest = run.claimed;
    let latest = run.claimed + START_TAKES;
    let known = book.history(Some(job.id), 500)?;
    let is_known = |worker: i64| known.iter().any(|run| run.state.worker() == Some(worker));
    let found = seen.iter().find(|seen| {
        seen.task == job.order.message()
            && seen.directory == job.order.directory
            && (earliest..=latest).contains(&seen.created)
            && !is_known(seen.is.worker)
    });
    let run = Run { claimed: now, ..run };
    let changed = match found {
        Some(seen) => begun(book, job, run, Ok(seen.is.clone()), now)?,
        None => start(book, job, run, now, hands)?,
    };
    tick.changed.push(changed);
    Ok(())
}

fn start(
    book: &mut Book,
    job: Job,
    run: Run,
    now: Timestamp,
    hands: &mut Hands<'_>,
) -> Result<(Job, Run), Error> {
    let started = (hands.start)(&job);
    begun(book, job, run, started, now)
}

fn begun(
    book: &mut Book,
    job: Job,
    mut run: Run,
    started: Result<Started, String>,
    now: Timestamp,
) -> Result<(Job, Run), Error> {
    let state = match started {
        Ok(Started { worker, session_id }) => RunState::Running { worker, session_id, since: now },
        Err(why) => RunState::ended(Outcome::Failed, Some(why), now),
    };
    book.enter(&run, &state)?;
    run.state = state;
    Ok((job, run))
}
