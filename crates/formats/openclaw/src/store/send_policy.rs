//! Whether an agent may send a message into a session, and which rule decides that: as the generation of OpenClaw that
//! keeps the session decides.

use super::delivery::ChatType;
use super::entry::{Entry, SendDecision};
use super::generation::Generation;
use super::key_shape::{self, KeyShape, without_agent};
use super::session_config::{SendRule, SendRules};

/// How several matching rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SendStrategy {
    /// Any rule that denies wins, as in the programs that people run.
    #[default]
    DenyWins,
    /// The first rule that matches decides, as document 001 of OpenClaw says.
    FirstMatch,
}

/// The session that a message would be sent to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SendTarget<'a> {
    /// Its key as the store has it: older versions compare it as it is written.
    pub key: &'a str,
    /// Its entry, where it has one.
    pub entry: Option<&'a Entry>,
    /// The generation of OpenClaw that keeps it.
    pub generation: Generation,
}

/// A decision and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendVerdict {
    /// Whether it may send.
    pub decision: SendDecision,
    /// What decided.
    pub by: DecidedBy,
    /// The channel that rules were compared with.
    pub channel: Option<String>,
    /// The kind of chat that rules were compared with.
    pub chat_type: Option<ChatType>,
}

/// What decided whether a message may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// The session's own `sendPolicy`.
    Session,
    /// The key, which can be read in several ways: with rules to apply, newer versions then deny.
    AmbiguousKey,
    /// A rule, by its place from 0.
    Rule(usize),
    /// The configured default.
    Default,
    /// Nothing is configured that says otherwise.
    Nothing,
}

/// Decides about a session.
pub fn resolve_send_policy(
    rules: Option<&SendRules>,
    target: &SendTarget<'_>,
    strategy: SendStrategy,
) -> SendVerdict {
    let compared = Compared::new(target);
    let verdict = |decision, by| SendVerdict {
        decision,
        by,
        channel: compared.channel.clone(),
        chat_type: compared.chat_type,
    };
    if let Some(own) = target.entry.and_then(|entry| entry.send_policy) {
        return verdict(own, DecidedBy::Session);
    }
    let Some(rules) = rules else { return verdict(SendDecision::Allow, DecidedBy::Nothing) };
    if compared.is_ambiguous {
        return verdict(SendDecision::Deny, DecidedBy::AmbiguousKey);
    }
    let mut matching = rules.rules.iter().enumerate().filter(|(_, rule)| compared.matches(rule));
    let first = matching.clone().next();
    let deciding = match strategy {
        SendStrategy::FirstMatch => first,
        SendStrategy::DenyWins => matching.find(|(_, rule)| rule.action == SendDecision::Deny).or(first),
    };
    match (deciding, rules.default) {
        (Some((at, rule)), _) => verdict(rule.action, DecidedBy::Rule(at)),
        (None, Some(default)) => verdict(default, DecidedBy::Default),
        (None, None) => verdict(SendDecision::Allow, DecidedBy::Nothing),
    }
}

/// What rules are compared with.
struct Compared {
    channel: Option<String>,
    chat_type: Option<ChatType>,
    is_ambiguous: bool,
    /// What a rule's `keyPrefix` may be the beginning of.
    keys: Vec<String>,
    /// What its `rawKeyPrefix` has to be the beginning of; older versions do not know it.
    whole_key: Option<String>,
}

impl Compared {
    fn new(target: &SendTarget<'_>) -> Self {
        match target.generation {
            Generation::File => Self::of_file(target),
            Generation::Database => Self::of_database(target),
        }
    }

    /// As 2026.2 does: only a key without an agent tells the channel, and none tells that a chat is direct.
    fn of_file(target: &SendTarget<'_>) -> Self {
        let named = target.entry.and_then(|entry| {
            entry.channel.as_deref().and_then(word).or_else(|| entry.last_channel.as_deref().and_then(word))
        });
        let parts: Vec<&str> = target.key.split(':').filter(|part| !part.is_empty()).collect();
        let of_key = match *parts.as_slice() {
            [channel, "group" | "channel", _, ..] => word(channel),
            _ => None,
        };
        let chat_in_key = if target.key.contains(":group:") {
            Some(ChatType::Group)
        } else {
            target.key.contains(":channel:").then_some(ChatType::Channel)
        };
        Self {
            channel: named.or(of_key),
            chat_type: target.entry.and_then(|entry| entry.chat_type).or(chat_in_key),
            is_ambiguous: false,
            keys: vec![target.key.to_owned()],
            whole_key: None,
        }
    }

    /// As 2026.9 does: the entry's delivery tells the channel, else the key behind its agent, which tells the kind of
    /// chat too.
    fn of_database(target: &SendTarget<'_>) -> Self {
        let scoped = without_agent(target.key);
        let (whole, behind) = (normal(target.key), normal(scoped));
        let delivered = target.entry.and_then(Entry::delivery_channel);
        let in_key = || KeyShape::read(scoped).and_then(|shape| shape.channel).and_then(word);
        let chat_in_key = || key_shape::chat_type(&behind).filter(|_| !behind.starts_with("agent:"));
        Self {
            channel: delivered.as_deref().and_then(word).or_else(in_key),
            chat_type: target.entry.and_then(|entry| entry.chat_type).or_else(chat_in_key),
            is_ambiguous: key_shape::is_ambiguous(&behind),
            whole_key: Some(whole.clone()),
            keys: vec![whole, behind],
        }
    }

