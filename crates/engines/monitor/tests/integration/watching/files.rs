//! Transcripts and sub-agents' files, whatever becomes of them.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use model::{Evidence, SessionEvent, State};
use serde_json::{Value, json};

use super::{Room, answer, append, both, line, made, prompt, prompts};

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

#[test]
fn sessions_that_move_after_a_long_silence_are_no_news() {
    both(|room| {
        let path = room.write("-p/old.jsonl", &prompts(1..2000));
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        // When a file was made cannot be set; it has to be older than what clocks may differ by.
        std::thread::park_timeout(Duration::from_secs(3));
        let mut ear = room.listen();
        let moved = room.file("-renamed/old.jsonl");
        fs::rename(path.parent().unwrap(), moved.parent().unwrap()).unwrap();
        ear.until("moved", |event| event.name() == "sessions-changed");
        append(&moved, &prompt(3000));
        ear.until_prompt(3000);
        assert_eq!(ear.prompts(), [3000]);
    });
}

#[test]
fn what_a_branch_was_copied_from_is_no_news() {
    both(|room| {
        let copied = |number: u32| {
            let record = json!({"type": "user", "uuid": format!("u{number}"), "timestamp": made(number), "forkedFrom": {"sessionId": "s1", "messageUuid": format!("u{number}")}, "message": {"role": "user", "content": "Old"}});
            line(&record)
        };
        let agent = line(
            &json!({"type": "assistant", "uuid": "c", "forkedFrom": {"sessionId": "s1", "messageUuid": "c"}, "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Agent", "input": {"prompt": "Count all"}}], "stop_reason": "tool_use"}}),
        );
        let mut ear = room.listen();
        let branch = room.write("-p/branch.jsonl", &(copied(1) + &agent));
        ear.until_state("branch", State::WaitingInput, Evidence::Transcript);
        append(&branch, &prompt(3));
        ear.until_prompt(3);
        assert_eq!(ear.prompts(), [3]);
        assert!(ear.heard.iter().all(|event| event.name() != "subagent-spawned"));
    });
}
