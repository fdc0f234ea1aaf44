//! Who holds a session, how it is left, and what time alone makes of it.

use model::Evidence;
use monitor::hooks::HookSignal;
use monitor::{ProcessState, WorkerActivity};
use serde_json::{Value, json};

use super::{Scene, end};

fn asks(question: bool) -> WorkerActivity {
    let (detail, asking) = (Some("a thing".into()), Some("touch it".into()));
    WorkerActivity::Asking { tool: "Bash".into(), detail, asking, question }
}

#[test]
fn a_workers_request_is_known_before_it_is_in_the_transcript() {
    let scene = Scene::c().worker(WorkerActivity::Working).worker(asks(false));
    let asked: Vec<_> = scene.seen.iter().map(|activity| activity.asking.as_deref()).collect();
    assert_eq!(asked, [None, Some("touch it")]);
}

#[test]
fn a_session_of_a_worker_has_a_place_and_a_name_before_it_has_a_transcript() {
    let scene = Scene::c().worker(WorkerActivity::Working);
    let info = scene.tracker.info(scene.now);
    assert_eq!(
        (info.project.as_deref(), info.title.as_deref()),
        (Some("shop"), Some("Paint the fence in green"))
    );
    let scene = scene.prompt("Sand it first");
    assert_eq!(scene.tracker.info(scene.now).title.as_deref(), Some("Sand it first"));
}

#[test]
fn a_worker_of_ours() {
    let turn = |scene: Scene| {
        let scene = scene.worker(WorkerActivity::Working).check("thinking P").prompt("x").calls("t1", "Bash");
        let scene = scene.wait(60).check("tool_use P Bash (a thing)");
        let scene = scene.worker(asks(false)).wait(7200).check("waiting_permission P Bash (a thing)");
        let scene = scene.worker(asks(true)).check("waiting_input P Bash (question)");
        let scene =
            scene.worker(WorkerActivity::Working).answers("t1").says(end()).worker(WorkerActivity::Idle);
        scene.check("tool_use P Bash (a thing), thinking P, responding P, waiting_input P")
    };
    // Where nothing else tells, and where a lesser sign says the same or nothing of use.
    turn(Scene::c()).worker(WorkerActivity::Ended).wait(7200).check("ended P");
    turn(Scene::b().check("waiting_input R")).wait(1801).check("idle T");
    turn(Scene::c()).worker(WorkerActivity::Working).worker(WorkerActivity::Lost).check("thinking P, lost P");
    let scene = Scene::a().busy().check("thinking R").worker(WorkerActivity::Working).check("thinking P");
    let scene = scene.asks("permission prompt").check("").worker(asks(false));
    scene
        .check("waiting_permission P Bash (a thing)")
        .idle()
        .check("")
        .worker(WorkerActivity::Idle)
        .check("waiting_input P");
}

#[test]
fn a_workers_end_is_reported_once() {
    let ended = |at| ProcessState::Ended { at, evidence: Evidence::Registry };
    let scene = Scene::a().idle().worker(WorkerActivity::Working).check("waiting_input R, thinking P");
    let at = scene.now;
    let scene = scene.process(ended(at)).check("").worker(WorkerActivity::Ended).check("ended R");
    // Another worker takes the session up.
    let scene = scene
        .worker(WorkerActivity::Working)
        .check("thinking P")
        .worker(WorkerActivity::Ended)
        .check("ended P");
    let at = scene.now;
    scene.process(ended(at)).process(ProcessState::Absent).check("");
}

#[test]
fn a_released_session_follows_the_other_evidence() {
    let mut scene = Scene::a().busy().worker(WorkerActivity::Working).check("thinking R, thinking P");
    scene.tracker.worker_report(None, scene.now);
    scene.tell();
    scene.check("thinking R");
}

#[test]
fn a_session_is_left_for_another() {
    let ended = |at| ProcessState::Ended { at, evidence: Evidence::Registry };
    let scene = Scene::a().busy().prompt("x").says(end()).idle().wait(1);
    let at = scene.now;
    let scene = scene.process(ended(at)).check("thinking R, responding R, waiting_input R, ended R");
    // What is written on the way out changes nothing; whoever takes the session up again does.
    let scene = scene.write(json!({"type": "cost-state", "totalCostUSD": 0.1})).check("");
    scene.wait(3600).prompt("again").check("thinking X");
    Scene::c()
        .hook(HookSignal::SessionOpened)
        .hook(HookSignal::SessionLeft { cleared: true })
        .check("waiting_input H, ended H");
}

#[test]
fn a_branch_begins_where_its_turn_is_over() {
    let copied = |mut record: Value| {
        record["forkedFrom"] = json!({"sessionId": "s0", "messageUuid": "m"});
        record
    };
    let prompt = copied(json!({"type": "user", "message": {"role": "user", "content": "x"}}));
    let call = json!({"type": "tool_use", "id": "t1", "name": "Agent", "input": {"prompt": "Count"}});
    let call =
        copied(json!({"type": "assistant", "message": {"content": [call], "stop_reason": "tool_use"}}));
    let branch = |scene: Scene| scene.write(prompt.clone()).write(call.clone());
    let scene = branch(Scene::a()).check("waiting_input X").check_subagents("");
    let scene = scene.busy().idle().check("thinking R, waiting_input R");
    scene.busy().prompt("more").says(end()).idle().check("thinking R, responding R, waiting_input R");
    branch(Scene::b()).prompt("more").check("waiting_input R, waiting_input X, thinking X");
    branch(Scene::c()).wait(1801).check("waiting_input X, idle T");
}

#[test]
fn a_process_is_killed() {
    let scene = Scene::a().busy().prompt("x").calls("t1", "Bash");
    let at = scene.now;
    scene
        .process(ProcessState::Lost { at, evidence: Evidence::Registry })
        .wait(7200)
        .check("thinking R, tool_use R Bash (a thing), lost R");
    Scene::c().prompt("x").wait(1799).check("thinking X").wait(2).check("idle T");
}

#[test]
fn silence() {
    Scene::a().idle().wait(1799).check("waiting_input R").wait(2).check("idle T").busy().check("thinking R");
    Scene::b()
        .prompt("x")
        .says(end())
        .wait(1801)
        .check("waiting_input R, thinking X, waiting_input X, idle T");
    // A tool may run for as long as it likes, where the process is known to live.
    Scene::a()
        .busy()
        .prompt("x")
        .calls("t1", "Bash")
        .wait(100_000)
        .check("thinking R, tool_use R Bash (a thing)");
    let scene = Scene::new("2.1.100").prompt("x");
    scene.process(ProcessState::Absent).wait(1).check("thinking X, idle R");
}
