//! The settings of agents, their workspaces and their memory in a configuration.

use std::path::{Path, PathBuf};

use model::AgentId;
use serde_json::Value;

use crate::config::OpenClawConfig;

/// The settings `memory.search`, or `agents.defaults.memorySearch` as it was called before 2026.9, overridden by an
/// agent's own `memorySearch`; missing settings are `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySettings {
    /// Whether the agent's memory may be searched.
    pub enabled: bool,
    /// The sources to search, as they are listed.
    pub sources: Option<Vec<String>>,
    /// Notes outside the workspace: files, or folders of them.
    pub extra_paths: Vec<PathBuf>,
    /// The most results to return.
    pub max_results: Option<usize>,
    /// Results below this score are left out.
    pub min_score: Option<f64>,
    /// The block `claudeSessions`, for Claude Code's sessions.
    pub claude: ClaudeSessions,
}

/// The block `claudeSessions` of the memory settings.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaudeSessions {
    /// Whether Claude Code's sessions are searched.
    pub enabled: bool,
    /// The folder of Claude Code's project folders; `None` for the usual one.
    pub path: Option<PathBuf>,
    /// Whether they are to be kept up to date in the background.
    pub watch: bool,
    /// The project whose Claude sessions are searched by default.
    pub default_project: Option<String>,
}

impl OpenClawConfig {
    /// The folders of Claude Code's project folders that any of its agents' memory names.
    pub fn claude_projects(&self, home: &Path) -> Vec<PathBuf> {
        let roster = self.roster();
        let blocks = roster.iter().map(|agent| &agent.settings["memorySearch"]).chain(self.common());
        let paths = blocks.filter_map(|block| block["claudeSessions"]["path"].as_str()).map(str::trim);
        paths.filter(|path| !path.is_empty()).map(|path| expand(path, home)).collect()
    }

    /// An agent's workspace folder.
    pub(crate) fn workspace(&self, agent: &AgentId, state: &Path, home: &Path) -> PathBuf {
        let set = |value: &Value| {
            value.as_str().map(str::trim).filter(|path| !path.is_empty()).map(|path| expand(path, home))
        };
        if let Some(own) = set(&self.of_agent(agent)["workspace"]) {
            return own;
        }
        let is_default = *agent == self.default_agent();
        let common = [self.at("/agents/defaults/workspace"), self.at("/agent/workspace")];
        if let Some(common) = common.into_iter().find_map(set).filter(|_| is_default) {
            return common;
        }
        // OpenClaw puts it in the home whatever the state folder is; earlier ones had `~/clawd`.
        let name = if is_default { "workspace".to_owned() } else { format!("workspace-{agent}") };
        // Since 2026.9 the other agents work below the common one.
        let below = set(self.at("/agents/defaults/workspace")).filter(|_| self.has_keyed_roster());
        let mut usual: Vec<PathBuf> = below.map(|common| common.join(agent.as_str())).into_iter().collect();
        usual.extend([state.join(&name), home.join(".openclaw").join(&name)]);
        if is_default {
            usual.push(home.join("clawd"));
        }
        usual.iter().find(|path| path.is_dir()).unwrap_or(&usual[0]).clone()
    }

    /// The file that `session.store` puts an agent's sessions in.
    pub(crate) fn store(&self, agent: &AgentId, home: &Path) -> Option<PathBuf> {
        let store = self.at("/session/store").as_str()?.trim();
        (!store.is_empty()).then(|| expand(&store.replace("{agentId}", agent.as_str()), home))
    }

    /// The memory settings of an agent.
    pub(crate) fn memory(&self, agent: &AgentId, workspace: &Path, home: &Path) -> MemorySettings {
        let layers: Vec<_> =
            std::iter::once(&self.of_agent(agent)["memorySearch"]).chain(self.common()).collect();
        let first = |pointer: &str| {
            layers.iter().filter_map(|layer| layer.pointer(pointer)).find(|value| !value.is_null())
        };
        let flag = |pointer: &str| first(pointer).and_then(Value::as_bool);
        let text = |pointer: &str| first(pointer).and_then(Value::as_str).map(str::trim);
        let texts = |value: &Value| -> Vec<String> {
            let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::trim);
            texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
        };
        let extra = layers.iter().rev().flat_map(|layer| texts(&layer["extraPaths"]));
        MemorySettings {
            enabled: flag("/enabled").unwrap_or(true),
            sources: first("/sources").map(texts).filter(|sources| !sources.is_empty()),
            extra_paths: extra.map(|path| workspace.join(expand(&path, home))).collect(),
            max_results: first("/query/maxResults")
                .and_then(Value::as_u64)
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            min_score: first("/query/minScore").and_then(Value::as_f64).map(|score| score.clamp(0.0, 1.0)),
            claude: ClaudeSessions {
                enabled: flag("/claudeSessions/enabled").unwrap_or(true),
                path: text("/claudeSessions/path")
                    .filter(|path| !path.is_empty())
                    .map(|path| expand(path, home)),
                watch: flag("/claudeSessions/watch").unwrap_or(true),
                default_project: text("/claudeSessions/defaultProject")
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned),
            },
        }
    }

    /// The memory settings of all agents, newest key first.
    fn common(&self) -> [&Value; 2] {
        [self.at("/memory/search"), self.at("/agents/defaults/memorySearch")]
    }

    fn of_agent(&self, agent: &AgentId) -> &Value {
        let found = self.roster().into_iter().find(|known| known.id == *agent);
        found.map_or(&Value::Null, |known| known.settings)
    }
}

