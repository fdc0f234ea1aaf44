//! Turns of text: how they begin, go on and are over.

use model::Evidence;
use monitor::ProcessState;
use monitor::hooks::HookSignal;
use serde_json::json;

use super::{Scene, end};

#[test]
fn a_terminal_is_opened() {
    Scene::a().idle().check("waiting_input R");
    Scene::b().check("waiting_input R");
    Scene::c().hook(HookSignal::SessionOpened).check("waiting_input H");
}

#[test]
fn a_text_turn() {
    Scene::a()
        .idle()
        .check("waiting_input R")
        .busy()
        .prompt("x")
        .check("thinking R")
        .idle()
        .wait(1)
        .says(end())
        .turn_duration(0)
        .check("waiting_input R");
    // The records may come before the registry is idle.
    Scene::a()
        .busy()
        .prompt("x")
        .thinks(end())
        .says(end())
        .turn_duration(0)
        .idle()
        .wait(1)
        .check("thinking R, responding R, waiting_input R");
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .thinks(end())
        .says(end())
        .check("thinking X, waiting_input X");
    Scene::c()
        .prompt("x")
        .says(json!(null))
        .wait(4)
        .check("thinking X, responding X")
        .wait(2)
        .check("waiting_input T");
    Scene::c().prompt("x").says(end()).wait(60).check("thinking X, waiting_input X");
    Scene::c()
        .hook(HookSignal::PromptSubmitted)
        .prompt("x")
        .says(json!(null))
        .hook(HookSignal::TurnEnded { in_background: 0 })
        .check("thinking H, responding X, waiting_input H");
    Scene::b()
        .check("waiting_input R")
        .hook(HookSignal::PromptSubmitted)
        .prompt("x")
        .says(end())
        .hook(HookSignal::TurnEnded { in_background: 0 })
        .check("thinking H, waiting_input X, waiting_input H");
}

#[test]
fn every_stop_reason_of_a_message() {
    // By records alone, in every class of release: a registry may be another container's.
    for version in ["1.0.60", "2.0.77", "2.1.100", "2.1.197", "2.1.329"] {
        for reason in ["end_turn", "stop_sequence", "max_tokens", "refusal", "a new one"] {
            let scene = Scene::new(version).prompt("x").says(json!(reason)).wait(60);
            scene.check("thinking X, waiting_input X");
        }
        // The model continues by itself.
        let paused = Scene::new(version).prompt("x").thinks(json!("pause_turn")).wait(60);
        paused.check("thinking X").says(end()).check("waiting_input X");
        // A terminal's mark, since 2.1.119, and those of Esc.
        let marked = Scene::new(version).prompt("x").says(json!(null)).turn_duration(0).wait(60);
        marked.check("thinking X, responding X, waiting_input X");
        for mark in ["[Request interrupted by user]", "[Request interrupted by user for tool use]"] {
            let scene =
                Scene::new(version).prompt("x").calls("t1", "Bash").answers("t1").prompt(mark).wait(60);
            scene.check("thinking X, tool_use X Bash (a thing), thinking X, waiting_input X");
        }
        // Both kinds of question, for as long as nobody answers.
        for question in ["AskUserQuestion", "ExitPlanMode"] {
            let scene = Scene::new(version).prompt("x").calls("t1", question).wait(1700);
            scene.check(&format!("thinking X, waiting_input X {question} (question)"));
        }
    }
}

#[test]
fn a_block_of_an_earlier_turn_does_not_count() {
    let scene = Scene::a()
        .busy()
        .prompt("x")
        .says(end())
        .idle()
        .wait(1)
        .check("thinking R, responding R, waiting_input R");
    scene.busy().check("thinking R");
}

#[test]
fn thinking_without_a_text() {
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .thinks(end())
        .check("thinking X")
        .wait(1)
        .check("waiting_input X");
    Scene::c().prompt("x").thinks(json!(null)).wait(100).check("thinking X");
}

#[test]
fn print_mode() {
    let ended = |at| ProcessState::Ended { at, evidence: Evidence::Registry };
    let scene = Scene::a().busy().prompt("x").says(end());
    let at = scene.now;
    scene.process(ended(at)).check("thinking R, responding R, ended R");
    let cost = json!({"type": "cost-state", "totalCostUSD": 0.1});
    Scene::new("2.1.329").prompt("x").says(end()).write(cost).check("thinking X, waiting_input X, ended X");
}

#[test]
fn long_streaming() {
    Scene::a().busy().prompt("x").wait(120).check("thinking R");
    Scene::b().check("waiting_input R").prompt("x").wait(120).check("thinking X");
    Scene::c()
        .prompt("x")
        .wait(120)
        .thinks(json!(null))
        .wait(120)
        .says(json!(null))
        .calls("t1", "Bash")
        .check("thinking X, responding X, tool_use X Bash (a thing)");
}

