//! Requests of the real `claude`, and the effect of each answer.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::files::bytes;
use testkit::{Answer, Claude, Gate, Script};
use workers::{
    Command, Event, Grant, PermissionMode, PermissionReply, RequestKind, WorkerOptions, WorkerState,
};

use crate::stage::{Stage, allow, exists, wait_until};

fn touch(name: &str) -> Value {
    json!({"command": format!("touch {name} && rm -rf nothing"), "description": "Make a file"})
}

fn grant(grant: Grant) -> PermissionReply {
    PermissionReply::Allow { input: None, grant: Some(grant) }
}

fn script() -> Script {
    Script::new().on(
        "make a file",
        [Answer::text("I will.").then_tool("Bash", touch("made")), Answer::text("That was it.")],
    )
}

fn each(check: fn(&Claude)) {
    for claude in Claude::releases() {
        check(&claude);
    }
}

#[test]
fn an_allowed_call_is_executed() {
    each(|claude| {
        let stage = Stage::new(claude, script());
        let mut actor = stage.start(&stage.spec("make a file"));
        let request = actor.asked();
        assert_eq!((request.tool.as_str(), &request.input), ("Bash", &touch("made")));
        assert_eq!(request.kind(), RequestKind::Permission);
        let WorkerState::WaitingPermission { requests } = actor.state("waiting_permission") else { panic!() };
        assert_eq!(requests, std::slice::from_ref(&request), "the state carries what is asked");
        assert!(!exists(&stage.shop, "made"));
        actor.answer(&request, allow());
        assert!(!actor.tool_result().1);
        assert!(exists(&stage.shop, "made"));
        let result = actor.result();
        assert!(!result.is_error && result.cost_usd > 0.0, "{result:?}");
        let id = actor.handle.id;
        assert_eq!(actor.close(), WorkerState::Finished { text: "That was it.".into() });
        assert!((stage.row(id).stats.cost_usd - result.cost_usd).abs() < 1e-9);
    });
}

#[test]
fn a_denied_call_is_not_executed_and_the_model_gets_the_reason() {
    each(|claude| {
        let stage = Stage::new(claude, script());
        let mut actor = stage.start(&stage.spec("make a file"));
        let request = actor.asked();
        actor.answer(&request, PermissionReply::Deny { message: "Not on a Sunday".into(), interrupt: false });
        let (text, is_error) = actor.tool_result();
        assert!(is_error && text.contains("Not on a Sunday"), "{text}");
        let result = actor.result();
        assert!(!result.is_error);
        assert_eq!(result.denied, ["Bash"]);
        assert!(!exists(&stage.shop, "made"));
        let last = stage.server.calls().pop().unwrap();
        assert!(last.body.to_string().contains("Not on a Sunday"), "the model received it");
        actor.close();
    });
}

#[test]
fn a_denial_can_end_the_turn() {
    each(|claude| {
        let stage = Stage::new(claude, script());
        let mut actor = stage.start(&stage.spec("make a file"));
        let request = actor.asked();
        actor.answer(&request, PermissionReply::Deny { message: "Stop everything".into(), interrupt: true });
        let result = actor.result();
        assert!(result.is_error, "{result:?}");
        assert_eq!(actor.texts(), ["I will."], "the model was not asked again");
        actor.state("idle");
        assert_eq!(actor.close(), WorkerState::Stopped, "a person ended it: it has not failed");
    });
}

#[test]
fn an_edited_input_is_executed() {
    each(|claude| {
        let stage = Stage::new(claude, script());
        let mut actor = stage.start(&stage.spec("make a file"));
        let request = actor.asked();
        actor.answer(&request, PermissionReply::Allow { input: Some(touch("other")), grant: None });
        actor.result();
        assert!(exists(&stage.shop, "other") && !exists(&stage.shop, "made"));
        actor.close();
    });
}

#[test]
fn an_always_allowed_rule_is_saved_in_the_project_settings() {
    each(|claude| {
        let stage = Stage::new(claude, script());
        let mut actor = stage.start(&stage.spec("make a file"));
        let request = actor.asked();
        let shown = &request.offer(Grant::Always).unwrap().allows;
        let rules: Vec<&str> =
            shown.iter().map(|words| words.strip_suffix(", from now on in this project").unwrap()).collect();
        assert!(rules.iter().any(|rule| rule.starts_with("Bash(touch made")), "{rules:?}");
        actor.answer(&request, grant(Grant::Always));
        actor.result();
        let settings = stage.shop.join(".claude/settings.local.json");
        let settings: Value = serde_json::from_slice(&bytes(&settings)).unwrap();
        let allowed = settings["permissions"]["allow"].as_array().unwrap();
        assert!(rules.iter().all(|rule| allowed.contains(&json!(rule))), "{allowed:?} {rules:?}");
        // The same again is not asked any more.
        actor.message("make a file").unwrap();
        let asked = |event: &Event| match event {
            Event::Result(_) => Some(false),
            Event::Asked(_) => Some(true),
            _ => None,
        };
        assert!(!actor.until("the second result", asked));
        assert_eq!(&stage.row(actor.handle.id).granted, shown);
        actor.close();
    });
}

