//! Who gets which directory and which session, whatever comes in between.

use jiff::Timestamp;
use model::SessionId;

use super::*;
use crate::{Life, Start, Why, WorkerSpec, WorkerState};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

struct Shop {
    scratch: tempfile::TempDir,
    table: Table,
    asked: usize,
}

impl Shop {
    fn open() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let table = Table::open(&scratch.path().join("workers.sqlite")).unwrap();
        Self { scratch, table, asked: 0 }
    }

    fn add(&mut self, session: &str, slot: &str) -> Added {
        self.asked += 1;
        self.ask(session, slot, &format!("asked-{}", self.asked))
    }

    fn ask(&mut self, session: &str, slot: &str, message: &str) -> Added {
        let id: SessionId = session.parse().unwrap();
        let spec = WorkerSpec::new(Start::Resume(id.clone()), slot.into(), "Fix it".into());
        let host = Life::own();
        let wanted = Wanted { spec: &spec, session: &id, slot: Path::new(slot), message, host: &host };
        self.table.add(&wanted, at(0)).unwrap()
    }
}

#[test]
fn one_runs_and_one_waits_in_a_directory() {
    let mut shop = Shop::open();
    assert_eq!(shop.add("a", "/p"), Added::Begins(1));
    assert_eq!(shop.add("b", "/p"), Added::Waits(2, 1));
    assert_eq!(shop.add("c", "/p"), Added::Full { running: 1, queued: 2 });
    assert_eq!(shop.add("c", "/q"), Added::Begins(3));
    assert_eq!(shop.table.take_turn(2, at(1)).unwrap(), Turn::Behind(1));
    shop.table.enter(1, &WorkerState::Stopped, at(2)).unwrap();
    assert_eq!(shop.table.take_turn(2, at(3)).unwrap(), Turn::Begins);
    assert_eq!(shop.add("d", "/p"), Added::Waits(4, 2));
    // Cancelled, it waits no more, and its place is free.
    assert!(shop.table.cancel(4, at(4)).unwrap());
    assert!(!shop.table.cancel(2, at(4)).unwrap(), "it runs");
    assert_eq!(shop.table.take_turn(4, at(5)).unwrap(), Turn::Over);
    assert_eq!(shop.table.get(4).unwrap().unwrap().state, WorkerState::Stopped);
    assert_eq!(shop.add("e", "/p"), Added::Waits(5, 2));
}

#[test]
fn asked_for_twice_by_one_message_it_is_one_worker() {
    let mut shop = Shop::open();
    assert_eq!(shop.ask("a", "/p", "once"), Added::Begins(1));
    assert_eq!(shop.ask("b", "/q", "once"), Added::Begins(1));
    shop.table.enter(1, &WorkerState::Stopped, at(1)).unwrap();
    assert_eq!(shop.ask("a", "/p", "once"), Added::Begins(1), "it was done");
    assert_eq!(shop.table.of_message("once").unwrap().map(|worker| worker.id), Some(1));
    assert_eq!(shop.table.of_message("never").unwrap(), None);
    assert_eq!(shop.table.all(9).unwrap().len(), 1);
}

#[test]
fn a_session_has_one_worker() {
    let mut shop = Shop::open();
    assert_eq!(shop.add("a", "/p"), Added::Begins(1));
    assert_eq!(shop.add("a", "/q"), Added::Held(1));
    shop.table.rest(1).unwrap();
    assert_eq!(shop.add("a", "/q"), Added::Held(1), "an idle one has its session still");
    shop.table.enter(1, &WorkerState::Finished { text: "Done".into() }, at(1)).unwrap();
    assert_eq!(shop.add("a", "/q"), Added::Begins(2));
}

