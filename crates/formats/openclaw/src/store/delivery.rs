//! Where a session's answers go and where it came from, as an entry says it, and how OpenClaw normalizes that.

use serde::{Deserialize, Serialize};

use super::lenient::{Lenient, field, read_object};

/// The kind of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatType {
    /// With one person; older files call it `dm`.
    #[serde(alias = "dm")]
    Direct,
    /// In a group.
    Group,
    /// In a channel.
    Channel,
}

impl ChatType {
    /// Reads a word as OpenClaw does.
    pub fn from_word(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "direct" | "dm" => Some(Self::Direct),
            "group" => Some(Self::Group),
            "channel" => Some(Self::Channel),
            _ => None,
        }
    }

    /// Its word; direct chats are `direct`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Channel => "channel",
        }
    }
}

/// The id of a thread or topic within a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ThreadId {
    /// A number, as Telegram has.
    Number(i64),
    /// A text, as Slack has.
    Text(String),
}

impl ThreadId {
    /// Without white space and fractions; `None` where nothing is left.
    fn normalized(&self) -> Option<Self> {
        match self {
            Self::Number(number) => Some(Self::Number(*number)),
            Self::Text(text) => trimmed(text).map(Self::Text),
        }
    }
}

impl std::fmt::Display for ThreadId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => out.write_str(text),
        }
    }
}

impl Lenient for ThreadId {
    fn read(text: &str) -> Option<Self> {
        i64::read(text).map(Self::Number).or_else(|| String::read(text).map(Self::Text))
    }
}

/// Where answers go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryContext {
    /// The name of the channel, such as `slack`.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The recipient.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The account that sends.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// The thread.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
}

/// The context of a session's first message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionOrigin {
    /// The name of the conversation.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The channel.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The surface, such as `webchat`.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// The kind of the chat.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub chat_type: Option<ChatType>,
    /// The sender.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The recipient.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The account.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// The thread.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
}

impl Lenient for ChatType {
    fn read(text: &str) -> Option<Self> {
        Self::from_word(&String::read(text)?)
    }
}

impl Lenient for DeliveryContext {
    fn read(text: &str) -> Option<Self> {
        read_object(text)
    }
}

impl Lenient for SessionOrigin {
    fn read(text: &str) -> Option<Self> {
        read_object(text)
    }
}

impl DeliveryContext {
    /// Texts without white space around them, channels under their usual names; `None` where it says nothing.
    pub fn normalized(&self) -> Option<Self> {
        let text = |text: &Option<String>| text.as_deref().and_then(trimmed);
        let normal = Self {
            channel: self.channel.as_deref().and_then(normalized_channel),
            to: text(&self.to),
            account_id: text(&self.account_id),
            thread_id: self.thread_id.as_ref().and_then(ThreadId::normalized),
        };
        (normal != Self::default()).then_some(normal)
    }

    /// What this one says, and where it is silent the other.
    pub fn merged(first: Option<&Self>, other: Option<&Self>) -> Option<Self> {
        let (first, other) = (first.and_then(Self::normalized), other.and_then(Self::normalized));
        let (first, other) = (first.unwrap_or_default(), other.unwrap_or_default());
        Self {
            channel: first.channel.or(other.channel),
            to: first.to.or(other.to),
            account_id: first.account_id.or(other.account_id),
            thread_id: first.thread_id.or(other.thread_id),
        }
        .normalized()
    }

    /// `channel|to|account|thread`, which is the same for the same place; `None` without a channel or recipient.
    pub fn key(&self) -> Option<String> {
        let normal = self.normalized()?;
        let thread = normal.thread_id.map(|thread| thread.to_string()).unwrap_or_default();
        Some(format!("{}|{}|{}|{thread}", normal.channel?, normal.to?, normal.account_id.unwrap_or_default()))
    }
}

impl SessionOrigin {
    /// What the newer one says, and where it is silent this one.
    pub fn merged(existing: Option<&Self>, newer: Option<&Self>) -> Option<Self> {
        let (old, new) = (existing.cloned().unwrap_or_default(), newer.cloned().unwrap_or_default());
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let is_thread = |thread: &ThreadId| *thread != ThreadId::Text(String::new());
        let merged = Self {
            label: filled(new.label).or(old.label),
            provider: filled(new.provider).or(old.provider),
            surface: filled(new.surface).or(old.surface),
            chat_type: new.chat_type.or(old.chat_type),
            from: filled(new.from).or(old.from),
            to: filled(new.to).or(old.to),
            account_id: filled(new.account_id).or(old.account_id),
            thread_id: new.thread_id.filter(is_thread).or(old.thread_id),
        };
        (merged != Self::default()).then_some(merged)
    }
}

/// A channel's name as OpenClaw writes it.
pub(crate) fn normalized_channel(name: &str) -> Option<String> {
    let name = trimmed(name)?.to_lowercase();
    Some(match name.as_str() {
        "imsg" => "imessage".to_owned(),
        "google-chat" | "gchat" => "googlechat".to_owned(),
        _ => name,
    })
}

fn trimmed(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(text: &str) -> Option<DeliveryContext> {
        DeliveryContext::read(text)
    }

    #[test]
    fn a_delivery_context_is_normalized() {
        let check = |text: &str, key: Option<&str>| {
            assert_eq!(context(text).and_then(|context| context.key()).as_deref(), key, "{text}");
        };
        check(
            r#"{"channel": " Slack ", "to": " #a ", "accountId": " w ", "threadId": " 1.2 "}"#,
            Some("slack|#a|w|1.2"),
        );
        check(r#"{"channel": "telegram", "to": "t", "threadId": 7.9}"#, Some("telegram|t||7"));
        check(r#"{"channel": "imsg", "to": "t", "threadId": ""}"#, Some("imessage|t||"));
        check(r#"{"channel": "slack"}"#, None);
        check(r#"{"channel": 7, "to": []}"#, None);
        assert_eq!(context(r#"{"to": " "}"#).unwrap().normalized(), None);
    }

    #[test]
    fn the_first_context_wins_where_it_has_a_value() {
        let first = context(r#"{"channel": "slack", "threadId": 5}"#).unwrap();
        let other = context(r#"{"channel": "irc", "to": "you"}"#).unwrap();
        let merged = DeliveryContext::merged(Some(&first), Some(&other)).unwrap();
        assert_eq!(merged.key().as_deref(), Some("slack|you||5"));
        assert_eq!(DeliveryContext::merged(None, None), None);
    }

    #[test]
    fn the_older_origin_fills_missing_values() {
        let origin = |text: &str| SessionOrigin::read(text);
        let old = origin(r#"{"label": "Ana", "chatType": "dm", "threadId": 1}"#);
        let new = origin(r#"{"label": "", "from": "a", "threadId": ""}"#);
        let merged = SessionOrigin::merged(old.as_ref(), new.as_ref()).unwrap();
        assert_eq!(
            (merged.label.as_deref(), merged.chat_type, merged.from.as_deref(), merged.thread_id),
            (Some("Ana"), Some(ChatType::Direct), Some("a"), Some(ThreadId::Number(1)))
        );
        assert_eq!(SessionOrigin::merged(None, None), None);
    }
}
