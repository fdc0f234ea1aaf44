//! Settings: the compiled-in defaults, overridden by the person's file, overridden by `BACKSTORY_*` variables.
//!
//! Pure: texts in, settings out. `defaults.toml` decides which names exist; a new setting is a line there
//! and a field in `sections.rs`.

mod layers;
mod sections;

use std::collections::BTreeSet;

use cost::Prices;
use model::AgentId;
use openclaw::SessionSelection;
use serde::Deserialize;
use toml::Table;

use crate::Error;
use layers::{convert, merge_over, parse_table, read_agents, read_prices, set_from_variable, setting_names};
pub use sections::*;

const DEFAULTS: &str = include_str!("defaults.toml");

/// What a person can change; every field is explained in `defaults.toml`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `[claude]`: the program and the folders to read.
    pub claude: ClaudeSettings,
    /// `[openclaw]`: where OpenClaw's files are, and what holds for its sessions.
    pub openclaw: OpenClawSettings,
    /// `[archive]`: what is kept of sessions that Claude Code deletes.
    pub archive: ArchiveSettings,
    /// `[export]`: the documents that `serve` keeps up to date.
    pub export: ExportSettings,
    /// `[search]`: how questions are answered, and for how long.
    pub search: SearchSettings,
    /// `[embedding]`: the model that understands meaning.
    pub embedding: EmbeddingSettings,
    /// `[fork]`: what finds the session to fork.
    pub fork: ForkSettings,
    /// `[project]`: what is read of a repository.
    pub project: ProjectSettings,
    /// `[selection]`: how `pick` chooses, and its judge.
    pub selection: SelectionSettings,
    /// `[terminal]`: the pager.
    pub terminal: TerminalSettings,
    /// `[activity]`: how the activity of sessions is found out.
    pub activity: ActivitySettings,
    /// `[watch]`: how `watch` notifies.
    pub watch: WatchSettings,
    /// `[workers]`: how long workers may take.
    pub workers: WorkerSettings,
    /// `[bridge]`: the tools of OpenClaw's agents.
    pub bridge: BridgeSettings,
    /// `[mcp]`: what models may see and do.
    pub mcp: McpSettings,
    /// `[agents.<name>.selection]` and `[agents.<name>.bridge]`, each laid over the section of all agents alone.
    #[serde(skip)]
    pub agents: Table,
    /// `[prices.<model>]`: what the person pays, over the built-in table.
    #[serde(skip)]
    pub prices: Prices,
    /// The full names of all settings that the person set.
    #[serde(skip)]
    pub set: BTreeSet<String>,
}

