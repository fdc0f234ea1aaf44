//! Processes, as the registry and hooks report them.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command};

use jiff::{SignedDuration, Timestamp};
use model::{Evidence, SessionActivity, SessionEvent, State};
use monitor::{ActivityProbe, hooks};
use serde_json::{Value, json};
use transcript::ConfigFolder;

use super::{WatchedFolder, append, both, clock, line, prompts};

/// A process that can be killed, and its registry record.
struct ProcessState {
    child: Child,
    record: PathBuf,
}

impl ProcessState {
    fn start(folder: &WatchedFolder) -> Self {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let registry = folder.root.path().join("sessions");
        fs::create_dir_all(&registry).unwrap();
        let record = registry.join(format!("{}.json", child.id()));
        Self { child, record }
    }

    fn says(&self, session: &str, status: &Value, waiting_for: &Value) {
        let now = clock().as_millisecond();
        let record = json!({"pid": self.child.id(), "sessionId": session, "status": status, "waitingFor": waiting_for, "statusUpdatedAt": now});
        // In place, as the CLI does it.
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(false).open(&self.record).unwrap();
        let text = record.to_string();
        file.write_all(text.as_bytes()).unwrap();
        file.set_len(text.len() as u64).unwrap();
    }
}

impl Drop for ProcessState {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_registry_is_followed() {
    both(|folder| follow_registry(&folder));
    // Without waiting until somebody looks.
    follow_registry(&WatchedFolder::by_events_alone());
}

fn follow_registry(folder: &WatchedFolder) {
    let path = folder.write("-p/s1.jsonl", &prompts(1..3));
    let process = ProcessState::start(folder);
    let mut subscriber = folder.listen();
    process.says("s1", &json!("busy"), &json!(null));
    subscriber.until_state("s1", State::Thinking, Evidence::Registry);
    append(
        &path,
        &line(
            &json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}], "stop_reason": "tool_use"}}),
        ),
    );
    subscriber.until_state("s1", State::ToolUse, Evidence::Registry);
    process.says("s1", &json!("waiting"), &json!("permission prompt"));
    subscriber.until_state("s1", State::WaitingPermission, Evidence::Registry);
    process.says("s1", &json!("idle"), &json!(null));
    subscriber.until_state("s1", State::WaitingInput, Evidence::Registry);
    // `/clear`: the same process holds another session now.
    process.says("s2", &json!("idle"), &json!(null));
    subscriber.until_state("s1", State::Ended, Evidence::Registry);
    assert!(subscriber.snapshot().sessions.iter().any(|info| info.session_id.as_str() == "s2"));
    fs::remove_file(&process.record).unwrap();
    subscriber.until("s2 removed: it never had a transcript", |event| event.name() == "session-removed");
}

#[test]
fn a_process_that_came_and_went_between_two_polls_leaves_no_state() {
    let mut folder = WatchedFolder::new(false);
    folder.timers.unregistered = SignedDuration::from_secs(1);
    fs::create_dir(folder.root.path().join("sessions")).unwrap();
    let mut subscriber = folder.listen();
    let answer = json!({"type": "assistant", "version": "2.1.329", "message": {"content": [{"type": "text", "text": "So."}], "stop_reason": "end_turn"}});
    folder.write("-p/s1.jsonl", &(prompts(1..3) + &line(&answer)));
    subscriber.until_state("s1", State::WaitingInput, Evidence::Transcript);
    subscriber.until_state("s1", State::Idle, Evidence::Registry);
}

