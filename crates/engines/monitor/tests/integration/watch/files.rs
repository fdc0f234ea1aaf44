//! Transcripts and sub-agents' files, whatever becomes of them.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use model::{Evidence, SessionEvent, SessionInfo, State};
use serde_json::{Value, json};

use super::{WatchedFolder, answer, append, both, clock, line, made, prompt, prompts};

#[test]
fn a_new_session_is_found_and_each_record_reported_once() {
    both(|folder| {
        let mut subscriber = folder.listen();
        let path = folder.write("-new/s1.jsonl", &prompts(1..3));
        subscriber.until_prompt(2);
        append(&path, &prompt(3)[..20]);
        append(&path, &prompt(3)[20..]);
        append(&path, &prompts(4..50));
        subscriber.until_prompt(49);
        append(&path, &answer());
        subscriber.until_state("s1", State::WaitingInput, Evidence::Transcript);
        assert_eq!(subscriber.prompts(), (1..50).collect::<Vec<_>>());
        let names: Vec<_> = subscriber.received.iter().map(|event| event.name()).collect();
        assert_eq!(names.iter().filter(|name| **name == "session-created").count(), 1);
        assert!(names.contains(&"sessions-changed"));
        assert_eq!(subscriber.snapshot().records, 50);
    });
}

#[test]
fn a_truncated_and_rewritten_file() {
    both(|folder| {
        let path = folder.write("-p/s1.jsonl", &prompts(1..20));
        let mut subscriber = folder.listen();
        append(&path, &prompt(20));
        subscriber.until_prompt(20);
        fs::write(&path, prompts(30..35)).unwrap();
        subscriber.until_prompt(34);
        append(&path, &prompt(35));
        subscriber.until_prompt(35);
        assert_eq!(subscriber.prompts(), [20, 30, 31, 32, 33, 34, 35]);
    });
}

#[test]
fn a_file_whose_last_lines_are_removed() {
    both(|folder| {
        let path = folder.write("-p/s1.jsonl", &prompts(1..20));
        let mut subscriber = folder.listen();
        append(&path, &prompt(20));
        subscriber.until_prompt(20);
        let kept = u64::try_from(prompts(1..20).len()).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(kept).unwrap();
        append(&path, &prompt(21));
        subscriber.until_prompt(21);
        assert_eq!(subscriber.prompts(), [20, 21]);
    });
}

#[test]
fn a_file_that_is_replaced_by_one_that_holds_some_of_the_same() {
    both(|folder| {
        let path = folder.write("-p/s1.jsonl", &prompts(1..20));
        let mut subscriber = folder.listen();
        let other = folder.write("-p/other.tmp", &prompts([15, 16, 17, 18, 19, 20, 21]));
        fs::rename(other, &path).unwrap();
        subscriber.until_prompt(21);
        append(&path, &prompt(22));
        subscriber.until_prompt(22);
        assert_eq!(subscriber.prompts(), [20, 21, 22]);
    });
}

#[test]
fn a_session_that_moves_to_another_folder_and_back() {
    both(|folder| {
        let path = folder.write("-p/s1.jsonl", &prompts(1..5));
        let mut subscriber = folder.listen();
        append(&path, &prompt(5));
        subscriber.until_prompt(5);
        let moved = folder.file("-p-worktree/s1.jsonl");
        fs::create_dir(moved.parent().unwrap()).unwrap();
        fs::rename(&path, &moved).unwrap();
        append(&moved, &prompt(6));
        subscriber.until_prompt(6);
        fs::rename(&moved, &path).unwrap();
        append(&path, &prompt(7));
        subscriber.until_prompt(7);
        assert_eq!(subscriber.prompts(), [5, 6, 7]);
        assert!(subscriber.received.iter().all(|event| event.name() != "session-created"));
    });
}

#[test]
fn a_session_that_is_deleted_and_put_back() {
    both(|folder| {
        let path = folder.write("-p/s1.jsonl", &prompts(1..5));
        let mut subscriber = folder.listen();
        append(&path, &prompt(5));
        subscriber.until_prompt(5);
        fs::remove_file(&path).unwrap();
        subscriber.until("removed", |event| event.name() == "session-removed");
        folder.write("-p/s1.jsonl", &prompts(1..8));
        subscriber.until_prompt(7);
        assert_eq!(subscriber.prompts(), [5, 6, 7]);
    });
}

