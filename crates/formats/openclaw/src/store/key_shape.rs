//! What OpenClaw 2026.9 reads from a key: the channel and the kind of chat, from the parts behind the agent.

use super::delivery::ChatType;

/// The chat that a key names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyShape<'a> {
    pub(super) channel: Option<&'a str>,
    pub(super) chat: ChatType,
}

/// What follows the agent in a key; the whole key where it names none, and nothing where it breaks off behind the agent.
pub(super) fn without_agent(key: &str) -> &str {
    let mut parts = key.splitn(3, ':');
    if parts.next() != Some("agent") {
        return key;
    }
    let agent = parts.next().unwrap_or_default();
    let rest = parts.next().unwrap_or_default();
    if agent.is_empty() || rest.starts_with(':') { "" } else { rest }
}

impl<'a> KeyShape<'a> {
    /// Reads what follows the agent in a key.
    pub(super) fn read(scoped: &'a str) -> Option<Self> {
        let parts = Parts::of(scoped);
        if parts.names_agent() || is_ambiguous(scoped) {
            return None;
        }
        let (channel, chat, has_peer) = if parts.begins_with_direct() {
            (None, ChatType::Direct, parts.has(1))
        } else if let Some(chat) = parts.peer_kind(1).filter(|_| parts.has(0)) {
            (Some(parts.0[0]), chat, parts.has(2))
        } else {
            let chat = parts.peer_kind(2).filter(|_| parts.has(0) && parts.has(1))?;
            (Some(parts.0[0]), chat, parts.has(3))
        };
        has_peer.then_some(Self { channel, chat })
    }
}

/// Whether what follows the agent can be read in more than one way; messages are not sent to such a key.
pub(super) fn is_ambiguous(scoped: &str) -> bool {
    let parts = Parts::of(scoped);
    let ways = [
        parts.begins_with_direct() && parts.has(1),
        parts.has(0) && parts.peer_kind(1).is_some() && parts.has(2),
        parts.has(0) && parts.has(1) && parts.peer_kind(2).is_some() && parts.has(3),
        older_chat(scoped).is_some(),
    ];
    !parts.names_agent() && ways.iter().filter(|is_one| **is_one).count() > 1
}

/// The kind of chat that the text behind the agent names, in today's grammar or an older one.
pub(super) fn chat_type(scoped: &str) -> Option<ChatType> {
    KeyShape::read(scoped).map(|shape| shape.chat).or_else(|| older_chat(scoped))
}

/// The kind of chat of a key in the grammar of older versions.
fn older_chat(scoped: &str) -> Option<ChatType> {
    let follows = |prefix: &str| {
        scoped.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && !rest.starts_with(':'))
    };
    if follows("group:") {
        return Some(ChatType::Group);
    }
    if follows("channel:") {
        return Some(ChatType::Channel);
    }
    let id = scoped.strip_prefix("whatsapp:").unwrap_or(scoped).strip_suffix("@g.us");
    if id.is_some_and(|id| !id.is_empty() && !id.contains(':')) {
        return Some(ChatType::Group);
    }
    is_guild_channel(scoped).then_some(ChatType::Channel)
}

/// `discord:guild-1:channel-2`, with or without an account in between.
fn is_guild_channel(scoped: &str) -> bool {
    let named = |part: &str, prefix: &str| part.strip_prefix(prefix).is_some_and(|id| !id.is_empty());
    match *Parts::of(scoped).0.as_slice() {
        ["discord", guild, channel] => named(guild, "guild-") && named(channel, "channel-"),
        ["discord", account, guild, channel] => {
            !account.is_empty() && named(guild, "guild-") && named(channel, "channel-")
        }
        _ => false,
    }
}

/// The parts of a key.
struct Parts<'a>(Vec<&'a str>);

impl<'a> Parts<'a> {
    fn of(scoped: &'a str) -> Self {
        Self(scoped.split(':').collect())
    }

    fn has(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(|part| !part.is_empty())
    }

    /// A second agent within a key is a plug-in's own identity and no chat.
    fn names_agent(&self) -> bool {
        self.0[0] == "agent"
    }

    fn begins_with_direct(&self) -> bool {
        matches!(self.0[0], "direct" | "dm")
    }

    fn peer_kind(&self, at: usize) -> Option<ChatType> {
        match *self.0.get(at)? {
            "direct" | "dm" => Some(ChatType::Direct),
            "group" => Some(ChatType::Group),
            "channel" => Some(ChatType::Channel),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_cut_off() {
        let check = |key: &str, expected: &str| assert_eq!(without_agent(key), expected, "{key}");
        check("agent:main:slack:dm:u:", "slack:dm:u:");
        check("slack:dm:u", "slack:dm:u");
        check("agent:main", "");
        check("agent", "");
        check("agent::x:y", "");
        check("agent:main::x", "");
        check("Agent:main:x", "Agent:main:x");
    }

    #[test]
    fn a_key_names_a_chat_in_one_way() {
        let check = |scoped: &str, channel: Option<&str>, chat: Option<ChatType>, is_unclear: bool| {
            let shape = KeyShape::read(scoped);
            assert_eq!(
                (shape.and_then(|shape| shape.channel), chat_type(scoped), is_ambiguous(scoped)),
                (channel, chat, is_unclear),
                "{scoped}"
            );
        };
        let (direct, group, channel) = (ChatType::Direct, ChatType::Group, ChatType::Channel);
        check("main", None, None, false);
        check("direct:anna", None, Some(direct), false);
        check("telegram:direct:anna", Some("telegram"), Some(direct), false);
        check("slack:work:dm:u1", Some("slack"), Some(direct), false);
        check("discord:group:1", Some("discord"), Some(group), false);
        check("slack:channel:c0abc:thread:1", Some("slack"), Some(channel), false);
        check("slack:Channel:c", None, None, false);
        check("slack:channel:", None, None, false);
        check("slack:dm:group:x", None, None, true);
        check("direct:group:x", None, None, true);
        check("group:1", None, Some(group), false);
        check("channel:1:x", None, Some(channel), false);
        check("group::1", None, None, false);
        check("whatsapp:1-2@g.us", None, Some(group), false);
        check("1-2@g.us", None, Some(group), false);
        check("a:1@g.us", None, None, false);
        check("discord:guild-1:channel-2", None, Some(channel), false);
        check("discord:me:guild-1:channel-2", None, Some(channel), false);
        check("discord:guild-:channel-2", None, None, false);
        check("agent:x:slack:dm:u", None, None, false);
    }
}