/// A stage whose model makes a file with a command, and then writes another one.
fn touching(claude: &Claude) -> Stage {
    let other = json!({"file_path": "evil.sh", "content": "echo evil\n"});
    let file = json!({"command": "touch perm1.txt", "description": "Make a file"});
    let script = Script::new().on(
        "touch it",
        [Answer::tool("Bash", file), Answer::tool("Write", other), Answer::text("It is done.")],
    );
    Stage::new(claude, script.on("and again", [Answer::text("Again.")]))
}

fn mode(stage: &Stage, worker: i64) -> PermissionMode {
    stage.row(worker).spec.options.permission_mode
}

#[test]
fn always_grants_the_rule_alone() {
    let stage = touching(&Claude::newest());
    let mut actor = stage.start(&stage.spec("touch it"));
    let request = actor.asked();
    let offered: Vec<Grant> = request.offers.iter().map(|offer| offer.answer).collect();
    assert!(offered.contains(&Grant::Always) && offered.contains(&Grant::Edits), "{request:?}");
    actor.answer(&request, grant(Grant::Always));
    let next = actor.asked();
    assert_eq!(next.tool, "Write", "it is still asked about");
    assert!(exists(&stage.shop, "perm1.txt") && !exists(&stage.shop, "evil.sh"));
    assert_eq!(mode(&stage, actor.handle.id), PermissionMode::Default);
    let shown = &request.offer(Grant::Always).unwrap().allows;
    assert_eq!(&stage.row(actor.handle.id).granted, shown);
    actor.answer(&next, allow());
    assert!(!actor.result().is_error);
    actor.close();
}

#[test]
fn edits_grants_the_mode_that_claude_reports() {
    each(|claude| {
        let stage = touching(claude);
        let mut actor = stage.start(&stage.spec("touch it"));
        let mut request = actor.asked();
        if request.offer(Grant::Edits).is_none() {
            // Older releases suggest the mode for the tools that edit alone.
            actor.answer(&request, allow());
            request = actor.asked();
        }
        actor.answer(&request, grant(Grant::Edits));
        assert!(!actor.result().is_error);
        assert!(exists(&stage.shop, "evil.sh"));
        assert_eq!(mode(&stage, actor.handle.id), PermissionMode::AcceptEdits);
        assert_eq!(stage.row(actor.handle.id).granted, Vec::<String>::new());
        // The next turn begins in the mode that Claude Code reports.
        actor.message("and again").unwrap();
        let reported = actor.until("the start of a turn", |event| match event {
            Event::Started(started) => started.permission_mode.clone(),
            _ => None,
        });
        assert_eq!(reported, "acceptEdits");
        actor.result();
        actor.close();
    });
}

#[test]
fn a_question_is_answered_with_an_option() {
    each(|claude| {
        let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]});
        let script = Script::new()
            .on("paint it", [Answer::tool("AskUserQuestion", question), Answer::text("Painted.")]);
        let stage = Stage::new(claude, script);
        let mut actor = stage.start(&stage.spec("paint it"));
        let request = actor.asked();
        let RequestKind::Questions(questions) = request.kind() else { panic!("{request:?}") };
        assert_eq!(questions[0].question, "Which colour?");
        assert_eq!(questions[0].choices[1].label, "Blue");
        let answers = BTreeMap::from([("Which colour?".to_owned(), "Blue".to_owned())]);
        actor.answer(&request, PermissionReply::Answers { answers });
        let (text, _) = actor.tool_result();
        assert!(text.contains("\"Which colour?\"=\"Blue\""), "{text}");
        actor.close();
    });
}

#[test]
fn a_plan_is_approved() {
    each(|claude| {
        let plan = json!({"plan": "First this, then that."});
        let script =
            Script::new().on("think first", [Answer::tool("ExitPlanMode", plan), Answer::text("I begin.")]);
        let stage = Stage::new(claude, script);
        let spec = stage.with_options(
            "think first",
            WorkerOptions { permission_mode: PermissionMode::Plan, ..WorkerOptions::default() },
        );
        let mut actor = stage.start(&spec);
        let request = actor.asked();
        assert_eq!(request.tool, "ExitPlanMode", "{request:?}");
        actor.answer(&request, allow());
        let (_, is_error) = actor.tool_result();
        assert!(!is_error);
        assert!(!actor.result().is_error);
        actor.close();
    });
}

