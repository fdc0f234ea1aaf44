//! The facts of one transcript, collected in one pass and updated by appended lines.
//!
//! Constant memory: nothing here grows with the file but the ids of compactions and the counters of API
//! messages. A summary can be stored and continued, so that an appended file costs its new bytes.

mod observe;

use std::collections::BTreeSet;

use jiff::Timestamp;
use model::{
    ArmedWork, CostState, ForkOrigin, PricingTerms, ProjectSlug, SessionId, SessionStarts, TeamPlace,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::armed::ArmedTracker;
use crate::reader::Line;
use crate::record::SkipReason;
use crate::titles::Titles;
use crate::usage::UsageCollector;

/// How many record ids are kept from the beginning of a file and after each compaction, to recognize copies.
const ANCHORS_EACH: usize = 4;
/// Anchors kept in all.
const ANCHORS: usize = 64;
/// The most sub-agents that are kept.
const CALLS: usize = 256;
/// Earlier running totals kept.
const TOTALS: usize = 32;
/// The most models that one of them names.
const TOTAL_MODELS: usize = 32;
/// The most directories that are kept.
pub const MAX_DIRECTORIES: usize = 32;

/// The summary of one transcript.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a transcript, each found on its own")]
pub struct Summary {
    id: String,
    /// Whole lines, blank ones included.
    pub lines: u64,
    /// Lines that gave no record, by reason.
    pub skipped: SkippedLines,
    /// Lines in which bytes that were not UTF-8 were replaced by U+FFFD.
    pub mended: u64,
    /// Records that were written again.
    pub copies: u64,
    /// Records of a type this program does not know.
    pub unknown: u64,
    /// Messages a person would read.
    pub visible_messages: u64,
    /// The first prompt, cut to `PREVIEW_LENGTH`; a command only where there is nothing else.
    pub first_prompt: Option<String>,
    /// The last prompt to the model, likewise cut; a command of the terminal's own only where there is nothing else.
    pub last_prompt: Option<String>,
    /// The origin marker before the first prompt.
    pub origin_marker: Option<String>,
    /// The titles that are candidates.
    pub titles: Titles,
    /// The distinct working directories, in order, the first `MAX_DIRECTORIES` of them.
    pub directories: Vec<String>,
    /// The directory the session was last moved to.
    pub moved_to: Option<String>,
    /// The directory a worktree session came from.
    pub worktree_origin: Option<String>,
    /// The branch last seen on the main chain.
    pub branch: Option<String>,
    /// The version of the CLI that wrote the last record.
    pub version: Option<String>,
    /// The program that started the session: `cli`, `sdk-cli`, …
    pub entrypoint: Option<String>,
    /// The session's place in a team of agents.
    pub team: Option<TeamPlace>,
    /// Claude's three-word name of the session.
    pub nickname: Option<String>,
    /// The permission mode last recorded.
    pub permission_mode: Option<String>,
    /// The session's tag, set by the person.
    pub tag: Option<String>,
    /// The URL of the pull request.
    pub pr_url: Option<String>,
    /// When the session itself began. For a copy, the time of the prompt that was queued for it before the copied
    /// records, or their renewed times; else the time of the first record in the tree.
    pub began_at: Option<Timestamp>,
    /// The time of the earliest record.
    pub first_at: Option<Timestamp>,
    /// The time of the latest record.
    pub last_at: Option<Timestamp>,
    /// When a person began the session and resumed it after a pause.
    pub beginnings: SessionStarts,
    /// Tokens that the model's context would have now.
    pub context_tokens: u64,
    /// The model that answered last, by its API name.
    pub model: Option<String>,
    /// The terms of its answer.
    pub terms: PricingTerms,
    /// Whether its answer was written to the one-hour cache.
    pub has_long_cache: bool,
    /// Whether the person left it with `/exit` and has said nothing since.
    pub was_exited: bool,
    /// The CLI's running total.
    pub cost_state: Option<CostState>,
    /// The running totals before it, the latest `TOTALS` of them: a fork's own continues the one that was the last
    /// when it was made.
    pub earlier_totals: Vec<CostState>,
    /// The session a mark in the records names as the one this was copied from.
    pub forked_from: Option<ForkOrigin>,
    /// Another session's id in the `sessionId` of its first records: a copy by an old version, or a renamed file.
    pub named_session: Option<SessionId>,
    /// The sub-agents it called, the first `CALLS` of them.
    pub calls: Vec<AgentCall>,
    /// The sub-agents whose records are in the file itself (up to 2.0.0): the id of each one's first record, and its
    /// task.
    pub inline_agents: Vec<(String, u64)>,
    /// Hashes of the first records' ids and of those after each compaction; copies of a file share some.
    pub anchors: Vec<u64>,
    /// When the person last asked something.
    prompted_at: Option<Timestamp>,
    /// A hash of the id of the last record that was said to the model.
    heard: Option<u64>,
    armed: ArmedTracker,
    compactions: BTreeSet<u64>,
    legacy_compactions: u64,
    anchors_wanted: usize,
    /// Whether it has messages under its own id: what follows them is no copy that begins the file.
    has_own: bool,
    has_tree: bool,
    /// Whether a running total is the newest sign of the CLI: it is written when the CLI ends.
    is_ending: bool,
}

/// A call of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCall {
    /// A hash of its prompt ([`task_key`]).
    pub task: u64,
    /// `general-purpose`, or a custom agent's name.
    pub kind: Option<String>,
    /// The task in a few words.
    pub description: Option<String>,
}

