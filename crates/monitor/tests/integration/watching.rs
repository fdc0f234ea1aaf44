//! Files that are written, moved, torn and taken away while they are watched: with the system's events, and
//! by looking alone.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use model::{Evidence, SessionEvent, State};
use monitor::{Listener, Monitor, Settings, Snapshot, Timers, hooks};
use serde_json::{Value, json};
use transcript::ConfigFolder;

/// How long something may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "what is watched is real, and so is its time")]
fn clock() -> Timestamp {
    Timestamp::now()
}

/// A config folder that is watched.
struct Room {
    folder: tempfile::TempDir,
    events: bool,
}

/// What is heard of it.
struct Ear {
    monitor: Monitor,
    listener: Listener,
    heard: Vec<Arc<SessionEvent>>,
}

impl Room {
    fn new(events: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("projects/-p")).unwrap();
        Self { folder, events }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("projects").join(name)
    }

    fn write(&self, name: &str, lines: &str) -> PathBuf {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines).unwrap();
        path
    }

    fn hooks(&self) -> PathBuf {
        self.folder.path().join("state/hooks")
    }

    fn listen(&self) -> Ear {
        let settings = Settings {
            folders: vec![ConfigFolder::new(self.folder.path())],
            hooks: Some(self.hooks()),
            timers: Timers::default(),
            poll: Duration::from_millis(if self.events { 1000 } else { 100 }),
            events: self.events,
            clock,
        };
        let monitor = Monitor::start(settings).unwrap();
        let (_, listener) = monitor.listen(100_000).unwrap();
        Ear { monitor, listener, heard: Vec::new() }
    }
}

impl Ear {
    fn snapshot(&self) -> Snapshot {
        self.monitor.look().unwrap()
    }

    /// Listens until something is heard.
    #[track_caller]
    fn until(&mut self, what: &str, mut is_it: impl FnMut(&SessionEvent) -> bool) {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(event) = self.listener.next(Duration::from_millis(50)).unwrap() {
                self.heard.push(Arc::clone(&event));
                if is_it(&event) {
                    return;
                }
            }
        }
        panic!("not heard within {PATIENCE:?}: {what}; but {:#?}", self.heard);
    }

    #[track_caller]
    fn until_state(&mut self, id: &str, state: State, evidence: Evidence) {
        self.until(&format!("{id} {state:?} {evidence:?}"), |event| match event {
            SessionEvent::SessionActivity(event) => {
                event.session_id.as_str() == id && event.state == state && event.evidence == evidence
            }
            _ => false,
        });
    }

    /// Listens until a prompt has been told with each of these texts as its time.
    #[track_caller]
    fn until_prompt(&mut self, number: u32) {
        self.until(&format!("prompt {number}"), |event| is_prompt(event) == Some(number));
    }

    /// All prompts that were told so far, in order.
    fn prompts(&self) -> Vec<u32> {
        self.heard.iter().filter_map(|event| is_prompt(event)).collect()
    }
}

/// Prompts of these tests are known by the second they were made in.
fn is_prompt(event: &SessionEvent) -> Option<u32> {
    match event {
        SessionEvent::SessionEvent(moment) if moment.event_type == "user_message" => {
            u32::try_from(moment.at?.as_second()).ok()
        }
        _ => None,
    }
}

fn line(record: &Value) -> String {
    format!("{record}\n")
}

fn prompt(number: u32) -> String {
    line(
        &json!({"type": "user", "uuid": format!("u{number}"), "timestamp": u64::from(number) * 1000, "message": {"role": "user", "content": format!("prompt {number}")}}),
    )
}

fn prompts(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(prompt).collect()
}

fn answer() -> String {
    line(
        &json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "So."}], "stop_reason": "end_turn"}}),
    )
}

fn append(path: &Path, bytes: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes.as_bytes()).unwrap();
}

/// With events and by looking alone.
fn both(test: impl Fn(Room)) {
    test(Room::new(true));
    test(Room::new(false));
}

