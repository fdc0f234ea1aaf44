//! What a run changes in a registry, what it keeps, and that nothing is lost.

use std::fs;
use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;

use super::*;
use crate::Registry;

fn clock() -> Timestamp {
    "2026-02-20T12:00:00.123456Z".parse().unwrap()
}

/// The system's clock, because locks are judged by time that passes.
#[expect(clippy::disallowed_methods, reason = "another process's lock file has the system's own time")]
fn real() -> Timestamp {
    Timestamp::now()
}

fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

/// A run that was requested after all entries were made.
fn run<'a>(id: &'a str, session: &'a SessionId, cost_usd: f64) -> AgentRun<'a> {
    let (repo, at) = (Path::new("/r"), "2100-01-01T00:00:00Z".parse().unwrap());
    AgentRun { run: id, at, session, repo, label: None, message: id, task: "fix it", cost_usd, turns: 2 }
}

fn content(folder: &Path) -> Value {
    serde_json::from_slice(&file::read(&folder.join("claude-code-sessions.json"), CAP).unwrap().unwrap())
        .unwrap()
}

#[test]
fn a_run_is_recorded_and_counted_once() {
    let scratch = tempfile::tempdir().unwrap();
    let id = session("60309e1e-c4ea-4d6d-8da1-21732781ce4d");
    record_run(scratch.path(), &run("1", &id, 0.0), &clock).unwrap();
    for _ in 0..3 {
        record_run(scratch.path(), &run("1", &id, 0.25), &clock).unwrap();
    }
    record_run(scratch.path(), &run("2", &id, 0.5), &clock).unwrap();
    let registry = Registry::read(scratch.path());
    assert_eq!(registry.problems, []);
    let entry = &registry.entries[0];
    assert_eq!((entry.total_cost_usd, entry.total_turns, entry.tasks.len()), (Some(0.75), Some(4), 2));
    assert_eq!(entry.repo, Path::new("/r"));
    let raw = content(scratch.path());
    assert_eq!(raw["sessions"]["/r"]["createdAt"], "2026-02-20T12:00:00.123Z");
    assert_eq!(raw["sessions"]["/r"]["taskHistory"][0]["costUsd"], 0.25);
    let names: Vec<_> = fs::read_dir(scratch.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["claude-code-sessions.json"], "no lock and no half file is left");
}

#[test]
fn labels_and_new_sessions_have_their_own_counts() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (session("one"), session("two"));
    record_run(scratch.path(), &run("1", &one, 1.0), &clock).unwrap();
    record_run(scratch.path(), &AgentRun { label: Some("auth"), ..run("2", &one, 2.0) }, &clock).unwrap();
    record_run(scratch.path(), &run("3", &two, 4.0), &clock).unwrap();
    let raw = content(scratch.path());
    assert_eq!(raw["sessions"]["/r"]["sessionId"], "two");
    assert_eq!(raw["sessions"]["/r"]["totalCostUsd"], 4.0);
    assert_eq!(raw["sessions"]["/r::auth"]["label"], "auth");
    assert_eq!(raw["sessions"]["/r::auth"]["totalCostUsd"], 2.0);
}

#[test]
fn a_continued_run_adds_only_what_is_new() {
    let scratch = tempfile::tempdir().unwrap();
    let id = session("s");
    let check = |message: &str, cost_usd: f64, turns: u64, expected: [f64; 4]| {
        let on = AgentRun { message, turns, ..run("1", &id, cost_usd) };
        record_run(scratch.path(), &on, &clock).unwrap();
        let entry = &content(scratch.path())["sessions"]["/r"];
        let of_task = |at: usize| entry["taskHistory"][at]["costUsd"].as_f64().unwrap_or(0.0);
        let sums = [entry["totalCostUsd"].as_f64().unwrap(), entry["totalTurns"].as_f64().unwrap()];
        let found = [sums[0], sums[1], of_task(0), of_task(1)];
        assert_eq!(found.map(Some), expected.map(Some), "{message} {cost_usd}");
    };
    check("m1", 0.0, 0, [0.0, 0.0, 0.0, 0.0]);
    check("m1", 0.25, 1, [0.25, 1.0, 0.25, 0.0]);
    check("m1", 0.25, 1, [0.25, 1.0, 0.25, 0.0]);
    check("m2", 0.75, 3, [0.75, 3.0, 0.25, 0.5]);
    check("m2", 0.75, 3, [0.75, 3.0, 0.25, 0.5]);
    // A total that has become smaller takes nothing back, and nonsense adds nothing.
    check("m2", 0.5, 2, [0.75, 3.0, 0.25, 0.5]);
    check("m2", f64::NAN, 3, [0.75, 3.0, 0.25, 0.5]);
}

