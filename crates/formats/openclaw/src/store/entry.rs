//! The entry of a session in `sessions.json`, with every field that OpenClaw and ClawCode have given it.
//!
//! A field of another type than expected counts as absent. Fields that are not listed here, and such fields, stay in
//! the file as they are when the entry is written back.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::delivery::{ChatType, DeliveryContext, SessionOrigin, ThreadId};
use super::json_object::JsonObject;
use super::layout::Layout;
use super::lenient::{Lenient, OpaqueJson, as_serde_does, field, read_object, read_with_serde};

/// Whether the agent may send messages into a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SendDecision {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// When an agent answers in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupActivation {
    /// Where it is mentioned.
    Mention,
    /// To every message.
    Always,
}

/// Who chose a profile in place of the configured one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverrideSource {
    /// OpenClaw itself.
    Auto,
    /// The person.
    User,
}

/// What an answer says of the tokens it used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResponseUsage {
    /// It says.
    On,
    /// Nothing.
    Off,
    /// The tokens.
    Tokens,
    /// All that is known.
    Full,
}

/// Which messages are dropped from a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueDrop {
    /// The oldest.
    Old,
    /// The newest.
    New,
    /// The oldest, a summary kept.
    Summarize,
}

impl SendDecision {
    /// Reads a word as OpenClaw does.
    pub fn from_word(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "allow" => Some(Self::Allow),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl Lenient for SendDecision {
    fn read(text: &str) -> Option<Self> {
        Self::from_word(&String::read(text)?)
    }
}

as_serde_does!(GroupActivation, OverrideSource, ResponseUsage, QueueDrop);

/// Declares the entry: each field under its name in JSON.
macro_rules! entry {
    ($($(#[$about:meta])* $name:ident: $kind:ty,)*) => {
        /// A session of an agent, as its store knows it. Times are in milliseconds.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct Entry {
            $(
                $(#[$about])*
                #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
                pub $name: Option<$kind>,
            )*
        }

        /// The names of its fields, as Rust has them.
        const FIELDS: &[&str] = &[$(stringify!($name)),*];

        impl Entry {
            /// Takes over what another entry says.
            pub fn overlay(&mut self, patch: &Self) {
                $(
                    if patch.$name.is_some() {
                        self.$name.clone_from(&patch.$name);
                    }
                )*
            }
        }
    };
}

entry! {
    /// The id of its conversation, which names the transcript.
    session_id: String,
    /// When something happened in it last.
    updated_at: i64,
    /// The transcript.
    session_file: String,
    /// The key of the session that started it, of a sub-agent's.
    spawned_by: String,
    /// The Claude session behind it, in ClawCode.
    sdk_session_id: String,
    /// The sessions of command-line programs behind it, by provider.
    cli_session_ids: BTreeMap<String, String>,
    /// The Claude session behind it, in older versions.
    claude_cli_session_id: String,
    /// The name of its channel.
    channel: String,
    /// The channel an answer went to last.
    last_channel: String,
    /// Whom an answer went to last.
    last_to: String,
    /// The account an answer was sent from last.
    last_account_id: String,
    /// The thread an answer went to last.
    last_thread_id: ThreadId,
    /// Where answers go.
    delivery_context: DeliveryContext,
    /// Where answers go, in 2026.9: none, internal, or a route with its context and origin.
    delivery: OpaqueJson,
    /// Whether it is a direct chat, a group or a channel.
    chat_type: ChatType,
    /// The id of its group.
    group_id: String,
    /// The subject of its group.
    subject: String,
    /// The name of its channel within a workspace, such as `#general`.
    group_channel: String,
    /// The workspace of its channel.
    space: String,
    /// The name it is shown under.
    display_name: String,
    /// Whether the agent may send messages, against the rules of the configuration.
    send_policy: SendDecision,
    /// When the agent answers in its group.
    group_activation: GroupActivation,
    /// Whether the agent still has to say how it is activated.
    group_activation_needs_system_intro: bool,
    /// The provider in place of the configured one.
    provider_override: String,
    /// The model in place of the configured one.
    model_override: String,
    /// The profile of credentials in place of the configured one.
    auth_profile_override: String,
    /// Who chose that profile.
    auth_profile_override_source: OverrideSource,
    /// How many compactions there were when it was chosen.
    auth_profile_override_compaction_count: i64,
    /// The host on which commands run.
    exec_host: String,
    /// How commands are secured.
    exec_security: String,
    /// When commands are asked about.
    exec_ask: String,
    /// The node on which commands run.
    exec_node: String,
    /// How much it thinks.
    thinking_level: String,
    /// How much it reports.
    verbose_level: String,
    /// How much of its reasoning is shown.
    reasoning_level: String,
    /// What it may do with more rights.
    elevated_level: String,
    /// What its answers say of the tokens they used.
    response_usage: ResponseUsage,
    /// When its answers are spoken.
    tts_auto: String,
    /// What becomes of messages that come while it works.
    queue_mode: String,
    /// How long messages are collected.
    queue_debounce_ms: i64,
    /// The most messages that wait.
    queue_cap: i64,
    /// Which messages are dropped from a full queue.
    queue_drop: QueueDrop,
    /// Tokens that were sent to the model.
    input_tokens: i64,
    /// Tokens that the model answered.
    output_tokens: i64,
    /// Both together.
    total_tokens: i64,
    /// Whether `total_tokens` is of the last run.
    total_tokens_fresh: bool,
    /// The size of the model's context.
    context_tokens: i64,
    /// The provider that was used last.
    model_provider: String,
    /// The model that was used last.
    model: String,
    /// How often it was compacted.
    compaction_count: i64,
    /// When its memory was saved last.
    memory_flush_at: i64,
    /// How many compactions there were then.
    memory_flush_compaction_count: i64,
    /// Whether the system prompt was sent.
    system_sent: bool,
    /// Whether the last run was aborted.
    aborted_last_run: bool,
    /// The last message of its heartbeat.
    last_heartbeat_text: String,
    /// When that was sent.
    last_heartbeat_sent_at: i64,
    /// The context of its first message.
    origin: SessionOrigin,
    /// The name the person gave it.
    label: String,
    /// The skills it was started with.
    skills_snapshot: OpaqueJson,
    /// What its system prompt consists of.
    system_prompt_report: OpaqueJson,
    /// When its present conversation began.
    session_started_at: i64,
    /// When a person last took part.
    last_interaction_at: i64,
    /// When anything last happened.
    last_activity_at: i64,
    /// When it was archived.
    archived_at: i64,
    /// When it was pinned.
    pinned_at: i64,
    /// Up to when it was read.
    last_read_at: i64,
}

/// The names that fields had before.
const RENAMED: [(&str, &str); 3] =
    [("provider", "channel"), ("lastProvider", "lastChannel"), ("room", "groupChannel")];

impl Entry {
    /// Reads the text of an entry; `None` where that is no JSON object.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut entry: Self = read_object(text)?;
        if entry.channel.is_none() || entry.last_channel.is_none() || entry.group_channel.is_none() {
            let old: OldNames = serde_json::from_str(text).ok()?;
            entry.channel = entry.channel.or(old.provider);
            entry.last_channel = entry.last_channel.or(old.last_provider);
            entry.group_channel = entry.group_channel.or(old.room);
        }
        Some(entry)
    }

    /// What an entry becomes by a change: the time is never set back, and one without an id gets a new one.
    pub fn merged(
        existing: Option<&Self>,
        patch: &Self,
        now: Timestamp,
        new_id: impl FnOnce() -> String,
    ) -> Self {
        let mut merged = existing.cloned().unwrap_or_default();
        merged.overlay(patch);
        let known = existing.and_then(|entry| entry.updated_at).unwrap_or(0);
        merged.updated_at = Some(known.max(patch.updated_at.unwrap_or(0)).max(now.as_millisecond()));
        if merged.session_id.is_none() {
            merged.session_id = Some(new_id()).filter(|id| !id.is_empty());
        }
        merged
    }

    /// The channel that answers go to, as `delivery` says it.
    pub(crate) fn delivery_channel(&self) -> Option<String> {
        let delivery: Value = serde_json::from_str(self.delivery.as_ref()?.get()).ok()?;
        let is_external = delivery["kind"] == "external";
        let named = [&delivery["context"]["channel"], &delivery["origin"]["provider"]];
        let first = named.into_iter().find(|name| !name.is_null()).filter(|_| is_external);
        first?.as_str().map(str::to_owned)
    }

    /// The id of its conversation, where it is a valid one.
    pub fn session(&self) -> Option<SessionId> {
        self.session_id.as_deref()?.trim().parse().ok()
    }

    /// The text of an entry with these fields in place of those in `text`; `direct` is the word that the file has for
    /// direct chats.
    pub(crate) fn written(
        &self,
        text: Option<&str>,
        layout: Layout,
        direct: DirectSpelling,
    ) -> serde_json::Result<String> {
        let known = text.and_then(Self::parse).unwrap_or_default();
        let mut object = JsonObject::parse(text.unwrap_or("{}").to_owned(), layout)?;
        for (old, new) in RENAMED {
            let is_text = |name: &str| object.get(name).is_some_and(|raw| String::read(raw).is_some());
            let (has_old, has_new) = (is_text(old), is_text(new));
            if has_old && !has_new {
                object.remove(new);
                object.rename(old, new);
            } else if old == "room" {
                object.remove(old);
            }
        }
        object.enter(&known.fields(direct)?, &self.fields(direct)?)?;
        Ok(object.into_text())
    }

    fn fields(&self, direct: DirectSpelling) -> serde_json::Result<Map<String, Value>> {
        let Value::Object(mut fields) = serde_json::to_value(self)? else { return Ok(Map::new()) };
        if direct == DirectSpelling::Dm {
            let within = |fields: &mut Map<String, Value>| {
                if let Some(word) = fields.get_mut("chatType").filter(|word| **word == "direct") {
                    *word = "dm".into();
                }
            };
            within(&mut fields);
            fields.get_mut("origin").and_then(Value::as_object_mut).into_iter().for_each(within);
        }
        Ok(fields)
    }
}

/// The first field of an entry's text that has a value of another type than OpenClaw expects.
pub fn mistyped(text: &str) -> Option<String> {
    let given: Map<String, Value> = serde_json::from_str(text).ok()?;
    let read = Entry::parse(text)?.fields(DirectSpelling::default()).ok()?;
    let is_known = |name: &str| {
        let snake: String =
            name.chars()
                .map(|c| {
                    if c.is_ascii_uppercase() {
                        format!("_{}", c.to_ascii_lowercase())
                    } else {
                        c.to_string()
                    }
                })
                .collect();
        FIELDS.contains(&snake.as_str())
    };
    let is_wrong =
        |(name, value): &(&String, &Value)| !value.is_null() && is_known(name) && !read.contains_key(*name);
    given.iter().find(is_wrong).map(|(name, _)| name.clone())
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OldNames {
    #[serde(deserialize_with = "field")]
    provider: Option<String>,
    #[serde(deserialize_with = "field")]
    last_provider: Option<String>,
    #[serde(deserialize_with = "field")]
    room: Option<String>,
}

/// The spelling of the chat type for direct chats: the older `dm`, or `direct`. A file keeps the one it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DirectSpelling {
    /// `dm`, until January 2026.
    Dm,
    /// `direct`.
    #[default]
    Direct,
}

impl DirectSpelling {
    /// The word itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dm => "dm",
            Self::Direct => "direct",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of the document that describes the store.
    const WHOLE: &str = r##"{
    "unknown": {"kept": [ 1.50 ]},
    "sessionId": "0b7c9a52-2a53-4d7e-9b53-6d0c2b6f2f10",
    "updatedAt": 1770000000000,
    "sessionFile": "/s/0b7c.jsonl", "spawnedBy": "agent:main:main", "sdkSessionId": "c1",
    "cliSessionIds": {"claude-cli": "c2", "codex": "x"}, "claudeCliSessionId": "c3",
    "channel": "telegram", "lastChannel": "telegram", "lastTo": "telegram:12345", "lastAccountId": "default",
    "lastThreadId": 7, "deliveryContext": {"channel": "telegram", "to": "telegram:12345", "accountId": "default", "threadId": "7"},
    "chatType": "dm", "groupId": "987", "subject": "Us", "groupChannel": "#general", "space": "My Guild",
    "displayName": "discord:g-general", "sendPolicy": "deny", "groupActivation": "mention",
    "groupActivationNeedsSystemIntro": true, "providerOverride": "anthropic", "modelOverride": "m",
    "authProfileOverride": "p", "authProfileOverrideSource": "user", "authProfileOverrideCompactionCount": 1,
    "execHost": "h", "execSecurity": "s", "execAsk": "a", "execNode": "n", "thinkingLevel": "high",
    "verboseLevel": "on", "reasoningLevel": "on", "elevatedLevel": "off", "responseUsage": "tokens",
    "ttsAuto": "always", "queueMode": "steer", "queueDebounceMs": 10, "queueCap": 5, "queueDrop": "summarize",
    "inputTokens": 1200, "outputTokens": 300, "totalTokens": 1.5e3, "totalTokensFresh": true, "contextTokens": 200000,
    "modelProvider": "anthropic", "model": "claude-opus-4-5", "compactionCount": 0, "memoryFlushAt": 2,
    "memoryFlushCompactionCount": 0, "systemSent": true, "abortedLastRun": false, "lastHeartbeatText": "hm",
    "lastHeartbeatSentAt": 3, "origin": {"label": "Ana", "provider": "telegram", "surface": "telegram",
      "chatType": "dm", "from": "a", "to": "b", "accountId": "default", "threadId": 7}, "label": "mine",
    "skillsSnapshot": {"prompt": "…"}, "systemPromptReport": {"chars": 5}, "sessionStartedAt": 1,
    "lastInteractionAt": 2, "lastActivityAt": 3, "archivedAt": 4, "pinnedAt": 5, "lastReadAt": 6
  }"##;

    #[track_caller]
    fn check(text: &str, direct: DirectSpelling, change: impl FnOnce(&mut Entry), expected: &str) {
        let mut entry = Entry::parse(text).unwrap();
        change(&mut entry);
        assert_eq!(entry.written(Some(text), Layout::of_file(), direct).unwrap(), expected);
    }

    #[test]
    fn every_field_is_typed() {
        let entry = Entry::parse(WHOLE).unwrap();
        let fields = entry.fields(DirectSpelling::Dm).unwrap();
        let original: Map<String, Value> = serde_json::from_str(WHOLE).unwrap();
        let missing: Vec<_> =
            original.keys().filter(|key| *key != "unknown" && !fields.contains_key(*key)).collect();
        assert_eq!(missing, Vec::<&String>::new());
        let names: Vec<_> = fields.keys().filter(|key| !original.contains_key(*key)).collect();
        assert_eq!(names, Vec::<&String>::new(), "the example has every field");
        assert_eq!((entry.chat_type, entry.total_tokens), (Some(ChatType::Direct), Some(1500)));
        assert_eq!(entry.last_thread_id, Some(ThreadId::Number(7)));
        assert_eq!(entry.skills_snapshot.as_ref().map(OpaqueJson::get), Some(r#"{"prompt": "…"}"#));
    }

    #[test]
    fn a_rewrite_differs_in_changed_values_only() {
        for word in [DirectSpelling::Dm, DirectSpelling::Direct] {
            check(WHOLE, word, |_| (), WHOLE);
        }
        let expected = WHOLE.replace("1770000000000", "1770000000001");
        check(WHOLE, DirectSpelling::Dm, |entry| entry.updated_at = Some(1_770_000_000_001), &expected);
        let expected = WHOLE.replace("\"to\": \"telegram:12345\", \"acc", "\"to\": \"you\", \"acc");
        let change = |entry: &mut Entry| entry.delivery_context.as_mut().unwrap().to = Some("you".into());
        check(WHOLE, DirectSpelling::Dm, change, &expected);
        let expected = WHOLE.replace(" \"label\": \"mine\",", "");
        check(WHOLE, DirectSpelling::Dm, |entry| entry.label = None, &expected);
    }

    #[test]
    fn invalid_fields_are_absent_and_kept() {
        let odd = r#"{"sessionId": 7, "updatedAt": "now", "chatType": "circle", "origin": [], "cliSessionIds": {"a": 1}}"#;
        let entry = Entry::parse(odd).unwrap();
        assert_eq!(entry, Entry { cli_session_ids: Some(BTreeMap::new()), ..Entry::default() });
        let expected = odd.replace("\"now\"", "5");
        check(odd, DirectSpelling::Dm, |entry| entry.updated_at = Some(5), &expected);
        assert_eq!(Entry::parse("[]"), None);
    }

    #[test]
    fn values_of_the_wrong_type_are_reported() {
        let check =
            |text: &str, expected: Option<&str>| assert_eq!(mistyped(text).as_deref(), expected, "{text}");
        check(r#"{"sendPolicy": "deny", "unknown": 7, "label": null}"#, None);
        check(r#"{"sendPolicy": "maybe"}"#, Some("sendPolicy"));
        check(r#"{"updatedAt": "now"}"#, Some("updatedAt"));
    }

    #[test]
    fn old_names_are_read_and_replaced_by_a_rewrite() {
        let old = r#"{"provider": "slack", "lastProvider": "irc", "room": "r", "sessionId": "s"}"#;
        let entry = Entry::parse(old).unwrap();
        assert_eq!(
            (entry.channel.as_deref(), entry.last_channel.as_deref(), entry.group_channel.as_deref()),
            (Some("slack"), Some("irc"), Some("r"))
        );
        let expected = r#"{"channel":"slack","lastChannel":"irc","groupChannel":"r", "sessionId": "t"}"#;
        check(old, DirectSpelling::Dm, |entry| entry.session_id = Some("t".into()), expected);
        let both = r#"{"provider":"a","channel":"b","room":"c","groupChannel":"d"}"#;
        check(both, DirectSpelling::Dm, |_| (), r#"{"provider":"a","channel":"b","groupChannel":"d"}"#);
    }

    #[test]
    fn a_new_entry_uses_the_chat_type_spelling_of_its_file() {
        let entry =
            Entry { session_id: Some("s".into()), chat_type: Some(ChatType::Direct), ..Entry::default() };
        let check = |word, expected: &str| {
            let text = entry.written(None, Layout::of_file(), word).unwrap();
            assert_eq!(text, format!("{{\n  \"sessionId\": \"s\",\n  \"chatType\": \"{expected}\"\n}}"));
        };
        check(DirectSpelling::Dm, "dm");
        check(DirectSpelling::Direct, "direct");
    }
}