#[test]
fn a_new_session_is_found_and_each_record_told_once() {
    both(|room| {
        let mut ear = room.listen();
        let path = room.write("-new/s1.jsonl", &prompts(1..3));
        ear.until_prompt(2);
        append(&path, &prompt(3)[..20]);
        append(&path, &prompt(3)[20..]);
        append(&path, &prompts(4..50));
        ear.until_prompt(49);
        append(&path, &answer());
        ear.until_state("s1", State::WaitingInput, Evidence::Transcript);
        assert_eq!(ear.prompts(), (1..50).collect::<Vec<_>>());
        let names: Vec<_> = ear.heard.iter().map(|event| event.name()).collect();
        assert_eq!(names.iter().filter(|name| **name == "session-created").count(), 1);
        assert!(names.contains(&"sessions-changed"));
        assert_eq!(ear.snapshot().records, 50);
    });
}

#[test]
fn a_file_that_is_cut_and_written_anew() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompts(1..20));
        let mut ear = room.listen();
        append(&path, &prompt(20));
        ear.until_prompt(20);
        fs::write(&path, prompts(30..35)).unwrap();
        ear.until_prompt(34);
        append(&path, &prompt(35));
        ear.until_prompt(35);
        assert_eq!(ear.prompts(), [20, 30, 31, 32, 33, 34, 35]);
    });
}

#[test]
fn a_file_whose_end_is_taken_back() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompts(1..20));
        let mut ear = room.listen();
        append(&path, &prompt(20));
        ear.until_prompt(20);
        let kept = u64::try_from(prompts(1..20).len()).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(kept).unwrap();
        append(&path, &prompt(21));
        ear.until_prompt(21);
        assert_eq!(ear.prompts(), [20, 21]);
    });
}

#[test]
fn a_file_that_is_replaced_by_one_that_holds_some_of_the_same() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompts(1..20));
        let mut ear = room.listen();
        let other = room.write("-p/other.tmp", &prompts([15, 16, 17, 18, 19, 20, 21]));
        fs::rename(other, &path).unwrap();
        ear.until_prompt(21);
        append(&path, &prompt(22));
        ear.until_prompt(22);
        assert_eq!(ear.prompts(), [20, 21, 22]);
    });
}

#[test]
fn a_session_that_moves_to_another_folder_and_back() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompts(1..5));
        let mut ear = room.listen();
        append(&path, &prompt(5));
        ear.until_prompt(5);
        let moved = room.file("-p-worktree/s1.jsonl");
        fs::create_dir(moved.parent().unwrap()).unwrap();
        fs::rename(&path, &moved).unwrap();
        append(&moved, &prompt(6));
        ear.until_prompt(6);
        fs::rename(&moved, &path).unwrap();
        append(&path, &prompt(7));
        ear.until_prompt(7);
        assert_eq!(ear.prompts(), [5, 6, 7]);
        assert!(ear.heard.iter().all(|event| event.name() != "session-created"));
    });
}

#[test]
fn a_session_that_is_deleted_and_put_back() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompts(1..5));
        let mut ear = room.listen();
        append(&path, &prompt(5));
        ear.until_prompt(5);
        fs::remove_file(&path).unwrap();
        ear.until("removed", |event| event.name() == "session-removed");
        room.write("-p/s1.jsonl", &prompts(1..8));
        ear.until_prompt(7);
        assert_eq!(ear.prompts(), [5, 6, 7]);
    });
}

#[test]
fn a_folder_that_is_deleted_and_comes_back() {
    both(|room| {
        room.write("-q/s1.jsonl", &prompts(1..5));
        let mut ear = room.listen();
        fs::remove_dir_all(room.file("-q")).unwrap();
        ear.until("removed", |event| event.name() == "session-removed");
        room.write("-q/s2.jsonl", &prompts(5..7));
        ear.until_prompt(6);
        assert_eq!(ear.prompts(), [5, 6]);
    });
}

