//! Processes, as the registry and hooks report them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command};

use jiff::SignedDuration;
use model::{Evidence, State};
use monitor::hooks;
use serde_json::{Value, json};

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
