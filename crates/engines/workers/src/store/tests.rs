//! Who gets which directory and which session, whatever comes in between.

use jiff::Timestamp;
use model::SessionId;

use super::*;
use crate::{FailureReason, PermissionMode, ProcessIdentity, SessionStart, WorkerSpec, WorkerState};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

struct Shop {
    scratch: tempfile::TempDir,
    table: WorkerStore,
    asked: usize,
}

impl Shop {
    fn open() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let table = WorkerStore::open(&scratch.path().join("workers.sqlite")).unwrap();
        Self { scratch, table, asked: 0 }
    }

    fn add(&mut self, session: &str, slot: &str) -> AddOutcome {
        self.asked += 1;
        self.ask(session, slot, &format!("asked-{}", self.asked))
    }

    fn ask(&mut self, session: &str, slot: &str, message: &str) -> AddOutcome {
        let id: SessionId = session.parse().unwrap();
        let spec = WorkerSpec::new(SessionStart::Resume(id.clone()), slot.into(), "Fix it".into());
        let host = ProcessIdentity::current();
        let wanted = NewWorker { spec: &spec, session: &id, slot: Path::new(slot), message, host: &host };
        self.table.add(&wanted, at(0)).unwrap()
    }
}

#[test]
fn one_runs_and_one_waits_in_a_directory() {
    let mut shop = Shop::open();
    assert_eq!(shop.add("a", "/p"), AddOutcome::Ready(1));
    assert_eq!(shop.add("b", "/p"), AddOutcome::Queued(2, 1));
    assert_eq!(shop.add("c", "/p"), AddOutcome::Full { running: 1, queued: 2 });
    assert_eq!(shop.add("c", "/q"), AddOutcome::Ready(3));
    assert_eq!(shop.table.claim_slot(2, at(1)).unwrap(), SlotClaim::Behind(1));
    shop.table.set_state(1, &WorkerState::Stopped, at(2)).unwrap();
    assert_eq!(shop.table.claim_slot(2, at(3)).unwrap(), SlotClaim::Granted);
    assert_eq!(shop.add("d", "/p"), AddOutcome::Queued(4, 2));
    // Cancelled, it waits no more, and its place is free.
    assert!(shop.table.cancel(4, at(4)).unwrap());
    assert!(!shop.table.cancel(2, at(4)).unwrap(), "it runs");
    assert_eq!(shop.table.claim_slot(4, at(5)).unwrap(), SlotClaim::Over);
    assert_eq!(shop.table.get(4).unwrap().unwrap().state, WorkerState::Stopped);
    assert_eq!(shop.add("e", "/p"), AddOutcome::Queued(5, 2));
}

#[test]
fn adding_the_same_message_twice_gives_one_worker() {
    let mut shop = Shop::open();
    assert_eq!(shop.ask("a", "/p", "once"), AddOutcome::Ready(1));
    assert_eq!(shop.ask("b", "/q", "once"), AddOutcome::Ready(1));
    shop.table.set_state(1, &WorkerState::Stopped, at(1)).unwrap();
    assert_eq!(shop.ask("a", "/p", "once"), AddOutcome::Ready(1), "it was done");
    assert_eq!(shop.table.by_first_message("once").unwrap().map(|worker| worker.id), Some(1));
    assert_eq!(shop.table.by_first_message("never").unwrap(), None);
    assert_eq!(shop.table.newest(9).unwrap().len(), 1);
}

#[test]
fn a_session_has_one_worker() {
    let mut shop = Shop::open();
    assert_eq!(shop.add("a", "/p"), AddOutcome::Ready(1));
    assert_eq!(shop.add("a", "/q"), AddOutcome::InUse(1));
    shop.table.release_slot(1).unwrap();
    assert_eq!(shop.add("a", "/q"), AddOutcome::InUse(1), "an idle one has its session still");
    shop.table.set_state(1, &WorkerState::Finished { text: "Done".into() }, at(1)).unwrap();
    assert_eq!(shop.add("a", "/q"), AddOutcome::Ready(2));
}

