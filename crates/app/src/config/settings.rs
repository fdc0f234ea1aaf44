//! Settings: the compiled-in defaults, changed by the person's file, changed by `BACKSTORY_*` variables.
//!
//! Pure: texts in, settings out. `defaults.toml` decides which names exist; a new setting is a line there
//! and a field here.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cost::{OwnPrice, Prices};
use model::AgentId;
use openclaw::SessionSelection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::{Error, Kind};

/// The sections that an agent may have of its own.
const OF_AGENTS: [&str; 2] = ["bridge", "selection"];
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

/// `[archive]`: what is kept of sessions that Claude Code deletes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSettings {
    /// Whether anything is.
    pub enabled: bool,
    /// How much room it may take, in gigabytes; 0 for no limit.
    pub max_gigabytes: u64,
    /// For how many days after its last change; 0 for no limit.
    pub max_days: u64,
    /// Whether secrets are left out of copies.
    pub no_secrets: bool,
    /// Directories whose sessions are not kept.
    pub exclude: Vec<PathBuf>,
}

/// `[export]`: the documents that `serve` keeps up to date.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportSettings {
    /// The folder to write them to; empty for none.
    pub folder: PathBuf,
}

/// `[fork]`: how sessions to fork are found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkSettings {
    /// The engine that finds the session to fork.
    pub engine: Engine,
    /// qmd's collection of sessions.
    pub collection: String,
    /// The program: a path, or a name to look up in `PATH`.
    pub qmd: PathBuf,
    /// How long one command of it may take, in milliseconds.
    pub qmd_timeout_ms: u64,
}

/// The search engine for an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Backstory's own index.
    #[default]
    #[serde(alias = "index")]
    Own,
    /// The `qmd` program, over the exported sessions.
    Qmd,
    /// qmd where it is installed, else the index.
    Auto,
}

/// `[project]`: what `status` may ask about a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectSettings {
    /// Whether `gh` may be asked.
    pub github: bool,
    /// How long to wait for its answer, in milliseconds.
    pub github_timeout_ms: u64,
}

/// How a session is chosen for a task.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionSettings {
    /// Whether a model may be asked.
    pub enabled: bool,
    /// Through what: `api` or `claude`.
    pub relevance_through: JudgeRoute,
    /// The model that judges relevance.
    pub relevance_model: String,
    /// How many tokens its answer may have.
    pub relevance_max_tokens: u64,
    /// How long it may take, in milliseconds.
    pub relevance_timeout_ms: u64,
    /// By which rule a session is chosen.
    pub weights: RuleName,
    /// The chance from which a session is resumed.
    pub resume_chance: f64,
    /// The score from which a session is resumed by the seed's weights.
    pub resume_threshold: f64,
}

/// By which rule a session is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleName {
    /// The chance that the user continues it.
    #[default]
    Calibrated,
    /// The five factors of OpenClaw's design.
    Seed,
}

impl SelectionSettings {
    /// The rule, with the threshold that holds for it.
    pub fn rule(&self, named: Option<RuleName>) -> selection::Rule {
        match named.unwrap_or(self.weights) {
            RuleName::Calibrated => selection::Rule::Calibrated { threshold: self.resume_chance },
            RuleName::Seed => {
                let (weights, threshold) = (selection::Weights::SEED, self.resume_threshold);
                selection::Rule::Seed { weights, threshold }
            }
        }
    }
}

/// Through what a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeRoute {
    /// The Messages API.
    #[default]
    Api,
    /// `claude -p`.
    Claude,
}

/// Claude Code on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaudeSettings {
    /// Config folders to read beside the usual ones.
    pub folders: Vec<PathBuf>,
    /// The program: a path, or a name to look up in `PATH`.
    pub binary: PathBuf,
}

/// `[openclaw]`: where OpenClaw's files are, and what holds for its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenClawSettings {
    /// Folders to read beside the usual ones.
    pub folders: Vec<PathBuf>,
    /// How rules decide whether an agent may send a message.
    pub send_strategy: SendStrategyName,
}

/// How several matching rules decide whether an agent may send a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SendStrategyName {
    /// Any rule that denies wins.
    #[default]
    DenyWins,
    /// The first rule that matches decides.
    FirstMatch,
}

impl SendStrategyName {
    /// The strategy of that name.
    pub(crate) fn of_store(self) -> openclaw::SendStrategy {
        match self {
            Self::DenyWins => openclaw::SendStrategy::DenyWins,
            Self::FirstMatch => openclaw::SendStrategy::FirstMatch,
        }
    }
}

/// `[search]`: how long a search may update the index first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSettings {
    /// The limit, in seconds.
    pub budget_seconds: u64,
    /// The limit for the very first search without a progress bar, in seconds.
    pub first_budget_seconds: u64,
}

/// `[embedding]`: the model that embeds texts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// The table in the binary, a folder, a name on the hub, or an endpoint's address.
    pub model: String,
    /// The model that an endpoint is asked for.
    pub endpoint_model: String,
    /// The variable that holds an endpoint's key.
    pub key_variable: String,
    /// How long a request may take, in milliseconds.
    pub timeout_ms: u64,
    /// How long embedding a question may take, in milliseconds.
    pub question_timeout_ms: u64,
    /// How many sessions `search --deep` rescores.
    pub deep_sessions: usize,
    /// Whether `index` embeds everything by the model.
    pub everything: bool,
}