/// `~/x` as OpenClaw reads it.
fn expand(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn config(text: &str) -> (tempfile::TempDir, OpenClawConfig) {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("openclaw.json"), text).unwrap();
        let config = OpenClawConfig::find(scratch.path());
        (scratch, config)
    }

    fn memory(text: &str) -> MemorySettings {
        let (_scratch, config) = config(text);
        config.memory(&AgentId::main(), Path::new("/w"), Path::new("/h"))
    }

    #[test]
    fn the_claude_sessions_block_is_read() {
        let found = memory(
            r#"{"agents": {"defaults": {"memorySearch": {"sources": ["memory", "claude-sessions"],
                "extraPaths": ["notes", "~/n.md"], "query": {"maxResults": 3, "minScore": 0.5},
                "claudeSessions": {"enabled": false, "path": "~/.claude/projects", "watch": false,
                                   "defaultProject": "mine"}}}}}"#,
        );
        let expected = MemorySettings {
            enabled: true,
            sources: Some(vec!["memory".into(), "claude-sessions".into()]),
            extra_paths: vec!["/w/notes".into(), "/h/n.md".into()],
            max_results: Some(3),
            min_score: Some(0.5),
            claude: ClaudeSessions {
                enabled: false,
                path: Some("/h/.claude/projects".into()),
                watch: false,
                default_project: Some("mine".into()),
            },
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn an_agents_own_settings_win_and_paths_add_up() {
        let found = memory(
            r#"{"agents": {"defaults": {"memorySearch": {"enabled": false, "extraPaths": ["a"],
                                        "claudeSessions": {"defaultProject": "x", "watch": false}}},
                "list": [{"id": "main", "memorySearch": {"enabled": true, "extraPaths": ["/b"],
                                        "claudeSessions": {"defaultProject": "y"}}}]}}"#,
        );
        assert!(found.enabled && !found.claude.watch);
        assert_eq!(found.claude.default_project.as_deref(), Some("y"));
        assert_eq!(found.extra_paths, [Path::new("/w/a"), Path::new("/b")]);
    }

    #[test]
    fn the_key_of_2026_9_wins_over_the_one_before() {
        let found = memory(
            r#"{"memory": {"search": {"sources": ["sessions"], "query": {"maxResults": 3}}},
                "agents": {"defaults": {"memorySearch": {"sources": ["memory"], "query": {"minScore": 0.5}}}}}"#,
        );
        assert_eq!(found.sources, Some(vec!["sessions".to_owned()]));
        assert_eq!((found.max_results, found.min_score), (Some(3), Some(0.5)));
        let (_scratch, config) =
            config(r#"{"memory": {"search": {"claudeSessions": {"path": "~/c"}, "sources": 7}}}"#);
        assert_eq!(config.claude_projects(Path::new("/h")), [Path::new("/h/c")]);
        assert_eq!(memory(r#"{"memory": {"search": 7}}"#), memory("{}"));
    }

    #[test]
    fn invalid_settings_are_ignored() {
        let plain = memory("{}");
        assert!(plain.enabled && plain.claude.enabled && plain.claude.watch && plain.sources.is_none());
        let odd = r#"{"agents": {"list": 7, "defaults": {"memorySearch": {"enabled": "no", "sources": "all", "extraPaths": [7],
            "query": {"maxResults": -1, "minScore": "x"}, "claudeSessions": {"path": 7, "defaultProject": null}}}}}"#;
        assert_eq!(memory(odd), plain);
        assert_eq!(memory(r#"{"agents": {"defaults": {"memorySearch": 7}}}"#), plain);
    }

    #[test]
    fn where_an_agent_works_and_keeps_its_sessions() {
        let (scratch, config) = config(
            r#"{"agents": {"defaults": {"workspace": "~/w"}, "list": [{"id": "Coder", "workspace": "/c"}, {"id": "ops"}, {"id": "main", "default": true}]},
                "session": {"store": "~/s/{agentId}/sessions.json"}}"#,
        );
        let agent = |name: &str| name.parse::<AgentId>().unwrap();
        let check = |name: &str, expected: &Path| {
            assert_eq!(config.workspace(&agent(name), scratch.path(), Path::new("/h")), expected, "{name}");
        };
        check("coder", Path::new("/c"));
        check("main", Path::new("/h/w"));
        check("ops", &scratch.path().join("workspace-ops"));
        assert_eq!(config.default_agent(), AgentId::main());
        assert_eq!(config.store(&agent("ops"), Path::new("/h")), Some("/h/s/ops/sessions.json".into()));
        assert_eq!(OpenClawConfig::default().default_agent(), AgentId::main());
    }

    #[test]
    fn agents_in_a_map_have_their_settings() {
        let (scratch, config) = config(
            r#"{agents: {defaults: {workspace: "~/all"}, entries: {main: {default: true},
                coder: {workspace: "~/codews", memorySearch: {extraPaths: ["n"]}}, ops: {}}}}"#,
        );
        let (home, agent) = (Path::new("/h"), |name: &str| name.parse::<AgentId>().unwrap());
        let check = |name: &str, expected: &str| {
            assert_eq!(config.workspace(&agent(name), scratch.path(), home), Path::new(expected), "{name}");
        };
        check("coder", "/h/codews");
        check("main", "/h/all");
        check("ops", "/h/all/ops");
        let memory = config.memory(&agent("coder"), Path::new("/h/codews"), home);
        assert_eq!(memory.extra_paths, [Path::new("/h/codews/n")]);
    }
}
