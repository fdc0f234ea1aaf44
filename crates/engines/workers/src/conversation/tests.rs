//! Conversations as tables: lines and commands in, actions and states out.

#![allow(clippy::needless_pass_by_value, reason = "frames are written in place")]

use serde_json::json;

use super::*;
use crate::{Command, Grant, PermissionReply};

fn at(seconds: u64) -> Now {
    let time = Timestamp::from_second(1_800_000_000 + i64::try_from(seconds).unwrap()).unwrap();
    Now { time, since_start: Duration::from_secs(seconds) }
}

fn begun() -> Conversation {
    let mut talk = Conversation::new(Limits::default(), ("m1".into(), "Fix it".into()), 0.0, None);
    talk.begin();
    talk.handle_line(
        br#"{"type":"control_response","response":{"subtype":"success","request_id":"backstory-1"}}"#,
        at(1),
    );
    talk
}

fn running() -> Conversation {
    let mut talk = begun();
    handle_line(&mut talk, 2, json!({"type": "user", "isReplay": true, "uuid": "m1"}));
    talk
}

fn handle_line(talk: &mut Conversation, seconds: u64, frame: serde_json::Value) -> Vec<Action> {
    talk.handle_line(frame.to_string().as_bytes(), at(seconds))
}

fn result(talk: &mut Conversation, seconds: u64, more: serde_json::Value) -> Vec<Action> {
    let mut frame = json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done.",
        "total_cost_usd": 0.1, "model_usage_since_last_result": {"m": {"costUSD": 0.1}}});
    for (name, value) in more.as_object().unwrap() {
        frame[name] = value.clone();
    }
    handle_line(talk, seconds, frame)
}

fn idle(talk: &mut Conversation, seconds: u64) -> Vec<Action> {
    handle_line(talk, seconds, json!({"type": "system", "subtype": "session_state_changed", "state": "idle"}))
}

fn ask(talk: &mut Conversation, seconds: u64, id: &str) -> Vec<Action> {
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}});
    handle_line(talk, seconds, json!({"type": "control_request", "request_id": id, "request": request}))
}

fn written(actions: &[Action]) -> Vec<serde_json::Value> {
    let line = |action: &Action| match action {
        Action::Write(line) => serde_json::from_str(line).ok(),
        _ => None,
    };
    actions.iter().filter_map(line).collect()
}

fn names(actions: &[Action]) -> Vec<&str> {
    let word = |action: &Action| match action {
        Action::Write(_) => None,
        Action::Emit(Event::State(state)) => Some(state.as_str()),
        Action::Emit(Event::Result(_)) => Some("result"),
        Action::Emit(Event::Asked(_)) => Some("asked"),
        Action::Emit(Event::Withdrawn { .. }) => Some("withdrawn"),
        Action::Emit(Event::Note { .. }) => Some("note"),
        Action::Emit(_) => Some("event"),
        Action::Mode(mode) => Some(mode.as_str()),
        Action::Granted(_) => Some("granted"),
        Action::CloseInput => Some("close"),
        Action::Interrupted => Some("interrupted"),
        Action::Terminate => Some("terminate"),
    };
    actions.iter().filter_map(word).collect()
}

fn message(id: &str) -> Command {
    Command::Message { id: id.into(), text: "And more".into() }
}

#[test]
fn nothing_is_written_before_the_first_answer() {
    let mut talk = Conversation::new(Limits::default(), ("m1".into(), "Fix it".into()), 0.0, None);
    let first = talk.begin();
    assert_eq!(written(&first)[0]["request"]["subtype"], "initialize");
    assert_eq!(names(&first), ["starting"]);
    let hello =
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "backstory-1"}});
    let second = handle_line(&mut talk, 1, hello);
    assert_eq!(written(&second)[0]["message"]["content"], "Fix it");
    assert_eq!(written(&second)[0]["uuid"], "m1");
    assert_eq!(names(&second), ["running"]);
}