#[test]
fn a_label_belongs_to_one_work_tree_and_one_session() {
    let mut shop = Shop::open();
    let mut begin = |session: &str, slot: &str, agent: Option<&str>| {
        let id: SessionId = session.parse().unwrap();
        let spec = WorkerSpec {
            agent: agent.map(|agent| agent.parse().unwrap()),
            label: Some("auth".to_owned()),
            ..WorkerSpec::new(SessionStart::Fresh(id.clone()), slot.into(), "Fix it".into())
        };
        let (slot, host) = (Path::new(slot), ProcessIdentity::current());
        let wanted = NewWorker { spec: &spec, session: &id, slot, message: session, host: &host };
        shop.table.add(&wanted, at(0)).unwrap()
    };
    assert_eq!(begin("a", "/p", None), AddOutcome::Ready(1));
    assert_eq!(begin("b", "/p", None), AddOutcome::InUse(1), "the other session has just been begun");
    assert_eq!(begin("b", "/p", Some("main")), AddOutcome::Queued(2, 1), "an agent's labels are its own");
    assert_eq!(begin("c", "/q", None), AddOutcome::Ready(3), "another work tree");
    let check = |table: &WorkerStore, slot: &str, label: &str, expected: Option<&str>| {
        let found = table.session_by_label(Path::new(slot), label).unwrap();
        assert_eq!(found.as_ref().map(SessionId::as_str), expected, "{slot} {label}");
    };
    check(&shop.table, "/p", "auth", Some("a"));
    check(&shop.table, "/q", "auth", Some("c"));
    check(&shop.table, "/p", "Auth", None);
    shop.table.set_state(1, &WorkerState::Stopped, at(1)).unwrap();
    assert!(shop.table.cancel(2, at(1)).unwrap());
    // It ended without a transcript: the next one gets its label.
    let spec = |id: &SessionId| WorkerSpec {
        label: Some("auth".to_owned()),
        ..WorkerSpec::new(SessionStart::Fresh(id.clone()), "/p".into(), "Fix it".into())
    };
    let (id, host) = ("d".parse().unwrap(), ProcessIdentity::current());
    let wanted =
        NewWorker { spec: &spec(&id), session: &id, slot: Path::new("/p"), message: "m2", host: &host };
    assert_eq!(shop.table.add(&wanted, at(2)).unwrap(), AddOutcome::Ready(4));
    check(&shop.table, "/p", "auth", Some("d"));
}

#[test]
fn a_store_from_before_labels_is_opened() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("workers.sqlite");
    drop(database::open_precious(&path, &STEPS[..1]).unwrap());
    let mut table = WorkerStore::open(&path).unwrap();
    assert_eq!(table.session_by_label(Path::new("/p"), "auth").unwrap(), None);
    let id: SessionId = "a".parse().unwrap();
    let spec = WorkerSpec::new(SessionStart::Fresh(id.clone()), "/p".into(), "Fix it".into());
    let host = ProcessIdentity::current();
    let wanted = NewWorker { spec: &spec, session: &id, slot: Path::new("/p"), message: "m1", host: &host };
    assert_eq!(table.add(&wanted, at(0)).unwrap(), AddOutcome::Ready(1));
}

#[test]
fn an_idle_worker_gives_its_directory_back() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.add("b", "/p");
    shop.table.release_slot(1).unwrap();
    assert_eq!(shop.table.idle_in(Path::new("/p")).unwrap().len(), 1);
    assert_eq!(shop.table.reclaim_slot(1).unwrap(), Some(2), "somebody waits");
    assert_eq!(shop.table.claim_slot(2, at(1)).unwrap(), SlotClaim::Granted);
    assert_eq!(shop.table.reclaim_slot(1).unwrap(), Some(2), "somebody works");
    shop.table.set_state(2, &WorkerState::Stopped, at(2)).unwrap();
    assert_eq!(shop.table.reclaim_slot(1).unwrap(), None);
    assert_eq!(shop.table.get(1).unwrap().unwrap().slot_state, Some(SlotState::Running));
}

#[test]
fn a_free_directory_goes_to_the_queued_worker() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.add("b", "/p");
    shop.table.set_state(1, &WorkerState::Stopped, at(1)).unwrap();
    // Nobody works at this moment; the one who comes now does not overtake the one who waits.
    assert_eq!(shop.add("c", "/p"), AddOutcome::Queued(3, 2));
    assert_eq!(shop.table.claim_slot(2, at(2)).unwrap(), SlotClaim::Granted);
    assert_eq!(shop.table.claim_slot(3, at(2)).unwrap(), SlotClaim::Behind(2));
}

