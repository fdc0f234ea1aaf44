//! `docs/activity.md`, row by row, on a virtual clock: what is written and said goes in, states come out.

mod permissions;
mod processes;
mod subagents;
mod tools;
mod turns;

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use model::{Activity, Evidence, SessionEvent};
use monitor::hooks::{HookEvent, HookSignal};
use monitor::{LiveProcess, ProcessState, ProcessStatus, Timers, Tracker, WorkerActivity, WorkerReport};
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

    /// Time passes; what time alone changes is reported when it does.
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
        let held = LiveProcess { pid: 7, found: self.now, cwd: None, status: None };
        self.tracker.registry(ProcessState::Alive(held), self.now);
        self.tell();
    }

    fn status(mut self, activity: LiveStatus, waiting_for: Option<&str>) -> Self {
        assert!(self.has_status);
        self.now += SignedDuration::from_millis(10);
        let status = ProcessStatus { activity, waiting_for: waiting_for.map(Into::into), since: self.now };
        let held = LiveProcess { pid: 7, found: self.now, cwd: None, status: Some(status) };
        self.tracker.registry(ProcessState::Alive(held), self.now);
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

    fn process(mut self, process: ProcessState) -> Self {
        self.tracker.registry(process, self.now);
        self.tell();
        self
    }

    fn worker(mut self, activity: WorkerActivity) -> Self {
        self.now += SignedDuration::from_millis(10);
        let (directory, task) = ("/home/ana/shop".into(), "Paint the fence\nin green".into());
        let report = WorkerReport { pid: Some(7), since: self.now, activity, directory, task };
        self.tracker.worker_report(Some(report), self.now);
        self.tell();
        self
    }

    fn hook(mut self, signal: HookSignal) -> Self {
        self.now += SignedDuration::from_millis(10);
        let session = self.tracker.id().clone();
        self.tracker.hook(&HookEvent { at: self.now, session, name: "Hook".into(), agent: None, signal });
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
            let state = activity.state.as_str();
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
