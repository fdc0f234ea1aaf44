//! The keys of sessions: read, built and classified by their grammar.
//!
//! ```text
//! agent:<agent>:<main>                                    the one conversation of direct chats
//! agent:<agent>:dm:<peer>                                 or `direct`, in newer versions
//! agent:<agent>:<channel>:dm:<peer>
//! agent:<agent>:<channel>:<account>:dm:<peer>
//! agent:<agent>:<channel>:group:<id>                      or `channel`
//! agent:<agent>:subagent:<anything>                       also `acp`, `cron`, `explicit`
//! …:thread:<id>                                           or `topic`, behind any of them
//! cron:<job>   hook:<id>   node-<id>   global   unknown
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use model::AgentId;

use super::delivery::ChatType;
use super::entry::DirectSpelling;

/// The longest key.
const LONGEST: usize = 1024;

/// The key of a session in a store. Keys are compared in lower case; the spelling that was given finds an entry first.
#[derive(Debug, Clone)]
pub struct SessionKey {
    /// In lower case.
    folded: String,
    given: String,
}

/// A text that cannot be the key of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the key of a session: it is empty, too long or has control characters", .0.escape_debug())]
pub struct InvalidKey(String);

/// What a key names, without its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyKind {
    /// The main conversation of an agent; its name is configured.
    Main,
    /// A direct chat.
    Direct {
        /// Where it is part of the key.
        channel: Option<String>,
        /// Where it is part of the key.
        account: Option<String>,
        /// The other person.
        peer: String,
    },
    /// A group or channel.
    Group {
        /// The name of the program, such as `discord`.
        channel: String,
        /// Whether it is a group or a channel.
        chat: ChatType,
        /// Its id.
        id: String,
    },
    /// A session that another one started.
    Subagent,
    /// A session of the Agent Client Protocol.
    Acp,
    /// A scheduled job's.
    Cron,
    /// A webhook's.
    Hook,
    /// A node's.
    Node,
    /// One that was asked for under a name of its own.
    Explicit,
    /// The one session of all chats.
    Global,
    /// Of which nothing is known.
    Unknown,
    /// Anything else.
    Other,
}

/// How direct chats are divided into sessions (`session.dmScope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DmScope {
    /// All in the main one.
    #[default]
    Main,
    /// One for each person.
    PerPeer,
    /// One for each person in each channel.
    PerChannelPeer,
    /// One for each person at each account of each channel.
    PerAccountChannelPeer,
}

/// A chat from which a message came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer<'a> {
    /// The kind of the chat.
    pub chat: ChatType,
    /// The name of the channel.
    pub channel: &'a str,
    /// The account that received the message.
    pub account: Option<&'a str>,
    /// The other person, or the id of the group.
    pub id: &'a str,
}

/// What of the configuration decides about a peer's key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRules {
    /// The name of the main conversation (`session.mainKey`).
    pub main_key: String,
    /// How direct chats are divided.
    pub dm_scope: DmScope,
    /// The accounts of one person, by that person's name (`session.identityLinks`).
    pub identity_links: BTreeMap<String, Vec<String>>,
    /// The word for direct chats.
    pub direct: DirectSpelling,
}

impl SessionKey {
    /// The main conversation of an agent.
    pub fn main(agent: &AgentId, main_key: &str) -> Self {
        let name = main_key.trim().to_lowercase();
        Self::new(format!("agent:{agent}:{}", if name.is_empty() { "main" } else { &name }))
    }

    fn new(given: String) -> Self {
        Self { folded: given.to_lowercase(), given }
    }

    /// The session in which an agent answers a peer.
    pub fn of_peer(agent: &AgentId, peer: &Peer<'_>, rules: &KeyRules) -> Self {
        let word = |text: &str, none: &str| {
            let text = text.trim().to_lowercase();
            if text.is_empty() { none.to_owned() } else { text }
        };
        let channel = word(peer.channel, "unknown");
        if peer.chat != ChatType::Direct {
            let kind = peer.chat.as_str();
            return Self::new(format!("agent:{agent}:{channel}:{kind}:{}", word(peer.id, "unknown")));
        }
        let linked = (rules.dm_scope != DmScope::Main).then(|| linked(peer, &rules.identity_links)).flatten();
        let id = linked.unwrap_or(peer.id).trim().to_lowercase();
        let direct = rules.direct.as_str();
        match rules.dm_scope {
            _ if id.is_empty() => Self::main(agent, &rules.main_key),
            DmScope::Main => Self::main(agent, &rules.main_key),
            DmScope::PerPeer => Self::new(format!("agent:{agent}:{direct}:{id}")),
            DmScope::PerChannelPeer => Self::new(format!("agent:{agent}:{channel}:{direct}:{id}")),
            DmScope::PerAccountChannelPeer => {
                let account = account_slug(peer.account.unwrap_or_default());
                Self::new(format!("agent:{agent}:{channel}:{account}:{direct}:{id}"))
            }
        }
    }