/// `[bridge]`: what the workers of OpenClaw's agents may ask of Backstory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BridgeSettings {
    /// Whether they get the bridge at all.
    pub enabled: bool,
    /// The names of its tools that they have.
    pub tools: Vec<String>,
}

/// How output is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalSettings {
    /// The pager's command line, `auto`, or nothing.
    pub pager: String,
}

/// `[activity]`: how the activity of sessions is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivitySettings {
    /// How often everything is polled.
    pub poll_milliseconds: u32,
    /// Whether the system is asked for events.
    pub events: bool,
    /// How long an open tool call counts as working rather than waiting for a permission.
    pub permission_seconds: u32,
    /// How long after a text more may follow.
    pub text_idle_seconds: u32,
    /// How long after its turn a session becomes idle.
    pub silent_minutes: u32,
}

/// How `watch` behaves.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchSettings {
    /// How the person is notified.
    pub notify: Notify,
}

/// `[workers]`: how long workers may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSettings {
    /// How long a started worker may take until its first answer.
    pub start_seconds: u32,
    /// How long a worker may be silent in the middle of a turn.
    pub silent_seconds: u32,
    /// How long a worker waits for a message between turns.
    pub idle_minutes: u32,
}

/// `[mcp]`: what models may see and do over MCP.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpSettings {
    /// The only projects that are seen; all without any.
    pub projects: Vec<String>,
    /// Projects that are never seen.
    pub deny: Vec<String>,
    /// Whether a model may answer the permission requests of workers.
    pub answer_permissions: bool,
}

/// How the person is notified when a session waits for them or has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Notify {
    /// No notification is sent.
    Off,
    /// By the terminal's bell.
    #[default]
    Bell,
    /// By a notification of the desktop.
    Notify,
}