/// A config folder without a registry: a container's, or one that is synchronized from another machine.
#[test]
fn without_a_registry_silence_means_the_same_to_the_stream_and_to_a_look() {
    let mut folder = WatchedFolder::new(false);
    folder.timers.unregistered = SignedDuration::from_secs(2);
    let mut subscriber = folder.listen();
    let call = |name: &str| {
        let content = json!([{"type": "tool_use", "id": "t1", "name": name, "input": {}}]);
        json!({"type": "assistant", "version": "2.1.329", "message": {"content": content, "stop_reason": "tool_use"}})
    };
    let files: Vec<_> = (0..6)
        .map(|at| {
            let lines = prompts(1..3) + &line(&call(if at % 2 == 0 { "Bash" } else { "Task" }));
            folder.write(&format!("-p/s{at}.jsonl"), &lines)
        })
        .collect();
    let mut until_all = |state: State, evidence: Evidence| {
        let mut seen = BTreeSet::new();
        subscriber.until(&format!("all {state:?} {evidence:?}"), |event| {
            if let SessionEvent::SessionActivity(event) = event
                && (event.state, event.evidence) == (state, evidence)
            {
                seen.insert(event.session_id.clone());
            }
            seen.len() == files.len()
        });
    };
    until_all(State::ToolUse, Evidence::Transcript);
    until_all(State::Idle, Evidence::Registry);
    let folders = [ConfigFolder::new(folder.root.path())];
    let probe = ActivityProbe::new(&folders, &folder.hooks(), folder.timers, clock());
    for (at, file) in files.iter().enumerate() {
        let written = Timestamp::try_from(fs::metadata(file).unwrap().modified().unwrap()).unwrap();
        let found = probe.activity(&format!("s{at}").parse().unwrap(), Some(file), Some(written));
        assert_eq!((found.state, found.evidence), (State::Idle, Evidence::Registry));
    }
}

#[test]
fn a_file_that_is_copied_in_with_old_records_is_never_at_work() {
    let folder = WatchedFolder::new(false);
    let mut subscriber = folder.listen();
    let old = "2026-01-13T10:00:00.000Z";
    let content = json!([{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}]);
    let records = [
        json!({"type": "user", "uuid": "a", "timestamp": old, "version": "2.1.329", "message": {"content": "Look around"}}),
        json!({"type": "assistant", "uuid": "b", "timestamp": old, "version": "2.1.329", "message": {"content": content, "stop_reason": "tool_use"}}),
    ];
    let sidechain = json!({"type": "user", "uuid": "c", "timestamp": old, "isSidechain": true, "agentId": "x", "message": {"content": "look"}});
    folder.write("-p/s1/subagents/agent-x.jsonl", &line(&sidechain));
    folder.write("-p/s1.jsonl", &records.iter().map(line).collect::<String>());
    subscriber.until("it is there", |event| event.name() == "sessions-changed");
    // What comes later is seen later.
    folder.write("-p/s2.jsonl", &prompts(1..3));
    subscriber.until_state("s2", State::Thinking, Evidence::Transcript);
    let is_of =
        |activity: &SessionActivity| activity.session_id.as_str() == "s1" && activity.state.is_working();
    let working = subscriber
        .received
        .iter()
        .filter(|event| matches!(&***event, SessionEvent::SessionActivity(activity) if is_of(activity)));
    assert_eq!(working.count(), 0, "{:#?}", subscriber.received);
    let known = subscriber.snapshot().sessions;
    let known = known.iter().find(|info| info.session_id.as_str() == "s1");
    assert!(
        known.is_none_or(|info| !info.activity.state.is_working() && info.subagents.is_empty()),
        "{known:#?}"
    );
}

#[test]
fn a_killed_process_is_noticed() {
    both(|folder| {
        folder.write("-p/s1.jsonl", &prompts(1..3));
        let mut process = ProcessState::start(&folder);
        process.says("s1", &json!("busy"), &json!(null));
        let mut subscriber = folder.listen();
        assert_eq!(subscriber.snapshot().sessions[0].activity.state, State::Thinking);
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        subscriber.until_state("s1", State::Lost, Evidence::Registry);
        drop(subscriber);
        // The record is still there for one who starts later.
        let subscriber = folder.listen();
        assert_eq!(subscriber.snapshot().sessions[0].activity.state, State::Lost);
    });
}

#[test]
fn hooks_reach_running_and_later_monitors() {
    both(|folder| {
        folder.write("-p/s1.jsonl", &prompts(1..3));
        let mut subscriber = folder.listen();
        let note = |event: &str| {
            let payload = json!({"session_id": "s1", "hook_event_name": event, "tool_name": "Bash", "tool_input": {"description": "Delete"}});
            hooks::record(&folder.hooks(), payload.to_string().as_bytes(), clock(), str::to_owned).unwrap();
        };
        note("PermissionRequest");
        subscriber.until_state("s1", State::WaitingPermission, Evidence::Hook);
        drop(subscriber);
        let subscriber = folder.listen();
        let activity = subscriber.snapshot().sessions[0].activity.clone();
        assert_eq!((activity.state, activity.tool.as_deref()), (State::WaitingPermission, Some("Bash")));
    });
}
