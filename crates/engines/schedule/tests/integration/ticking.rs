//! What a daemon does: on time, after a pause, beside another, after a kill.

use jiff::tz::TimeZone;
use schedule::{Change, Claim, Ending, Overlap, Payload, Start, Started};

use crate::desk::{Desk, after, begun, hourly, key, lives, time};

#[test]
fn a_day_of_runs() {
    let mut desk = Desk::new();
    let start = time("01-01T00:30:00");
    desk.book().add(&hourly("a"), start).unwrap();
    let tick = desk.tick("one", after(start, 60)).unwrap();
    assert!(tick.changed.is_empty() && !tick.is_busy);
    assert_eq!(tick.next, Some(time("01-01T01:00:00")));

    let tick = desk.tick("one", time("01-01T01:00:00")).unwrap();
    assert_eq!((tick.changed.len(), tick.is_busy, tick.next), (1, true, Some(time("01-01T02:00:00"))));
    assert_eq!(desk.told(), ["schedule running"]);
    assert!(desk.tick("one", time("01-01T01:00:10")).unwrap().changed.is_empty());

    desk.finish();
    let tick = desk.tick("one", time("01-01T01:00:20")).unwrap();
    assert_eq!((tick.changed.len(), tick.is_busy), (1, false));
    assert_eq!(desk.told(), ["schedule finished"]);
    let run = serde_json::to_value(&desk.book().history(None, 1).unwrap()[0]).unwrap();
    assert_eq!((&run["cost_usd"], &run["session_id"]), (&0.5.into(), &"s1".into()));
}

#[test]
fn after_a_week_away_there_is_one_run() {
    let mut desk = Desk::new();
    desk.book().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    desk.tick("one", time("01-08T12:30:00")).unwrap();
    desk.tick("one", time("01-08T12:31:00")).unwrap();
    assert_eq!(desk.told(), ["catch_up running"]);
    let run = &desk.book().history(None, 1).unwrap()[0];
    assert_eq!((run.scheduled, run.missed), (Some(time("01-08T12:00:00")), 179));
}

#[test]
fn a_job_that_makes_up_for_nothing_says_so() {
    let mut desk = Desk::new();
    let mut order = hourly("a");
    order.catch_up = false;
    desk.book().add(&order, time("01-01T00:30:00")).unwrap();
    desk.tick("one", time("01-08T12:30:00")).unwrap();
    assert_eq!(desk.told(), ["schedule skipped"]);
    desk.tick("one", time("01-08T13:00:05")).unwrap();
    assert_eq!(desk.told(), ["schedule skipped", "schedule running"]);
}

#[test]
fn while_an_earlier_run_goes_on() {
    let check = |overlap, expected: &[&str], workers: usize| {
        let mut desk = Desk::new();
        let mut order = hourly("a");
        order.overlap = overlap;
        desk.book().add(&order, time("01-01T00:30:00")).unwrap();
        for hour in 1..=3 {
            desk.tick("one", time(&format!("01-01T0{hour}:00:00"))).unwrap();
        }
        desk.finish();
        desk.tick("one", time("01-01T03:30:00")).unwrap();
        assert_eq!(desk.told(), expected, "{overlap:?}");
        assert_eq!(desk.workers.len(), workers, "{overlap:?}");
    };
    check(Overlap::Skip, &["schedule finished", "schedule skipped", "schedule skipped"], 1);
    check(Overlap::Queue, &["schedule finished", "schedule running", "schedule skipped"], 2);
    check(Overlap::Allow, &["schedule finished"; 3], 3);
}

#[test]
fn of_two_daemons_one_fires_and_the_other_follows_when_it_is_killed() {
    let mut desk = Desk::new();
    desk.book().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    assert!(desk.tick("one", time("01-01T00:59:50")).is_some());
    assert!(desk.tick("two", time("01-01T01:00:00")).is_none());
    desk.tick("one", time("01-01T01:00:01")).unwrap();
    // Killed here.
    assert!(desk.tick("two", time("01-01T01:00:30")).is_none());
    assert!(desk.tick("two", time("01-01T01:00:32")).is_some());
    assert!(desk.tick("one", time("01-01T01:00:33")).is_none());
    assert_eq!((desk.told(), desk.workers.len()), (vec!["schedule running".to_owned()], 1));
}

/// Takes a moment up and is killed before the start, or before the start is known.
fn killed(desk: &mut Desk, is_started: bool) {
    let now = time("01-01T01:00:00");
    let mut book = desk.book();
    let job = book.add(&hourly("a"), time("01-01T00:30:00")).unwrap().unwrap();
    let lease = book.lease("one", now, lives).unwrap().unwrap();
    let claim = book.take(&lease, job.id, &key(), now, &TimeZone::UTC).unwrap();
    let Claim::Written(run) = claim else { panic!("{claim:?}") };
    if is_started {
        let is = Started { worker: 7, session_id: Some("seven".to_owned()) };
        desk.workers.push((run.key, begun(&is)));
    }
}

#[test]
fn a_start_that_was_killed_is_neither_lost_nor_doubled() {
    for is_started in [false, true] {
        let mut desk = Desk::new();
        killed(&mut desk, is_started);
        // It might still be starting.
        desk.tick("two", time("01-01T01:00:40")).unwrap();
        assert_eq!(desk.told(), ["schedule starting"]);
        for second in [10, 20, 30] {
            desk.tick("two", time(&format!("01-01T01:01:{second}"))).unwrap();
        }
        assert_eq!(desk.told(), ["schedule running"]);
        assert_eq!(desk.workers.len(), 1, "started: {is_started}");
        desk.finish();
        desk.tick("two", time("01-01T01:02:00")).unwrap();
        assert_eq!(desk.told(), ["schedule finished"]);
    }
}