#[test]
fn a_requeued_idle_worker_reclaims_its_directory_or_waits() {
    let check = |others: usize, expected: SlotState, turn: SlotClaim| {
        let mut shop = Shop::open();
        shop.add("a", "/p");
        shop.table.release_slot(1).unwrap();
        for other in 0..others {
            shop.add(&format!("b{other}"), "/p");
        }
        assert!(shop.table.requeue(1, &ProcessIdentity::current(), at(1)).unwrap());
        assert_eq!(shop.table.get(1).unwrap().unwrap().slot_state, Some(expected), "{others}");
        assert_eq!(shop.table.claim_slot(1, at(2)).unwrap(), turn, "{others}");
    };
    check(0, SlotState::Running, SlotClaim::Granted);
    check(1, SlotState::Queued, SlotClaim::Behind(2));
    check(2, SlotState::Idle, SlotClaim::Behind(2));
    // Whoever waited already comes first.
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.table.release_slot(1).unwrap();
    shop.add("b", "/p");
    shop.add("c", "/p");
    shop.table.requeue(1, &ProcessIdentity::current(), at(1)).unwrap();
    shop.table.set_state(2, &WorkerState::Stopped, at(2)).unwrap();
    assert_eq!(shop.table.claim_slot(1, at(3)).unwrap(), SlotClaim::Behind(3));
    assert_eq!(shop.table.claim_slot(3, at(3)).unwrap(), SlotClaim::Granted);
    shop.table.set_state(3, &WorkerState::Stopped, at(4)).unwrap();
    assert_eq!(shop.table.claim_slot(1, at(5)).unwrap(), SlotClaim::Granted);
}

#[test]
fn a_requeued_worker_without_a_host_does_not_block_others() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    shop.add("b", "/p");
    let (host, other) = (ProcessIdentity::current(), ProcessIdentity { pid: 7, started: None });
    shop.table.set_state(1, &WorkerState::Running, at(1)).unwrap();
    assert!(!shop.table.overtake(2, 1, &host).unwrap(), "it works");
    assert!(shop.table.requeue(1, &host, at(1)).unwrap());
    assert!(!shop.table.overtake(2, 1, &other).unwrap(), "another one has it");
    assert!(!shop.table.overtake(1, 1, &host).unwrap());
    assert!(shop.table.overtake(2, 1, &host).unwrap());
    assert_eq!(shop.table.claim_slot(2, at(2)).unwrap(), SlotClaim::Granted);
    assert_eq!(shop.table.claim_slot(1, at(2)).unwrap(), SlotClaim::Behind(2));
}

#[test]
fn every_field_of_a_worker_is_stored() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    let life = ProcessIdentity { pid: 7, started: Some("boot/9".into()) };
    shop.table.set_process(1, &life, at(1)).unwrap();
    shop.table.set_model(1, Some("opus"), Some("2.1.329")).unwrap();
    shop.table.set_cost(1, 0.25, 3).unwrap();
    shop.table.set_mode(1, PermissionMode::Plan).unwrap();
    shop.table.set_mode(9, PermissionMode::Plan).unwrap();
    shop.table.queue_follow_up(1, "m2", "And more").unwrap();
    let failed = WorkerState::Failed { reason: FailureReason::Api, message: "No".into() };
    shop.table.set_state(1, &failed, at(2)).unwrap();
    drop(shop.table);
    let table = WorkerStore::open(&shop.scratch.path().join("workers.sqlite")).unwrap();
    let kept = table.get(1).unwrap().unwrap();
    assert_eq!((kept.process, kept.state, kept.slot_state), (Some(life), failed, None));
    assert_eq!(
        (kept.stats.model.as_deref(), kept.stats.version.as_deref(), kept.stats.turns),
        (Some("opus"), Some("2.1.329"), 3)
    );
    assert_eq!(kept.spec.options.permission_mode, PermissionMode::Plan);
    assert_eq!(kept.follow_up, Some(("m2".into(), "And more".into())));
    assert_eq!((kept.stats.started, kept.stats.stopped), (Some(at(1)), Some(at(2))));
    assert!((table.session_cost(&"a".parse().unwrap()).unwrap() - 0.25).abs() < 1e-9);
    assert_eq!(table.newest(10).unwrap().len(), 1);
    assert_eq!(table.get(9).unwrap(), None);
}

