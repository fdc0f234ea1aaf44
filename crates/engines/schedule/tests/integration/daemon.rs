//! A daemon at work: on time, after a pause, beside another, after a kill.

use jiff::tz::TimeZone;
use schedule::{ClaimOutcome, JobSwitch, OverlapPolicy, Payload, StartOutcome, StartedWorker, WorkerOutcome};

use crate::scene::{Scene, after, begun, hourly, key, lives, time};

#[test]
fn a_day_of_runs() {
    let mut scene = Scene::new();
    let start = time("01-01T00:30:00");
    scene.store().add(&hourly("a"), start).unwrap();
    let tick = scene.tick("one", after(start, 60)).unwrap();
    assert!(tick.changed.is_empty() && !tick.is_busy);
    assert_eq!(tick.next, Some(time("01-01T01:00:00")));

    let tick = scene.tick("one", time("01-01T01:00:00")).unwrap();
    assert_eq!((tick.changed.len(), tick.is_busy, tick.next), (1, true, Some(time("01-01T02:00:00"))));
    assert_eq!(scene.history(), ["schedule running"]);
    assert!(scene.tick("one", time("01-01T01:00:10")).unwrap().changed.is_empty());

    scene.finish();
    let tick = scene.tick("one", time("01-01T01:00:20")).unwrap();
    assert_eq!((tick.changed.len(), tick.is_busy), (1, false));
    assert_eq!(scene.history(), ["schedule finished"]);
    let run = serde_json::to_value(&scene.store().history(None, 1).unwrap()[0]).unwrap();
    assert_eq!((&run["cost_usd"], &run["session_id"]), (&0.5.into(), &"s1".into()));
}

#[test]
fn after_a_week_away_there_is_one_run() {
    let mut scene = Scene::new();
    scene.store().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    scene.tick("one", time("01-08T12:30:00")).unwrap();
    scene.tick("one", time("01-08T12:31:00")).unwrap();
    assert_eq!(scene.history(), ["catch_up running"]);
    let run = &scene.store().history(None, 1).unwrap()[0];
    assert_eq!((run.scheduled, run.missed), (Some(time("01-08T12:00:00")), 179));
}

#[test]
fn a_job_without_catch_up_records_skipped_runs() {
    let mut scene = Scene::new();
    let mut spec = hourly("a");
    spec.catch_up = false;
    scene.store().add(&spec, time("01-01T00:30:00")).unwrap();
    scene.tick("one", time("01-08T12:30:00")).unwrap();
    assert_eq!(scene.history(), ["schedule skipped"]);
    scene.tick("one", time("01-08T13:00:05")).unwrap();
    assert_eq!(scene.history(), ["schedule skipped", "schedule running"]);
}

#[test]
fn overlapping_runs_follow_the_policy() {
    let check = |overlap, expected: &[&str], workers: usize| {
        let mut scene = Scene::new();
        let mut spec = hourly("a");
        spec.overlap = overlap;
        scene.store().add(&spec, time("01-01T00:30:00")).unwrap();
        for hour in 1..=3 {
            scene.tick("one", time(&format!("01-01T0{hour}:00:00"))).unwrap();
        }
        scene.finish();
        scene.tick("one", time("01-01T03:30:00")).unwrap();
        assert_eq!(scene.history(), expected, "{overlap:?}");
        assert_eq!(scene.workers.len(), workers, "{overlap:?}");
    };
    check(OverlapPolicy::Skip, &["schedule finished", "schedule skipped", "schedule skipped"], 1);
    check(OverlapPolicy::Queue, &["schedule finished", "schedule running", "schedule skipped"], 2);
    check(OverlapPolicy::Allow, &["schedule finished"; 3], 3);
}

#[test]
fn a_second_daemon_takes_over_when_the_first_is_killed() {
    let mut scene = Scene::new();
    scene.store().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    assert!(scene.tick("one", time("01-01T00:59:50")).is_some());
    assert!(scene.tick("two", time("01-01T01:00:00")).is_none());
    scene.tick("one", time("01-01T01:00:01")).unwrap();
    // Killed here.
    assert!(scene.tick("two", time("01-01T01:00:30")).is_none());
    assert!(scene.tick("two", time("01-01T01:00:32")).is_some());
    assert!(scene.tick("one", time("01-01T01:00:33")).is_none());
    assert_eq!((scene.history(), scene.workers.len()), (vec!["schedule running".to_owned()], 1));
}

