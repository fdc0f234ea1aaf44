//! `docs/activity.md`, row by row, on a virtual clock: what is written and said goes in, states come out.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use model::{Activity, Evidence, SessionEvent};
use monitor::hooks::{Hook, Told};
use monitor::{Held, Process, Spoken, Status, Timers, Tracker, Word};
use serde_json::{Value, json};
use transcript::record::parse;
use transcript::{LiveStatus, SubagentMeta};

/// A session of a release, written line by line.
struct Scene {
    tracker: Tracker,
    version: &'static str,
    now: Timestamp,
    seen: Vec<Activity>,
    subagents: Vec<String>,
    message: u32,
    has_status: bool,
}

impl Scene {
    fn new(version: &'static str) -> Self {
        Self {
            tracker: Tracker::new("s1".parse().unwrap(), Timers::default()),
            version,
            now: "2026-11-20T09:00:00Z".parse().unwrap(),
            seen: Vec::new(),
            subagents: Vec::new(),
            message: 0,
            has_status: false,
        }
    }

    /// A terminal of a release whose registry says what it does.
    fn a() -> Self {
        Self { has_status: true, ..Self::new("2.1.329") }
    }

    /// A terminal whose registry says only that it lives.
    fn b() -> Self {
        let mut scene = Self::new("2.1.100");
        scene.alive();
        scene
    }

    fn c() -> Self {
        Self::new("2.0.77")
    }

    fn tell(&mut self) {
        for event in self.tracker.tick(self.now) {
            match event {
                SessionEvent::SessionActivity(_) => self.seen.push(self.tracker.activity(self.now)),
                SessionEvent::SubagentSpawned(event) => self.subagents.push(format!("+{}", event.task_id)),
                SessionEvent::SubagentProgress(event) => {
                    self.subagents.push(format!("~{}", event.tool_name.unwrap_or_default()));
                }
                SessionEvent::SubagentCompleted(event) => self.subagents.push(format!("-{}", event.task_id)),
                _ => {}
            }
        }
    }

    /// Time passes; what time alone changes is told when it does.
    fn wait(mut self, seconds: i64) -> Self {
        let until = self.now + SignedDuration::from_secs(seconds);
        while let Some(next) = self.tracker.next_deadline(self.now).filter(|next| *next < until) {
            self.now = next;
            self.tell();
        }
        self.now = until;
        self.tell();
        self
    }