#[test]
fn a_rewrite_keeps_the_key_order_and_changes_only_new_values() {
    const BEFORE: &str = r#"{
  "version": 2,
  "sessions": {
    "/z": {"sessionId": "other", "cost": 1.50},
    "/r": {
      "sessionId": "s",
      "label": "",
      "totalTurns": 1,
      "totalCostUsd": 0.10,
      "note": {"z": 1, "a": "\u00e9"},
      "taskHistory": [
        {
          "task": "b",
          "at": "2026-02-20T10:00:00.000Z",
          "backstoryMessage": "1"
        }
      ],
      "backstoryRuns": [],
      "lastResumedAt": "2026-02-20T10:00:00.000Z"
    }
  },
  "owner": {"b": 1e2, "a": []}
}
"#;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("claude-code-sessions.json");
    fs::write(&path, BEFORE).unwrap();
    record_run(scratch.path(), &run("1", &session("s"), 0.5), &clock).unwrap();
    let counted = "\"backstoryRuns\": [\n        {\n          \"costUsd\": 0.5,\n          \"run\": \"1\",\n          \"turns\": 2\n        }\n      ]";
    let expected = BEFORE
        .replace("\"totalTurns\": 1", "\"totalTurns\": 3")
        .replace("0.10", "0.6")
        .replace("\"backstoryMessage\": \"1\"", "\"backstoryMessage\": \"1\",\n          \"costUsd\": 0.5")
        .replace("\"backstoryRuns\": []", counted)
        .replace(
            "\"lastResumedAt\": \"2026-02-20T10:00:00.000Z\"",
            "\"lastResumedAt\": \"2026-02-20T12:00:00.123Z\"",
        );
    assert_eq!(String::from_utf8(file::read(&path, CAP).unwrap().unwrap()).unwrap(), expected);
}

#[test]
fn a_session_keeps_its_key_and_a_newer_one_keeps_its_place() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (session("one"), session("two"));
    let labelled = AgentRun { label: Some("auth"), ..run("1", &one, 1.0) };
    record_run(scratch.path(), &labelled, &clock).unwrap();
    // Gone on with without naming the label.
    record_run(scratch.path(), &run("2", &one, 1.0), &clock).unwrap();
    let entries = Registry::read(scratch.path()).entries;
    assert_eq!((entries.len(), entries[0].total_cost_usd), (1, Some(2.0)));
    // A run that was requested before the current session was recorded arrives late.
    let late =
        AgentRun { at: "2026-02-19T00:00:00Z".parse().unwrap(), label: Some("auth"), ..run("3", &two, 9.0) };
    record_run(scratch.path(), &late, &clock).unwrap();
    let entries = Registry::read(scratch.path()).entries;
    assert_eq!((entries.len(), &entries[0].session, entries[0].total_cost_usd), (1, &one, Some(2.0)));
}