/// A hash that identifies a sub-agent's task: its own first record and the call that started it contain the same
/// prompt.
pub fn task_key(prompt: &str) -> u64 {
    xxh3_64(prompt.trim().as_bytes())
}

/// Lines that gave no record, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedLines {
    /// Lines of white space only.
    pub blank: u64,
    /// Lines with NUL bytes.
    pub nul: u64,
    /// Lines that are not UTF-8.
    pub not_utf8: u64,
    /// Lines that are not a JSON object.
    pub not_json: u64,
    /// Longer than the cap.
    pub too_long: u64,
}

impl SkippedLines {
    /// Lines with content that could not be read.
    pub fn unreadable(&self) -> u64 {
        self.nul + self.not_utf8 + self.not_json + self.too_long
    }
}

impl Summary {
    /// An empty summary of the session `id` (of a sub-agent's file: the session it belongs to).
    pub fn new(id: &SessionId) -> Self {
        Self { id: id.to_string(), anchors_wanted: ANCHORS_EACH, ..Self::default() }
    }

    /// Processes a line; API messages go to `spent`.
    pub fn observe(&mut self, line: Line<'_>, spent: &mut UsageCollector) {
        self.lines += u64::from(!line.is_rest);
        match &line.record() {
            Ok(record) => {
                self.mended += u64::from(line.is_mended);
                let glance = record.glance();
                self.observe_record(record, &glance, spent);
                if !record.is_sidechain() {
                    self.armed.observe(record, &glance.tools, self.lines);
                }
            }
            Err(SkipReason::Unread) => {}
            Err(SkipReason::Copy) => self.copies += 1,
            Err(SkipReason::Blank) => self.skipped.blank += 1,
            Err(SkipReason::Nul) => self.skipped.nul += 1,
            Err(SkipReason::NotUtf8) => self.skipped.not_utf8 += 1,
            Err(SkipReason::NotJson) => self.skipped.not_json += 1,
        }
    }

    /// The number of compactions; in files of old versions, which have no boundary records, those that a system
    /// message mentions.
    pub fn compactions(&self) -> u64 {
        if self.compactions.is_empty() { self.legacy_compactions } else { self.compactions.len() as u64 }
    }

    /// What the session left armed, in the order it was armed; some of it may be over by now.
    pub fn armed(&self) -> Vec<ArmedWork> {
        self.armed.armed()
    }

    /// Whether there are lines, and none of them is JSON: it is some other program's file.
    pub fn is_foreign(&self) -> bool {
        self.skipped.not_json > 0 && self.skipped.not_json + self.skipped.blank == self.lines
    }

    /// The directories that the session was in, besides the one it belongs to.
    pub fn visited<'a>(&'a self, own: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        self.directories.iter().map(String::as_str).filter(move |directory| Some(*directory) != own)
    }

    /// The directory the session belongs to, where the records have one: the last that Claude Code moved it to, else the
    /// one that the transcript's folder is named after, because Claude Code continues it there. Where none is, the one it
    /// started in; then the second value is false.
    pub fn home(&self, folder: &str) -> (Option<&str>, bool) {
        if let Some(moved_to) = self.moved_to.as_deref() {
            return (Some(moved_to), true);
        }
        let is_home = |directory: &&String| ProjectSlug::from_path(directory).is_folder(folder);
        match self.directories.iter().find(is_home) {
            Some(home) => (Some(home), true),
            None => (self.directories.first().map(String::as_str), false),
        }
    }
}