impl Settings {
    /// Overrides the defaults by the person's file (with its name, for messages) and by variables.
    pub fn new(
        file: Option<(&str, &str)>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Error> {
        let mut all = parse_table(DEFAULTS, "defaults.toml")?;
        let (mut set, mut agents, mut prices) = (BTreeSet::new(), Table::new(), Prices::default());
        if let Some((name, text)) = file {
            let mut over = parse_table(text, name)?;
            agents = read_agents(&all, over.remove("agents"), name)?;
            prices = read_prices(over.remove("prices"), name)?;
            set.extend(setting_names(&over, ""));
            merge_over(&mut all, over, name, "")?;
        }
        for (name, text) in variables {
            set.insert(set_from_variable(&mut all, &name, &text)?);
        }
        let settings: Self = convert(all)?;
        Ok(Self { agents, prices, set, ..settings })
    }

    /// How a session is chosen for an agent, or for the person: OpenClaw's configuration, `[selection]` over it,
    /// the agent's own over both.
    pub fn selection_for(
        &self,
        agent: Option<&AgentId>,
        openclaw: &SessionSelection,
    ) -> Result<SelectionSettings, Error> {
        let mut selection = self.selection.clone();
        let open = |name: &str| !self.set.contains(&format!("selection.{name}"));
        let SessionSelection { enabled, relevance_model, relevance_max_tokens, .. } = openclaw.clone();
        let (timeout, threshold) = (openclaw.relevance_timeout_ms, openclaw.resume_threshold);
        replace(&mut selection.enabled, enabled.filter(|_| open("enabled")));
        replace(&mut selection.relevance_model, relevance_model.filter(|_| open("relevance_model")));
        replace(
            &mut selection.relevance_max_tokens,
            relevance_max_tokens.filter(|_| open("relevance_max_tokens")),
        );
        replace(&mut selection.relevance_timeout_ms, timeout.filter(|_| open("relevance_timeout_ms")));
        replace(&mut selection.resume_threshold, threshold.filter(|_| open("resume_threshold")));
        let own = agent.and_then(|agent| self.agents.get(agent.as_str())?.get("selection")?.as_table());
        for (name, value) in own.into_iter().flatten() {
            let value = value.clone();
            match name.as_str() {
                "enabled" => selection.enabled = convert(value)?,
                "relevance_through" => selection.relevance_through = convert(value)?,
                "relevance_model" => selection.relevance_model = convert(value)?,
                "relevance_max_tokens" => selection.relevance_max_tokens = convert(value)?,
                "relevance_timeout_ms" => selection.relevance_timeout_ms = convert(value)?,
                "weights" => selection.weights = convert(value)?,
                "resume_chance" => selection.resume_chance = convert(value)?,
                "ask_from" => selection.ask_from = convert(value)?,
                "ask_below" => selection.ask_below = convert(value)?,
                _ => selection.resume_threshold = convert(value)?,
            }
        }
        Ok(selection)
    }

    /// What the workers of an agent may ask: OpenClaw's configuration, `[bridge]` over it, the agent's own over both.
    pub fn bridge_for(
        &self,
        agent: Option<&AgentId>,
        openclaw: Option<bool>,
    ) -> Result<BridgeSettings, Error> {
        let mut bridge = self.bridge.clone();
        replace(&mut bridge.enabled, openclaw.filter(|_| !self.set.contains("bridge.enabled")));
        let own = agent.and_then(|agent| self.agents.get(agent.as_str())?.get("bridge")?.as_table());
        for (name, value) in own.into_iter().flatten() {
            match name.as_str() {
                "enabled" => bridge.enabled = convert(value.clone())?,
                _ => bridge.tools = convert(value.clone())?,
            }
        }
        Ok(bridge)
    }
}

fn replace<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn settings(file: &str, variables: &[(&str, &str)]) -> Result<Settings, Error> {
        let variables = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Settings::new(Some(("config.toml", file)), variables)
    }

    #[test]
    fn the_defaults_set_every_field() {
        let defaults = Settings::new(None, []).unwrap();
        assert_eq!(defaults.terminal.pager, "auto");
        let documented = setting_names(&DEFAULTS.parse().unwrap(), "");
        for key in documented {
            assert!(DEFAULTS.contains(&layers::variable_name(&key)), "{key} does not name its variable");
        }
    }

    #[test]
    fn variables_win_over_the_file() {
        let file = "terminal.pager = \"most\"\n[claude]\nfolders = [\"/a\"]";
        let found = settings(file, &[("BACKSTORY_CLAUDE_FOLDERS", "/b:/c")]).unwrap();
        assert_eq!(found.terminal.pager, "most");
        assert_eq!(found.claude.folders, [PathBuf::from("/b"), PathBuf::from("/c")]);
    }

    #[test]
    fn agent_settings_override_the_file_and_the_file_openclaw() {
        let openclaw = SessionSelection {
            enabled: Some(false),
            relevance_model: Some("claw".into()),
            resume_threshold: Some(0.9),
            ..SessionSelection::default()
        };
        let file = "[selection]\nrelevance_model = \"ours\"\n[agents.Main.selection]\nenabled = true\nrelevance_max_tokens = 9";
        let found = settings(file, &[("BACKSTORY_SELECTION_RESUME_THRESHOLD", "0.5")]).unwrap();
        let check = |agent: Option<&str>, enabled, model: &str, tokens, threshold| {
            let agent = agent.map(|agent| agent.parse().unwrap());
            let all = found.selection_for(agent.as_ref(), &openclaw).unwrap();
            assert_eq!((all.enabled, all.relevance_model.as_str()), (enabled, model), "{agent:?}");
            assert_eq!((all.relevance_max_tokens, all.resume_threshold), (tokens, threshold), "{agent:?}");
            assert_eq!(all.relevance_timeout_ms, 3000);
        };
        check(None, false, "ours", 500, 0.5);
        check(Some("main"), true, "ours", 9, 0.5);
        check(Some("other"), false, "ours", 500, 0.5);
        let untouched = Settings::new(None, []).unwrap();
        let beneath = untouched.selection_for(None, &openclaw).unwrap();
        assert!(beneath.resume_threshold > 0.89 && !beneath.enabled);
        assert_eq!(untouched.selection_for(None, &SessionSelection::default()).unwrap(), untouched.selection);
        assert_eq!(untouched.selection.relevance_through, JudgeRoute::Api);
    }