#[test]
fn a_label_is_of_one_work_tree_and_nobody_begins_it_twice() {
    let mut shop = Shop::open();
    let mut begin = |session: &str, slot: &str, agent: Option<&str>| {
        let id: SessionId = session.parse().unwrap();
        let spec = WorkerSpec {
            agent: agent.map(|agent| agent.parse().unwrap()),
            label: Some("auth".to_owned()),
            ..WorkerSpec::new(Start::Fresh(id.clone()), slot.into(), "Fix it".into())
        };
        let (slot, host) = (Path::new(slot), Life::own());
        let wanted = Wanted { spec: &spec, session: &id, slot, message: session, host: &host };
        shop.table.add(&wanted, at(0)).unwrap()
    };
    assert_eq!(begin("a", "/p", None), Added::Begins(1));
    assert_eq!(begin("b", "/p", None), Added::Held(1), "the other session has just been begun");
    assert_eq!(begin("b", "/p", Some("main")), Added::Waits(2, 1), "an agent's labels are its own");
    assert_eq!(begin("c", "/q", None), Added::Begins(3), "another work tree");
    let check = |table: &Table, slot: &str, label: &str, expected: Option<&str>| {
        let found = table.labelled(Path::new(slot), label).unwrap();
        assert_eq!(found.as_ref().map(SessionId::as_str), expected, "{slot} {label}");
    };
    check(&shop.table, "/p", "auth", Some("a"));
    check(&shop.table, "/q", "auth", Some("c"));
    check(&shop.table, "/p", "Auth", None);
    shop.table.enter(1, &WorkerState::Stopped, at(1)).unwrap();
    assert!(shop.table.cancel(2, at(1)).unwrap());
    // It ended without a transcript: the next one gets its label.
    let spec = |id: &SessionId| WorkerSpec {
        label: Some("auth".to_owned()),
        ..WorkerSpec::new(Start::Fresh(id.clone()), "/p".into(), "Fix it".into())
    };
    let (id, host) = ("d".parse().unwrap(), Life::own());
    let wanted = Wanted { spec: &spec(&id), session: &id, slot: Path::new("/p"), message: "m2", host: &host };
    assert_eq!(shop.table.add(&wanted, at(2)).unwrap(), Added::Begins(4));
    check(&shop.table, "/p", "auth", Some("d"));
}

#[test]
fn a_table_from_before_labels_is_opened() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("workers.sqlite");
    drop(database::open_precious(&path, &STEPS[..1]).unwrap());
    let mut table = Table::open(&path).unwrap();
    assert_eq!(table.labelled(Path::new("/p"), "auth").unwrap(), None);
    let id: SessionId = "a".parse().unwrap();
    let spec = WorkerSpec::new(Start::Fresh(id.clone()), "/p".into(), "Fix it".into());
    let host = Life::own();
    let wanted = Wanted { spec: &spec, session: &id, slot: Path::new("/p"), message: "m1", host: &host };
    assert_eq!(table.add(&wanted, at(0)).unwrap(), Added::Begins(1));
}

#[test]
fn an_idle_worker_gives_its_directory_back() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.add("b", "/p");
    shop.table.rest(1).unwrap();
    assert_eq!(shop.table.idle_in(Path::new("/p")).unwrap().len(), 1);
    assert_eq!(shop.table.wake(1).unwrap(), Some(2), "somebody waits");
    assert_eq!(shop.table.take_turn(2, at(1)).unwrap(), Turn::Begins);
    assert_eq!(shop.table.wake(1).unwrap(), Some(2), "somebody works");
    shop.table.enter(2, &WorkerState::Stopped, at(2)).unwrap();
    assert_eq!(shop.table.wake(1).unwrap(), None);
    assert_eq!(shop.table.get(1).unwrap().unwrap().place, Some(Place::Running));
}

#[test]
fn a_free_directory_goes_to_whoever_waits_already() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.add("b", "/p");
    shop.table.enter(1, &WorkerState::Stopped, at(1)).unwrap();
    // Nobody works at this moment; the one who comes now does not overtake the one who waits.
    assert_eq!(shop.add("c", "/p"), Added::Waits(3, 2));
    assert_eq!(shop.table.take_turn(2, at(2)).unwrap(), Turn::Begins);
    assert_eq!(shop.table.take_turn(3, at(2)).unwrap(), Turn::Behind(2));
}