/// Takes a moment up and is killed before the start, or before the start is known.
fn killed(scene: &mut Scene, is_started: bool) {
    let now = time("01-01T01:00:00");
    let mut store = scene.store();
    let job = store.add(&hourly("a"), time("01-01T00:30:00")).unwrap().unwrap();
    let lease = store.acquire_lease("one", now, lives).unwrap().unwrap();
    let claim = store.claim_due(&lease, job.id, &key(), now, &TimeZone::UTC).unwrap();
    let ClaimOutcome::Claimed(run) = claim else { panic!("{claim:?}") };
    if is_started {
        let is = StartedWorker { id: 7, session_id: Some("seven".to_owned()) };
        scene.workers.push((run.key, begun(&is)));
    }
}

#[test]
fn a_killed_start_is_neither_lost_nor_repeated() {
    for is_started in [false, true] {
        let mut scene = Scene::new();
        killed(&mut scene, is_started);
        // It might still be starting.
        scene.tick("two", time("01-01T01:00:40")).unwrap();
        assert_eq!(scene.history(), ["schedule starting"]);
        for second in [10, 20, 30] {
            scene.tick("two", time(&format!("01-01T01:01:{second}"))).unwrap();
        }
        assert_eq!(scene.history(), ["schedule running"]);
        assert_eq!(scene.workers.len(), 1, "started: {is_started}");
        scene.finish();
        scene.tick("two", time("01-01T01:02:00")).unwrap();
        assert_eq!(scene.history(), ["schedule finished"]);
    }
}

/// A job with a minute's time, begun at one o'clock.
fn with_a_minute() -> Scene {
    let mut scene = Scene::new();
    let mut spec = hourly("a");
    spec.payload = Payload::AgentTurn {
        message: "long".to_owned(),
        model: None,
        thinking: None,
        timeout_seconds: Some(60),
    };
    scene.store().add(&spec, time("01-01T00:30:00")).unwrap();
    scene.tick("one", time("01-01T01:00:00")).unwrap();
    scene
}

#[test]
fn a_run_that_takes_too_long_is_ended() {
    let mut scene = with_a_minute();
    scene.tick("one", time("01-01T01:01:00")).unwrap();
    assert_eq!((scene.history(), &scene.stopped), (vec!["schedule running".to_owned()], &vec![]));
    scene.tick("one", time("01-01T01:01:01")).unwrap();
    assert_eq!((scene.history(), &scene.stopped), (vec!["schedule timed_out".to_owned()], &vec![1]));
}

#[test]
fn a_workers_end_is_recorded_with_its_reason() {
    let check = |ended: &str, expected: &str| {
        let mut scene = with_a_minute();
        scene.end(&WorkerOutcome::Stopped, time(ended));
        scene.record_finished_runs(time("01-01T01:30:00"));
        assert_eq!(scene.history(), [expected], "{ended}");
    };
    check("01-01T01:00:59", "schedule failed");
    // By a daemon that was killed before it could say so, or has not said it yet.
    check("01-01T01:01:01", "schedule timed_out");
}

#[test]
fn a_failed_start_is_recorded_and_the_next_due_time_tried() {
    let mut scene = Scene::new();
    scene.store().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    scene.refuses = Some(StartOutcome::Failed("no claude here".to_owned()));
    scene.tick("one", time("01-01T01:00:00")).unwrap();
    scene.refuses = None;
    scene.tick("one", time("01-01T01:00:10")).unwrap();
    assert_eq!(scene.history(), ["schedule failed"]);
    scene.tick("one", time("01-01T02:00:00")).unwrap();
    assert_eq!(scene.history(), ["schedule failed", "schedule running"]);
}

#[test]
fn a_worker_that_is_gone_blocks_nothing() {
    let mut scene = Scene::new();
    scene.store().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    scene.tick("one", time("01-01T01:00:00")).unwrap();
    scene.workers.clear();
    scene.tick("one", time("01-01T02:00:00")).unwrap();
    assert_eq!(scene.history(), ["schedule failed", "schedule running"]);
}

