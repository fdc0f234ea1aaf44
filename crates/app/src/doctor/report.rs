//! What `doctor` reports.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NextStep;

/// What to check: everything.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DoctorRequest")]
pub struct Request {}

/// The report of `doctor`; its next steps are in an interface's own words.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DoctorAnswer")]
pub struct Report<S = String> {
    /// Whether no finding is a problem; `findings` may still hold advice.
    pub healthy: bool,
    /// The program that continues sessions.
    pub claude: Option<ClaudeReport>,
    /// Backstory's plugin for Claude Code; absent where it is not installed.
    pub plugin: Option<PluginReport>,
    /// Claude Code's config folders.
    pub config_folders: Vec<Folder>,
    /// OpenClaw's state folders.
    pub openclaw_folders: Vec<Folder>,
    /// The number of sub-agents' transcripts.
    pub subagents: usize,
    /// The cache of the sessions that were read.
    pub catalog: CacheFile,
    /// The search index; absent where there is none yet, or it cannot be opened.
    pub index: Option<Index>,
    /// What embeds excerpts of sessions.
    pub excerpts: Excerpts,
    /// The copies of sessions that Claude Code deletes.
    pub archive: ArchiveReport,
    /// What is wrong or will be.
    pub findings: Vec<Finding<S>>,
}

/// What embeds excerpts of sessions, by which they are found in other words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DoctorExcerpts")]
pub struct Excerpts {
    /// The model; `null` where there is none.
    pub model: Option<String>,
    /// Why there is none.
    pub reason: Option<String>,
}

impl Report<Vec<NextStep>> {
    /// The same with its next steps in an interface's own words.
    pub fn worded(self, word: impl Fn(&NextStep) -> String) -> Report {
        let finding = |found: Finding<Vec<NextStep>>| Finding {
            severity: found.severity,
            what: found.what,
            path: found.path,
            next_step: found.next_step.iter().map(&word).collect::<Vec<_>>().join("; "),
        };
        Report {
            healthy: self.healthy,
            claude: self.claude,
            plugin: self.plugin,
            config_folders: self.config_folders,
            openclaw_folders: self.openclaw_folders,
            subagents: self.subagents,
            catalog: self.catalog,
            index: self.index,
            excerpts: self.excerpts,
            archive: self.archive,
            findings: self.findings.into_iter().map(finding).collect(),
        }
    }
}

/// The `claude` that would be started.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "InstalledClaude")]
pub struct ClaudeReport {
    /// The program's path.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// Its version, where it says one.
    pub version: Option<String>,
    /// Whether it can fork sessions.
    pub can_fork: bool,
    /// Whether it finds a session from any directory.
    pub finds_sessions_anywhere: bool,
    /// Whether it says which sessions are open.
    pub registers_live_sessions: bool,
}

/// The plugin that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PluginReport")]
pub struct PluginReport {
    /// Its id: its name, `@` and the marketplace it is from.
    pub id: String,
    /// Its version, where Claude Code's list of plugins says it.
    pub version: Option<String>,
    /// Whether it is switched on.
    #[serde(rename = "enabled")]
    pub is_enabled: bool,
}

/// A folder that is looked through.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SearchedFolder")]
pub struct Folder {
    /// The folder's path.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// Whether it exists.
    pub exists: bool,
    /// The number of sessions in it.
    pub sessions: usize,
}

/// One of Backstory's own files.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CacheFile {
    /// The file's path.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// Its size; absent where it is not there yet.
    pub bytes: Option<u64>,
}

/// The state of the search index.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "IndexSize")]
pub struct Index {
    /// The folder that holds the index.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// Pieces of text that can be found.
    pub chunks: u64,
    /// The number of files that are indexed.
    pub files: u64,
    /// Sessions they belong to.
    pub sessions: u64,
    /// Files that hold something it does not.
    pub pending_files: u64,
    /// How much that is, in bytes.
    pub pending_bytes: u64,
}

/// The state of the archive.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ArchiveReport {
    /// Its folder.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// Whether sessions are copied: the setting `archive.enabled`.
    pub enabled: bool,
    /// Sessions that it has.
    pub sessions: u64,
    /// How much the copied files hold, in bytes.
    pub content_bytes: u64,
    /// How much room it takes, in bytes.
    pub disk_bytes: u64,
    /// How many gigabytes it may take: the setting `archive.max_gigabytes`; 0 for no limit.
    pub max_gigabytes: u64,
}

/// A problem or a piece of advice.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding<S = String> {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in words.
    pub what: String,
    /// The file or folder it is about.
    #[serde(serialize_with = "model::optional_path")]
    pub path: Option<PathBuf>,
    /// What to do about it.
    pub next_step: S,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something does not work until it is fixed.
    Problem,
    /// Nothing is broken; something will be lost or is left over.
    Advice,
}
