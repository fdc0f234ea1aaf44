//! Whether messages may be sent into a session.

use openclaw::{DecidedBy, SendDecision, SendStrategy, SendVerdict, resolve_send_policy};
use serde::Serialize;

use super::sessions::{KeyRequest, found};
use super::{key, store_of};
use crate::{Context, Error};

/// Whether messages may be sent into a session, and why.
#[derive(Debug, Serialize)]
pub struct PolicyAnswer {
    /// Its key.
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
    let entry = found(context, &store, &key).ok().map(|(_, entry)| entry);
    let strategy = context.config().settings.openclaw.send_strategy.of_store();
    let decide = |strategy| {
        resolve_send_policy(store.config.send_policy.as_ref(), request.key.trim(), entry.as_ref(), strategy)
    };
    let (verdict, other) = match strategy {
        SendStrategy::DenyWins => (decide(strategy), decide(SendStrategy::FirstMatch)),
        SendStrategy::FirstMatch => (decide(strategy), decide(SendStrategy::DenyWins)),
    };
    Ok(PolicyAnswer {
        key: key.to_string(),
        decision: verdict.decision,
        strategy: match strategy {
            SendStrategy::DenyWins => "deny-wins",
            SendStrategy::FirstMatch => "first-match",
        },
        reason: reason(&verdict),
        rule: match verdict.by {
            DecidedBy::Rule(at) => Some(at + 1),
            DecidedBy::Session | DecidedBy::Default | DecidedBy::Nothing => None,
        },
        other_strategy: Some(other.decision).filter(|other| *other != verdict.decision),
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
        DecidedBy::Rule(at) => format!("rule {} of session.sendPolicy decides{of}", at + 1),
        DecidedBy::Default => format!("no rule matches, so session.sendPolicy.default decides{of}"),
        DecidedBy::Nothing => "nothing forbids it".to_owned(),
    }
}
