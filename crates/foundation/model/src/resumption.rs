//! What is known of a session before it is continued: what it left armed, and what its context costs.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PricingTerms;

/// What a session's transcript says about continuing it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resumption {
    /// The model that the session used last, by its API name.
    pub model: Option<Arc<str>>,
    /// The terms of its last message.
    pub terms: PricingTerms,
    /// Whether its last message was written to the one-hour cache.
    pub has_long_cache: bool,
    /// What it left armed.
    pub armed: Vec<ArmedWork>,
}

/// Work that a session left armed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmedWork {
    /// What sort of thing it is.
    pub kind: ArmedKind,
    /// The prompt or the command.
    pub what: String,
    /// The schedule of a prompt, as cron writes it.
    pub schedule: Option<String>,
    /// When it was armed.
    pub at: Option<Timestamp>,
    /// From when on Claude Code no longer acts on it.
    pub until: Option<Timestamp>,
    /// The line that records it, from 1.
    pub line: u64,
}

/// The sorts of work that a session can leave armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArmedKind {
    /// A prompt on a schedule.
    Cron,
    /// A prompt that continues a loop at a later time.
    WakeUp,
    /// A shell in the background.
    Shell,
    /// A command in the background whose output wakes the model.
    Monitor,
    /// A prompt on a schedule of the directory, which any session there asks.
    DirectoryCron,
}

impl ArmedKind {
    /// Whether Claude Code asks the model by itself once the session is continued.
    pub fn fires(self) -> bool {
        matches!(self, Self::Cron | Self::WakeUp | Self::DirectoryCron)
    }
}

impl ArmedWork {
    /// Whether it still means something at `now`.
    pub fn is_armed(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now)
    }
}

/// The cost of resuming a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResumeCost {
    /// Tokens of context that are read again.
    pub tokens: u64,
    /// Whether they are still in the prompt cache.
    pub cached: bool,
    /// How long prompts stay in the cache, in minutes: 60 where the session pays for the longer cache, as
    /// subscriptions do, else 5.
    pub cache_minutes: i64,
    /// How many minutes ago the session was used.
    pub minutes_since_use: Option<i64>,
    /// The cost in US dollars, if the model's price is known; what a subscription does not bill counts against its limits.
    pub cost_usd: Option<f64>,
    /// The model that the session used last, by its API name.
    pub model: Option<Arc<str>>,
    /// The share of the context window that is used, from 0 to 1.
    pub window_used: f64,
    /// How many tokens are left before Claude Code compacts.
    pub tokens_until_compaction: u64,
    /// What would cost less.
    pub alternatives: Vec<&'static str>,
    /// What the session left armed, which may go on once it is resumed.
    pub armed: Vec<ArmedInfo>,
}

/// Something that a session left armed, as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArmedInfo {
    /// `cron` for a prompt on a schedule, `wake_up` for the next round of a loop, `shell` for a command in the
    /// background, `monitor` for one whose output wakes the model, `directory_cron` for a prompt on a schedule that any session
    /// in its directory asks.
    pub kind: ArmedKind,
    /// The prompt or the command.
    pub what: String,
    /// The schedule of a prompt, as cron writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// When it was armed.
    #[serde(serialize_with = "crate::optional_time")]
    pub at: Option<Timestamp>,
    /// The line that records it, from 1; 0 where the transcript does not.
    pub line: u64,
}

impl From<ArmedWork> for ArmedInfo {
    fn from(work: ArmedWork) -> Self {
        Self { kind: work.kind, what: work.what, schedule: work.schedule, at: work.at, line: work.line }
    }
}