#[test]
fn the_end_of_an_agents_worker_is_reported_once() {
    let mut shop = Shop::open();
    let id: SessionId = "a".parse().unwrap();
    let spec = WorkerSpec {
        agent: Some("main".parse().unwrap()),
        ..WorkerSpec::new(SessionStart::Fresh(id.clone()), "/p".into(), "Fix it".into())
    };
    let host = ProcessIdentity::current();
    let wanted = NewWorker { spec: &spec, session: &id, slot: Path::new("/p"), message: "m1", host: &host };
    shop.table.add(&wanted, at(0)).unwrap();
    shop.add("b", "/q");
    for worker in [1, 2] {
        shop.table.set_process(worker, &ProcessIdentity { pid: 7, started: None }, at(1)).unwrap();
    }
    shop.table.queue_follow_up(1, "m2", "And more").unwrap();
    shop.table.mark_follow_up_delivered(1).unwrap();
    assert_eq!(shop.table.unreported().unwrap(), [], "it runs");
    for worker in [1, 2] {
        shop.table.set_state(worker, &WorkerState::Stopped, at(2)).unwrap();
    }
    let untold = shop.table.unreported().unwrap();
    assert_eq!(untold.iter().map(|worker| worker.id).collect::<Vec<_>>(), [1]);
    assert_eq!(
        (&untold[0].last_follow_up, &untold[0].follow_up),
        (&Some(("m2".into(), "And more".into())), &None)
    );
    shop.table.mark_reported(1).unwrap();
    assert_eq!(shop.table.unreported().unwrap(), []);
}

#[test]
fn a_worker_is_handed_over_once() {
    let mut shop = Shop::open();
    shop.add("a", "/p");
    let (me, other) = (ProcessIdentity::current(), ProcessIdentity { pid: 7, started: None });
    assert!(shop.table.hand_over(1, &me, &other).unwrap());
    assert!(!shop.table.hand_over(1, &me, &other).unwrap());
    shop.table.set_state(1, &WorkerState::Stopped, at(1)).unwrap();
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
            let mut shop = Shop { scratch, table: WorkerStore::open(&path).unwrap(), asked: number * 10 };
            shop.add(&format!("s{number}"), "/p")
        })
    };
    let all: Vec<_> =
        (0..8).map(ask).collect::<Vec<_>>().into_iter().map(|one| one.join().unwrap()).collect();
    let count = |is_so: fn(&AddOutcome) -> bool| all.iter().filter(|added| is_so(added)).count();
    assert_eq!(count(|added| matches!(added, AddOutcome::Ready(_))), 1, "{all:?}");
    assert_eq!(count(|added| matches!(added, AddOutcome::Queued(..))), 1, "{all:?}");
    assert_eq!(count(|added| matches!(added, AddOutcome::Full { .. })), 6, "{all:?}");
}

#[test]
fn a_worker_taken_over_by_another_process_is_left_alone() {
    let mut shop = Shop::open();
    assert_eq!(shop.add("a", "/p"), AddOutcome::Ready(1));
    let (gone, next) = (ProcessIdentity::current(), ProcessIdentity { pid: 7, started: None });
    assert!(shop.table.hand_over(1, &gone, &next).unwrap());
    shop.table.set_process(1, &next, at(1)).unwrap();
    shop.table.set_state(1, &WorkerState::Running, at(1)).unwrap();
    // One who looked before that comes too late.
    assert!(!shop.table.requeue(1, &gone, at(2)).unwrap());
    assert!(!shop.table.mark_lost(1, &gone, None, at(2)).unwrap());
    assert!(!shop.table.mark_lost(1, &gone, Some(&next), at(2)).unwrap());
    assert!(!shop.table.hand_over(1, &gone, &ProcessIdentity::current()).unwrap());
    let worker = shop.table.get(1).unwrap().unwrap();
    assert_eq!(
        (worker.state, worker.process, worker.slot_state),
        (WorkerState::Running, Some(next.clone()), Some(SlotState::Running))
    );
    assert!(shop.table.mark_lost(1, &next, Some(&gone), at(3)).unwrap());
    assert_eq!(
        shop.table.get(1).unwrap().unwrap().slot_state,
        Some(SlotState::Running),
        "its process works there still"
    );
    assert!(shop.table.mark_lost(1, &next, None, at(4)).unwrap());
    assert_eq!(shop.table.get(1).unwrap().unwrap().slot_state, None);
}
