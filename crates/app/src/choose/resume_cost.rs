//! The cost of resuming a session: the context that the model reads again before its first word.

use std::path::Path;

use jiff::Timestamp;
use model::{Session, SessionId};
use schemars::JsonSchema;
use selection::Candidate;
use serde::Serialize;
use transcript::{ArmedKind, ArmedWork};

use crate::Context;
use crate::choose::candidates::RepoCandidate;

/// The cost of resuming a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
    pub model: Option<String>,
    /// The share of the context window that is used, from 0 to 1.
    pub window_used: f64,
    /// How many tokens are left before Claude Code compacts.
    pub tokens_until_compaction: u64,
    /// What would cost less.
    pub alternatives: Vec<String>,
    /// What the session left armed, which may go on once it is resumed.
    pub armed: Vec<ArmedInfo>,
}

/// Something that a session left armed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArmedInfo {
    /// `cron` for a prompt on a schedule, `wake_up` for the next round of a loop, `shell` for a command in the background.
    pub kind: &'static str,
    /// The prompt or the command.
    pub what: String,
    /// The schedule of a prompt, as cron writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// When it was armed.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// The line that records it, from 1.
    pub line: u64,
}

/// The cost of resuming a session now.
pub fn resume_cost(context: &Context, session: &Session) -> ResumeCost {
    let resumed = Resumed {
        id: &session.id,
        transcript: session.file.as_deref(),
        last_active: session.last_modified,
        context_tokens: session.context_tokens,
    };
    of_resumed(context, &resumed, context.now)
}

/// What is known of the session that is resumed.
struct Resumed<'a> {
    id: &'a SessionId,
    transcript: Option<&'a Path>,
    last_active: Option<Timestamp>,
    context_tokens: u64,
}

/// The cost of resuming a session at `now`.
pub(super) fn of(context: &Context, resumed: &RepoCandidate, now: Timestamp) -> ResumeCost {
    let Candidate { id, last_active, .. } = &resumed.candidate;
    let resumed = Resumed {
        id,
        transcript: resumed.file.as_deref(),
        last_active: *last_active,
        context_tokens: resumed.context_tokens,
    };
    of_resumed(context, &resumed, now)
}

fn of_resumed(context: &Context, resumed: &Resumed<'_>, now: Timestamp) -> ResumeCost {
    let Resumed { id, transcript, last_active, .. } = resumed;
    let messages =
        transcript.map(|file| catalog::messages(&context.config().places(), id, file)).unwrap_or_default();
    let before = |at: Option<Timestamp>| at.is_none_or(|at| at < now);
    let last = messages.iter().rev().find(|message| !message.subagent && before(message.at));
    let minutes = last_active.map(|then| (now.as_second() - then.as_second()) / 60);
    let long_cache = last.is_some_and(|message| message.usage.cache_write_1h > 0);
    let found = selection::resume_cost(resumed.context_tokens, minutes, long_cache);
    let prices = &context.config().settings.prices;
    let alternatives =
        ["a fork at an earlier message".to_owned(), "a new session, which reads nothing again".to_owned()];
    ResumeCost {
        tokens: found.tokens,
        cached: found.cached,
        cache_minutes: found.cache_minutes,
        minutes_since_use: minutes,
        cost_usd: last.and_then(|message| prices.price(&message.model, &found.usage, message.terms)),
        model: last.map(|message| message.model.clone()),
        window_used: found.window_used,
        tokens_until_compaction: found.until_compaction,
        alternatives: if found.offer_cheaper { alternatives.into() } else { Vec::new() },
        armed: transcript.map_or_else(Vec::new, |file| armed(context, file, now)),
    }
}

fn armed(context: &Context, transcript: &Path, now: Timestamp) -> Vec<ArmedInfo> {
    let info = |work: ArmedWork| ArmedInfo {
        kind: match work.kind {
            ArmedKind::Cron => "cron",
            ArmedKind::WakeUp => "wake_up",
            ArmedKind::Shell => "shell",
        },
        what: context.secrets.redacted(work.what.into()),
        schedule: work.schedule,
        at: work.at,
        line: work.line,
    };
    transcript::armed_work(transcript, now).unwrap_or_default().into_iter().map(info).collect()
}
