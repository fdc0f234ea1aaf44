//! The sub-agents of one session: which are running, what each does and when it ends. Pure.
//!
//! A sub-agent is identified by the tool call that started it, whether its records are in the session's file,
//! in files beside it, or in files below its own folder.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use jiff::Timestamp;
use model::{SessionEvent, SessionId, SubagentEvent};
use transcript::record::Record;
use transcript::{SubagentMeta, ToolCall, TurnSignal};

use crate::turn::{OpenTool, Turn};

/// Number of ended sub-agents remembered, so that a file read again starts none twice.
const REMEMBERED: usize = 512;
/// Number of records remembered per chain of an inline sub-agent.
const LINKS: usize = 2048;

/// A running sub-agent.
#[derive(Debug, Clone)]
struct Running {
    event: SubagentEvent,
    prompt: u64,
    turn: Turn,
}

/// A sub-agent's file.
#[derive(Debug, Clone, Default)]
struct File {
    tool_use: Option<String>,
    task: Option<String>,
    prompt: Option<u64>,
}

/// The sub-agents of a session.
#[derive(Debug, Clone)]
pub(crate) struct Subagents {
    session: SessionId,
    running: Vec<Running>,
    files: HashMap<String, File>,
    /// The sub-agent of each record in the session's own file (up to release 2.0.0), by the record's id.
    inline: HashMap<String, String>,
    through: Vec<String>,
    events: Vec<SessionEvent>,
}

impl Subagents {
    pub(crate) fn new(session: SessionId) -> Self {
        Self {
            session,
            running: Vec::new(),
            files: HashMap::new(),
            inline: HashMap::new(),
            through: Vec::new(),
            events: Vec::new(),
        }
    }

    /// The running sub-agents.
    pub(crate) fn running(&self) -> impl Iterator<Item = &SubagentEvent> {
        self.running.iter().map(|running| &running.event)
    }

    /// Number of sub-agents running in the background.
    pub(crate) fn in_background(&self) -> u64 {
        self.running().filter(|event| event.background).count() as u64
    }

    /// A tool call open in one of them.
    pub(crate) fn open_tool(&self) -> Option<&OpenTool> {
        self.running.iter().flat_map(|running| running.turn.open()).find(|open| !open.delegates)
    }

