//! Tools, and the silence that is taken for a permission.

use monitor::hooks::HookSignal;
use serde_json::json;

use super::{Scene, end};

#[test]
fn a_tool() {
    Scene::a()
        .busy()
        .prompt("x")
        .calls("t1", "Bash")
        .wait(60)
        .answers("t1")
        .says(end())
        .idle()
        .wait(1)
        .check("thinking R, tool_use R Bash (a thing), thinking R, responding R, waiting_input R");
    let by_records = "thinking X, tool_use X Bash (a thing), waiting_permission T Bash (a thing), thinking X, waiting_input X";
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .calls("t1", "Bash")
        .wait(60)
        .answers("t1")
        .says(end())
        .check(by_records);
    Scene::c().prompt("x").calls("t1", "Bash").wait(60).answers("t1").says(end()).check(by_records);
    // The newest releases have a better sign: without it nothing is guessed.
    Scene::new("2.1.329")
        .prompt("x")
        .calls("t1", "Bash")
        .wait(60)
        .check("thinking X, tool_use X Bash (a thing)");
    Scene::c()
        .hook(HookSignal::PromptSubmitted)
        .calls("t1", "Bash")
        .wait(60)
        .check("thinking H, tool_use X Bash (a thing)");
}

#[test]
fn an_open_tool_waits_for_permission_after_seven_seconds() {
    let exempt = |tool: &str| Scene::c().prompt("x").calls("t1", tool).wait(100);
    exempt("Task").check("thinking X, tool_use X Task (a thing)");
    exempt("Agent").check("thinking X, tool_use X Agent (a thing)");
    exempt("AskUserQuestion").check("thinking X, waiting_input X AskUserQuestion (question)");
    let progress = |scene: Scene| {
        scene.write(json!({"type": "progress", "parentToolUseID": "t1", "data": {"type": "bash_progress"}}))
    };
    let scene = Scene::new("2.1.59").prompt("x").calls("t1", "Bash").wait(6);
    let scene = progress(scene)
        .wait(6)
        .check("thinking X, tool_use X Bash (a thing)")
        .wait(2)
        .check("waiting_permission T Bash (a thing)");
    progress(scene).check("tool_use X Bash (a thing)");
    for mode in ["bypassPermissions", "dontAsk"] {
        let mode = json!({"type": "permission-mode", "permissionMode": mode});
        Scene::c()
            .write(mode)
            .prompt("x")
            .calls("t1", "Bash")
            .wait(60)
            .check("thinking X, tool_use X Bash (a thing)");
    }
    // A finished tool arms the five seconds again.
    Scene::c()
        .prompt("x")
        .calls("t1", "Bash")
        .answers("t1")
        .says(json!(null))
        .wait(6)
        .check("thinking X, tool_use X Bash (a thing), thinking X, responding X, waiting_input T");
}

#[test]
fn several_tools_at_once() {
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .calls("t1", "Bash")
        .calls("t2", "Read")
        .answers("t2")
        .answers("t1")
        .check("thinking X, tool_use X Bash (a thing), thinking X");
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .calls("t1", "Bash")
        .answers("t1")
        .calls("t2", "Grep")
        .check("thinking X, tool_use X Bash (a thing), thinking X, tool_use X Grep (a thing)");
}

#[test]
fn a_tool_of_an_interrupted_turn_is_not_open_in_the_next() {
    // The record of the interruption may come after the next turn has begun.
    let scene = Scene::a().idle().busy().prompt("x").calls("t1", "Bash").idle().busy();
    scene
        .check("waiting_input R, thinking R, tool_use R Bash (a thing), waiting_input R, thinking R")
        .interrupted()
        .check("");
}