#[test]
fn a_turn_ends_with_its_result_and_the_idle_state() {
    let mut talk = running();
    assert_eq!(names(&idle(&mut talk, 3)), [""; 0], "no result yet");
    assert_eq!(names(&result(&mut talk, 4, json!({}))), ["result"]);
    assert_eq!(names(&idle(&mut talk, 5)), ["idle"]);
    let WorkerState::Idle { text, turn_failed, .. } = talk.state() else { panic!() };
    assert_eq!((text.as_str(), turn_failed), ("Done.", false));
    assert_eq!(talk.final_state("it ended", ""), WorkerState::Finished { text: "Done.".into() });
    let mut talk = running();
    result(&mut talk, 4, json!({"is_error": true, "result": "API Error: 400"}));
    idle(&mut talk, 5);
    let WorkerState::Idle { text, turn_failed, .. } = talk.state() else { panic!() };
    assert_eq!((text.as_str(), turn_failed), ("API Error: 400", true));
    // A release that never says idle.
    let mut talk = running();
    result(&mut talk, 4, json!({}));
    assert_eq!(names(&talk.tick(at(8))), [""; 0]);
    assert_eq!(names(&talk.tick(at(9))), ["idle"]);
}

#[test]
fn only_one_follow_up_is_pending() {
    let mut talk = running();
    let actions = talk.command(message("m2"), at(3)).unwrap();
    assert_eq!(written(&actions)[0]["uuid"], "m2");
    assert_eq!(talk.command(message("m3"), at(3)), Err("a follow-up is already pending".into()));
    result(&mut talk, 4, json!({}));
    assert_eq!(names(&idle(&mut talk, 5)), [""; 0], "the follow-up is a turn of its own");
    handle_line(&mut talk, 6, json!({"type": "user", "isReplay": true, "uuid": "m2"}));
    assert!(talk.command(message("m3"), at(7)).is_ok());
    // Between turns it is said at once.
    let mut talk = running();
    result(&mut talk, 4, json!({}));
    idle(&mut talk, 5);
    assert_eq!(names(&talk.command(message("m2"), at(9)).unwrap()), ["running"]);
}

#[test]
fn waiting_messages_are_withdrawn_before_a_turn_is_interrupted() {
    let mut talk = running();
    talk.command(message("m2"), at(3)).unwrap();
    let actions = talk.command(Command::Stop, at(4)).unwrap();
    let lines = written(&actions);
    let asked = |line: &serde_json::Value| line["request"]["subtype"].as_str().map(str::to_owned);
    let asked: Vec<_> = lines.iter().filter_map(asked).collect();
    assert_eq!(asked, ["cancel_async_message", "interrupt"]);
    assert_eq!(lines[0]["request"]["message_uuid"], "m2");
    assert_eq!(names(&actions), ["note", "interrupted"]);
    // What the model has been given cannot be taken back.
    let mut talk = running();
    let actions = talk.command(Command::Stop, at(4)).unwrap();
    assert_eq!((written(&actions).len(), names(&actions)), (1, vec!["interrupted"]));
}

#[test]
fn a_request_waits_until_it_is_answered_or_withdrawn() {
    let mut talk = running();
    assert_eq!(names(&ask(&mut talk, 3, "r1")), ["asked", "waiting_permission"]);
    assert_eq!(names(&ask(&mut talk, 3, "r2")), ["asked", "waiting_permission"]);
    let answer = |id: &str| Command::Answer {
        request: id.into(),
        reply: PermissionReply::Allow { input: None, grant: None },
    };
    let wrong = talk.command(answer("r9"), at(4)).unwrap_err();
    assert_eq!(wrong, "`r9` is not asked; what waits for an answer: r1, r2");
    let actions = talk.command(answer("r1"), at(4)).unwrap();
    assert_eq!(written(&actions)[0]["response"]["response"]["behavior"], "allow");
    let cancel = json!({"type": "control_cancel_request", "request_id": "r2"});
    assert_eq!(names(&handle_line(&mut talk, 5, cancel)), ["withdrawn", "running"]);
    assert_eq!(talk.command(answer("r2"), at(6)), Err("nothing is asked at the moment".into()));
    // A result takes back what is open.
    ask(&mut talk, 7, "r3");
    assert_eq!(names(&result(&mut talk, 8, json!({}))), ["withdrawn", "result", "running"]);
}

