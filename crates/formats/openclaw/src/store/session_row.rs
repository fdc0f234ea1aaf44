//! The rows of a list of sessions, in the shape of `openclaw sessions --json`.

use jiff::Timestamp;
use serde::Serialize;

use super::delivery::ChatType;
use super::entry::{Entry, GroupActivation, ResponseUsage};
use super::generation::Generation;
use super::session_key::SessionKey;

/// One session of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// Its key.
    pub key: String,
    /// `direct`, `group`, `global` or `unknown`; `cron` and `spawn-child`, too, since 2026.9.
    pub kind: &'static str,
    /// When something happened in it last, in milliseconds.
    pub updated_at: Option<i64>,
    /// How long ago that was, in milliseconds.
    pub age_ms: Option<i64>,
    /// The id of its conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether the system prompt was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_sent: Option<bool>,
    /// Whether the last run was aborted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted_last_run: Option<bool>,
    /// How much it thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<String>,
    /// How much it reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbose_level: Option<String>,
    /// How much of its reasoning is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_level: Option<String>,
    /// What it may do with more rights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevated_level: Option<String>,
    /// What its answers say of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_usage: Option<ResponseUsage>,
    /// When it answers in its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_activation: Option<GroupActivation>,
    /// Tokens that were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    /// Tokens that were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    /// Both together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<i64>,
    /// The model that was used last, else the configured one.
    pub model: Option<String>,
    /// The size of its context.
    pub context_tokens: Option<i64>,
}

impl SessionRow {
    /// The row of an entry.
    pub fn new(key: &str, entry: &Entry, generation: Generation, now: Timestamp) -> Self {
        let updated_at = entry.updated_at.filter(|at| *at != 0);
        Self {
            key: key.to_owned(),
            kind: kind(key, entry, generation),
            updated_at: entry.updated_at,
            age_ms: updated_at.map(|at| now.as_millisecond().saturating_sub(at)),
            session_id: entry.session_id.clone(),
            system_sent: entry.system_sent,
            aborted_last_run: entry.aborted_last_run,
            thinking_level: entry.thinking_level.clone(),
            verbose_level: entry.verbose_level.clone(),
            reasoning_level: entry.reasoning_level.clone(),
            elevated_level: entry.elevated_level.clone(),
            response_usage: entry.response_usage,
            group_activation: entry.group_activation,
            input_tokens: entry.input_tokens,
            output_tokens: entry.output_tokens,
            total_tokens: entry.total_tokens,
            model: entry.model.clone(),
            context_tokens: entry.context_tokens,
        }
    }
}

fn kind(key: &str, entry: &Entry, generation: Generation) -> &'static str {
    let is_newer = generation == Generation::Database;
    let is_group = matches!(entry.chat_type, Some(ChatType::Group | ChatType::Channel));
    let is_cron = || key.parse::<SessionKey>().is_ok_and(|key| key.is_cron());
    let has_parent = entry.spawned_by.as_deref().is_some_and(|parent| !parent.is_empty());
    match key {
        "global" => "global",
        "unknown" => "unknown",
        _ if is_newer && is_cron() => "cron",
        _ if is_newer && has_parent => "spawn-child",
        _ if is_group || key.contains(":group:") || key.contains(":channel:") => "group",
        _ => "direct",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_names_the_kinds_that_it_knows() {
        let check = |key: &str, entry: &Entry, in_file: &str, in_database: &str| {
            let found = (kind(key, entry, Generation::File), kind(key, entry, Generation::Database));
            assert_eq!(found, (in_file, in_database), "{key}");
        };
        let plain = Entry::default();
        let child = Entry { spawned_by: Some("agent:main:main".into()), ..Entry::default() };
        let group = Entry { chat_type: Some(ChatType::Group), ..Entry::default() };
        check("global", &child, "global", "global");
        check("unknown", &plain, "unknown", "unknown");
        check("agent:main:main", &plain, "direct", "direct");
        check("agent:main:cron:nightly:run:1", &child, "direct", "cron");
        check("agent:main:slack:channel:cron:1", &plain, "group", "group");
        check("agent:main:subagent:x", &child, "direct", "spawn-child");
        check("agent:main:main", &group, "group", "group");
    }
}
