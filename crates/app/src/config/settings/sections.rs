//! The sections of the settings file and their values; `defaults.toml` explains every field.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The chance from which resuming a session is advised.
    pub resume_chance: f64,
    /// The chance from which the person is asked.
    pub ask_from: f64,
    /// The chance below which the person is asked.
    pub ask_below: f64,
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
            RuleName::Calibrated => selection::Rule::Calibrated(selection::Bars {
                resume_from: self.resume_chance,
                ask_from: self.ask_from,
                ask_below: self.ask_below,
            }),
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
    /// Directories whose sessions count as hidden.
    pub leave_out: Vec<PathBuf>,
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
    /// The model that embeds excerpts, or `off`.
    pub excerpts: String,
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