#[test]
fn a_lease_of_a_dead_daemon_is_taken_over_at_once() {
    for is_started in [false, true] {
        let mut scene = Scene::new();
        killed(&mut scene, is_started);
        scene.gone = vec!["one"];
        scene.tick("two", time("01-01T01:00:01")).unwrap();
        assert_eq!((scene.history(), scene.workers.len()), (vec!["schedule running".to_owned()], 1));
    }
}

#[test]
fn a_job_goes_on_once_a_clock_that_was_ahead_is_right_again() {
    let mut scene = Scene::new();
    scene.store().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    scene.tick("one", time("01-09T01:00:00")).unwrap();
    scene.finish();
    // It is set back between two times; the second of them is one that was handled already.
    for moment in ["01-01T01:10:00", "01-09T00:30:00", "01-09T01:00:00", "01-09T01:00:10"] {
        scene.tick("one", time(moment)).unwrap();
        scene.finish();
    }
    assert_eq!(scene.history(), ["schedule finished", "catch_up finished", "schedule finished"]);
}

#[test]
fn a_job_disabled_while_waiting_is_not_started() {
    for is_started in [false, true] {
        let mut scene = Scene::new();
        killed(&mut scene, is_started);
        scene.gone = vec!["one"];
        let now = time("01-01T01:00:01");
        scene.store().set_enabled(1, JobSwitch::Disable, now).unwrap();
        scene.tick("two", now).unwrap();
        let expected = if is_started { "schedule running" } else { "schedule skipped" };
        assert_eq!(scene.history(), [expected]);
    }
}

#[test]
fn a_run_waits_while_its_directory_is_taken() {
    let mut scene = Scene::new();
    scene.store().add(&hourly("a"), time("01-01T00:30:00")).unwrap();
    scene.refuses = Some(StartOutcome::Busy("somebody works there".to_owned()));
    scene.tick("one", time("01-01T01:00:00")).unwrap();
    scene.tick("one", time("01-01T02:00:00")).unwrap();
    assert_eq!(scene.history(), ["schedule waiting", "schedule skipped"], "one waits, not two");
    scene.refuses = None;
    scene.tick("one", time("01-01T02:00:29")).unwrap();
    assert_eq!(scene.workers.len(), 0, "it is left alone for a while");
    scene.tick("one", time("01-01T02:00:30")).unwrap();
    assert_eq!(scene.history(), ["schedule running", "schedule skipped"]);
    // What waits is not done any more once the job is disabled.
    scene.refuses = Some(StartOutcome::Busy("somebody works there".to_owned()));
    scene.finish();
    scene.tick("one", time("01-01T03:00:00")).unwrap();
    assert_eq!(scene.history().last().unwrap(), "schedule waiting");
    scene.store().set_enabled(1, JobSwitch::Disable, time("01-01T03:00:01")).unwrap();
    scene.refuses = None;
    scene.tick("one", time("01-01T05:00:00")).unwrap();
    assert_eq!(scene.history()[2..], ["schedule skipped"]);
}

#[test]
fn a_manual_run_ignores_the_schedule() {
    let mut scene = Scene::new();
    let job = scene.store().add(&hourly("a"), time("01-01T00:30:00")).unwrap().unwrap();
    scene.store().set_enabled(job.id, JobSwitch::Disable, time("01-01T00:30:00")).unwrap();
    scene.run_now("a", time("01-01T00:31:00"));
    scene.refuses = Some(StartOutcome::Busy("somebody works there".to_owned()));
    scene.run_now("a", time("01-01T00:32:00"));
    assert_eq!(scene.history(), ["manual running", "manual skipped"], "nobody waits for it unasked");
    scene.record_finished_runs(time("01-01T00:32:30"));
    assert_eq!(scene.history(), ["manual running", "manual skipped"]);
    scene.finish();
    scene.record_finished_runs(time("01-01T00:33:00"));
    assert_eq!(scene.history(), ["manual finished", "manual skipped"], "no daemon is needed for that");
}