    fn matches(&self, rule: &SendRule) -> bool {
        let has_prefix = |prefix: &String| self.keys.iter().any(|key| key.starts_with(prefix.as_str()));
        let has_raw =
            |prefix: &String| self.whole_key.as_ref().is_none_or(|key| key.starts_with(prefix.as_str()));
        rule.channel.as_deref().is_none_or(|wanted| Some(wanted) == self.channel.as_deref())
            && rule.chat_type.is_none_or(|wanted| Some(wanted) == self.chat_type)
            && rule.key_prefix.as_ref().is_none_or(has_prefix)
            && rule.raw_key_prefix.as_ref().is_none_or(has_raw)
    }
}

fn normal(text: &str) -> String {
    text.trim().to_lowercase()
}

fn word(text: &str) -> Option<String> {
    Some(normal(text)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(
        action: SendDecision,
        channel: Option<&str>,
        chat: Option<ChatType>,
        prefix: Option<&str>,
    ) -> SendRule {
        SendRule {
            action,
            channel: channel.map(str::to_owned),
            chat_type: chat,
            key_prefix: prefix.map(str::to_owned),
            raw_key_prefix: None,
        }
    }

    fn file<'a>(key: &'a str, entry: Option<&'a Entry>) -> SendTarget<'a> {
        SendTarget { key, entry, generation: Generation::File }
    }

    #[test]
    fn the_order_of_evaluation() {
        use SendDecision::{Allow, Deny};
        use SendStrategy::{DenyWins, FirstMatch};
        let discord = "agent:main:discord:group:1";
        let entry = |own| Entry { channel: Some("Discord".into()), send_policy: own, ..Entry::default() };
        let rules = SendRules {
            default: Some(Deny),
            rules: vec![
                rule(Allow, Some("discord"), None, None),
                rule(Deny, None, Some(ChatType::Group), None),
                rule(Allow, None, None, Some("agent:main:slack")),
                rule(Deny, None, None, Some("telegram:")),
            ],
        };
        let check = |key: &str, entry: Option<&Entry>, strategy, expected: (SendDecision, DecidedBy)| {
            let found = resolve_send_policy(Some(&rules), &file(key, entry), strategy);
            assert_eq!((found.decision, found.by), expected, "{key}");
        };
        check(discord, Some(&entry(Some(Deny))), DenyWins, (Deny, DecidedBy::Session));
        check(discord, Some(&entry(Some(Allow))), DenyWins, (Allow, DecidedBy::Session));
        check(discord, Some(&entry(None)), DenyWins, (Deny, DecidedBy::Rule(1)));
        check(discord, Some(&entry(None)), FirstMatch, (Allow, DecidedBy::Rule(0)));
        // A key with an agent does not tell the channel.
        check(discord, None, FirstMatch, (Deny, DecidedBy::Rule(1)));
        check("discord:group:1", None, FirstMatch, (Allow, DecidedBy::Rule(0)));
        check("agent:main:slack:dm:u", None, DenyWins, (Allow, DecidedBy::Rule(2)));
        check("agent:main:telegram:dm:u", None, DenyWins, (Deny, DecidedBy::Default));
        check("telegram:dm:u", None, DenyWins, (Deny, DecidedBy::Rule(3)));
        check("agent:main:main", None, DenyWins, (Deny, DecidedBy::Default));
        let none = resolve_send_policy(None, &file(discord, None), DenyWins);
        assert_eq!((none.decision, none.by), (Allow, DecidedBy::Nothing));
        let empty = resolve_send_policy(Some(&SendRules::default()), &file(discord, None), DenyWins);
        assert_eq!((empty.decision, empty.by), (Allow, DecidedBy::Nothing));
    }

    #[test]
    fn the_generations_read_a_key_differently() {
        use SendDecision::{Allow, Deny};
        let check = |rule: SendRule, key: &str, in_file: SendDecision, in_database: SendDecision| {
            let rules = SendRules { default: None, rules: vec![rule] };
            let decide = |generation| {
                let target = SendTarget { key, entry: None, generation };
                resolve_send_policy(Some(&rules), &target, SendStrategy::DenyWins).decision
            };
            assert_eq!(
                (decide(Generation::File), decide(Generation::Database)),
                (in_file, in_database),
                "{key}"
            );
        };
        let deny = |channel, chat, prefix| rule(Deny, channel, chat, prefix);
        let group = Some(ChatType::Group);
        check(deny(Some("discord"), group, None), "agent:main:discord:group:123", Allow, Deny);
        check(deny(None, Some(ChatType::Direct), None), "agent:main:telegram:direct:anna", Allow, Deny);
        check(deny(Some("slack"), None, None), "agent:main:slack:channel:c0abc", Allow, Deny);
        check(deny(None, None, Some("slack:")), "agent:main:slack:channel:c0abc", Allow, Deny);
        check(
            deny(None, None, Some("agent:main:slack:channel:c")),
            "agent:main:slack:channel:C0",
            Allow,
            Deny,
        );
        check(deny(Some("irc"), None, None), "agent:main:slack:dm:group:1", Allow, Deny);
        let raw = SendRule { raw_key_prefix: Some("agent:coder".into()), ..deny(None, None, None) };
        check(raw, "agent:main:main", Deny, Allow);
    }
}