#[test]
fn what_an_answer_grants_is_recorded_and_a_reported_mode_is_the_one_it_is_in() {
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"});
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    let granting = |grant: Grant| {
        let mut talk = running();
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {},
            "permission_suggestions": [rule.clone(), mode.clone()]});
        handle_line(&mut talk, 3, json!({"type": "control_request", "request_id": "r1", "request": request}));
        let reply = PermissionReply::Allow { input: None, grant: Some(grant) };
        let command = Command::Answer { request: "r1".into(), reply };
        talk.command(command, at(4)).map(|actions| (talk, actions))
    };
    let (_, actions) = granting(Grant::Always).unwrap();
    assert!(
        actions.contains(&Action::Granted(vec!["Bash, until the session ends".to_owned()])),
        "{actions:?}"
    );
    assert!(!actions.iter().any(|action| matches!(action, Action::Mode(_))), "{actions:?}");
    let (mut talk, actions) = granting(Grant::Edits).unwrap();
    assert!(actions.contains(&Action::Mode(PermissionMode::AcceptEdits)), "{actions:?}");
    assert!(granting(Grant::Directory).unwrap_err().contains("allow it once, or always, edits"));
    let status =
        |mode: &str| json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode});
    assert_eq!(handle_line(&mut talk, 5, status("default")), [Action::Mode(PermissionMode::Default)]);
    assert_eq!(handle_line(&mut talk, 6, status("a later one")), []);
}

#[test]
fn a_message_is_refused_while_a_request_is_open() {
    let mut talk = running();
    ask(&mut talk, 3, "r1");
    let refused = talk.command(message("m2"), at(4));
    assert_eq!(refused, Err("it waits for an answer to Bash: answer that first".into()));
    let reply = PermissionReply::Allow { input: None, grant: None };
    talk.command(Command::Answer { request: "r1".into(), reply }, at(5)).unwrap();
    let actions = talk.command(message("m2"), at(6)).unwrap();
    assert_eq!(written(&actions)[0]["uuid"], "m2");
}

#[test]
fn requests_of_background_agents_outlive_the_turn() {
    let mut talk = running();
    handle_line(
        &mut talk,
        3,
        json!({"type": "system", "subtype": "task_started", "task_id": "a1", "description": "Look",
        "task_type": "local_agent"}),
    );
    for (id, agent) in [("r1", "a1"), ("r2", "gone")] {
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "agent_id": agent});
        handle_line(&mut talk, 4, json!({"type": "control_request", "request_id": id, "request": request}));
    }
    let actions = result(&mut talk, 5, json!({}));
    let withdrawn = actions.iter().filter_map(|action| match action {
        Action::Emit(Event::Withdrawn { request }) => Some(request.as_str()),
        _ => None,
    });
    assert_eq!(withdrawn.collect::<Vec<_>>(), ["r2"]);
    assert_eq!(talk.state().as_str(), "waiting_permission");
    let reply = PermissionReply::Allow { input: None, grant: None };
    let actions = talk.command(Command::Answer { request: "r1".into(), reply }, at(6)).unwrap();
    assert_eq!(written(&actions)[0]["response"]["request_id"], "r1");
}

