//! Sub-agents: a call in the parent, and a conversation of their own kept where the release keeps it.

use serde_json::json;

use super::ids::Ids;
use super::record::Record;
use super::version::Layout;
use super::{Line, SideFile, Transcript};

/// Whose records are written, when they are a sub-agent's.
#[derive(Debug, Clone)]
pub(super) enum Agent {
    Named(String),
    /// The oldest releases gave agents no id.
    Nameless,
}

impl Transcript {
    /// The model sends a sub-agent of this type with these words; `work` is what the agent does, and its
    /// last answer is what the parent gets.
    #[must_use]
    pub fn subagent(
        mut self,
        agent_type: &str,
        description: &str,
        prompt: &str,
        work: impl FnOnce(Self) -> Self,
    ) -> Self {
        let input = json!({"description": description, "prompt": prompt, "subagent_type": agent_type});
        let call = self.call(self.release.agent_tool(), &input);
        self.close_message();
        let agent = self.new_agent_id();
        let mut child = work(self.child(&agent).prompt(prompt));
        child.close_message();
        self.clock = child.clock;
        self.messages = child.messages;
        self.total += child.total;
        let report = child.last_answer.clone();
        let meta = json!({
            "agentType": agent_type, "description": description, "toolUseId": call, "spawnDepth": 1,
        });
        self.keep(&agent, child, &meta.to_string());
        let details = json!({
            "status": "completed",
            "prompt": prompt,
            "agentId": agent,
            "agentType": agent_type,
            "content": [{"type": "text", "text": report}],
        });
        self.result(&call, json!([{"type": "text", "text": report}]), &details, false);
        self
    }

    fn new_agent_id(&mut self) -> String {
        let digits = if matches!(self.release.subagents(), Layout::Folder) { 17 } else { 8 };
        self.ids.agent(digits)
    }

    /// An empty conversation of an agent of this session.
    fn child(&self, agent: &str) -> Self {
        let inline = matches!(self.release.subagents(), Layout::Inline);
        Self {
            ids: Ids::seeded(&format!("{}{agent}", self.id)),
            agent: Some(if inline { Agent::Nameless } else { Agent::Named(agent.to_owned()) }),
            entrypoint: self.entrypoint.clone(),
            lines: Vec::new(),
            side_files: Vec::new(),
            last_uuid: None,
            total: model::Usage::default(),
            ..self.clone()
        }
    }

    fn keep(&mut self, agent: &str, child: Self, meta: &str) {
        let name = match self.release.subagents() {
            Layout::Inline => return self.lines.extend(child.lines),
            Layout::Beside => format!("agent-{agent}"),
            Layout::Folder => format!("{}/subagents/agent-{agent}", self.id),
        };
        self.side_files.push(SideFile { name: format!("{name}.jsonl"), bytes: child.bytes() });
        if self.release.has_agent_meta() {
            self.side_files.push(SideFile { name: format!("{name}.meta.json"), bytes: meta.into() });
        }
        self.side_files.extend(child.side_files);
    }
}

/// The fields that mark a record as a sub-agent's.
pub(super) fn agent_fields(agent: Option<&Agent>) -> Record {
    let record = Record::new().with("isSidechain", agent.is_some());
    match agent {
        Some(Agent::Named(id)) => record.with("agentId", id),
        Some(Agent::Nameless) | None => record,
    }
}

/// Whether a line belongs to the session's own tree.
pub(super) fn on_main_chain(line: &Line) -> Option<&Record> {
    match line {
        Line::Record(record) if record.has("uuid") => {
            (!record.to_json().contains("\"isSidechain\":true")).then_some(record)
        }
        _ => None,
    }
}