#[test]
fn escape() {
    Scene::a()
        .busy()
        .prompt("x")
        .idle()
        .wait(1)
        .says(json!(null))
        .interrupted()
        .check("thinking R, waiting_input R");
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .says(json!(null))
        .interrupted()
        .check("thinking X, responding X, waiting_input X");
    Scene::c()
        .prompt("x")
        .calls("t1", "Bash")
        .answers("t1")
        .interrupted()
        .wait(20)
        .check("thinking X, tool_use X Bash (a thing), thinking X, waiting_input X");
    Scene::c()
        .hook(HookSignal::PromptSubmitted)
        .prompt("x")
        .interrupted()
        .check("thinking H, waiting_input X");
}

#[test]
fn an_error_of_the_api() {
    let error = json!({"type": "assistant", "isApiErrorMessage": true, "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}], "stop_reason": "stop_sequence"}});
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .write(json!({"type": "system", "subtype": "api_error"}))
        .write(error.clone())
        .check("thinking X, failed X (API Error)");
    Scene::a()
        .busy()
        .prompt("x")
        .idle()
        .wait(1)
        .write(error)
        .check("thinking R, waiting_input R, failed R (API Error)");
}

#[test]
fn compaction() {
    let boundary = |trigger: &str| json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": trigger}});
    let summary = json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "This session is being continued"}});
    let manual = |scene: Scene| {
        let caveat = "<local-command-caveat>The command below</local-command-caveat>";
        scene
            .write(boundary("manual"))
            .write(summary.clone())
            .meta(caveat)
            .prompt("<command-name>/compact</command-name>")
            .prompt("<local-command-stdout>Compacted</local-command-stdout>")
    };
    manual(Scene::a().idle().busy()).idle().wait(1).check("waiting_input R, thinking R, waiting_input R");
    manual(Scene::b().prompt("x").says(end())).check("waiting_input R, thinking X, waiting_input X");
    let scene = Scene::b()
        .prompt("x")
        .calls("t1", "Read")
        .answers("t1")
        .write(boundary("auto"))
        .write(summary.clone());
    scene.check("waiting_input R, thinking X, tool_use X Read, thinking X");
}

#[test]
fn records_that_begin_no_turn() {
    let scene = Scene::b().prompt("x").says(end()).check("waiting_input R, thinking X, waiting_input X");
    let scene = scene
        .prompt("<command-name>/model</command-name>")
        .prompt("<local-command-stdout>Set</local-command-stdout>")
        .prompt("<bash-input>ls</bash-input>");
    let scene = scene
        .write(json!({"type": "queue-operation", "operation": "enqueue", "content": "next"}))
        .write(json!({"type": "ai-title", "aiTitle": "T"}));
    let scene = scene.check("");
    let scene = scene
        .prompt("<command-message>ship</command-message>\n<command-name>/ship</command-name>")
        .check("thinking X")
        .says(end())
        .check("waiting_input X");
    scene
        .write(json!({"type": "system", "subtype": "stop_hook_summary"}))
        .meta("Stop hook feedback: go on")
        .check("thinking X");
}

#[test]
fn a_stop_hook_sends_the_turn_on() {
    let summary = |prevented: bool| json!({"type": "system", "subtype": "stop_hook_summary", "preventedContinuation": prevented});
    let said = || {
        let scene = Scene::b().check("waiting_input R").prompt("x").says(end());
        scene.check("thinking X, waiting_input X")
    };
    // Sent on, it works until it has answered again; the hooks have nothing more to say then.
    said()
        .meta("Stop hook feedback:\nthe tests do not pass")
        .write(summary(false))
        .wait(4)
        .check("thinking X")
        .says(end())
        .write(summary(false))
        .check("waiting_input X");
    // A hook may forbid that it continues, whatever other hooks asked for.
    said().meta("Stop hook feedback:\nno").write(summary(true)).check("thinking X, waiting_input X");
    said().write(summary(false)).check("");
    // Of a release that writes no whole message, the hooks' word is the end.
    let scene = Scene::c().prompt("x").says(json!(null)).write(summary(false));
    scene.check("thinking X, responding X, waiting_input X");
}

#[test]
fn the_facts_of_a_watched_session() {
    let usage = json!({"input_tokens": 4, "cache_read_input_tokens": 1000, "output_tokens": 6});
    let answer = json!({"type": "assistant", "cwd": "/home/ana/shop", "gitBranch": "main", "message": {"model": "claude-x", "usage": usage, "content": [{"type": "text", "text": "So."}], "stop_reason": "end_turn"}});
    let scene = Scene::b().prompt("Fix the login").write(answer);
    let info = scene.tracker.info(scene.now);
    assert_eq!(info.title.as_deref(), Some("Fix the login"));
    assert_eq!((info.context_tokens, info.model.as_deref()), (1010, Some("claude-x")));
    assert_eq!(
        (info.project.as_deref(), info.branch.as_deref(), info.pid),
        (Some("shop"), Some("main"), Some(7))
    );
}