    /// The session of a thread of this one.
    #[must_use]
    pub fn thread(&self, id: &str) -> Self {
        let id = id.trim().to_lowercase();
        if id.is_empty() { self.clone() } else { Self::new(format!("{}:thread:{id}", self.given)) }
    }

    /// A session that one of an agent's starts; `name` is usually a UUID.
    pub fn subagent(agent: &AgentId, name: &str) -> Result<Self, InvalidKey> {
        format!("agent:{agent}:subagent:{name}").parse()
    }

    /// The key as text, in lower case.
    pub fn as_str(&self) -> &str {
        &self.folded
    }

    /// The key as it was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The agent it belongs to; `None` where it names none.
    pub fn agent(&self) -> Option<AgentId> {
        let mut parts = self.parts();
        (parts.next() == Some("agent")).then_some(())?;
        let agent = parts.next()?.trim();
        parts.next()?;
        agent.parse().ok()
    }

    /// What follows the agent, empty parts left out; the whole key where it names none.
    pub fn rest(&self) -> String {
        if self.agent().is_none() {
            return self.folded.clone();
        }
        self.parts().skip(2).collect::<Vec<_>>().join(":")
    }

    /// The key of the session whose thread this is, and the thread's id.
    pub fn thread_of(&self) -> Option<(Self, &str)> {
        let key = &self.folded;
        let found = [":thread:", ":topic:"].into_iter().filter_map(|mark| Some((key.rfind(mark)?, mark)));
        let (at, mark) = found.max().filter(|(at, _)| *at > 0)?;
        Some((Self::new(key[..at].to_owned()), &key[at + mark.len()..]))
    }

    /// Whether it is the session of a thread.
    pub fn is_thread(&self) -> bool {
        [":thread:", ":topic:"].iter().any(|mark| self.folded.contains(mark))
    }

    /// Whether another session started it.
    pub fn is_subagent(&self) -> bool {
        self.rest().starts_with("subagent:")
    }

    /// What it names; `main_key` is the name of main conversations.
    pub fn kind(&self, main_key: &str) -> KeyKind {
        let base = self.thread_of().map_or_else(|| self.clone(), |(parent, _)| parent);
        let rest = base.rest();
        let parts: Vec<&str> = rest.split(':').filter(|part| !part.is_empty()).collect();
        let has_agent = base.agent().is_some();
        let owned = |text: &str| Some(text.to_owned());
        match *parts.as_slice() {
            ["global"] if !has_agent => KeyKind::Global,
            ["unknown"] if !has_agent => KeyKind::Unknown,
            ["subagent", _, ..] => KeyKind::Subagent,
            ["acp", _, ..] => KeyKind::Acp,
            ["cron", _, ..] => KeyKind::Cron,
            ["hook", _, ..] => KeyKind::Hook,
            ["explicit", _, ..] => KeyKind::Explicit,
            ["dm" | "direct", _, ..] => {
                KeyKind::Direct { channel: None, account: None, peer: parts[1..].join(":") }
            }
            [channel, "dm" | "direct", _, ..] => {
                KeyKind::Direct { channel: owned(channel), account: None, peer: parts[2..].join(":") }
            }
            [channel, kind @ ("group" | "channel" | "room"), _, ..] => KeyKind::Group {
                channel: channel.to_owned(),
                chat: if kind == "group" { ChatType::Group } else { ChatType::Channel },
                id: parts[2..].join(":"),
            },
            [channel, account, "dm" | "direct", _, ..] => KeyKind::Direct {
                channel: owned(channel),
                account: owned(account),
                peer: parts[3..].join(":"),
            },
            [name] if has_agent && (name == main_key || name == "main") => KeyKind::Main,
            [name] if name.starts_with("node-") => KeyKind::Node,
            _ => KeyKind::Other,
        }
    }

