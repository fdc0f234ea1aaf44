//! Sub-agents, in the foreground, in the background, in every layout.

use monitor::hooks::{HookEvent, HookSignal};
use serde_json::{Value, json};

use super::{Scene, end};

#[test]
fn a_subagents_hooks_do_not_change_the_turn() {
    let answered = HookSignal::Answered { tool: Some("Bash".into()), tool_use: Some("t9".into()) };
    let mut scene =
        Scene::b().hook(HookSignal::PromptSubmitted).hook(HookSignal::TurnEnded { in_background: 1 });
    scene = scene.check("waiting_input R, thinking H, tool_use H Agent (in the background)");
    let inner = |scene: &Scene, signal| HookEvent {
        at: scene.now,
        session: scene.tracker.id().clone(),
        name: "Hook".into(),
        agent: Some("a7".into()),
        signal,
    };
    // What it asks is asked of the person all the same.
    let ask = HookSignal::Asked { tool: Some("Bash".into()), detail: None, question: false };
    scene.tracker.hook(&inner(&scene, ask));
    scene.tell();
    scene = scene.check("waiting_permission H Bash");
    scene.tracker.hook(&inner(&scene, answered));
    scene.tell();
    scene.check("tool_use H Agent (in the background)");
}

#[test]
fn a_subagent_in_the_foreground() {
    Scene::a()
        .busy()
        .prompt("x")
        .calls("t1", "Agent")
        .agent("a7", Some("t1"), &json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": "do t1"}}))
        .agent("a7", Some("t1"), &json!({"type": "assistant", "isSidechain": true, "message": {"content": [{"type": "tool_use", "id": "t9", "name": "Bash", "input": {"description": "inner"}}]}}))
        .asks("permission prompt")
        .busy()
        .answers_with("t1", json!({"status": "completed", "agentId": "a7"}))
        .says(end())
        .idle()
        .wait(1)
        .check("thinking R, tool_use R Agent (a thing), waiting_permission R Bash (inner), tool_use R Agent (a thing), thinking R, responding R, waiting_input R")
        .check_subagents("+t1 ~Bash -t1");
}

#[test]
fn a_subagent_in_the_background() {
    let launched = json!({"isAsync": true, "status": "async_launched", "agentId": "a7"});
    let notice = "<task-notification>\n<task-id>a7</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status></task-notification>";
    let enqueue = json!({"type": "queue-operation", "operation": "enqueue", "content": notice});
    Scene::a()
        .busy()
        .prompt("x")
        .calls("t1", "Agent")
        .answers_with("t1", launched.clone())
        .says(end())
        .turn_duration(1)
        .check("thinking R, tool_use R Agent (a thing), thinking R, tool_use R Agent (in the background)")
        .wait(600)
        .idle()
        .busy()
        .write(enqueue.clone())
        .write(json!({"type": "queue-operation", "operation": "dequeue"}))
        .idle()
        .wait(1)
        .prompt(notice)
        .says(end())
        .turn_duration(0)
        .check("thinking R, waiting_input R")
        .check_subagents("+t1 -t1");
    // As the newest release does it: the turn that tells of it is over before its records are written.
    Scene::a()
        .busy()
        .prompt("x")
        .calls("t1", "Agent")
        .answers_with("t1", launched.clone())
        .turn_duration(1)
        .check("thinking R, tool_use R Agent (a thing), thinking R, tool_use R Agent (in the background)")
        .wait(2)
        .write(enqueue.clone())
        .idle()
        .busy()
        .check("thinking R")
        .idle()
        .check("waiting_input R");
    // It was looked at so late that only the second idle was seen; and one that was ended by hand.
    let left = |scene: Scene| {
        scene.busy().prompt("x").calls("t1", "Agent").answers_with("t1", launched.clone()).turn_duration(1)
    };
    let begin = "thinking R, tool_use R Agent (a thing), thinking R, tool_use R Agent (in the background)";
    left(Scene::a()).idle().idle().check(&format!("{begin}, waiting_input R"));
    left(Scene::a()).idle().check(begin).wait(1).check("waiting_input R");
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .calls("t1", "Agent")
        .answers_with("t1", launched.clone())
        .says(end())
        .check("thinking X, tool_use X Agent (a thing), thinking X, tool_use X Agent (in the background)")
        .write(enqueue)
        .check("waiting_input X")
        .check_subagents("+t1 -t1");
    Scene::c()
        .hook(HookSignal::PromptSubmitted)
        .hook(HookSignal::TurnEnded { in_background: 1 })
        .check("thinking H, tool_use H Agent (in the background)");
    // Its end may reach nobody.
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .says(end())
        .turn_duration(1)
        .check("thinking X, waiting_input X, tool_use X Agent (in the background)")
        .wait(29 * 60)
        .check("")
        .wait(2 * 60)
        .check("idle T");
}

#[test]
fn a_workflow_in_the_background() {
    let over = json!({"type": "system", "subtype": "turn_duration", "pendingWorkflowCount": 1});
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .says(end())
        .write(over.clone())
        .check("thinking X, waiting_input X, tool_use X Agent (in the background)")
        .write(json!({"type": "queue-operation", "operation": "dequeue"}))
        .says(end())
        .write(json!({"type": "system", "subtype": "turn_duration", "pendingWorkflowCount": 0}))
        .check("thinking X, waiting_input X");
    Scene::a()
        .busy()
        .prompt("x")
        .says(end())
        .write(over)
        .check("thinking R, responding R, tool_use R Agent (in the background)");
}

#[test]
fn subagents_of_every_layout() {
    // Inline in the session's own file, known by the prompt.
    let inline = |uuid: &str, parent: Option<&str>, message: Value| json!({"type": if message["role"] == "user" { "user" } else { "assistant" }, "isSidechain": true, "uuid": uuid, "parentUuid": parent, "message": message});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t9", "name": "Grep", "input": {}}]});
    Scene::new("1.0.60")
        .prompt("x")
        .calls("t1", "Task")
        .calls("t2", "Task")
        .write(inline("u1", None, json!({"role": "user", "content": "do t2"})))
        .write(inline("u2", Some("u1"), call.clone()))
        .answers("t2")
        .check("thinking X, tool_use X Task (a thing)")
        .check_subagents("+t1 +t2 ~Grep -t2");
    // In a file of its own that says nothing of its parent, seen before the call.
    let prompt = |text: &str| json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": text}});
    let call = json!({"type": "assistant", "isSidechain": true, "message": call});
    Scene::c()
        .prompt("x")
        .agent("warm", None, &prompt("Warmup"))
        .agent("a1", None, &prompt("do t1"))
        .calls("t1", "Task")
        .agent("a1", None, &call)
        .agent("warm", None, &call)
        .answers_with("t1", json!({"agentId": "a1"}))
        .check_subagents("+t1 ~Grep -t1");
    // One that starts another one.
    let nested = json!({"type": "assistant", "isSidechain": true, "message": {"content": [{"type": "tool_use", "id": "t2", "name": "Agent", "input": {"prompt": "deeper"}}]}});
    let returned = json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "x"}]}});
    Scene::a()
        .busy()
        .calls("t1", "Agent")
        .agent("a1", Some("t1"), &nested)
        .agent("a2", Some("t2"), &call)
        .agent("a1", Some("t1"), &returned)
        .answers("t1")
        .check_subagents("+t1 ~Agent +t2 ~Grep -t2 -t1");
    // Progress records.
    let progress = json!({"type": "progress", "parentToolUseID": "t1", "data": {"type": "agent_progress", "message": {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t9", "name": "Read", "input": {}}]}}}});
    Scene::new("2.1.59")
        .prompt("x")
        .calls("t1", "Task")
        .write(progress)
        .interrupted()
        .check_subagents("+t1 ~Read -t1");
}