    #[test]
    fn an_agent_may_have_its_own_bridge_settings() {
        let file = "[agents.Main.bridge]\nenabled = true\ntools = [\"openclaw_announce\"]\n[agents.quiet.bridge]\nenabled = false";
        let found = settings(file, &[]).unwrap();
        let check = |agent: &str, openclaw: Option<bool>, enabled: bool, tools: usize| {
            let agent = agent.parse().unwrap();
            let bridge = found.bridge_for(Some(&agent), openclaw).unwrap();
            assert_eq!((bridge.enabled, bridge.tools.len()), (enabled, tools), "{agent}");
        };
        check("main", Some(false), true, 1);
        check("quiet", None, false, 6);
        check("other", None, true, 6);
        check("other", Some(false), false, 6);
        let on = settings("[bridge]\nenabled = true", &[]).unwrap();
        assert!(on.bridge_for(None, Some(false)).unwrap().enabled, "one's own setting wins");
    }

    #[test]
    fn prices_can_be_set_per_model() {
        let file = "[prices.\"claude-opus-5-5\"]\ninput = 1\noutput = 2.5\n[prices.glm-5]\ninput = 0.1\noutput = 0.2";
        let prices = settings(file, &[]).unwrap().prices;
        assert!(prices.is_own("claude-opus-5-5-20261010") && prices.is_own("glm-5"));
        assert!(!prices.is_own("claude-opus-5"));
    }

    #[test]
    fn mistakes_in_settings_are_reported_with_their_place() {
        let check = |file: &str, variables: &[(&str, &str)], message: &str, hint: &str| {
            let error = settings(file, variables).unwrap_err();
            assert!(error.message.starts_with(message), "{}", error.message);
            let steps: Vec<_> = error.next_steps.iter().map(ToString::to_string).collect();
            assert_eq!(steps.join(""), hint);
        };
        check(
            "[terminal]\npagr = \"\"",
            &[],
            "there is no setting `terminal.pagr` (in config.toml)",
            "did you mean `terminal.pager`?",
        );
        check(
            "[terminals]\nx = 1",
            &[],
            "there is no setting `terminals` (in config.toml)",
            "did you mean `terminal`?",
        );
        check("[zebra]\nx = 1", &[], "there is no setting `zebra` (in config.toml)", "");
        check("", &[("BACKSTORY_X", "1")], "there is no setting `BACKSTORY_X` (in the environment)", "");
        check(
            "terminal.pager = 1",
            &[],
            "`terminal.pager` in config.toml must be of type string, not integer",
            "",
        );
        check(
            "[agents.main.selection]\nenabld = true",
            &[],
            "in `agents.main`: there is no setting `selection.enabld` (in config.toml)",
            "did you mean `selection.enabled`?",
        );
        check(
            "[agents.main.selection]\nenabled = 1",
            &[],
            "in `agents.main`: `selection.enabled` in config.toml must be of type boolean, not integer",
            "",
        );
        check("selection.relevance_through = \"fax\"", &[], "the settings are invalid", "");
        check("[terminal", &[], "cannot read config.toml: TOML parse error", "");
        check("prices = 1", &[], "`prices` in config.toml is not a table", "");
        check(
            "[prices.glm-5]\ninput = 1",
            &[],
            "`prices.glm-5` in config.toml is invalid: the built-in table lacks this model, so it needs `input`",
            "",
        );
        check(
            "[prices.glm-5]\ninptu = 1",
            &[],
            "`prices.glm-5` in config.toml is invalid: unknown field",
            "",
        );
        check(
            "[prices.glm-5]\ninput = -1",
            &[],
            "`prices.glm-5` in config.toml is invalid: a price must be a number of at least 0",
            "",
        );
        check(
            "",
            &[("BACKSTORY_CLAUDE_FOLDER", "x")],
            "there is no setting `BACKSTORY_CLAUDE_FOLDER` (in the environment)",
            "did you mean `BACKSTORY_CLAUDE_FOLDERS`?",
        );
    }
}
