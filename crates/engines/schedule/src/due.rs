//! Which jobs are due, and what is done about it: pure.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::{Job, Overlap, Trigger};

/// A run that begins later than this after its moment is told as made up for.
const ON_TIME: SignedDuration = SignedDuration::from_secs(90);
/// So many missed moments are counted.
const COUNTED: u32 = 1000;

/// Why a run waits, or is not made.
pub(crate) const EARLIER: &str = "an earlier run still goes on";

/// A moment that a job owes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The moment.
    pub scheduled: Timestamp,
    /// How many earlier ones are owed too and will not be made up for; counted up to 1000.
    pub missed: u32,
    /// Whether it passed while nobody looked.
    pub is_late: bool,
}

/// What is done about a moment that is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// The job is started.
    Start(Trigger),
    /// It waits for the earlier run.
    Wait(Trigger),
    /// It is not done, for this reason.
    Skip(&'static str),
}

/// What a job owes at a moment: of all that have come since, the last. `usual` is the clock of jobs that name none.
pub fn due(job: &Job, now: Timestamp, usual: &TimeZone) -> Option<Due> {
    if !job.enabled {
        return None;
    }
    let when = &job.order.schedule;
    let scheduled = when.last_until(now, usual).filter(|last| *last > job.settled)?;
    let mut missed = 0;
    let mut moment = job.settled;
    while missed < COUNTED {
        match when.next_after(moment, usual) {
            Some(next) if next < scheduled => moment = next,
            _ => break,
        }
        missed += 1;
    }
    Some(Due { scheduled, missed, is_late: now.duration_since(scheduled) > ON_TIME })
}

/// What is done about it, when so many earlier runs of the job go on and one may wait already.
pub fn course(job: &Job, due: Due, goes_on: bool, waits: bool) -> Course {
    if due.is_late && !job.order.catch_up {
        return Course::Skip("its moment had passed");
    }
    let trigger = if due.is_late { Trigger::CatchUp } else { Trigger::Schedule };
    match job.order.overlap {
        Overlap::Queue if waits => Course::Skip("another run waits already"),
        Overlap::Queue if goes_on => Course::Wait(trigger),
        Overlap::Skip if goes_on || waits => Course::Skip(EARLIER),
        Overlap::Skip | Overlap::Queue | Overlap::Allow => Course::Start(trigger),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewJob, Options, Payload, SessionTarget, When};

    fn time(text: &str) -> Timestamp {
        format!("2026-{text}:00Z").parse().unwrap()
    }

    fn job(schedule: When, settled: &str) -> Job {
        let order = NewJob {
            name: "a".to_owned(),
            schedule,
            payload: Payload::SystemEvent { text: "x".to_owned() },
            session_target: SessionTarget::Main,
            directory: "/r".into(),
            overlap: Overlap::Skip,
            catch_up: true,
            options: Options::default(),
        };
        Job { id: 1, order, enabled: true, created: time(settled), settled: time(settled) }
    }

    fn daily() -> When {
        When::Cron { expr: "0 9 * * *".to_owned(), tz: Some("UTC".to_owned()) }
    }

    #[test]
    fn what_is_owed() {
        let check = |schedule: When, settled, now, expected: Option<(&str, u32, bool)>| {
            let found = due(&job(schedule, settled), time(now), &TimeZone::UTC);
            let expected = expected.map(|(at, missed, is_late)| Due { scheduled: time(at), missed, is_late });
            assert_eq!(found, expected, "{settled} to {now}");
        };
        check(daily(), "01-01T08:00", "01-01T08:59", None);
        check(daily(), "01-01T08:00", "01-01T09:00", Some(("01-01T09:00", 0, false)));
        check(daily(), "01-01T08:00", "01-01T09:01", Some(("01-01T09:00", 0, false)));
        check(daily(), "01-01T08:00", "01-01T09:02", Some(("01-01T09:00", 0, true)));
        check(daily(), "01-01T09:00", "01-01T09:02", None);
        // A week away is one run.
        check(daily(), "01-01T09:00", "01-08T12:00", Some(("01-08T09:00", 6, true)));
        check(daily(), "01-01T09:00", "01-08T09:00", Some(("01-08T09:00", 6, false)));
        // A clock that went back owes nothing twice.
        check(daily(), "01-08T09:00", "01-03T10:00", None);
        let at = || When::At { at: time("02-01T00:00") };
        check(at(), "01-01T00:00", "01-31T00:00", None);
        check(at(), "01-01T00:00", "03-31T00:00", Some(("02-01T00:00", 0, true)));
        check(at(), "02-01T00:00", "03-31T00:00", None);
        // However often it would have come, the count is bounded.
        let often = When::Every { every_ms: 1000, anchor: time("01-01T00:00") };
        check(often, "01-01T00:00", "12-01T00:00", Some(("12-01T00:00", 1000, false)));
    }

    #[test]
    fn a_disabled_job_owes_nothing() {
        let mut off = job(daily(), "01-01T00:00");
        off.enabled = false;
        assert_eq!(due(&off, time("03-01T09:00"), &TimeZone::UTC), None);
    }

    #[test]
    fn what_is_done_about_it() {
        use Course::{Skip, Start, Wait};
        use Trigger::{CatchUp, Schedule};
        let check = |overlap, catch_up, is_late, goes_on, waits, expected: Course| {
            let mut job = job(daily(), "01-01T00:00");
            job.order.overlap = overlap;
            job.order.catch_up = catch_up;
            let due = Due { scheduled: time("01-01T09:00"), missed: 0, is_late };
            let found = course(&job, due, goes_on, waits);
            match (found, expected) {
                (Skip(found), Skip(expected)) => assert!(found.contains(expected), "{found}"),
                _ => assert_eq!(found, expected),
            }
        };
        check(Overlap::Skip, true, false, false, false, Start(Schedule));
        check(Overlap::Skip, true, true, false, false, Start(CatchUp));
        check(Overlap::Skip, false, true, false, false, Skip("passed"));
        check(Overlap::Skip, false, false, false, false, Start(Schedule));
        check(Overlap::Skip, true, false, true, false, Skip("goes on"));
        check(Overlap::Queue, true, false, true, false, Wait(Schedule));
        check(Overlap::Queue, true, true, true, false, Wait(CatchUp));
        check(Overlap::Queue, true, false, true, true, Skip("waits"));
        check(Overlap::Queue, true, false, false, true, Skip("waits"));
        check(Overlap::Queue, true, false, false, false, Start(Schedule));
        check(Overlap::Allow, true, false, true, false, Start(Schedule));
    }
}