#[test]
fn a_file_that_cannot_be_read_stays_as_it_is() {
    let id = session("s");
    for bad in [&b""[..], b"{", b"[]", b"null", b"\xff\xfe", br#"{"sessions": []}"#, b"{\"sessions\": {}} x"]
    {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("claude-code-sessions.json");
        fs::write(&path, bad).unwrap();
        let problem = record_run(scratch.path(), &run("1", &id, 1.0), &clock).unwrap_err();
        assert!(problem.what.contains("was not written"), "{}", problem.what);
        assert_eq!(file::read(&path, CAP).unwrap().unwrap(), bad);
        assert!(!scratch.path().join("claude-code-sessions.json.lock").exists());
    }
    let nowhere = record_run(Path::new("/nowhere"), &run("1", &id, 0.0), &clock).unwrap_err();
    assert!(nowhere.what.contains("no folder"), "{}", nowhere.what);
}

#[test]
fn a_link_is_kept_and_what_it_leads_to_is_written() {
    let scratch = tempfile::tempdir().unwrap();
    let (agent, real) = (scratch.path().join("agent"), scratch.path().join("real.json"));
    fs::create_dir(&agent).unwrap();
    fs::write(&real, "{}").unwrap();
    std::os::unix::fs::symlink(&real, agent.join("claude-code-sessions.json")).unwrap();
    record_run(&agent, &run("1", &session("s"), 0.0), &clock).unwrap();
    assert!(agent.join("claude-code-sessions.json").is_symlink());
    assert_eq!(Registry::read(&agent).entries.len(), 1);
}

#[test]
fn concurrent_writers_lose_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let id = session("s");
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for writer in 0..4 {
            let (id, folder, barrier) = (&id, scratch.path(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                for count in 0..5 {
                    let name = format!("{writer}-{count}");
                    record_run(folder, &run(&name, id, 1.0), &real).unwrap();
                }
            });
        }
    });
    let entry = &Registry::read(scratch.path()).entries[0];
    assert_eq!((entry.total_cost_usd, entry.tasks.len()), (Some(20.0), 20));
}

#[test]
fn a_stale_lock_is_taken_and_a_fresh_one_waited_for() {
    let scratch = tempfile::tempdir().unwrap();
    let lock = scratch.path().join("claude-code-sessions.json.lock");
    fs::write(&lock, r#"{"pid": 1, "createdAt": "2020-01-01T00:00:00Z"}"#).unwrap();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&lock).unwrap().set_modified(long_ago).unwrap();
    record_run(scratch.path(), &run("1", &session("s"), 0.0), &real).unwrap();

    fs::write(&lock, r#"{"pid": 1, "startedAt": 1}"#).unwrap();
    thread::scope(|scope| {
        let writing = scope.spawn(|| record_run(scratch.path(), &run("2", &session("s"), 0.0), &real));
        assert!(!writing.is_finished());
        fs::remove_file(&lock).unwrap();
        writing.join().unwrap().unwrap();
    });
    assert_eq!(Registry::read(scratch.path()).entries[0].tasks.len(), 2);
}

/// Any JSON, not too deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn unknown_content_is_kept(
        of_file in prop::collection::btree_map("x[a-z]{1,6}", any_json(), 0..4),
        of_entry in prop::collection::btree_map("x[a-z]{1,6}", any_json(), 0..4),
        others in prop::collection::btree_map("/[a-z]{2,6}", any_json(), 0..4),
    ) {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("claude-code-sessions.json");
        let mut entry: Map<String, Value> = of_entry.clone().into_iter().collect();
        entry.insert("sessionId".to_owned(), "s".into());
        let mut sessions: Map<String, Value> = others.clone().into_iter().collect();
        sessions.insert("/r".to_owned(), Value::Object(entry));
        let mut whole: Map<String, Value> = of_file.clone().into_iter().collect();
        whole.insert("sessions".to_owned(), Value::Object(sessions));
        fs::write(&path, Value::Object(whole).to_string()).unwrap();

        record_run(scratch.path(), &run("1", &session("s"), 1.0), &clock).unwrap();
        let after = content(scratch.path());
        for (name, value) in &of_file {
            prop_assert_eq!(&after[name], value);
        }
        for (name, value) in &of_entry {
            prop_assert_eq!(&after["sessions"]["/r"][name], value);
        }
        for (name, value) in &others {
            prop_assert_eq!(&after["sessions"][name], value);
        }
        prop_assert_eq!(&after["sessions"]["/r"]["totalCostUsd"], &json!(1.0));
    }
}
