//! The agents that a configuration names: the keyed map `agents.entries` of 2026.9, or the older `agents.list`.

use model::AgentId;
use serde_json::Value;

use crate::config::OpenClawConfig;

/// An agent of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfiguredAgent<'a> {
    pub(crate) id: AgentId,
    pub(crate) settings: &'a Value,
}

impl<'a> ConfiguredAgent<'a> {
    fn new(id: &str, settings: &'a Value) -> Option<Self> {
        Some(Self { id: id.trim().parse().ok()?, settings })
    }
}

impl OpenClawConfig {
    /// The agents it names.
    pub fn agents(&self) -> Vec<AgentId> {
        self.roster().into_iter().map(|agent| agent.id).collect()
    }

    /// The agent that is meant where none is named: the one that is marked, else the only or first one. Of several in
    /// today's map without a mark it is `main`, to which 2026.9 gives what had no owner.
    pub fn default_agent(&self) -> AgentId {
        let roster = self.roster();
        let marked = roster.iter().find(|agent| agent.settings["default"] == true);
        let main = || roster.iter().find(|agent| self.has_keyed_roster() && agent.id == AgentId::main());
        let found = marked.or_else(main).or_else(|| roster.first());
        found.map_or_else(AgentId::main, |agent| agent.id.clone())
    }

    /// The agents with their settings, in order. As in OpenClaw, a map hides a list.
    pub(crate) fn roster(&self) -> Vec<ConfiguredAgent<'_>> {
        if let Some(entries) = self.at("/agents").get("entries") {
            let entries = entries.as_object().into_iter().flatten();
            let entries = entries.filter(|(_, settings)| settings.is_object());
            return entries.filter_map(|(id, settings)| ConfiguredAgent::new(id, settings)).collect();
        }
        let listed = self.at("/agents/list").as_array().into_iter().flatten();
        listed.filter_map(|agent| ConfiguredAgent::new(agent["id"].as_str()?, agent)).collect()
    }

    /// Whether the agents are in the map of 2026.9.
    pub(crate) fn has_keyed_roster(&self) -> bool {
        self.at("/agents").get("entries").is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn agents_are_named_by_a_map_or_a_list() {
        let check = |agents: &str, expected: &[&str], default: &str| {
            let scratch = tempfile::tempdir().unwrap();
            fs::write(scratch.path().join("openclaw.json"), format!("{{agents: {agents}}}")).unwrap();
            let config = OpenClawConfig::find(scratch.path());
            let names: Vec<_> = config.agents().iter().map(ToString::to_string).collect();
            assert_eq!(
                (names, config.default_agent().to_string()),
                (expected.iter().map(|name| (*name).to_owned()).collect(), default.to_owned(),),
                "{agents}"
            );
        };
        check("{}", &[], "main");
        check(r#"{list: [{id: "Coder"}, {id: "main"}]}"#, &["coder", "main"], "coder");
        check(r#"{list: [{id: "coder"}, {id: "ops", default: true}]}"#, &["coder", "ops"], "ops");
        check(r#"{entries: {coder: {}, main: {}}, list: [{id: "old"}]}"#, &["coder", "main"], "main");
        check("{entries: {coder: {}, ops: {default: true}}}", &["coder", "ops"], "ops");
        check("{entries: {coder: {}}}", &["coder"], "coder");
        check("{entries: {coder: 7, ops: {}}}", &["ops"], "ops");
        check(r#"{entries: null, list: [{id: "old"}]}"#, &[], "main");
        check("{entries: []}", &[], "main");
    }
}