#[test]
fn a_folder_that_is_deleted_and_comes_back() {
    both(|folder| {
        folder.write("-q/s1.jsonl", &prompts(1..5));
        let mut subscriber = folder.listen();
        fs::remove_dir_all(folder.file("-q")).unwrap();
        subscriber.until("removed", |event| event.name() == "session-removed");
        folder.write("-q/s2.jsonl", &prompts(5..7));
        subscriber.until_prompt(6);
        assert_eq!(subscriber.prompts(), [5, 6]);
    });
}

#[test]
fn the_state_at_the_beginning_is_read_from_the_end_of_the_file() {
    let folder = WatchedFolder::new(true);
    let filler = line(
        &json!({"type": "user", "uuid": "f", "toolUseResult": "x".repeat(400_000), "message": {"role": "user", "content": []}}),
    );
    let call = line(
        &json!({"type": "assistant", "version": "2.0.77", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "Look"}}], "stop_reason": "tool_use"}}),
    );
    folder.write("-p/tool.jsonl", &(prompts(1..3) + &filler.repeat(20) + &call));
    folder.write("-p/asked.jsonl", &(prompts(1..3) + &answer() + &prompt(3)));
    let huge = line(
        &json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "x".repeat(3 << 20)}], "stop_reason": "end_turn"}}),
    );
    folder.write("-p/huge.jsonl", &(prompts(1..3) + &huge + "{\"torn"));
    folder.write("-p/junk.jsonl", "not json\n\0\0\0\n{\"type\":\"ai-title\"}\n");
    let mut subscriber = folder.listen();
    let mut states: Vec<_> = subscriber
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
    append(&folder.file("-p/asked.jsonl"), &prompt(9));
    subscriber.until_prompt(9);
    assert_eq!(subscriber.prompts(), [9]);
}

#[test]
fn a_long_idle_session_costs_nothing_until_it_changes() {
    both(|folder| {
        let path = folder.write("-p/old.jsonl", &prompts(1..2000));
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        let mut subscriber = folder.listen();
        assert!(subscriber.snapshot().sessions.is_empty());
        assert_eq!(subscriber.snapshot().files, 1);
        append(&path, &prompts(3000..3003));
        subscriber.until_prompt(3002);
        assert_eq!(subscriber.prompts(), [3000, 3001, 3002]);
        assert_eq!(subscriber.snapshot().sessions[0].activity.state, State::Thinking);
    });
}

#[test]
fn a_file_that_is_touched_or_copied_is_as_old_as_its_last_record() {
    both(|folder| {
        let said = |at: &str| {
            let record = json!({"type": "user", "uuid": "u", "timestamp": at, "message": {"role": "user", "content": "Old"}});
            // A record without a time makes it no younger.
            record.to_string() + "\n" + &line(&json!({"type": "mode", "mode": "normal"}))
        };
        let touched = folder.write("-p/touched.jsonl", &said("2023-05-05T05:05:05Z"));
        let lately = Timestamp::from_second(clock().as_second() - 2400).unwrap();
        folder.write("-p/lately.jsonl", &said(&lately.to_string()));
        folder.write(
            "-p/timeless.jsonl",
            &line(&json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "Old"}})),
        );
        let mut subscriber = folder.listen();
        let mut last: Vec<_> = subscriber
            .snapshot()
            .sessions
            .into_iter()
            .map(|info| (info.session_id.to_string(), info.last_activity))
            .collect();
        last.sort();
        assert_eq!(last[0], ("lately".to_owned(), Some(lately)));
        assert_eq!((last.len(), last[1].0.as_str()), (2, "timeless"));
        assert!(last[1].1.unwrap() > lately);
        // Neither does one that is put there while it is watched.
        File::options().append(true).open(&touched).unwrap().set_modified(clock().into()).unwrap();
        let copied = folder.write("-p/copied.jsonl", "");
        subscriber.until("the copy", |event| event.name() == "session-created");
        append(&copied, &said("2023-05-05T05:05:05Z"));
        subscriber.until("its prompt", |event| event.name() == "session-event");
        append(&folder.file("-p/lately.jsonl"), &prompt(7));
        subscriber.until_prompt(7);
        let recent = lately + SignedDuration::from_mins(10);
        let is_active = |info: &SessionInfo| info.last_activity > Some(recent);
        let active: Vec<_> = subscriber
            .snapshot()
            .sessions
            .into_iter()
            .filter(is_active)
            .map(|info| info.session_id.to_string())
            .collect();
        assert!(
            !active.contains(&"copied".to_owned()) && !active.contains(&"touched".to_owned()),
            "{active:?}"
        );
    });
}

