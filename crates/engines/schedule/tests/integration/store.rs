//! The job store, in which two daemons never take the same moment.

use std::sync::Barrier;
use std::thread;

use jiff::tz::TimeZone;
use schedule::{ClaimOutcome, JobSchedule, JobStore, JobSwitch, RunOutcome, RunState};

use crate::scene::{Scene, after, hourly, key, lives, time};

#[test]
fn jobs_are_added_found_switched_and_removed() {
    let scene = Scene::new();
    let mut store = scene.store();
    let now = time("01-01T00:30:00");
    let job = store.add(&hourly("a"), now).unwrap().unwrap();
    assert!(store.add(&hourly("a"), now).unwrap().is_none(), "a name is given once");
    store.add(&hourly("b"), now).unwrap().unwrap();

    let found = scene.store().job("a").unwrap().unwrap();
    assert_eq!(found, job);
    assert_eq!(store.job(&job.id.to_string()).unwrap().unwrap(), job);
    assert_eq!(store.job("c").unwrap(), None);
    assert_eq!(store.jobs().unwrap().len(), 2);

    let off = store.set_enabled(job.id, JobSwitch::Disable, now).unwrap().unwrap();
    let on = store.set_enabled(job.id, JobSwitch::Enable, after(now, 86_400)).unwrap().unwrap();
    assert_eq!((off.enabled, on.enabled), (false, true));
    assert_eq!(
        schedule::due(&on, after(now, 86_400), &TimeZone::UTC),
        None,
        "what came meanwhile is not owed"
    );

    assert!(store.remove(job.id).unwrap());
    assert!(!store.remove(job.id).unwrap());
    let next = store.add(&hourly("a"), now).unwrap().unwrap();
    assert_ne!(next.id, job.id, "a number is never given twice");
}

#[test]
fn the_lease_expires_and_can_be_acquired_again() {
    let scene = Scene::new();
    let (mut one, mut two) = (scene.store(), scene.store());
    let now = time("01-01T00:00:00");
    let lease = one.acquire_lease("one", now, lives).unwrap().unwrap();
    assert!(two.acquire_lease("two", after(now, 29), lives).unwrap().is_none());
    assert!(one.acquire_lease("one", after(now, 20), lives).unwrap().is_some(), "it is renewed");
    assert!(two.acquire_lease("two", after(now, 49), lives).unwrap().is_none());
    assert_eq!(two.lease_holder(after(now, 49)).unwrap().as_deref(), Some("one"));
    // Killed: it runs out.
    assert!(two.acquire_lease("two", after(now, 50), lives).unwrap().is_some());
    // Killed, and known to be: it is free at once.
    assert!(one.acquire_lease("one", after(now, 51), |_| false).unwrap().is_some());
    assert!(two.acquire_lease("two", after(now, 52), |_| false).unwrap().is_some());
    // The one who was only asleep may not fire any more.
    let job = one.add(&hourly("a"), now).unwrap().unwrap();
    assert_eq!(
        one.claim_due(&lease, job.id, &key(), after(now, 3600), &TimeZone::UTC).unwrap(),
        ClaimOutcome::LeaseLost
    );
    one.release_lease(&lease).unwrap();
    assert_eq!(
        two.lease_holder(after(now, 53)).unwrap().as_deref(),
        Some("two"),
        "it gives back its own only"
    );
}

#[test]
fn only_one_of_many_claims_a_due_time() {
    let scene = Scene::new();
    let now = time("01-01T00:30:00");
    let job = scene.store().add(&hourly("a"), now).unwrap().unwrap();
    let barrier = Barrier::new(8);
    let path = scene.path();
    let taken: usize = thread::scope(|scope| {
        let work = || {
            let mut store = JobStore::open(&path).unwrap();
            // As if all had the right, which they never have.
            let lease = store.acquire_lease("same", after(now, 1800), lives).unwrap().unwrap();
            barrier.wait();
            let claim = store.claim_due(&lease, job.id, &key(), after(now, 1800), &TimeZone::UTC).unwrap();
            usize::from(matches!(claim, ClaimOutcome::Claimed(_)))
        };
        let all: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
    assert_eq!(scene.history(), ["schedule starting"]);
}

#[test]
fn a_one_time_job_runs_once() {
    let scene = Scene::new();
    let mut store = scene.store();
    let now = time("01-01T00:00:00");
    let mut spec = hourly("once");
    spec.schedule = JobSchedule::At { at: "2026-01-01T01:00:00.123456789Z".parse().unwrap() };
    let job = store.add(&spec, now).unwrap().unwrap();
    let lease = store.acquire_lease("one", after(now, 7200), lives).unwrap().unwrap();
    let take = |store: &mut JobStore| {
        store.claim_due(&lease, job.id, &key(), after(now, 7200), &TimeZone::UTC).unwrap()
    };
    assert!(matches!(take(&mut store), ClaimOutcome::Claimed(_)));
    assert_eq!(take(&mut store), ClaimOutcome::NothingDue);
    store.set_enabled(job.id, JobSwitch::Disable, after(now, 7201)).unwrap();
    store.set_enabled(job.id, JobSwitch::Enable, after(now, 7202)).unwrap();
    assert_eq!(take(&mut store), ClaimOutcome::NothingDue, "its moment has been");
}

#[test]
fn the_history_is_bounded_and_keeps_active_runs() {
    let scene = Scene::new();
    let mut store = scene.store();
    let now = time("01-01T00:00:00");
    let job = store.add(&hourly("a"), now).unwrap().unwrap();
    let first = store.begin_manual_run(job.id, "one", &key(), now).unwrap();
    for _ in 0..510 {
        let run = store.begin_manual_run(job.id, "one", &key(), now).unwrap();
        assert!(store.set_run_state(&run, &RunState::ended(RunOutcome::Finished, None, now)).unwrap());
        assert!(!store.set_run_state(&run, &RunState::skipped("no", now)).unwrap(), "it is over");
    }
    let kept = store.history(Some(job.id), usize::MAX).unwrap();
    assert_eq!(
        (kept.len(), kept.last().unwrap().id),
        (501, first.id),
        "the newest 500, and the one that is still running"
    );
    store.remove(job.id).unwrap();
    assert!(store.history(None, 10).unwrap().is_empty());
}

#[test]
fn a_file_that_is_not_a_job_store_is_reported_and_left_unchanged() {
    let scene = Scene::new();
    std::fs::write(scene.path(), "no database at all, and long enough to be one ".repeat(100)).unwrap();
    let error = JobStore::open(&scene.path()).unwrap_err();
    assert!(error.to_string().contains(schedule::FILE), "{error}");
    assert!(std::fs::metadata(scene.path()).unwrap().len() > 1000);
}
