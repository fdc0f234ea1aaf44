//! Decides which jobs are due and what happens to each due time. Pure: the caller passes the time.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::{Job, OverlapPolicy, Trigger};

/// A run that starts later than this after its scheduled time counts as late.
const ON_TIME: SignedDuration = SignedDuration::from_secs(90);
/// Missed times are counted up to this number.
const MAX_MISSED: u32 = 1000;

/// Reason shown when a run waits for, or is skipped because of, an earlier run.
pub(crate) const STILL_RUNNING: &str = "an earlier run is still going";

/// A scheduled time of a job that has come and has not been handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueTime {
    /// The scheduled time.
    pub scheduled: Timestamp,
    /// Number of earlier unhandled times, which are skipped; counted up to 1000.
    pub missed: u32,
    /// Whether the job is late by more than 90 seconds, for example because no daemon was running.
    pub is_late: bool,
}

/// What to do about a due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueAction {
    /// Start a run.
    Start(Trigger),
    /// Record a run that waits for the earlier one to end.
    Wait(Trigger),
    /// Record a skipped run with this reason.
    Skip(&'static str),
}

/// Returns the latest scheduled time up to `now` that has not been handled; `None` if nothing is due or the
/// job is disabled. `default_zone` applies to jobs without a time zone.
pub fn due(job: &Job, now: Timestamp, default_zone: &TimeZone) -> Option<DueTime> {
    if !job.enabled {
        return None;
    }
    let when = &job.spec.schedule;
    let scheduled = when.last_until(now, default_zone).filter(|last| *last > job.settled)?;
    let mut missed = 0;
    let mut moment = job.settled;
    while missed < MAX_MISSED {
        match when.next_after(moment, default_zone) {
            Some(next) if next < scheduled => moment = next,
            _ => break,
        }
        missed += 1;
    }
    Some(DueTime { scheduled, missed, is_late: now.duration_since(scheduled) > ON_TIME })
}

/// Decides what to do about a due time, given whether a run of the job is active and whether one waits.
pub fn due_action(job: &Job, due: DueTime, is_running: bool, has_waiting: bool) -> DueAction {
    if due.is_late && !job.spec.catch_up {
        return DueAction::Skip("its moment had passed");
    }
    let trigger = if due.is_late { Trigger::CatchUp } else { Trigger::Schedule };
    match job.spec.overlap {
        OverlapPolicy::Queue if has_waiting => DueAction::Skip("another run waits already"),
        OverlapPolicy::Queue if is_running => DueAction::Wait(trigger),
        OverlapPolicy::Skip if is_running || has_waiting => DueAction::Skip(STILL_RUNNING),
        OverlapPolicy::Skip | OverlapPolicy::Queue | OverlapPolicy::Allow => DueAction::Start(trigger),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JobOptions, JobSchedule, JobSpec, Payload, SessionTarget};

    fn time(text: &str) -> Timestamp {
        format!("2026-{text}:00Z").parse().unwrap()
    }

    fn job(schedule: JobSchedule, settled: &str) -> Job {
        let spec = JobSpec {
            name: "a".to_owned(),
            schedule,
            payload: Payload::SystemEvent { text: "x".to_owned() },
            session_target: SessionTarget::Main,
            directory: "/r".into(),
            overlap: OverlapPolicy::Skip,
            catch_up: true,
            options: JobOptions::default(),
        };
        Job { id: 1, spec, enabled: true, created: time(settled), settled: time(settled) }
    }

    fn daily() -> JobSchedule {
        JobSchedule::Cron { expr: "0 9 * * *".to_owned(), tz: Some("UTC".to_owned()) }
    }

    #[test]
    fn due_and_missed_times_are_found() {
        let check = |schedule: JobSchedule, settled, now, expected: Option<(&str, u32, bool)>| {
            let found = due(&job(schedule, settled), time(now), &TimeZone::UTC);
            let expected =
                expected.map(|(at, missed, is_late)| DueTime { scheduled: time(at), missed, is_late });
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
        let at = || JobSchedule::At { at: time("02-01T00:00") };
        check(at(), "01-01T00:00", "01-31T00:00", None);
        check(at(), "01-01T00:00", "03-31T00:00", Some(("02-01T00:00", 0, true)));
        check(at(), "02-01T00:00", "03-31T00:00", None);
        // However often it would have come, the count is bounded.
        let often = JobSchedule::Every { every_ms: 1000, anchor: time("01-01T00:00") };
        check(often, "01-01T00:00", "12-01T00:00", Some(("12-01T00:00", 1000, false)));
    }

    #[test]
    fn a_disabled_job_is_never_due() {
        let mut off = job(daily(), "01-01T00:00");
        off.enabled = false;
        assert_eq!(due(&off, time("03-01T09:00"), &TimeZone::UTC), None);
    }

    #[test]
    fn the_action_follows_the_overlap_policy() {
        use DueAction::{Skip, Start, Wait};
        use Trigger::{CatchUp, Schedule};
        let check = |overlap, catch_up, is_late, is_running, has_waiting, expected: DueAction| {
            let mut job = job(daily(), "01-01T00:00");
            job.spec.overlap = overlap;
            job.spec.catch_up = catch_up;
            let due = DueTime { scheduled: time("01-01T09:00"), missed: 0, is_late };
            let found = due_action(&job, due, is_running, has_waiting);
            match (found, expected) {
                (Skip(found), Skip(expected)) => assert!(found.contains(expected), "{found}"),
                _ => assert_eq!(found, expected),
            }
        };
        check(OverlapPolicy::Skip, true, false, false, false, Start(Schedule));
        check(OverlapPolicy::Skip, true, true, false, false, Start(CatchUp));
        check(OverlapPolicy::Skip, false, true, false, false, Skip("passed"));
        check(OverlapPolicy::Skip, false, false, false, false, Start(Schedule));
        check(OverlapPolicy::Skip, true, false, true, false, Skip("still going"));
        check(OverlapPolicy::Queue, true, false, true, false, Wait(Schedule));
        check(OverlapPolicy::Queue, true, true, true, false, Wait(CatchUp));
        check(OverlapPolicy::Queue, true, false, true, true, Skip("waits"));
        check(OverlapPolicy::Queue, true, false, false, true, Skip("waits"));
        check(OverlapPolicy::Queue, true, false, false, false, Start(Schedule));
        check(OverlapPolicy::Allow, true, false, true, false, Start(Schedule));
    }
}