/// A job with a minute's time, begun at one o'clock.
fn with_a_minute() -> Desk {
    let mut desk = Desk::new();
    let mut order = hourly("a");
    order.payload = Payload::AgentTurn {
        message: "long".to_owned(),
        model: None,
        thinking: None,
        timeout_seconds: Some(60),
    };
    desk.book().add(&order, time("01-01T00:30:00")).unwrap();
    desk.tick("one", time("01-01T01:00:00")).unwrap();
    desk
}

#[test]
fn a_run_that_takes_too_long_is_ended() {
    let mut desk = with_a_minute();
    desk.tick("one", time("01-01T01:01:00")).unwrap();
    assert_eq!((desk.told(), &desk.stopped), (vec!["schedule running".to_owned()], &vec![]));
    desk.tick("one", time("01-01T01:01:01")).unwrap();
    assert_eq!((desk.told(), &desk.stopped), (vec!["schedule timed_out".to_owned()], &vec![1]));
}

#[test]
fn whoever_finds_a_worker_ended_knows_why() {
    let check = |ended: &str, expected: &str| {
        let mut desk = with_a_minute();
        desk.end(&Ending::Stopped, time(ended));
        desk.settle(time("01-01T01:30:00"));
        assert_eq!(desk.told(), [expected], "{ended}");
    };
    check("01-01T01:00:59", "schedule failed");
    // By a daemon that was killed before it could say so, or has not said it yet.
    check("01-01T01:01:01", "schedule timed_out");
}

#[test]
fn what_cannot_be_started_is_told_and_tried_at_the_next_moment() {
    let mut desk = Desk::new();
    desk.book().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    desk.refuses = Some(Start::Failed("no claude here".to_owned()));
    desk.tick("one", time("01-01T01:00:00")).unwrap();
    desk.refuses = None;
    desk.tick("one", time("01-01T01:00:10")).unwrap();
    assert_eq!(desk.told(), ["schedule failed"]);
    desk.tick("one", time("01-01T02:00:00")).unwrap();
    assert_eq!(desk.told(), ["schedule failed", "schedule running"]);
}

#[test]
fn a_worker_nobody_knows_any_more_holds_nothing_up() {
    let mut desk = Desk::new();
    desk.book().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    desk.tick("one", time("01-01T01:00:00")).unwrap();
    desk.workers.clear();
    desk.tick("one", time("01-01T02:00:00")).unwrap();
    assert_eq!(desk.told(), ["schedule failed", "schedule running"]);
}

#[test]
fn one_who_is_known_to_be_killed_is_followed_at_once() {
    for is_started in [false, true] {
        let mut desk = Desk::new();
        killed(&mut desk, is_started);
        desk.gone = vec!["one"];
        desk.tick("two", time("01-01T01:00:01")).unwrap();
        assert_eq!((desk.told(), desk.workers.len()), (vec!["schedule running".to_owned()], 1));
    }
}

#[test]
fn a_job_that_was_disabled_meanwhile_is_not_begun() {
    for is_started in [false, true] {
        let mut desk = Desk::new();
        killed(&mut desk, is_started);
        desk.gone = vec!["one"];
        let now = time("01-01T01:00:01");
        desk.book().switch(1, Change::Disable, now).unwrap();
        desk.tick("two", now).unwrap();
        let expected = if is_started { "schedule running" } else { "schedule skipped" };
        assert_eq!(desk.told(), [expected]);
    }
}

#[test]
fn a_moment_whose_place_is_taken_waits() {
    let mut desk = Desk::new();
    desk.book().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    desk.refuses = Some(Start::Busy("somebody works there".to_owned()));
    desk.tick("one", time("01-01T01:00:00")).unwrap();
    desk.tick("one", time("01-01T02:00:00")).unwrap();
    assert_eq!(desk.told(), ["schedule waiting", "schedule skipped"], "one waits, not two");
    desk.refuses = None;
    desk.tick("one", time("01-01T02:00:29")).unwrap();
    assert_eq!(desk.workers.len(), 0, "it is left alone for a while");
    desk.tick("one", time("01-01T02:00:30")).unwrap();
    assert_eq!(desk.told(), ["schedule running", "schedule skipped"]);
    // What waits is not done any more once the job is disabled.
    desk.refuses = Some(Start::Busy("somebody works there".to_owned()));
    desk.finish();
    desk.tick("one", time("01-01T03:00:00")).unwrap();
    assert_eq!(desk.told().last().unwrap(), "schedule waiting");
    desk.book().switch(1, Change::Disable, time("01-01T03:00:01")).unwrap();
    desk.refuses = None;
    desk.tick("one", time("01-01T05:00:00")).unwrap();
    assert_eq!(desk.told()[2..], ["schedule skipped"]);
}

#[test]
fn by_hand_it_is_done_whatever_the_schedule_says() {
    let mut desk = Desk::new();
    let job = desk.book().add(&hourly("a"), time("01-01T00:30:00")).unwrap().unwrap();
    desk.book().switch(job.id, Change::Disable, time("01-01T00:30:00")).unwrap();
    desk.run_now("a", time("01-01T00:31:00"));
    desk.refuses = Some(Start::Busy("somebody works there".to_owned()));
    desk.run_now("a", time("01-01T00:32:00"));
    assert_eq!(desk.told(), ["manual running", "manual skipped"], "nobody waits for it unasked");
    desk.settle(time("01-01T00:32:30"));
    assert_eq!(desk.told(), ["manual running", "manual skipped"]);
    desk.finish();
    desk.settle(time("01-01T00:33:00"));
    assert_eq!(desk.told(), ["manual finished", "manual skipped"], "no daemon is needed for that");
}
