//! What the book keeps, and that two never take up one moment.

use std::sync::Barrier;
use std::thread;

use jiff::tz::TimeZone;
use schedule::{Book, Change, Claim, Outcome, RunState, When};

use crate::desk::{Desk, after, hourly, key, lives, time};

#[test]
fn jobs_are_added_found_switched_and_removed() {
    let desk = Desk::new();
    let mut book = desk.book();
    let now = time("01-01T00:30:00");
    let job = book.add(&hourly("a"), now).unwrap().unwrap();
    assert!(book.add(&hourly("a"), now).unwrap().is_none(), "a name is given once");
    book.add(&hourly("b"), now).unwrap().unwrap();

    let found = desk.book().job("a").unwrap().unwrap();
    assert_eq!(found, job);
    assert_eq!(book.job(&job.id.to_string()).unwrap().unwrap(), job);
    assert_eq!(book.job("c").unwrap(), None);
    assert_eq!(book.jobs().unwrap().len(), 2);

    let off = book.switch(job.id, Change::Disable, now).unwrap().unwrap();
    let on = book.switch(job.id, Change::Enable, after(now, 86_400)).unwrap().unwrap();
    assert_eq!((off.enabled, on.enabled), (false, true));
    assert_eq!(
        schedule::due(&on, after(now, 86_400), &TimeZone::UTC),
        None,
        "what came meanwhile is not owed"
    );

    assert!(book.remove(job.id).unwrap());
    assert!(!book.remove(job.id).unwrap());
    let next = book.add(&hourly("a"), now).unwrap().unwrap();
    assert_ne!(next.id, job.id, "a number is never given twice");
}

#[test]
fn the_right_to_fire_runs_out_and_comes_back() {
    let desk = Desk::new();
    let (mut one, mut two) = (desk.book(), desk.book());
    let now = time("01-01T00:00:00");
    let lease = one.lease("one", now, lives).unwrap().unwrap();
    assert!(two.lease("two", after(now, 29), lives).unwrap().is_none());
    assert!(one.lease("one", after(now, 20), lives).unwrap().is_some(), "it is renewed");
    assert!(two.lease("two", after(now, 49), lives).unwrap().is_none());
    assert_eq!(two.holder(after(now, 49)).unwrap().as_deref(), Some("one"));
    // Killed: it runs out.
    assert!(two.lease("two", after(now, 50), lives).unwrap().is_some());
    // Killed, and known to be: it is free at once.
    assert!(one.lease("one", after(now, 51), |_| false).unwrap().is_some());
    assert!(two.lease("two", after(now, 52), |_| false).unwrap().is_some());
    // The one who was only asleep may not fire any more.
    let job = one.add(&hourly("a"), now).unwrap().unwrap();
    assert_eq!(one.take(&lease, job.id, &key(), after(now, 3600), &TimeZone::UTC).unwrap(), Claim::NotOurs);
    one.release(&lease).unwrap();
    assert_eq!(two.holder(after(now, 53)).unwrap().as_deref(), Some("two"), "it gives back its own only");
}

#[test]
fn of_many_who_come_at_once_one_takes_up_a_moment() {
    let desk = Desk::new();
    let now = time("01-01T00:30:00");
    let job = desk.book().add(&hourly("a"), now).unwrap().unwrap();
    let barrier = Barrier::new(8);
    let path = desk.path();
    let taken: usize = thread::scope(|scope| {
        let work = || {
            let mut book = Book::open(&path).unwrap();
            // As if all had the right, which they never have.
            let lease = book.lease("same", after(now, 1800), lives).unwrap().unwrap();
            barrier.wait();
            let claim = book.take(&lease, job.id, &key(), after(now, 1800), &TimeZone::UTC).unwrap();
            usize::from(matches!(claim, Claim::Written(_)))
        };
        let all: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
    assert_eq!(desk.told(), ["schedule starting"]);
}

#[test]
fn a_job_for_once_is_done_once() {
    let desk = Desk::new();
    let mut book = desk.book();
    let now = time("01-01T00:00:00");
    let mut order = hourly("once");
    order.schedule = When::At { at: "2026-01-01T01:00:00.123456789Z".parse().unwrap() };
    let job = book.add(&order, now).unwrap().unwrap();
    let lease = book.lease("one", after(now, 7200), lives).unwrap().unwrap();
    let take = |book: &mut Book| book.take(&lease, job.id, &key(), after(now, 7200), &TimeZone::UTC).unwrap();
    assert!(matches!(take(&mut book), Claim::Written(_)));
    assert_eq!(take(&mut book), Claim::Nothing);
    book.switch(job.id, Change::Disable, after(now, 7201)).unwrap();
    book.switch(job.id, Change::Enable, after(now, 7202)).unwrap();
    assert_eq!(take(&mut book), Claim::Nothing, "its moment has been");
}

#[test]
fn the_history_is_bounded_and_keeps_what_goes_on() {
    let desk = Desk::new();
    let mut book = desk.book();
    let now = time("01-01T00:00:00");
    let job = book.add(&hourly("a"), now).unwrap().unwrap();
    let first = book.begin(job.id, "one", &key(), now).unwrap();
    for _ in 0..510 {
        let run = book.begin(job.id, "one", &key(), now).unwrap();
        assert!(book.enter(&run, &RunState::ended(Outcome::Finished, None, now)).unwrap());
        assert!(!book.enter(&run, &RunState::skipped("no", now)).unwrap(), "it is over");
    }
    let kept = book.history(Some(job.id), usize::MAX).unwrap();
    assert_eq!(
        (kept.len(), kept.last().unwrap().id),
        (501, first.id),
        "the newest 500, and the one that goes on"
    );
    book.remove(job.id).unwrap();
    assert!(book.history(None, 10).unwrap().is_empty());
}

#[test]
fn a_file_that_is_no_book_is_told_and_left() {
    let desk = Desk::new();
    std::fs::write(desk.path(), "no database at all, and long enough to be one ".repeat(100)).unwrap();
    let error = Book::open(&desk.path()).unwrap_err();
    assert!(error.to_string().contains(schedule::FILE), "{error}");
    assert!(std::fs::metadata(desk.path()).unwrap().len() > 1000);
}
