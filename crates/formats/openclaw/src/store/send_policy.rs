//! Whether an agent may send a message into a session, and which rule decides that.

use super::delivery::ChatType;
use super::entry::{Entry, SendDecision};
use super::session_config::{SendRule, SendRules};
use super::session_key::SessionKey;

/// How several matching rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SendStrategy {
    /// Any rule that denies wins, as in the programs that people run.
    #[default]
    DenyWins,
    /// The first rule that matches decides, as document 001 of OpenClaw says.
    FirstMatch,
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
    /// A rule, by its place from 0.
    Rule(usize),
    /// The configured default.
    Default,
    /// Nothing is configured that says otherwise.
    Nothing,
}

/// Decides about a session; the key is as the store has it, since older versions compare it as it is written.
pub fn resolve_send_policy(
    rules: Option<&SendRules>,
    key: &str,
    entry: Option<&Entry>,
    strategy: SendStrategy,
) -> SendVerdict {
    let channel = channel(key, entry);
    let chat_type = entry
        .and_then(|entry| entry.chat_type)
        .or_else(|| key.to_lowercase().parse::<SessionKey>().ok()?.chat_type());
    let verdict = |decision, by| SendVerdict { decision, by, channel: channel.clone(), chat_type };
    if let Some(own) = entry.and_then(|entry| entry.send_policy) {
        return verdict(own, DecidedBy::Session);
    }
    let Some(rules) = rules else { return verdict(SendDecision::Allow, DecidedBy::Nothing) };
    let does_match = |rule: &SendRule| matches(rule, key, channel.as_deref(), chat_type);
    let mut matching = rules.rules.iter().enumerate().filter(|(_, rule)| does_match(rule));
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

fn matches(rule: &SendRule, key: &str, channel: Option<&str>, chat_type: Option<ChatType>) -> bool {
    // Newer versions compare the key without its agent, older ones all of it; rules are written for either.
    let rest = || {
        key.parse::<SessionKey>()
            .is_ok_and(|key| rule.key_prefix.as_deref().is_some_and(|prefix| key.rest().starts_with(prefix)))
    };
    let has_prefix = |prefix: &String| key.starts_with(prefix.as_str()) || rest();
    rule.channel.as_deref().is_none_or(|wanted| Some(wanted) == channel)
        && rule.chat_type.is_none_or(|wanted| Some(wanted) == chat_type)
        && rule.key_prefix.as_ref().is_none_or(has_prefix)
        && rule.raw_key_prefix.as_ref().is_none_or(|prefix| key.to_lowercase().starts_with(prefix.as_str()))
}

/// The channel of a session: of its entry, else of a key such as `discord:group:1`.
fn channel(key: &str, entry: Option<&Entry>) -> Option<String> {
    let normal = |text: &Option<String>| {
        let text = text.as_deref()?.trim().to_lowercase();
        (!text.is_empty()).then_some(text)
    };
    let said = entry.and_then(|entry| normal(&entry.channel).or_else(|| normal(&entry.last_channel)));
    said.or_else(|| {
        let parts: Vec<&str> = key.split(':').filter(|part| !part.is_empty()).collect();
        let is_of_channel = parts.len() >= 3 && matches!(parts[1], "group" | "channel");
        is_of_channel.then(|| parts[0].trim().to_lowercase())
    })
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
            let found = resolve_send_policy(Some(&rules), key, entry, strategy);
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
        check("agent:main:telegram:dm:u", None, DenyWins, (Deny, DecidedBy::Rule(3)));
        check("agent:main:main", None, DenyWins, (Deny, DecidedBy::Default));
        let none = resolve_send_policy(None, discord, None, DenyWins);
        assert_eq!((none.decision, none.by), (Allow, DecidedBy::Nothing));
        let empty = resolve_send_policy(Some(&SendRules::default()), discord, None, DenyWins);
        assert_eq!((empty.decision, empty.by), (Allow, DecidedBy::Nothing));
    }
}