    /// The kind of chat that the key itself names.
    pub fn chat_type(&self) -> Option<ChatType> {
        if self.folded.contains(":group:") {
            return Some(ChatType::Group);
        }
        self.folded.contains(":channel:").then_some(ChatType::Channel)
    }

    /// Whether it is a scheduled job's, as 2026.9 tells it.
    pub fn is_cron(&self) -> bool {
        let rest = self.folded.strip_prefix("agent:").and_then(|key| key.split_once(':'));
        rest.is_some_and(|(agent, rest)| !agent.trim().is_empty() && rest.trim().starts_with("cron:"))
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.folded.split(':').filter(|part| !part.is_empty())
    }
}

impl PartialEq for SessionKey {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}

impl Eq for SessionKey {}

/// An account's id as OpenClaw writes it into keys.
fn account_slug(id: &str) -> String {
    const LONGEST_ACCOUNT: usize = 64;
    let id = id.trim().to_lowercase();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let begins_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins_well && id.len() <= LONGEST_ACCOUNT && id.chars().all(is_plain) {
        return id;
    }
    let mut slug = String::new();
    let mut was_plain = true;
    for c in id.chars() {
        if is_plain(c) {
            slug.push(c);
        } else if was_plain {
            slug.push('-');
        }
        was_plain = is_plain(c);
    }
    let slug: String = slug.trim_matches('-').chars().take(LONGEST_ACCOUNT).collect();
    if slug.is_empty() { "default".to_owned() } else { slug }
}

/// The name of the person to whom an account is linked.
fn linked<'a>(peer: &Peer<'_>, links: &'a BTreeMap<String, Vec<String>>) -> Option<&'a str> {
    let id = peer.id.trim().to_lowercase();
    if id.is_empty() {
        return None;
    }
    let scoped = format!("{}:{id}", peer.channel.trim().to_lowercase());
    let is_same = |known: &String| {
        let known = known.trim().to_lowercase();
        known == id || known == scoped
    };
    let found = links.iter().find(|(name, ids)| !name.trim().is_empty() && ids.iter().any(is_same));
    found.map(|(name, _)| name.trim())
}