#[test]
fn a_request_is_withdrawn_when_the_turn_is_interrupted() {
    each(|claude| {
        let stage = Stage::new(claude, script());
        let mut actor = stage.start(&stage.spec("make a file"));
        let request = actor.asked();
        actor.handle.command(Command::Interrupt).unwrap();
        let withdrawn = actor.until("the withdrawal", |event| match event {
            Event::Withdrawn { request } => Some(request.clone()),
            _ => None,
        });
        assert_eq!(withdrawn, request.request);
        assert!(actor.result().is_error);
        actor.state("idle");
        let late = Command::Answer { request: request.request, reply: allow() };
        assert_eq!(actor.handle.command(late), Err("nothing is asked at the moment".into()));
        assert_eq!(actor.close(), WorkerState::Stopped);
    });
}

#[test]
fn a_sub_agents_request_is_answered_too() {
    each(|claude| {
        let task = json!({"description": "Make it", "prompt": "Look and make it", "subagent_type": "general-purpose",
            "run_in_background": false});
        let script = Script::new()
            .on("use an agent", [Answer::tool("Agent", task), Answer::text("The agent made it.")])
            .on("Look and make it", [Answer::tool("Bash", touch("by-agent")), Answer::text("Made.")]);
        let stage = Stage::new(claude, script);
        let mut actor = stage.start(&stage.spec("use an agent"));
        let request = actor.asked();
        assert_eq!(request.tool, "Bash");
        actor.answer(&request, allow());
        let result = actor.result();
        assert!(!result.is_error, "{result:?}");
        assert!(exists(&stage.shop, "by-agent"));
        actor.close();
    });
}

#[test]
fn a_background_agents_request_waits_beyond_the_turn() {
    let task = json!({"description": "Make it", "prompt": "Look and make it", "subagent_type": "general-purpose",
        "run_in_background": true});
    let script = Script::new()
        .on("use an agent", [Answer::tool("Agent", task), Answer::text("It is at it.")])
        .on("Look and make it", [Answer::tool("Bash", touch("by-agent")), Answer::text("Made.")]);
    let stage = Stage::new(&Claude::newest(), script);
    let mut actor = stage.start(&stage.spec("use an agent"));
    let (mut asked, mut is_over) = (None, false);
    let request = actor.until("the question and the end of the turn, in any order", |event| {
        match event {
            Event::Asked(request) => asked = Some(request.clone()),
            Event::Result(_) => is_over = true,
            Event::Withdrawn { request } => panic!("taken back: {request}"),
            _ => {}
        }
        asked.clone().filter(|_| is_over)
    });
    actor.answer(&request, allow());
    actor.until("the file", |event| {
        matches!(event, Event::TaskEnded { outcome, .. } if outcome == "completed").then_some(())
    });
    assert!(exists(&stage.shop, "by-agent"));
    assert!(matches!(actor.close(), WorkerState::Finished { .. }));
}

#[test]
fn the_permission_mode_can_change_during_a_turn() {
    each(|claude| {
        let gate = Gate::new();
        let script = Script::new()
            .on("write it", [Answer::held(&gate).then_text("Wait.").then_tool("Bash", touch("made"))]);
        let stage = Stage::new(claude, script);
        let mut actor = stage.start(&stage.spec("write it"));
        actor.state("running");
        actor.handle.command(Command::SetMode { mode: PermissionMode::DontAsk }).unwrap();
        let frames = workers::frame_log_path(&stage.config.home, actor.handle.id);
        let is_answer = |line: &str| line.contains("control_response") && line.contains("backstory-2");
        wait_until("the mode is changed", || String::from_utf8_lossy(&bytes(&frames)).lines().any(is_answer));
        let mode = || stage.table().get(actor.handle.id).unwrap().unwrap().spec.options.permission_mode;
        wait_until("the mode is known", || mode() == PermissionMode::DontAsk);
        gate.open();
        // Nobody is asked any more.
        let denied = actor.until("the result", |event| match event {
            Event::Result(result) => Some(result.denied.clone()),
            Event::Asked(request) => panic!("asked: {request:?}"),
            _ => None,
        });
        assert_eq!(denied, ["Bash"]);
        actor.close();
    });
}
