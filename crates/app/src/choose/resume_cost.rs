//! The cost of resuming a session: the context that the model reads again before its first word.

use jiff::Timestamp;
pub use model::{ArmedInfo, ArmedKind, ResumeCost};
use model::{ArmedWork, Resumption, Session};

use crate::Context;
use crate::choose::directory_schedules::DirectorySchedules;
use crate::live::watch::Facts;

/// The cost of resuming a session now, from what the catalog knows of it.
pub fn resume_cost(context: &Context, session: &Session) -> ResumeCost {
    cost_in(context, session, &mut DirectorySchedules::default())
}

fn cost_in(context: &Context, session: &Session, schedules: &mut DirectorySchedules) -> ResumeCost {
    let schedules = schedules.of(session.cwd.as_deref());
    let known = Known {
        tokens: session.context_tokens,
        last: session.last_modified,
        of: &session.resumption,
        schedules,
    };
    compute(context, &known, context.now)
}

/// The cost of resuming a session that is watched, now.
pub fn watched(context: &Context, facts: &Facts) -> ResumeCost {
    let mut schedules = DirectorySchedules::default();
    let schedules = schedules.of(facts.cwd.as_deref());
    let known = Known { tokens: facts.context_tokens, last: facts.last, of: &facts.resumption, schedules };
    compute(context, &known, context.read_clock())
}

/// Adds to each session what resuming it costs: to those that are not open, and have something to read again or left
/// something armed.
pub(crate) fn add(context: &Context, sessions: &mut [Session]) {
    let mut schedules = DirectorySchedules::default();
    for session in sessions.iter_mut().filter(|session| !session.is_running) {
        let cost = cost_in(context, session, &mut schedules);
        session.resume_cost = (cost.tokens > 0 || !cost.armed.is_empty()).then(|| Box::new(cost));
    }
}

/// What is known of a session that may be resumed.
pub(super) struct Known<'a> {
    /// The tokens of its context.
    pub(super) tokens: u64,
    /// When it was used last.
    pub(super) last: Option<Timestamp>,
    /// What its transcript says.
    pub(super) of: &'a Resumption,
    /// What any session in its directory asks.
    pub(super) schedules: &'a [ArmedWork],
}

/// The cost of resuming a session at `now`.
pub(super) fn compute(context: &Context, session: &Known<'_>, now: Timestamp) -> ResumeCost {
    let known = session.of;
    let minutes = session.last.map(|then| (now.as_second() - then.as_second()) / 60);
    let found = selection::resume_cost(session.tokens, minutes, known.has_long_cache);
    let prices = &context.config().settings.prices;
    let alternatives = ["a fork at an earlier message", "a new session, which reads nothing again"];
    let armed = known.armed.iter().chain(session.schedules).filter(|work| work.is_armed(now)).cloned();
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