impl FromStr for SessionKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let key = text.trim();
        if key.is_empty() || key.len() > LONGEST || key.chars().any(char::is_control) {
            return Err(InvalidKey(text.chars().take(80).collect()));
        }
        Ok(Self::new(key.to_owned()))
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> SessionKey {
        text.parse().unwrap()
    }

    #[test]
    fn every_form_is_recognized() {
        let check = |text: &str, agent: Option<&str>, kind: KeyKind| {
            let found = key(text);
            assert_eq!(
                (found.agent().as_ref().map(AgentId::as_str), found.kind("home")),
                (agent, kind),
                "{text}"
            );
        };
        let text = |text: &str| text.to_owned();
        let direct = |channel: Option<&str>, account: Option<&str>, peer: &str| KeyKind::Direct {
            channel: channel.map(text),
            account: account.map(text),
            peer: text(peer),
        };
        let main = Some("main");
        check("agent:Main:main", main, KeyKind::Main);
        check("agent:main:home", main, KeyKind::Main);
        check("agent::main::home", main, KeyKind::Main);
        check("agent:main:dm:anna", main, direct(None, None, "anna"));
        check("agent:main:direct:anna", main, direct(None, None, "anna"));
        check("agent:main:slack:dm:u1", main, direct(Some("slack"), None, "u1"));
        check("agent:main:slack:work:direct:u1", main, direct(Some("slack"), Some("work"), "u1"));
        let group = |chat, id: &str| KeyKind::Group { channel: text("discord"), chat, id: text(id) };
        check("agent:main:discord:group:9", main, group(ChatType::Group, "9"));
        check("agent:main:discord:channel:9", main, group(ChatType::Channel, "9"));
        check("agent:main:discord:room:9", main, group(ChatType::Channel, "9"));
        check("agent:main:discord:channel:9:thread:5", main, group(ChatType::Channel, "9"));
        check("discord:group:9", None, group(ChatType::Group, "9"));
        check("agent:main:subagent:worker1:task123", main, KeyKind::Subagent);
        check("subagent:x", None, KeyKind::Subagent);
        check("agent:main:acp:x", main, KeyKind::Acp);
        check("agent:main:cron:job:run:1", main, KeyKind::Cron);
        check("cron:job", None, KeyKind::Cron);
        check("hook:1", None, KeyKind::Hook);
        check("node-1", None, KeyKind::Node);
        check("agent:main:explicit:model-run-1", main, KeyKind::Explicit);
        check("global", None, KeyKind::Global);
        check("unknown", None, KeyKind::Unknown);
        check("agent:main", None, KeyKind::Other);
        check("agent:main:other", main, KeyKind::Other);
        check("agent:../x:main", None, KeyKind::Other);
    }

    #[test]
    fn threads_have_a_parent() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let found = key(text);
            let parent = found.thread_of().map(|(parent, id)| (parent.to_string(), id.to_owned()));
            assert_eq!(parent, expected.map(|(a, b)| (a.to_owned(), b.to_owned())), "{text}");
            assert_eq!(found.is_thread(), expected.is_some());
        };
        check("agent:main:telegram:group:1:topic:7", Some(("agent:main:telegram:group:1", "7")));
        check("agent:main:slack:channel:c:thread:1.2", Some(("agent:main:slack:channel:c", "1.2")));
        check("agent:main:main", None);
        assert_eq!(key("agent:main:main").thread(" T1 "), key("agent:main:main:thread:t1"));
        assert_eq!(key("agent:main:main").thread(" "), key("agent:main:main"));
    }

    #[test]
    fn a_peers_key_follows_the_configuration() {
        use ChatType::{Channel, Direct, Group};
        let check = |scope: DmScope, chat, account: Option<&str>, id: &str, expected: &str| {
            let rules = KeyRules {
                main_key: "Home".into(),
                dm_scope: scope,
                identity_links: BTreeMap::from([("Anna".into(), vec!["slack:U1".into(), "u7".into()])]),
                direct: DirectSpelling::Dm,
            };
            let peer = Peer { chat, channel: "Slack", account, id };
            let found = SessionKey::of_peer(&AgentId::main(), &peer, &rules);
            assert_eq!(found.as_str(), expected);
        };
        check(DmScope::Main, Direct, None, "U1", "agent:main:home");
        check(DmScope::PerPeer, Direct, None, "U1", "agent:main:dm:anna");
        check(DmScope::PerPeer, Direct, None, "U2", "agent:main:dm:u2");
        check(DmScope::PerPeer, Direct, None, "", "agent:main:home");
        check(DmScope::PerChannelPeer, Direct, None, "u7", "agent:main:slack:dm:anna");
        check(DmScope::PerAccountChannelPeer, Direct, None, "u2", "agent:main:slack:default:dm:u2");
        check(DmScope::PerAccountChannelPeer, Direct, Some("W"), "u2", "agent:main:slack:w:dm:u2");
        check(
            DmScope::PerAccountChannelPeer,
            Direct,
            Some(" My Bot "),
            "u2",
            "agent:main:slack:my-bot:dm:u2",
        );
        check(DmScope::PerAccountChannelPeer, Direct, Some("-a- .b_"), "u2", "agent:main:slack:a--b_:dm:u2");
        check(DmScope::PerAccountChannelPeer, Direct, Some("ü!"), "u2", "agent:main:slack:default:dm:u2");
        check(DmScope::Main, Group, None, "G1", "agent:main:slack:group:g1");
        check(DmScope::Main, Channel, None, "", "agent:main:slack:channel:unknown");
    }

    #[test]
    fn keys_are_compared_in_lower_case_and_keep_their_spelling() {
        let (given, folded) =
            (key(" agent:main:slack:channel:C0ABC "), key("agent:main:slack:channel:c0abc"));
        assert_eq!(given, folded);
        assert_eq!((given.given(), given.as_str()), ("agent:main:slack:channel:C0ABC", folded.as_str()));
        assert_eq!(given.to_string(), "agent:main:slack:channel:C0ABC");
    }

    #[test]
    fn keys_of_scheduled_jobs_are_known_by_their_beginning() {
        let check = |text: &str, expected: bool| assert_eq!(key(text).is_cron(), expected, "{text}");
        check("agent:main:cron:job:run:1", true);
        check("Agent:main:CRON:job", true);
        check("agent:main:slack:channel:cron:1", false);
        check("agent:main::cron:1", false);
        check("agent::cron:1", false);
        check("cron:job", false);
    }

    #[test]
    fn invalid_keys_are_refused() {
        for bad in ["", "  ", "a\nb", &"x".repeat(2000)] {
            assert!(bad.parse::<SessionKey>().is_err(), "{bad}");
        }
    }
}
