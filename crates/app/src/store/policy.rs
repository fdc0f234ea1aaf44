//! Whether messages may be sent into a session.

use openclaw::{DecidedBy, SendDecision, SendStrategy, SendTarget, SendVerdict, resolve_send_policy};
use serde::Serialize;

use super::place::StorePlace;
use super::sessions::{KeyRequest, found};
use super::{key, store_of};
use crate::{Context, Error, Kind};

/// Whether messages may be sent into a session, and why.
#[derive(Debug, Serialize)]
pub struct PolicyAnswer {
    /// The installation and the agent.
    #[serde(flatten)]
    pub place: StorePlace,
    /// Its key, spelled as the store has it.
    pub key: String,
    /// `allow` or `deny`.
    pub decision: SendDecision,
    /// `deny-wins` or `first-match`.
    pub strategy: &'static str,
    /// What decided, in a sentence.
    pub reason: String,
    /// The place of the rule that decided, from 1.
    pub rule: Option<usize>,
    /// What the other strategy would decide, where that differs.
    pub other_strategy: Option<SendDecision>,
}

/// Decides whether messages may be sent into a session.
pub fn policy(context: &Context, request: &KeyRequest) -> Result<PolicyAnswer, Error> {
    let key = key(&request.key)?;
    let store = store_of(context, request.agent.as_ref(), Some(&key))?;
    let known = match found(context, &store, &key) {
        Ok(session) => Some(session),
        // The rules decide about sessions that are still to come, too.
        Err(error) if error.kind == Kind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (name, entry, generation) = match known {
        Some(session) => (session.key, Some(session.entry), session.generation),
        None => (key.to_string(), None, store.generation()),
    };
    let strategy = context.config().settings.openclaw.send_strategy.of_store();
    let target = SendTarget { key: &name, entry: entry.as_ref(), generation };
    let decide = |strategy| resolve_send_policy(store.config.send_policy.as_ref(), &target, strategy);
    let (verdict, other) = match strategy {
        SendStrategy::DenyWins => (decide(strategy), decide(SendStrategy::FirstMatch)),
        SendStrategy::FirstMatch => (decide(strategy), decide(SendStrategy::DenyWins)),
    };
    Ok(PolicyAnswer {
        place: StorePlace::of(&store),
        decision: verdict.decision,
        strategy: match strategy {
            SendStrategy::DenyWins => "deny-wins",
            SendStrategy::FirstMatch => "first-match",
        },
        reason: reason(&verdict),
        rule: match verdict.by {
            DecidedBy::Rule(at) => Some(at + 1),
            DecidedBy::Session | DecidedBy::AmbiguousKey | DecidedBy::Default | DecidedBy::Nothing => None,
        },
        other_strategy: Some(other.decision).filter(|other| *other != verdict.decision),
        key: name,
    })
}

fn reason(verdict: &SendVerdict) -> String {
    let of = match (&verdict.channel, verdict.chat_type) {
        (Some(channel), Some(chat)) => format!(" (channel {channel}, {})", chat.as_str()),
        (Some(channel), None) => format!(" (channel {channel})"),
        (None, Some(chat)) => format!(" ({})", chat.as_str()),
        (None, None) => String::new(),
    };
    match verdict.by {
        DecidedBy::Session => "the session's own sendPolicy decides".to_owned(),
        DecidedBy::AmbiguousKey => {
            "the key can be read in several ways, and OpenClaw sends nothing to such a one".to_owned()
        }
        DecidedBy::Rule(at) => format!("rule {} of session.sendPolicy decides{of}", at + 1),
        DecidedBy::Default => format!("no rule matches, so session.sendPolicy.default decides{of}"),
        DecidedBy::Nothing => "nothing forbids it".to_owned(),
    }
}