    /// Takes the events since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<SessionEvent> {
        std::mem::take(&mut self.events)
    }

    /// Processes a sign from the session's own conversation.
    pub(crate) fn observe(&mut self, sign: &TurnSignal<'_>, made: Timestamp) {
        self.observe_in(sign, None, made);
    }

    /// Processes a sub-agent's record in the session's own file.
    pub(crate) fn observe_inline(&mut self, record: &Record<'_>, signs: &[TurnSignal<'_>], made: Timestamp) {
        let before = record.parent().and_then(|parent| self.inline.get(parent)).cloned();
        let task = before.or_else(|| {
            let prompt = signs.iter().find_map(prompt_of)?;
            self.task_by_prompt(prompt).or_else(|| self.running().next().map(|event| event.task_id.clone()))
        });
        let Some(task) = task else { return };
        if let Some(uuid) = record.uuid().filter(|_| self.inline.len() < LINKS) {
            self.inline.insert(uuid.to_owned(), task.clone());
        }
        for sign in signs {
            self.observe_own(&task, sign, made);
        }
    }

    /// Processes a record of a sub-agent's own file.
    pub(crate) fn observe_file(
        &mut self,
        agent: &str,
        meta: &SubagentMeta,
        signs: &[TurnSignal<'_>],
        made: Timestamp,
    ) {
        let known = self.files.entry(agent.to_owned()).or_default();
        if known.tool_use.is_none() {
            known.tool_use.clone_from(&meta.tool_use);
        }
        if known.prompt.is_none() {
            known.prompt = signs.iter().find_map(prompt_of);
        }
        if known.task.is_none() {
            self.link_file(agent, meta, made);
        }
        let Some(task) = self.files.get(agent).and_then(|file| file.task.clone()) else { return };
        for sign in signs {
            self.observe_own(&task, sign, made);
        }
    }

    /// Ends the sub-agents that an interrupted turn was waiting for.
    pub(crate) fn interrupted(&mut self) {
        while let Some(at) = self.running.iter().position(|running| !running.event.background) {
            self.complete(at);
        }
    }

    /// Ends all sub-agents, because the process is gone.
    pub(crate) fn abandoned(&mut self) {
        while !self.running.is_empty() {
            self.complete(0);
        }
        self.files.clear();
    }

    fn observe_own(&mut self, task: &str, sign: &TurnSignal<'_>, made: Timestamp) {
        if let Some(running) = self.running.iter_mut().find(|running| running.event.task_id == task) {
            running.turn.observe(sign, made);
            running.turn.note_activity(made);
        }
        if let TurnSignal::Calls(call) = sign {
            self.progress(task, Some(call.name));
        }
        self.observe_in(sign, Some(task), made);
    }

    fn observe_in(&mut self, sign: &TurnSignal<'_>, parent: Option<&str>, made: Timestamp) {
        match sign {
            TurnSignal::Calls(call) if call.starts_subagent() => self.called(call, parent, made),
            TurnSignal::Answered { id, agent, launched, .. } => self.answered(id, *agent, *launched),
            TurnSignal::Progress { id: Some(id), tool } => self.progress(id, *tool),
            TurnSignal::Notified { tool_use, task } => self.notified(tool_use.as_deref(), task.as_deref()),
            _ => {}
        }
    }

    fn called(&mut self, call: &ToolCall<'_>, parent: Option<&str>, made: Timestamp) {
        let prompt = call.prompt().map_or(0, |prompt| hash(&prompt));
        let kind = call.agent_type().map(|kind| transcript::preview(&kind));
        self.start(call.id, prompt, parent, call.detail().unwrap_or_default(), kind, made);
        for (agent, file) in &mut self.files {
            let fits = file.tool_use.as_deref() == Some(call.id)
                || (file.tool_use.is_none() && file.prompt == Some(prompt));
            if file.task.is_none() && fits {
                file.task = Some(call.id.to_owned());
                let running = self.running.iter_mut().find(|running| running.event.task_id == call.id);
                if let Some(running) = running {
                    running.event.subagent_id = Some(agent.clone());
                }
                break;
            }
        }
    }

    fn start(
        &mut self,
        task: &str,
        prompt: u64,
        parent: Option<&str>,
        description: String,
        subagent_type: Option<String>,
        made: Timestamp,
    ) {
        let is_known = self.running().any(|event| event.task_id == task);
        if is_known || self.through.iter().any(|through| through == task) {
            return;
        }
        let event = SubagentEvent {
            session_id: self.session.clone(),
            task_id: task.to_owned(),
            subagent_id: None,
            parent_task_id: parent.map(ToOwned::to_owned),
            description,
            subagent_type,
            background: false,
            tool_name: None,
            since: Some(made),
        };
        self.events.push(SessionEvent::SubagentSpawned(event.clone()));
        self.running.push(Running { event, prompt, turn: Turn::default() });
    }

    fn answered(&mut self, id: &str, agent: Option<&str>, launched: bool) {
        let Some(at) = self.running.iter().position(|running| running.event.task_id == id) else { return };
        let event = &mut self.running[at].event;
        if let Some(agent) = agent {
            event.subagent_id = Some(agent.to_owned());
            self.files.entry(agent.to_owned()).or_default().task = Some(id.to_owned());
        }
        if launched {
            self.running[at].event.background = true;
        } else {
            self.complete(at);
        }
    }

    fn notified(&mut self, tool_use: Option<&str>, task: Option<&str>) {
        let is_it = |event: &SubagentEvent| {
            tool_use == Some(&event.task_id) || (task.is_some() && task == event.subagent_id.as_deref())
        };
        if let Some(at) = self.running.iter().position(|running| is_it(&running.event)) {
            self.complete(at);
        }
    }

    fn progress(&mut self, task: &str, tool: Option<&str>) {
        let Some(running) = self.running.iter_mut().find(|running| running.event.task_id == task) else {
            return;
        };
        if tool.is_some() {
            running.event.tool_name = tool.map(ToOwned::to_owned);
        }
        self.events.push(SessionEvent::SubagentProgress(running.event.clone()));
    }

    fn complete(&mut self, at: usize) {
        let running = self.running.remove(at);
        if self.through.len() == REMEMBERED {
            self.through.remove(0);
        }
        self.through.push(running.event.task_id.clone());
        self.inline.retain(|_, task| *task != running.event.task_id);
        self.events.push(SessionEvent::SubagentCompleted(running.event));
    }

    fn link_file(&mut self, agent: &str, meta: &SubagentMeta, made: Timestamp) {
        let Some(file) = self.files.get(agent) else { return };
        let task = match (&file.tool_use, file.prompt) {
            (Some(tool_use), _) => Some(tool_use.clone()),
            (None, Some(prompt)) => self.task_by_prompt(prompt),
            (None, None) => None,
        };
        let Some(task) = task else { return };
        if let Some(tool_use) = &meta.tool_use {
            // Its file can be seen before the call that started it.
            let (description, kind) = (meta.description.clone().unwrap_or_default(), meta.agent_type.clone());
            let prompt = file.prompt.unwrap_or(0);
            self.start(tool_use, prompt, None, description, kind, made);
        }
        if let Some(running) = self.running.iter_mut().find(|running| running.event.task_id == task) {
            running.event.subagent_id = Some(agent.to_owned());
        }
        if let Some(file) = self.files.get_mut(agent) {
            file.task = Some(task);
        }
    }

    /// The task with this prompt that has no file yet.
    fn task_by_prompt(&self, prompt: u64) -> Option<String> {
        let free = |running: &&Running| running.prompt == prompt && running.event.subagent_id.is_none();
        self.running.iter().find(free).map(|running| running.event.task_id.clone())
    }
}

fn prompt_of(sign: &TurnSignal<'_>) -> Option<u64> {
    match sign {
        TurnSignal::Begins { text } => Some(hash(text)),
        _ => None,
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.trim().hash(&mut hasher);
    hasher.finish()
}
