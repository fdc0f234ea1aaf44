//! The cost of resuming a session: the context that the model reads again before its first word.

use jiff::Timestamp;
pub use model::{ArmedInfo, ArmedKind, ResumeCost};
use model::{ArmedWork, Resumption, Session};

use crate::Context;
use crate::live::watch::Facts;

/// The cost of resuming a session now, from what the catalog knows of it.
pub fn resume_cost(context: &Context, session: &Session) -> ResumeCost {
    compute(context, session.context_tokens, session.last_modified, &session.resumption, context.now)
}

/// The cost of resuming a session that is watched, now.
pub fn watched(context: &Context, facts: &Facts) -> ResumeCost {
    compute(context, facts.context_tokens, facts.last, &facts.resumption, context.read_clock())
}

/// Adds to each session what resuming it costs: to those that are not open, and have something to read again or left
/// something armed.
pub(crate) fn add(context: &Context, sessions: &mut [Session]) {
    for session in sessions.iter_mut().filter(|session| !session.is_running) {
        let cost = resume_cost(context, session);
        session.resume_cost = (cost.tokens > 0 || !cost.armed.is_empty()).then(|| Box::new(cost));
    }
}

/// The cost of resuming a context of `context_tokens` tokens, last used at `last_active`, at `now`.
pub(super) fn compute(
    context: &Context,
    context_tokens: u64,
    last_active: Option<Timestamp>,
    known: &Resumption,
    now: Timestamp,
) -> ResumeCost {
    let minutes = last_active.map(|then| (now.as_second() - then.as_second()) / 60);
    let found = selection::resume_cost(context_tokens, minutes, known.has_long_cache);
    let prices = &context.config().settings.prices;
    let alternatives = ["a fork at an earlier message", "a new session, which reads nothing again"];
    let armed = known.armed.iter().filter(|work| work.is_armed(now)).cloned();
    ResumeCost {
        tokens: found.tokens,
        cached: found.cached,
        cache_minutes: found.cache_minutes,
        minutes_since_use: minutes,
        cost_usd: known.model.as_deref().and_then(|model| prices.price(model, &found.usage, known.terms)),
        model: known.model.clone(),
        window_used: found.window_used,
        tokens_until_compaction: found.until_compaction,
        alternatives: if found.offer_cheaper { alternatives.into() } else { Vec::new() },
        armed: armed.map(|work| info(context, work)).collect(),
    }
}

fn info(context: &Context, work: ArmedWork) -> ArmedInfo {
    let info = ArmedInfo::from(work);
    ArmedInfo { what: context.secrets.redacted(info.what.into()), ..info }
}