#[test]
fn the_state_at_the_beginning_is_read_from_the_end_of_the_file() {
    let room = Room::new(true);
    let filler = line(
        &json!({"type": "user", "uuid": "f", "toolUseResult": "x".repeat(400_000), "message": {"role": "user", "content": []}}),
    );
    let call = line(
        &json!({"type": "assistant", "version": "2.0.77", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "Look"}}], "stop_reason": "tool_use"}}),
    );
    room.write("-p/tool.jsonl", &(prompts(1..3) + &filler.repeat(20) + &call));
    room.write("-p/asked.jsonl", &(prompts(1..3) + &answer() + &prompt(3)));
    let huge = line(
        &json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "x".repeat(3 << 20)}], "stop_reason": "end_turn"}}),
    );
    room.write("-p/huge.jsonl", &(prompts(1..3) + &huge + "{\"torn"));
    room.write("-p/junk.jsonl", "not json\n\0\0\0\n{\"type\":\"ai-title\"}\n");
    let mut ear = room.listen();
    let mut states: Vec<_> = ear
        .snapshot()
        .sessions
        .into_iter()
        .map(|info| (info.session_id.to_string(), info.activity.state, info.activity.tool))
        .collect();
    states.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(
        states,
        [
            ("asked".to_owned(), State::Thinking, None),
            ("huge".to_owned(), State::WaitingInput, None),
            ("junk".to_owned(), State::Idle, None),
            ("tool".to_owned(), State::ToolUse, Some("Task".to_owned())),
        ]
    );
    // Nothing of what was there is news.
    append(&room.file("-p/asked.jsonl"), &prompt(9));
    ear.until_prompt(9);
    assert_eq!(ear.prompts(), [9]);
}

#[test]
fn a_session_that_was_silent_for_long_costs_nothing_until_it_speaks() {
    both(|room| {
        let path = room.write("-p/old.jsonl", &prompts(1..2000));
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        let mut ear = room.listen();
        assert!(ear.snapshot().sessions.is_empty());
        assert_eq!(ear.snapshot().files, 1);
        append(&path, &prompts(3000..3003));
        ear.until_prompt(3002);
        assert_eq!(ear.prompts(), [3000, 3001, 3002]);
        assert_eq!(ear.snapshot().sessions[0].activity.state, State::Thinking);
    });
}

#[test]
fn subagents_files_are_followed() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompt(1));
        let mut ear = room.listen();
        append(
            &path,
            &line(
                &json!({"type": "assistant", "uuid": "c", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Agent", "input": {"description": "Count", "prompt": "Count all"}}], "stop_reason": "tool_use"}}),
            ),
        );
        ear.until("spawned", |event| event.name() == "subagent-spawned");
        let agent = room.write("-p/s1/subagents/agent-a7.jsonl", &line(&json!({"type": "user", "uuid": "a1", "isSidechain": true, "message": {"role": "user", "content": "Count all"}})));
        let call = line(
            &json!({"type": "assistant", "uuid": "a2", "isSidechain": true, "message": {"content": [{"type": "tool_use", "id": "t2", "name": "Grep", "input": {}}], "stop_reason": "tool_use"}}),
        );
        append(&agent, &call);
        ear.until("progress", |event| matches!(event, SessionEvent::SubagentProgress(event) if event.tool_name.as_deref() == Some("Grep") && event.task_id == "t1"));
        append(
            &path,
            &line(
                &json!({"type": "user", "uuid": "r", "toolUseResult": {"agentId": "a7"}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3"}]}}),
            ),
        );
        ear.until("completed", |event| event.name() == "subagent-completed");
        assert_eq!(ear.snapshot().sessions.len(), 1, "a sub-agent is no session");
    });
}

#[test]
fn subagents_beside_their_session_are_followed() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompt(1));
        let mut ear = room.listen();
        append(
            &path,
            &line(
                &json!({"type": "assistant", "uuid": "c", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Count all"}}], "stop_reason": "tool_use"}}),
            ),
        );
        let record = |kind: &str, message: Value| {
            line(
                &json!({"type": kind, "uuid": kind, "isSidechain": true, "sessionId": "s1", "agentId": "a7", "message": message}),
            )
        };
        let agent = record("user", json!({"role": "user", "content": "Count all"}))
            + &record(
                "assistant",
                json!({"content": [{"type": "tool_use", "id": "t2", "name": "Grep", "input": {}}], "stop_reason": "tool_use"}),
            );
        ear.until("spawned", |event| event.name() == "subagent-spawned");
        room.write("-p/agent-a7.jsonl", &agent);
        ear.until("progress", |event| matches!(event, SessionEvent::SubagentProgress(event) if event.tool_name.as_deref() == Some("Grep")));
    });
}