impl Settings {
    /// Lays the person's file (with its name, for messages) and variables over the defaults.
    pub fn new(
        file: Option<(&str, &str)>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Error> {
        let mut all = table(DEFAULTS, "defaults.toml")?;
        let (mut said, mut agents, mut prices) = (BTreeSet::new(), Table::new(), Prices::default());
        if let Some((name, text)) = file {
            let mut over = table(text, name)?;
            agents = of_agents(&all, over.remove("agents"), name)?;
            prices = own_prices(over.remove("prices"), name)?;
            said.extend(keys(&over, ""));
            lay_over(&mut all, over, name, "")?;
        }
        for (name, text) in variables {
            said.insert(set(&mut all, &name, &text)?);
        }
        let settings: Self = fits(all)?;
        Ok(Self { agents, prices, set: said, ..settings })
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
                "enabled" => selection.enabled = fits(value)?,
                "relevance_through" => selection.relevance_through = fits(value)?,
                "relevance_model" => selection.relevance_model = fits(value)?,
                "relevance_max_tokens" => selection.relevance_max_tokens = fits(value)?,
                "relevance_timeout_ms" => selection.relevance_timeout_ms = fits(value)?,
                "weights" => selection.weights = fits(value)?,
                "resume_chance" => selection.resume_chance = fits(value)?,
                _ => selection.resume_threshold = fits(value)?,
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
                "enabled" => bridge.enabled = fits(value.clone())?,
                _ => bridge.tools = fits(value.clone())?,
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

fn fits<T: serde::de::DeserializeOwned>(value: impl Into<Value>) -> Result<T, Error> {
    let wrong = |error| Error::caused(Kind::Settings, "the settings are invalid", &error);
    value.into().try_into().map_err(wrong)
}

/// The sections of agents, each name and type checked against the section of all agents.
fn of_agents(defaults: &Table, agents: Option<Value>, file: &str) -> Result<Table, Error> {
    let wrong = |what: &str| Error::new(Kind::Settings, format!("{what} in {file}"));
    let Some(agents) = agents else { return Ok(Table::new()) };
    let Value::Table(agents) = agents else { return Err(wrong("`agents` is not a table")) };
    let mut checked = Table::new();
    for (name, of_agent) in agents {
        let agent: AgentId = name.parse().map_err(|error| wrong(&format!("`agents.{name}`: {error}")))?;
        let Value::Table(own) = of_agent else {
            return Err(wrong(&format!("`agents.{name}` is not a table")));
        };
        let known = defaults.iter().filter(|(key, _)| OF_AGENTS.contains(&key.as_str()));
        let mut known: Table = known.map(|(key, value)| (key.clone(), value.clone())).collect();
        lay_over(&mut known, own.clone(), file, "").map_err(|error| {
            let message = format!("in `agents.{name}`: {}", error.message);
            Error { message, ..error }
        })?;
        checked.insert(agent.to_string(), Value::Table(own));
    }
    Ok(checked)
}

/// The person's prices, each with the model in its place.
fn own_prices(section: Option<Value>, file: &str) -> Result<Prices, Error> {
    let mut prices = Prices::default();
    let Some(section) = section else { return Ok(prices) };
    let Value::Table(models) = section else {
        return Err(Error::new(Kind::Settings, format!("`prices` in {file} is not a table")));
    };
    for (model, price) in models {
        let wrong = |error: &dyn std::error::Error| {
            Error::caused(Kind::Settings, format!("`prices.{model}` in {file} is invalid"), error)
        };
        let price: OwnPrice = price.try_into().map_err(|error: toml::de::Error| wrong(&error))?;
        prices.set(&model, price).map_err(|error| wrong(&error))?;
    }
    Ok(prices)
}

fn table(text: &str, name: &str) -> Result<Table, Error> {
    text.parse().map_err(|error| Error::caused(Kind::Settings, format!("cannot read {name}"), &error))
}

fn lay_over(base: &mut Table, over: Table, file: &str, section: &str) -> Result<(), Error> {
    for (key, value) in over {
        let full = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => lay_over(inner, over, file, &full)?,
            (Some(known), value) if known.same_type(&value) => *known = value,
            (Some(known), value) => {
                let (wanted, found) = (known.type_str(), value.type_str());
                let message = format!("`{full}` in {file} must be of type {wanted}, not {found}");
                return Err(Error::new(Kind::Settings, message));
            }
            (None, _) => {
                let sections = base.iter().filter(|(_, value)| value.is_table()).map(|(key, _)| key.clone());
                let known = sections.chain(keys(base, section)).collect();
                return Err(unknown(&full, &format!("in {file}"), known));
            }
        }
    }
    Ok(())
}

/// `BACKSTORY_CLAUDE_FOLDERS` sets `claude.folders`; returns the setting's full name.
fn set(all: &mut Table, name: &str, text: &str) -> Result<String, Error> {
    let names: Vec<String> = keys(all, "");
    let Some(key) = names.iter().find(|key| variable(key) == name) else {
        let known = names.iter().map(|key| variable(key)).collect();
        return Err(unknown(name, "in the environment", known));
    };
    let (section, field) = key.split_once('.').unwrap_or(("", key));
    let slot = all.get_mut(section).and_then(|section| section.get_mut(field));
    if let Some(slot) = slot {
        *slot = parsed(slot, text).ok_or_else(|| {
            Error::new(
                Kind::Settings,
                format!("{name} is `{text}`, which is not of type {}", slot.type_str()),
            )
        })?;
    }
    Ok(key.clone())
}

/// A variable's text as a value of the same type as the default.
fn parsed(like: &Value, text: &str) -> Option<Value> {
    Some(match like {
        Value::Integer(_) => Value::Integer(text.parse().ok()?),
        Value::Float(_) => Value::Float(text.parse().ok()?),
        Value::Boolean(_) => Value::Boolean(text.parse().ok()?),
        Value::Array(_) => {
            let parts = text.split(':').filter(|part| !part.is_empty());
            Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
        }
        Value::String(_) | Value::Datetime(_) | Value::Table(_) => Value::String(text.to_owned()),
    })
}

fn variable(key: &str) -> String {
    format!("BACKSTORY_{}", key.replace('.', "_").to_uppercase())
}

/// The full names of all settings in a table.
fn keys(table: &Table, section: &str) -> Vec<String> {
    let full = |key: &String| if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
    table
        .iter()
        .flat_map(|(key, value)| match value {
            Value::Table(inner) => keys(inner, &full(key)),
            _ => vec![full(key)],
        })
        .collect()
}

fn unknown(name: &str, place: &str, known: Vec<String>) -> Error {
    let error = Error::new(Kind::Settings, format!("there is no setting `{name}` ({place})"));
    let near = known.into_iter().map(|known| (strsim::levenshtein(name, &known), known));
    // What shares less than two thirds of its letters was meant for something else.
    match near.filter(|(far, known)| far * 3 <= known.chars().count()).min() {
        Some((_, nearest)) => error.hint(format!("did you mean `{nearest}`?")),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(file: &str, variables: &[(&str, &str)]) -> Result<Settings, Error> {
        let variables = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Settings::new(Some(("config.toml", file)), variables)
    }

    #[test]
    fn the_defaults_are_whole() {
        let defaults = Settings::new(None, []).unwrap();
        assert_eq!(defaults.terminal.pager, "auto");
        let documented = keys(&DEFAULTS.parse().unwrap(), "");
        for key in documented {
            assert!(DEFAULTS.contains(&variable(&key)), "{key} does not name its variable");
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
    fn selection_is_laid_in_three_layers() {
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
    fn an_agent_may_have_a_bridge_of_its_own() {
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
    fn models_may_have_prices_of_their_own() {
        let file = "[prices.\"claude-opus-5-5\"]\ninput = 1\noutput = 2.5\n[prices.glm-5]\ninput = 0.1\noutput = 0.2";
        let prices = settings(file, &[]).unwrap().prices;
        assert!(prices.is_own("claude-opus-5-5-20261010") && prices.is_own("glm-5"));
        assert!(!prices.is_own("claude-opus-5"));
    }

    #[test]
    fn mistakes_are_named() {
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