#[test]
fn one_that_was_idle_and_begins_again_takes_its_directory_again_or_waits() {
    let check = |others: usize, expected: Place, turn: Turn| {
        let mut shop = Shop::open();
        shop.add("a", "/p");
        shop.table.rest(1).unwrap();
        for other in 0..others {
            shop.add(&format!("b{other}"), "/p");
        }
        assert!(shop.table.again(1, &Life::own(), at(1)).unwrap());
        assert_eq!(shop.table.get(1).unwrap().unwrap().place, Some(expected), "{others}");
        assert_eq!(shop.table.take_turn(1, at(2)).unwrap(), turn, "{others}");
    };
    check(0, Place::Running, Turn::Begins);
    check(1, Place::Queued, Turn::Behind(2));
    check(2, Place::Idle, Turn::Behind(2));
    // Whoever waited already comes first.
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.table.rest(1).unwrap();
    shop.add("b", "/p");
    shop.add("c", "/p");
    shop.table.again(1, &Life::own(), at(1)).unwrap();
    shop.table.enter(2, &WorkerState::Stopped, at(2)).unwrap();
    assert_eq!(shop.table.take_turn(1, at(3)).unwrap(), Turn::Behind(3));
    assert_eq!(shop.table.take_turn(3, at(3)).unwrap(), Turn::Begins);
    shop.table.enter(3, &WorkerState::Stopped, at(4)).unwrap();
    assert_eq!(shop.table.take_turn(1, at(5)).unwrap(), Turn::Begins);
}

#[test]
fn nobody_waits_for_one_that_begins_again_while_nobody_runs_it() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.add("b", "/p");
    let (host, other) = (Life::own(), Life { pid: 7, began: None });
    shop.table.enter(1, &WorkerState::Running, at(1)).unwrap();
    assert!(!shop.table.overtake(2, 1, &host).unwrap(), "it works");
    assert!(shop.table.again(1, &host, at(1)).unwrap());
    assert!(!shop.table.overtake(2, 1, &other).unwrap(), "another one has it");
    assert!(!shop.table.overtake(1, 1, &host).unwrap());
    assert!(shop.table.overtake(2, 1, &host).unwrap());
    assert_eq!(shop.table.take_turn(2, at(2)).unwrap(), Turn::Begins);
    assert_eq!(shop.table.take_turn(1, at(2)).unwrap(), Turn::Behind(2));
}

#[test]
fn what_is_known_of_a_worker_is_kept() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    let life = Life { pid: 7, began: Some("boot/9".into()) };
    shop.table.started(1, &life, at(1)).unwrap();
    shop.table.answers(1, Some("opus"), Some("2.1.329")).unwrap();
    shop.table.spend(1, 0.25, 3).unwrap();
    shop.table.pend(1, "m2", "And more").unwrap();
    let failed = WorkerState::Failed { why: Why::Api, message: "No".into() };
    shop.table.enter(1, &failed, at(2)).unwrap();
    drop(shop.table);
    let table = Table::open(&shop.scratch.path().join("workers.sqlite")).unwrap();
    let kept = table.get(1).unwrap().unwrap();
    assert_eq!((kept.process, kept.state, kept.place), (Some(life), failed, None));
    assert_eq!(
        (kept.facts.model.as_deref(), kept.facts.version.as_deref(), kept.facts.turns),
        (Some("opus"), Some("2.1.329"), 3)
    );
    assert_eq!(kept.pending, Some(("m2".into(), "And more".into())));
    assert_eq!((kept.facts.started, kept.facts.stopped), (Some(at(1)), Some(at(2))));
    assert!((table.spent(&"a".parse().unwrap()).unwrap() - 0.25).abs() < 1e-9);
    assert_eq!(table.all(10).unwrap().len(), 1);
    assert_eq!(table.get(9).unwrap(), None);
}

