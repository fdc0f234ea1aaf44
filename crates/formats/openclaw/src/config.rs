//! Reads `openclaw.json`; `settings` interprets what it says of agents.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Problem, file, json5_text};

/// The names the file has had, newest first.
const NAMES: [&str; 5] = ["openclaw.json", "clawcode.json", "clawdbot.json", "moltbot.json", "moldbot.json"];

/// The maximum size of a configuration in bytes; hand-written files are far smaller.
const CAP: u64 = 4 << 20;

/// An OpenClaw configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenClawConfig {
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// `agents.defaults.subagents.claudeCode.maxBudgetUsd`, in US dollars; never zero or less.
    pub max_budget_usd: Option<f64>,
    /// `agents.defaults.subagents.claudeCode.mcpBridge.enabled`.
    pub bridge_enabled: Option<bool>,
    /// The settings under `agents.defaults.subagents.claudeCode.sessionSelection`.
    pub selection: SessionSelection,
    /// The files that could not be read.
    pub problems: Vec<Problem>,
    whole: Value,
}

/// How OpenClaw wants a session to be chosen; a missing setting, or one of another type, is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionSelection {
    /// Whether a model may be asked.
    pub enabled: Option<bool>,
    /// The model to ask.
    pub relevance_model: Option<String>,
    /// The most tokens its answer may have.
    pub relevance_max_tokens: Option<u64>,
    /// How long it may take, in milliseconds.
    pub relevance_timeout_ms: Option<u64>,
    /// The score from which a session is resumed.
    pub resume_threshold: Option<f64>,
}

impl SessionSelection {
    fn from_config(config: &Value) -> Self {
        let found = &config["agents"]["defaults"]["subagents"]["claudeCode"]["sessionSelection"];
        Self {
            enabled: found["enabled"].as_bool(),
            relevance_model: found["relevanceModel"].as_str().map(ToOwned::to_owned),
            relevance_max_tokens: found["relevanceMaxTokens"].as_u64(),
            relevance_timeout_ms: found["relevanceTimeoutMs"].as_u64(),
            resume_threshold: found["resumeThreshold"].as_f64().filter(|number| number.is_finite()),
        }
    }
}

impl OpenClawConfig {
    /// Reads the configuration in a state folder, under the newest of its names that is there.
    pub fn find(state: &Path) -> Self {
        let found = NAMES.iter().map(|name| state.join(name)).find(|path| path.exists());
        found.map_or_else(Self::default, |path| Self::read(&path))
    }

    /// Reads one configuration file: JSON, or JSON5 as OpenClaw allows.
    pub fn read(path: &Path) -> Self {
        let parsed = match file::read(path, CAP) {
            Ok(Some(content)) => parse(path, &content),
            Ok(None) => return Self::default(),
            Err(problem) => Err(problem),
        };
        let file = Some(path.to_owned());
        match parsed {
            Ok(whole) => Self {
                file,
                max_budget_usd: budget(&whole),
                bridge_enabled:
                    whole["agents"]["defaults"]["subagents"]["claudeCode"]["mcpBridge"]["enabled"].as_bool(),
                selection: SessionSelection::from_config(&whole),
                problems: Vec::new(),
                whole,
            },
            Err(problem) => Self { file, problems: vec![problem], ..Self::default() },
        }
    }

    /// The value at a JSON pointer; null where there is none.
    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.whole.pointer(pointer).unwrap_or(&Value::Null)
    }
}

fn budget(config: &Value) -> Option<f64> {
    config
        .pointer("/agents/defaults/subagents/claudeCode/maxBudgetUsd")?
        .as_f64()
        .filter(|budget| *budget > 0.0)
}

fn parse(path: &Path, content: &[u8]) -> Result<Value, Problem> {
    json5_text::parse(&String::from_utf8_lossy(content))
        .map_err(|why| Problem::new(path, why, "Repair it, or run `openclaw doctor`."))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(content: &str, budget: Option<f64>, problems: usize) {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("openclaw.json"), content).unwrap();
        let config = OpenClawConfig::find(scratch.path());
        let short: String = content.chars().take(60).collect();
        assert_eq!((config.max_budget_usd, config.problems.len()), (budget, problems), "{short}: {config:?}");
    }

    #[test]
    fn the_budget_is_found() {
        let with = |budget: &str| {
            format!(
                r#"{{"agents": {{"defaults": {{"subagents": {{"claudeCode": {{"maxBudgetUsd": {budget}}}}}}}}}}}"#
            )
        };
        check(&with("2.5"), Some(2.5), 0);
        check(&with("3"), Some(3.0), 0);
        check(&format!("\u{feff}{}", with("3")), Some(3.0), 0);
        for none in ["0", "-1", "\"2\"", "null", "{}"] {
            check(&with(none), None, 0);
        }
        check("{}", None, 0);
        check("[1]", None, 0);
    }

    #[test]
    fn selection_settings_are_read() {
        let scratch = tempfile::tempdir().unwrap();
        let check = |selection: &str, expected: SessionSelection| {
            let text = format!(
                "{{agents: {{defaults: {{subagents: {{claudeCode: {{sessionSelection: {selection}}}}}}}}}}}"
            );
            fs::write(scratch.path().join("openclaw.json"), text).unwrap();
            assert_eq!(OpenClawConfig::find(scratch.path()).selection, expected, "{selection}");
        };
        check("null", SessionSelection::default());
        check("{enabled: 'no', relevanceModel: 7, resumeThreshold: 'high'}", SessionSelection::default());
        check(
            "{enabled: false, relevanceModel: 'm', relevanceMaxTokens: 9, relevanceTimeoutMs: 8, resumeThreshold: 0.7}",
            SessionSelection {
                enabled: Some(false),
                relevance_model: Some("m".into()),
                relevance_max_tokens: Some(9),
                relevance_timeout_ms: Some(8),
                resume_threshold: Some(0.7),
            },
        );
    }

    #[test]
    fn json5_is_parsed() {
        let text = "// ours\n{agents: {defaults: {subagents: {claudeCode: {maxBudgetUsd: +.5, /* USD */ model: 'opus',},},},},}";
        check(text, Some(0.5), 0);
    }

    #[test]
    fn text_that_is_neither_json_nor_json5_is_a_problem() {
        check("", None, 1);
        check("{", None, 1);
        check(&"[".repeat(1_000_000), None, 1);
        check(&format!("[{}]", "//[[\n".repeat(100)), None, 1);
    }

    #[test]
    fn the_newest_name_wins() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(OpenClawConfig::find(scratch.path()), OpenClawConfig::default());
        fs::write(scratch.path().join("clawdbot.json"), "{}").unwrap();
        assert_eq!(OpenClawConfig::find(scratch.path()).file, Some(scratch.path().join("clawdbot.json")));
        fs::write(scratch.path().join("openclaw.json"), "{}").unwrap();
        assert_eq!(OpenClawConfig::find(scratch.path()).file, Some(scratch.path().join("openclaw.json")));
    }
}