    fn write(mut self, mut record: Value) -> Self {
        self.now += SignedDuration::from_millis(10);
        record["timestamp"] = format!("{:.3}", self.now).into();
        record["version"] = self.version.into();
        let line = record.to_string();
        self.tracker.observe(&parse(line.as_bytes()).unwrap(), self.now);
        self.tell();
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.write(json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    fn meta(self, text: &str) -> Self {
        self.write(json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": text}}))
    }

    fn block(mut self, block: Value, stop: Value) -> Self {
        self.message += 1;
        self.write(json!({"type": "assistant", "message": {"role": "assistant", "model": "m", "content": [block], "stop_reason": stop}}))
    }

    fn says(self, stop: Value) -> Self {
        self.block(json!({"type": "text", "text": "So."}), stop)
    }

    fn thinks(self, stop: Value) -> Self {
        self.block(json!({"type": "thinking", "thinking": "Hm."}), stop)
    }

    fn calls(self, id: &str, name: &str) -> Self {
        let input = json!({"description": "a thing", "prompt": format!("do {id}")});
        self.block(json!({"type": "tool_use", "id": id, "name": name, "input": input}), json!("tool_use"))
    }

    fn answers(self, id: &str) -> Self {
        self.answers_with(id, json!({"stdout": ""}))
    }

    fn answers_with(self, id: &str, result: Value) -> Self {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        self.write(
            json!({"type": "user", "toolUseResult": result, "message": {"role": "user", "content": [block]}}),
        )
    }

    fn turn_duration(self, in_background: u64) -> Self {
        self.write(json!({"type": "system", "subtype": "turn_duration", "pendingBackgroundAgentCount": in_background}))
    }

    fn interrupted(self) -> Self {
        let text = json!({"type": "text", "text": "[Request interrupted by user]"});
        self.write(json!({"type": "user", "message": {"role": "user", "content": [text]}}))
    }

    fn agent(mut self, agent: &str, meta: Option<&str>, record: &Value) -> Self {
        self.now += SignedDuration::from_millis(10);
        let meta = SubagentMeta { tool_use: meta.map(Into::into), ..SubagentMeta::default() };
        let line = record.to_string();
        self.tracker.observe_subagent(agent, &meta, &parse(line.as_bytes()).unwrap(), self.now);
        self.tell();
        self
    }

    fn alive(&mut self) {
        let held = Held { pid: 7, found: self.now, cwd: None, status: None };
        self.tracker.registry(Process::Alive(held), self.now);
        self.tell();
    }

    fn status(mut self, word: LiveStatus, waiting_for: Option<&str>) -> Self {
        assert!(self.has_status);
        self.now += SignedDuration::from_millis(10);
        let status = Status { word, waiting_for: waiting_for.map(Into::into), since: self.now };
        let held = Held { pid: 7, found: self.now, cwd: None, status: Some(status) };
        self.tracker.registry(Process::Alive(held), self.now);
        self.tell();
        self
    }

    fn busy(self) -> Self {
        self.status(LiveStatus::Busy, None)
    }

    fn idle(self) -> Self {
        self.status(LiveStatus::Idle, None)
    }

    fn asks(self, what: &str) -> Self {
        self.status(LiveStatus::Waiting, Some(what))
    }

    fn process(mut self, process: Process) -> Self {
        self.tracker.registry(process, self.now);
        self.tell();
        self
    }

    fn worker(mut self, word: Word) -> Self {
        self.now += SignedDuration::from_millis(10);
        self.tracker.spoken(Some(Spoken { pid: Some(7), since: self.now, word }), self.now);
        self.tell();
        self
    }

    fn hook(mut self, told: Told) -> Self {
        self.now += SignedDuration::from_millis(10);
        let session = self.tracker.id().clone();
        self.tracker.hook(&Hook { at: self.now, session, name: "Hook".into(), agent: None, told });
        self.tell();
        self
    }

    /// The states since the last look, as `state E tool (detail)`.
    #[track_caller]
    fn check(mut self, expected: &str) -> Self {
        let mut found = String::new();
        for activity in std::mem::take(&mut self.seen) {
            let evidence = match activity.evidence {
                Evidence::Protocol => 'P',
                Evidence::Registry => 'R',
                Evidence::Hook => 'H',
                Evidence::Transcript => 'X',
                Evidence::Timer => 'T',
            };
            let tool = activity.tool.map(|tool| format!(" {tool}")).unwrap_or_default();
            let detail = activity.detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
            let separator = if found.is_empty() { "" } else { ", " };
            let state = activity.state.word();
            write!(found, "{separator}{state} {evidence}{tool}{detail}").unwrap();
        }
        assert_eq!(found, expected);
        self
    }

    #[track_caller]
    fn check_subagents(mut self, expected: &str) -> Self {
        assert_eq!(std::mem::take(&mut self.subagents).join(" "), expected);
        self
    }
}

fn end() -> Value {
    json!("end_turn")
}

#[test]
fn a_terminal_is_opened() {
    Scene::a().idle().check("waiting_input R");
    Scene::b().check("waiting_input R");
    Scene::c().hook(Told::Started).check("waiting_input H");
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
        .hook(Told::Prompt)
        .prompt("x")
        .says(json!(null))
        .hook(Told::Over { in_background: 0 })
        .check("thinking H, responding X, waiting_input H");
    Scene::b()
        .check("waiting_input R")
        .hook(Told::Prompt)
        .prompt("x")
        .says(end())
        .hook(Told::Over { in_background: 0 })
        .check("thinking H, waiting_input X, waiting_input H");
}

#[test]
fn every_way_in_which_a_message_stops() {
    // By records alone, in every class of release: a registry may be another container's.
    for version in ["1.0.60", "2.0.77", "2.1.100", "2.1.197", "2.1.329"] {
        for reason in ["end_turn", "stop_sequence", "max_tokens", "refusal", "a new one"] {
            let scene = Scene::new(version).prompt("x").says(json!(reason)).wait(60);
            scene.check("thinking X, waiting_input X");
        }
        // The model goes on by itself.
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
fn hooks_of_a_subagent_say_nothing_of_the_turn() {
    let answered = Told::Answered { tool: Some("Bash".into()), tool_use: Some("t9".into()) };
    let mut scene = Scene::b().hook(Told::Prompt).hook(Told::Over { in_background: 1 });
    scene = scene.check("waiting_input R, thinking H, waiting_input H (1 in the background)");
    let inner = |scene: &Scene, told| Hook {
        at: scene.now,
        session: scene.tracker.id().clone(),
        name: "Hook".into(),
        agent: Some("a7".into()),
        told,
    };
    // What it asks is asked of the person all the same.
    let ask = Told::Asks { tool: Some("Bash".into()), detail: None, question: false };
    scene.tracker.hook(&inner(&scene, ask));
    scene.tell();
    scene = scene.check("waiting_permission H Bash");
    scene.tracker.hook(&inner(&scene, answered));
    scene.tell();
    scene.check("waiting_input H (1 in the background)");
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
fn a_tool_of_an_interrupted_turn_is_not_open_in_the_next() {
    // The record of the interruption may come after the next turn has begun.
    let scene = Scene::a().idle().busy().prompt("x").calls("t1", "Bash").idle().busy();
    scene
        .check("waiting_input R, thinking R, tool_use R Bash (a thing), waiting_input R, thinking R")
        .interrupted()
        .check("");
}

#[test]
fn only_thought_and_nothing_after_it() {
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
    let ended = |at| Process::Ended { at, evidence: Evidence::Registry };
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
    Scene::c().hook(Told::Prompt).calls("t1", "Bash").wait(60).check("thinking H, tool_use X Bash (a thing)");
}

#[test]
fn the_seven_seconds() {
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
fn a_permission_is_asked() {
    let asked = |scene: Scene| scene.busy().prompt("x").calls("t1", "Bash").asks("permission prompt");
    let begin = "thinking R, tool_use R Bash (a thing), waiting_permission R Bash (a thing)";
    let allowed = asked(Scene::a()).wait(7200).check(begin).busy().answers("t1").says(end()).idle().wait(1);
    allowed.check("tool_use R Bash (a thing), thinking R, responding R, waiting_input R");
    asked(Scene::a()).check(begin).idle().wait(1).answers("t1").interrupted().check("waiting_input R");

    let asked = |scene: Scene| {
        let ask = Told::Asks { tool: Some("Bash".into()), detail: Some("a thing".into()), question: false };
        scene.hook(Told::Prompt).calls("t1", "Bash").hook(ask).hook(Told::StillAsks)
    };
    let begin = "thinking H, tool_use X Bash (a thing), waiting_permission H Bash (a thing)";
    let allowed = asked(Scene::c())
        .wait(7200)
        .check(begin)
        .hook(Told::Answered { tool: Some("Bash".into()), tool_use: Some("t1".into()) });
    allowed
        .answers("t1")
        .says(end())
        .hook(Told::Over { in_background: 0 })
        .check("thinking H, waiting_input X, waiting_input H");
    // A denial is told by no hook.
    asked(Scene::c()).check(begin).answers("t1").interrupted().check("thinking X, waiting_input X");
}

#[test]
fn a_worker_of_ours() {
    let asks = |question| Word::Asks { tool: "Bash".into(), detail: Some("a thing".into()), question };
    let turn = |scene: Scene| {
        let scene = scene.worker(Word::Works).check("thinking P").prompt("x").calls("t1", "Bash");
        let scene = scene.wait(60).check("tool_use P Bash (a thing)");
        let scene = scene.worker(asks(false)).wait(7200).check("waiting_permission P Bash (a thing)");
        let scene = scene.worker(asks(true)).check("waiting_input P Bash (question)");
        let scene = scene.worker(Word::Works).answers("t1").says(end()).worker(Word::Rests);
        scene.check("tool_use P Bash (a thing), thinking P, responding P, waiting_input P")
    };
    // Where nothing else tells, and where a lesser sign says the same or nothing of use.
    turn(Scene::c()).worker(Word::Ended).wait(7200).check("ended P");
    turn(Scene::b().check("waiting_input R")).wait(1801).check("idle T");
    turn(Scene::c()).worker(Word::Works).worker(Word::Lost).check("thinking P, lost P");
    let scene = Scene::a().busy().check("thinking R").worker(Word::Works).check("thinking P");
    let scene = scene.asks("permission prompt").check("").worker(asks(false));
    scene
        .check("waiting_permission P Bash (a thing)")
        .idle()
        .check("")
        .worker(Word::Rests)
        .check("waiting_input P");
}

#[test]
fn how_a_worker_left_is_told_once() {
    let ended = |at| Process::Ended { at, evidence: Evidence::Registry };
    let scene = Scene::a().idle().worker(Word::Works).check("waiting_input R, thinking P");
    let at = scene.now;
    let scene = scene.process(ended(at)).check("").worker(Word::Ended).check("ended R");
    // Another worker takes the session up.
    let scene = scene.worker(Word::Works).check("thinking P").worker(Word::Ended).check("ended P");
    let at = scene.now;
    scene.process(ended(at)).process(Process::Absent).check("");
}

#[test]
fn a_session_that_its_worker_lets_go_is_what_the_other_signs_say() {
    let mut scene = Scene::a().busy().worker(Word::Works).check("thinking R, thinking P");
    scene.tracker.spoken(None, scene.now);
    scene.tell();
    scene.check("thinking R");
}

#[test]
fn a_hook_is_quicker_than_the_record_it_tells_of() {
    let ask = Told::Asks { tool: Some("Bash".into()), detail: None, question: false };
    let mut scene = Scene::c().hook(Told::Prompt).check("thinking H");
    let made = scene.now + SignedDuration::from_millis(1);
    scene = scene.hook(ask).check("waiting_permission H Bash");
    // The call was made before the hook and is written after it.
    let call = json!({"type": "assistant", "timestamp": format!("{made:.3}"), "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}], "stop_reason": "tool_use"}});
    scene.tracker.observe(&parse(call.to_string().as_bytes()).unwrap(), scene.now);
    scene.tell();
    scene.check("");
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
    let ask = Told::Asks { tool: Some("AskUserQuestion".into()), detail: None, question: true };
    Scene::c().hook(Told::Prompt).hook(ask).check("thinking H, waiting_input H AskUserQuestion (question)");
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
    Scene::a().busy().asks("something new").check("thinking R, waiting_input R (something new)");
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
    Scene::c().hook(Told::Prompt).prompt("x").interrupted().check("thinking H, waiting_input X");
}

#[test]
fn an_error_of_the_api() {
    let error = json!({"type": "assistant", "isApiErrorMessage": true, "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}], "stop_reason": "stop_sequence"}});
    Scene::b()
        .check("waiting_input R")
        .prompt("x")
        .write(json!({"type": "system", "subtype": "api_error"}))
        .write(error.clone())
        .check("thinking X, waiting_input X (api error)");
    Scene::a()
        .busy()
        .prompt("x")
        .idle()
        .wait(1)
        .write(error)
        .check("thinking R, waiting_input R, waiting_input R (api error)");
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
        .check("thinking X, tool_use X Agent (a thing), thinking X, waiting_input X (1 in the background)")
        .write(enqueue)
        .check("waiting_input X")
        .check_subagents("+t1 -t1");
    Scene::c()
        .hook(Told::Prompt)
        .hook(Told::Over { in_background: 1 })
        .check("thinking H, waiting_input H (1 in the background)");
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
fn a_session_is_left_for_another() {
    let ended = |at| Process::Ended { at, evidence: Evidence::Registry };
    let scene = Scene::a().busy().prompt("x").says(end()).idle().wait(1);
    let at = scene.now;
    let scene = scene.process(ended(at)).check("thinking R, responding R, waiting_input R, ended R");
    // What is written on the way out changes nothing; whoever takes the session up again does.
    let scene = scene.write(json!({"type": "cost-state", "totalCostUSD": 0.1})).check("");
    scene.wait(3600).prompt("again").check("thinking X");
    Scene::c().hook(Told::Started).hook(Told::Left { cleared: true }).check("waiting_input H, ended H");
}

#[test]
fn a_process_is_killed() {
    let scene = Scene::a().busy().prompt("x").calls("t1", "Bash");
    let at = scene.now;
    scene
        .process(Process::Lost { at, evidence: Evidence::Registry })
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
    scene.process(Process::Absent).wait(1).check("thinking X, idle R");
}

#[test]
fn what_begins_no_turn() {
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
fn what_is_known_of_a_session_while_it_is_watched() {
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
