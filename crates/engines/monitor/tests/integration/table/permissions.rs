//! Permissions, questions and dialogs.

use jiff::SignedDuration;
use monitor::hooks::HookSignal;
use serde_json::json;
use transcript::record::parse;

use super::{Scene, end};

#[test]
fn a_permission_request() {
    let asked = |scene: Scene| scene.busy().prompt("x").calls("t1", "Bash").asks("permission prompt");
    let begin = "thinking R, tool_use R Bash (a thing), waiting_permission R Bash (a thing)";
    let allowed = asked(Scene::a()).wait(7200).check(begin).busy().answers("t1").says(end()).idle().wait(1);
    allowed.check("tool_use R Bash (a thing), thinking R, responding R, waiting_input R");
    asked(Scene::a()).check(begin).idle().wait(1).answers("t1").interrupted().check("waiting_input R");

    // The refusal is written before the registry says that it was given.
    let denied = asked(Scene::a()).check(begin).answers("t1").check("");
    denied.interrupted().check("").idle().wait(1).check("waiting_input R");

    let asked = |scene: Scene| {
        let ask =
            HookSignal::Asked { tool: Some("Bash".into()), detail: Some("a thing".into()), question: false };
        scene.hook(HookSignal::PromptSubmitted).calls("t1", "Bash").hook(ask).hook(HookSignal::StillAsking)
    };
    let begin = "thinking H, tool_use X Bash (a thing), waiting_permission H Bash (a thing)";
    let allowed = asked(Scene::c())
        .wait(7200)
        .check(begin)
        .hook(HookSignal::Answered { tool: Some("Bash".into()), tool_use: Some("t1".into()) });
    allowed
        .answers("t1")
        .says(end())
        .hook(HookSignal::TurnEnded { in_background: 0 })
        .check("thinking H, waiting_input X, waiting_input H");
    // No hook reports a denial.
    asked(Scene::c()).check(begin).answers("t1").interrupted().check("thinking X, waiting_input X");
}

#[test]
fn a_hook_arrives_before_the_record_it_reports() {
    let ask = HookSignal::Asked { tool: Some("Bash".into()), detail: None, question: false };
    let mut scene = Scene::c().hook(HookSignal::PromptSubmitted).check("thinking H");
    let made = scene.now + SignedDuration::from_millis(1);
    scene = scene.hook(ask).check("waiting_permission H Bash");
    // The call was made before the hook and is written after it.
    let call = json!({"type": "assistant", "timestamp": format!("{made:.3}"), "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}], "stop_reason": "tool_use"}});
    scene.tracker.observe(&parse(call.to_string().as_bytes()).unwrap(), scene.now);
    scene.tell();
    scene.check("");
}

#[test]
fn each_release_names_requests_differently() {
    let check = |tool: &str, word: &str, expected: &str| {
        Scene::a().busy().prompt("x").check("thinking R").calls("t1", tool).asks(word).check(expected);
    };
    let bash = "tool_use R Bash (a thing), waiting_permission R Bash (a thing)";
    check("Bash", "permission prompt", bash);
    check("Bash", "approve Bash", bash);
    check("Bash", "approve Bash: touch it", bash);
    let question = "tool_use R AskUserQuestion, waiting_input R AskUserQuestion (question)";
    check("AskUserQuestion", "input needed", question);
    check("AskUserQuestion", "approve AskUserQuestion", question);
    check("AskUserQuestion", "permission prompt", question);
    // A plan is approved as a permission is given.
    let plan = "tool_use R ExitPlanMode, waiting_permission R ExitPlanMode";
    check("ExitPlanMode", "permission prompt", plan);
    check("ExitPlanMode", "approve ExitPlanMode", plan);
    // The call may be written after the registry has named it.
    Scene::a().busy().prompt("x").asks("approve Bash").check("thinking R, waiting_permission R Bash");
}

#[test]
fn a_question() {
    Scene::a()
        .busy()
        .prompt("x")
        .calls("t1", "AskUserQuestion")
        .asks("input needed")
        .wait(7200)
        .busy()
        .answers("t1")
        .says(end())
        .idle()
        .wait(1)
        .check("thinking R, tool_use R AskUserQuestion, waiting_input R AskUserQuestion (question), thinking R, responding R, waiting_input R");
    let records = Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .calls("t1", "AskUserQuestion")
        .wait(7200)
        .answers("t1")
        .says(end());
    records.check("thinking X, waiting_input X AskUserQuestion (question), thinking X, waiting_input X");
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .calls("t1", "ExitPlanMode")
        .check("thinking X, waiting_input X ExitPlanMode (question)");
    Scene::a()
        .busy()
        .prompt("x")
        .calls("t1", "ExitPlanMode")
        .asks("permission prompt")
        .check("thinking R, tool_use R ExitPlanMode, waiting_permission R ExitPlanMode");
    let ask = HookSignal::Asked { tool: Some("AskUserQuestion".into()), detail: None, question: true };
    Scene::c()
        .hook(HookSignal::PromptSubmitted)
        .hook(ask)
        .check("thinking H, waiting_input H AskUserQuestion (question)");
}

#[test]
fn dialogs_and_other_requests() {
    Scene::a()
        .idle()
        .asks("dialog open")
        .idle()
        .wait(1)
        .check("waiting_input R, waiting_input R (dialog open), waiting_input R");
    Scene::a().busy().asks("sandbox request").check("thinking R, waiting_permission R (sandbox request)");
    // What a release to come waits for is not done, and nor is a dialog in the middle of a turn.
    Scene::a().busy().asks("something new").check("thinking R, waiting_input R (question: something new)");
    let scene = Scene::a().busy().prompt("x").calls("t1", "Bash").asks("dialog open");
    scene.check("thinking R, tool_use R Bash (a thing), waiting_input R (question: dialog open)");
}