/// A process that can be killed, and its registry record.
struct Process {
    child: Child,
    record: PathBuf,
}

impl Process {
    fn start(room: &Room) -> Self {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let folder = room.folder.path().join("sessions");
        fs::create_dir_all(&folder).unwrap();
        let record = folder.join(format!("{}.json", child.id()));
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

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_registry_is_followed() {
    both(|room| {
        let path = room.write("-p/s1.jsonl", &prompts(1..3));
        let mut ear = room.listen();
        let process = Process::start(&room);
        process.says("s1", &json!("busy"), &json!(null));
        ear.until_state("s1", State::Thinking, Evidence::Registry);
        append(
            &path,
            &line(
                &json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}], "stop_reason": "tool_use"}}),
            ),
        );
        ear.until_state("s1", State::ToolUse, Evidence::Registry);
        process.says("s1", &json!("waiting"), &json!("permission prompt"));
        ear.until_state("s1", State::WaitingPermission, Evidence::Registry);
        process.says("s1", &json!("idle"), &json!(null));
        ear.until_state("s1", State::WaitingInput, Evidence::Registry);
        // `/clear`: the same process holds another session now.
        process.says("s2", &json!("idle"), &json!(null));
        ear.until_state("s1", State::Ended, Evidence::Registry);
        assert!(ear.snapshot().sessions.iter().any(|info| info.session_id.as_str() == "s2"));
        fs::remove_file(&process.record).unwrap();
        ear.until("s2 removed: it never had a transcript", |event| event.name() == "session-removed");
    });
}

#[test]
fn a_killed_process_is_noticed() {
    both(|room| {
        room.write("-p/s1.jsonl", &prompts(1..3));
        let mut process = Process::start(&room);
        process.says("s1", &json!("busy"), &json!(null));
        let mut ear = room.listen();
        assert_eq!(ear.snapshot().sessions[0].activity.state, State::Thinking);
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        ear.until_state("s1", State::Lost, Evidence::Registry);
        drop(ear);
        // The record is still there for one who starts later.
        let ear = room.listen();
        assert_eq!(ear.snapshot().sessions[0].activity.state, State::Lost);
    });
}

#[test]
fn hooks_reach_one_who_watches_and_one_who_starts_later() {
    both(|room| {
        room.write("-p/s1.jsonl", &prompts(1..3));
        let mut ear = room.listen();
        let note = |event: &str| {
            let payload = json!({"session_id": "s1", "hook_event_name": event, "tool_name": "Bash", "tool_input": {"description": "Delete"}});
            hooks::note(&room.hooks(), payload.to_string().as_bytes(), clock()).unwrap();
        };
        note("PermissionRequest");
        ear.until_state("s1", State::WaitingPermission, Evidence::Hook);
        drop(ear);
        let ear = room.listen();
        let activity = ear.snapshot().sessions[0].activity.clone();
        assert_eq!((activity.state, activity.tool.as_deref()), (State::WaitingPermission, Some("Bash")));
    });
}

#[test]
fn a_source_that_is_refused_is_said_and_covered() {
    let room = Room::new(false);
    let mut ear = room.listen();
    let watching = ear.snapshot().watching.unwrap();
    assert!(!watching.events && watching.reason.is_some());
    room.write("-p/s1.jsonl", &prompt(1));
    ear.until_prompt(1);
}
