//! Many processes change one store at once, and some are killed while they do.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use jiff::Timestamp;
use model::AgentId;
use openclaw::{AgentStore, OpenClawConfig, SessionKey, StoreError, UsageUpdate};

const STATE: &str = "BACKSTORY_TEST_STATE";
const NUMBER: &str = "BACKSTORY_TEST_NUMBER";
const COUNT: &str = "BACKSTORY_TEST_COUNT";

fn store(state: &Path) -> AgentStore {
    AgentStore::of_agent(state, &OpenClawConfig::default(), state, &AgentId::main(), &|_| None)
}

fn key(number: &str) -> SessionKey {
    format!("agent:main:worker{number}").parse().unwrap()
}

/// Not a test of its own: the process that the other one starts, and kills.
#[test]
fn child_that_updates() {
    let variable = |name| std::env::var(name).ok();
    let (Some(state), Some(number), Some(count)) = (variable(STATE), variable(NUMBER), variable(COUNT))
    else {
        return;
    };
    let store = store(Path::new(&state));
    let usage = UsageUpdate { input: 1, ..UsageUpdate::default() };
    let mut left = count.parse::<u32>().unwrap();
    while left > 0 {
        match store.record_usage(&key(&number), &usage, &Timestamp::now) {
            Ok(done) => {
                println!("done {}", done.value.input_tokens.unwrap());
                left -= 1;
            }
            // Fifteen others poll for the same lock, on a machine that may be slow.
            Err(StoreError::Locked { holder, .. }) => assert!(holder.starts_with("process "), "{holder}"),
            Err(error) => panic!("{error}"),
        }
    }
}

fn child(state: &Path, number: u32, count: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child_that_updates", "--nocapture"])
        .env(STATE, state)
        .env(NUMBER, number.to_string())
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a process until it has done all, killing it after some of its updates; returns the last count it acknowledged.
fn run_and_kill(state: &Path, number: u32, updates: u32) -> i64 {
    let mut acknowledged = 0;
    // Each process is killed at other places, always right behind an acknowledgement, when it begins the next update.
    let mut until_kill = 7 + number * 3;
    while i64::from(updates) > acknowledged {
        let left = updates - u32::try_from(acknowledged).unwrap();
        let mut child = child(state, number, left);
        let mut seen = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if let Some(count) =
                line.rsplit_once("done ").and_then(|(_, count)| count.trim().parse::<i64>().ok())
            {
                acknowledged = acknowledged.max(count);
                seen += 1;
                if seen == until_kill {
                    let _ = child.kill();
                }
            }
        }
        child.wait().unwrap();
        until_kill += 41;
    }
    acknowledged
}

#[test]
fn no_update_is_lost_when_holders_are_killed() {
    const PROCESSES: u32 = 16;
    const UPDATES: u32 = 200;
    let scratch = tempfile::tempdir().unwrap();
    let state = scratch.path();
    let folder = state.join("agents/main/sessions");
    fs::create_dir_all(&folder).unwrap();
    let entries: Vec<String> = (0..PROCESSES)
        .map(|number| {
            format!(
                "  \"agent:main:worker{number}\": {{\n    \"zeta\": {{\"b\": 1.50, \"a\": [ ]}},\n    \
                 \"sessionId\": \"s{number}\",\n    \"alpha\": \"\\u00e9\",\n    \"updatedAt\": 1\n  }}"
            )
        })
        .collect();
    fs::write(folder.join("sessions.json"), format!("{{\n{}\n}}", entries.join(",\n"))).unwrap();

    let counts = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for number in 0..PROCESSES {
            let counts = &counts;
            scope.spawn(move || {
                let count = run_and_kill(state, number, UPDATES);
                counts.lock().unwrap().insert(number, count);
            });
        }
        // Whoever reads meanwhile finds a whole file.
        while counts.lock().unwrap().len() < PROCESSES as usize {
            let loaded = store(state).load();
            assert_eq!(loaded.problem, None);
            assert_eq!(loaded.store.keys().count(), PROCESSES as usize);
        }
    });

    let loaded = store(state).load().store;
    for (number, acknowledged) in counts.into_inner().unwrap() {
        let key = key(&number.to_string());
        let entry = loaded.get(&key).unwrap().unwrap();
        // A process that was killed behind its last write had no time to say so.
        assert!(entry.input_tokens.unwrap() >= acknowledged, "{number}: {entry:?}");
        assert!(entry.input_tokens.unwrap() >= i64::from(UPDATES), "{number}");
        let text = loaded.text(&key).unwrap().unwrap();
        let places = ["zeta", "sessionId", "alpha", "updatedAt"].map(|name| text.find(name).unwrap());
        assert!(
            places.is_sorted() && text.contains(r#"{"b": 1.50, "a": [ ]}"#) && text.contains(r"\u00e9"),
            "{text}"
        );
    }
    assert!(!folder.join("sessions.json.lock").exists());
}