#[test]
fn an_agents_worker_that_ended_is_told_of_once() {
    let mut shop = Shop::open();
    let id: SessionId = "a".parse().unwrap();
    let spec = WorkerSpec {
        agent: Some("main".parse().unwrap()),
        ..WorkerSpec::new(Start::Fresh(id.clone()), "/p".into(), "Fix it".into())
    };
    let host = Life::own();
    let wanted = Wanted { spec: &spec, session: &id, slot: Path::new("/p"), message: "m1", host: &host };
    shop.table.add(&wanted, at(0)).unwrap();
    shop.add("b", "/q");
    for worker in [1, 2] {
        shop.table.started(worker, &Life { pid: 7, began: None }, at(1)).unwrap();
    }
    shop.table.pend(1, "m2", "And more").unwrap();
    shop.table.accept(1).unwrap();
    assert_eq!(shop.table.untold().unwrap(), [], "it runs");
    for worker in [1, 2] {
        shop.table.enter(worker, &WorkerState::Stopped, at(2)).unwrap();
    }
    let untold = shop.table.untold().unwrap();
    assert_eq!(untold.iter().map(|worker| worker.id).collect::<Vec<_>>(), [1]);
    assert_eq!((&untold[0].asked, &untold[0].pending), (&Some(("m2".into(), "And more".into())), &None));
    shop.table.told(1).unwrap();
    assert_eq!(shop.table.untold().unwrap(), []);
}

#[test]
fn a_worker_is_handed_over_once() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    let (me, other) = (Life::own(), Life { pid: 7, began: None });
    assert!(shop.table.hand_over(1, &me, &other).unwrap());
    assert!(!shop.table.hand_over(1, &me, &other).unwrap());
    shop.table.enter(1, &WorkerState::Stopped, at(1)).unwrap();
    assert!(!shop.table.hand_over(1, &other, &me).unwrap(), "it is over");
}

#[test]
fn two_processes_never_get_the_same_directory() {
    let shop = Shop::open();
    let path = shop.scratch.path().join("workers.sqlite");
    let ask = |number: usize| {
        let path = path.clone();
        std::thread::spawn(move || {
            let scratch = tempfile::tempdir().unwrap();
            let mut shop = Shop { scratch, table: Table::open(&path).unwrap(), asked: number * 10 };
            shop.add(&format!("s{number}"), "/p")
        })
    };
    let all: Vec<_> =
        (0..8).map(ask).collect::<Vec<_>>().into_iter().map(|one| one.join().unwrap()).collect();
    let count = |is_so: fn(&Added) -> bool| all.iter().filter(|added| is_so(added)).count();
    assert_eq!(count(|added| matches!(added, Added::Begins(_))), 1, "{all:?}");
    assert_eq!(count(|added| matches!(added, Added::Waits(..))), 1, "{all:?}");
    assert_eq!(count(|added| matches!(added, Added::Full { .. })), 6, "{all:?}");
}

#[test]
fn what_another_has_taken_over_is_not_put_right_again() {
    let mut shop = Shop::open();
    assert_eq!(shop.add("a", "/p"), Added::Begins(1));
    let (gone, next) = (Life::own(), Life { pid: 7, began: None });
    assert!(shop.table.hand_over(1, &gone, &next).unwrap());
    shop.table.started(1, &next, at(1)).unwrap();
    shop.table.enter(1, &WorkerState::Running, at(1)).unwrap();
    // One who looked before that comes too late.
    assert!(!shop.table.again(1, &gone, at(2)).unwrap());
    assert!(!shop.table.lose(1, &gone, None, at(2)).unwrap());
    assert!(!shop.table.lose(1, &gone, Some(&next), at(2)).unwrap());
    assert!(!shop.table.hand_over(1, &gone, &Life::own()).unwrap());
    let worker = shop.table.get(1).unwrap().unwrap();
    assert_eq!(
        (worker.state, worker.process, worker.place),
        (WorkerState::Running, Some(next.clone()), Some(Place::Running))
    );
    assert!(shop.table.lose(1, &next, Some(&gone), at(3)).unwrap());
    assert_eq!(
        shop.table.get(1).unwrap().unwrap().place,
        Some(Place::Running),
        "its process works there still"
    );
    assert!(shop.table.lose(1, &next, None, at(4)).unwrap());
    assert_eq!(shop.table.get(1).unwrap().unwrap().place, None);
}