#[test]
fn subagents_files_are_followed() {
    both(|folder| {
        let path = folder.write("-p/s1.jsonl", &prompt(1));
        let mut subscriber = folder.listen();
        append(
            &path,
            &line(
                &json!({"type": "assistant", "uuid": "c", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Agent", "input": {"description": "Count", "prompt": "Count all"}}], "stop_reason": "tool_use"}}),
            ),
        );
        subscriber.until("spawned", |event| event.name() == "subagent-spawned");
        let agent = folder.write("-p/s1/subagents/agent-a7.jsonl", &line(&json!({"type": "user", "uuid": "a1", "isSidechain": true, "message": {"role": "user", "content": "Count all"}})));
        let call = line(
            &json!({"type": "assistant", "uuid": "a2", "isSidechain": true, "message": {"content": [{"type": "tool_use", "id": "t2", "name": "Grep", "input": {}}], "stop_reason": "tool_use"}}),
        );
        append(&agent, &call);
        subscriber.until("progress", |event| matches!(event, SessionEvent::SubagentProgress(event) if event.tool_name.as_deref() == Some("Grep") && event.task_id == "t1"));
        append(
            &path,
            &line(
                &json!({"type": "user", "uuid": "r", "toolUseResult": {"agentId": "a7"}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3"}]}}),
            ),
        );
        subscriber.until("completed", |event| event.name() == "subagent-completed");
        assert_eq!(subscriber.snapshot().sessions.len(), 1, "a sub-agent is no session");
    });
}

#[test]
fn subagents_beside_their_session_are_followed() {
    both(|folder| {
        let path = folder.write("-p/s1.jsonl", &prompt(1));
        let mut subscriber = folder.listen();
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
        subscriber.until("spawned", |event| event.name() == "subagent-spawned");
        folder.write("-p/agent-a7.jsonl", &agent);
        subscriber.until("progress", |event| matches!(event, SessionEvent::SubagentProgress(event) if event.tool_name.as_deref() == Some("Grep")));
    });
}

#[test]
fn moved_idle_sessions_are_not_reported() {
    both(|mut folder| {
        let path = folder.write("-p/old.jsonl", &prompts(1..2000));
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        // When a file was made cannot be set; it has to be older than what clocks may differ by.
        folder.clock = || clock() + SignedDuration::from_mins(1);
        let mut subscriber = folder.listen();
        let moved = folder.file("-renamed/old.jsonl");
        fs::rename(path.parent().unwrap(), moved.parent().unwrap()).unwrap();
        subscriber.until("moved", |event| event.name() == "sessions-changed");
        append(&moved, &prompt(3000));
        subscriber.until_prompt(3000);
        assert_eq!(subscriber.prompts(), [3000]);
    });
}

#[test]
fn copied_records_of_a_branch_are_not_reported() {
    both(|folder| {
        let copied = |number: u32| {
            let record = json!({"type": "user", "uuid": format!("u{number}"), "timestamp": made(number), "forkedFrom": {"sessionId": "s1", "messageUuid": format!("u{number}")}, "message": {"role": "user", "content": "Old"}});
            line(&record)
        };
        let agent = line(
            &json!({"type": "assistant", "uuid": "c", "forkedFrom": {"sessionId": "s1", "messageUuid": "c"}, "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Agent", "input": {"prompt": "Count all"}}], "stop_reason": "tool_use"}}),
        );
        let mut subscriber = folder.listen();
        let branch = folder.write("-p/branch.jsonl", &(copied(1) + &agent));
        subscriber.until_state("branch", State::WaitingInput, Evidence::Transcript);
        append(&branch, &prompt(3));
        subscriber.until_prompt(3);
        assert_eq!(subscriber.prompts(), [3]);
        assert!(subscriber.received.iter().all(|event| event.name() != "subagent-spawned"));
    });
}