#[test]
fn a_request_can_be_named_by_a_unique_id_prefix() {
    let check = |given: &str, expected: Result<&str, &str>| {
        let mut talk = running();
        ask(&mut talk, 3, "aaaa-1111");
        ask(&mut talk, 3, "aaaa-2222");
        ask(&mut talk, 3, "bbbb");
        let reply = PermissionReply::Allow { input: None, grant: None };
        let found = talk.command(Command::Answer { request: given.into(), reply }, at(4));
        match (found, expected) {
            (Ok(actions), Ok(id)) => {
                assert_eq!(written(&actions)[0]["response"]["request_id"], id, "{given}");
            }
            (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
            (found, expected) => panic!("{given}: {found:?}, not {expected:?}"),
        }
    };
    check("aaaa-1111", Ok("aaaa-1111"));
    check("aaaa-1", Ok("aaaa-1111"));
    check("bbbb", Ok("bbbb"));
    check("aaaa", Err("`aaaa` is not asked; what waits for an answer: aaaa-1111, aaaa-2222, bbbb"));
    check("bbb", Err("is not asked"));
    check("", Err("is not asked"));
}

#[test]
fn unknown_requests_are_refused() {
    let mut talk = running();
    let other = json!({"type": "control_request", "request_id": "x", "request": {"subtype": "mcp_message"}});
    let actions = handle_line(&mut talk, 3, other);
    assert_eq!(written(&actions)[0]["response"]["subtype"], "error");
    let hook = json!({"type": "control_request", "request_id": "h", "request": {"subtype": "hook_callback"}});
    let actions = handle_line(&mut talk, 3, hook);
    assert_eq!(written(&actions)[0]["response"]["response"], json!({}));
    assert_eq!(names(&talk.handle_line(b"Warning: not JSON", at(4))), ["note"]);
    assert_eq!(names(&talk.handle_line(b"  \t", at(4))), [""; 0]);
}

#[test]
fn a_silent_turn_is_ended_unless_something_is_waited_for() {
    let check = |prepare: fn(&mut Conversation), expected: &[&str]| {
        let mut talk = running();
        prepare(&mut talk);
        assert_eq!(names(&talk.tick(at(1000))), expected);
    };
    let tool = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash"}]}});
    check(|_| {}, &["terminate"]);
    check(|talk| drop(ask(talk, 3, "r1")), &[]);
    check(
        |talk| {
            result(talk, 3, json!({}));
            idle(talk, 4);
        },
        &[],
    );
    let mut talk = running();
    handle_line(&mut talk, 3, tool);
    assert_eq!(names(&talk.tick(at(1000))), [""; 0]);
    handle_line(
        &mut talk,
        1001,
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t"}]}}),
    );
    assert_eq!(names(&talk.tick(at(1600))), [""; 0]);
    assert_eq!(names(&talk.tick(at(1601))), ["terminate"]);
    let WorkerState::Failed { reason: why, message } = talk.final_state("signal 15", "") else { panic!() };
    assert_eq!((why, message.as_str()), (FailureReason::Silent, "claude said nothing for 600 s"));
}

#[test]
fn a_start_without_an_answer_is_ended() {
    let mut talk = Conversation::new(Limits::default(), ("m1".into(), "x".into()), 0.0, None);
    talk.begin();
    assert_eq!(names(&talk.tick(at(59))), [""; 0]);
    assert_eq!(names(&talk.tick(at(60))), ["terminate"]);
    let talk = Conversation::new(Limits::default(), ("m1".into(), "x".into()), 0.0, None);
    let WorkerState::Failed { reason: why, message } = talk.final_state("exit code 1", "unknown option")
    else {
        panic!()
    };
    assert_eq!(
        (why, message.as_str()),
        (FailureReason::Start, "claude did not start: exit code 1: unknown option")
    );
}

#[test]
fn an_error_before_the_first_answer_is_a_failed_start() {
    let mut talk = Conversation::new(Limits::default(), ("m1".into(), "x".into()), 0.0, None);
    talk.begin();
    let actions =
        result(&mut talk, 1, json!({"is_error": true, "result": null, "errors": ["No conversation found"]}));
    assert!(written(&actions).is_empty(), "nothing is said to it");
    let WorkerState::Failed { reason: why, message } = talk.final_state("exit code 1", "") else { panic!() };
    assert_eq!(
        (why, message.as_str()),
        (FailureReason::Start, "claude did not start: No conversation found")
    );
}

#[test]
fn an_idle_worker_ends_at_its_limit_or_when_asked() {
    let mut talk = running();
    assert_eq!(talk.command(Command::Yield, at(3)), Err("a turn runs".into()));
    result(&mut talk, 4, json!({}));
    idle(&mut talk, 5);
    assert_eq!(names(&talk.tick(at(1804))), [""; 0]);
    assert_eq!(names(&talk.tick(at(1805))), ["close"]);
    let mut talk = running();
    result(&mut talk, 4, json!({}));
    idle(&mut talk, 5);
    assert_eq!(names(&talk.command(Command::Yield, at(6)).unwrap()), ["close"]);
    // Asked to end after the turn, it does.
    let mut talk = running();
    talk.command(Command::Close, at(3)).unwrap();
    assert_eq!(talk.command(message("m2"), at(3)), Err("the worker ends after this turn".into()));
    result(&mut talk, 4, json!({}));
    assert_eq!(names(&idle(&mut talk, 5)), ["idle", "close"]);
}

#[test]
fn a_one_time_worker_closes_when_its_work_is_done() {
    let mut talk = running().once(true);
    // What is said to it meanwhile belongs to its work.
    talk.command(message("m2"), at(3)).unwrap();
    result(&mut talk, 4, json!({}));
    assert_eq!(names(&idle(&mut talk, 5)), [""; 0], "the follow-up is a turn of its own");
    handle_line(&mut talk, 6, json!({"type": "user", "isReplay": true, "uuid": "m2"}));
    result(&mut talk, 7, json!({}));
    assert_eq!(names(&idle(&mut talk, 8)), ["idle", "close"]);
    assert_eq!(talk.final_state("exit code 0", "").as_str(), "finished");
}

#[test]
fn cost_is_summed_over_turns() {
    let mut talk = Conversation::new(Limits::default(), ("m1".into(), "x".into()), 0.0, Some(0.15));
    talk.begin();
    assert_eq!(names(&result(&mut talk, 3, json!({}))), ["result", "running"]);
    assert_eq!(names(&result(&mut talk, 4, json!({}))), ["result", "close"]);
    let WorkerState::Failed { reason: why, message } = talk.final_state("exit code 0", "") else { panic!() };
    assert_eq!(why, FailureReason::Budget);
    assert_eq!(message, "the budget is used up: $0.2000 of the $0.1500 that were left");
    // A release that only tells the session's sum, in a session that had cost half a dollar.
    let mut talk = Conversation::new(Limits::default(), ("m1".into(), "x".into()), 0.5, None);
    result(&mut talk, 3, json!({"model_usage_since_last_result": null, "total_cost_usd": 0.6}));
    result(&mut talk, 4, json!({"model_usage_since_last_result": null, "total_cost_usd": 0.9}));
    assert!((talk.cost() - 0.4).abs() < 1e-9, "{}", talk.cost());
    // One that counts each run alone.
    let mut talk = Conversation::new(Limits::default(), ("m1".into(), "x".into()), 0.5, None);
    result(&mut talk, 3, json!({"model_usage_since_last_result": null, "total_cost_usd": 0.1}));
    assert!((talk.cost() - 0.1).abs() < 1e-9, "{}", talk.cost());
}

#[test]
fn a_denial_that_ends_the_turn_is_not_a_failure() {
    let check = |interrupt: bool, expected: &str| {
        let mut talk = running();
        ask(&mut talk, 3, "r1");
        let reply = PermissionReply::Deny { message: "No".into(), interrupt };
        talk.command(Command::Answer { request: "r1".into(), reply }, at(4)).unwrap();
        result(&mut talk, 5, json!({"is_error": true, "subtype": "error_during_execution"}));
        idle(&mut talk, 6);
        assert_eq!(talk.final_state("exit code 0", "").as_str(), expected);
    };
    check(true, "stopped");
    check(false, "failed");
}

#[test]
fn the_final_state_follows_the_last_result() {
    let check = |more: serde_json::Value, expected: FailureReason| {
        let mut talk = running();
        result(&mut talk, 3, more);
        idle(&mut talk, 4);
        let WorkerState::Failed { reason: why, .. } = talk.final_state("exit code 1", "") else { panic!() };
        assert_eq!(why, expected);
    };
    check(json!({"is_error": true, "terminal_reason": "api_error"}), FailureReason::Api);
    check(json!({"is_error": true, "result": "API Error: 529"}), FailureReason::Api);
    check(json!({"is_error": true, "subtype": "error_max_turns"}), FailureReason::Turn);
    check(json!({"is_error": true, "terminal_reason": "budget_exhausted"}), FailureReason::Budget);
    let mut talk = running();
    talk.command(Command::Interrupt, at(3)).unwrap();
    result(&mut talk, 4, json!({"is_error": true, "terminal_reason": "aborted_streaming"}));
    idle(&mut talk, 5);
    assert_eq!(talk.final_state("exit code 1", ""), WorkerState::Stopped);
    let WorkerState::Failed { reason: why, message } = running().final_state("signal 9", "") else {
        panic!()
    };
    assert_eq!(
        (why, message.as_str()),
        (FailureReason::Exit, "claude ended in the middle of a turn: signal 9")
    );
    let mut talk = running();
    assert_eq!(names(&talk.command(Command::Stop, at(3)).unwrap()), ["interrupted"]);
    assert_eq!(names(&result(&mut talk, 4, json!({"is_error": true}))), ["result", "terminate"]);
    assert_eq!(talk.final_state("signal 15", ""), WorkerState::Stopped);
    assert!(talk.command(Command::SetMode { mode: PermissionMode::Plan }, at(4)).is_err());
}

#[test]
fn a_permission_mode_counts_once_claude_confirms_it() {
    let mut talk = running();
    let answer = |subtype: &str, id: &str| json!({"type": "control_response", "response": {"subtype": subtype, "request_id": id, "error": "no"}});
    let mut set = |mode, told: &str| {
        let asked = talk.command(Command::SetMode { mode }, at(3)).unwrap();
        let id = written(&asked)[0]["request_id"].as_str().unwrap().to_owned();
        assert_eq!(names(&asked), [""; 0], "it is not answered yet");
        names(&handle_line(&mut talk, 4, answer(told, &id))).join(" ")
    };
    assert_eq!(set(PermissionMode::AcceptEdits, "success"), "acceptEdits");
    assert_eq!(set(PermissionMode::Plan, "error"), "note");
    let turn = json!({"type": "system", "subtype": "init", "session_id": "s", "permissionMode": "plan"});
    assert_eq!(names(&handle_line(&mut talk, 5, turn)), ["event", "plan"]);
}

#[test]
fn streamed_texts_are_marked() {
    let mut talk = running();
    let text = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "Hi"}]}});
    let piece = json!({"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": "Hi"}}});
    let streamed = |actions: Vec<Action>| {
        actions.iter().any(|action| matches!(action, Action::Emit(Event::Text { streamed: true, .. })))
    };
    assert!(!streamed(handle_line(&mut talk, 3, text.clone())));
    handle_line(&mut talk, 4, piece);
    assert!(streamed(handle_line(&mut talk, 5, text.clone())));
    assert!(!streamed(handle_line(&mut talk, 6, text)));
}

#[test]
fn a_command_that_is_not_replayed_is_accepted_by_its_result() {
    let mut talk = running();
    result(&mut talk, 3, json!({}));
    idle(&mut talk, 3);
    talk.command(Command::Message { id: "m2".into(), text: "/help".into() }, at(4)).unwrap();
    assert_eq!(talk.pending().as_deref(), Some("m2"));
    idle(&mut talk, 4);
    let actions = result(&mut talk, 4, json!({"user_message_uuid": "m2", "num_turns": 0}));
    let is_accepted =
        |action: &Action| matches!(action, Action::Emit(Event::Accepted { message }) if message == "m2");
    assert!(actions.iter().any(is_accepted), "{actions:?}");
    assert_eq!(talk.pending(), None);
    talk.tick(at(60));
    assert!(talk.is_idle());
}
