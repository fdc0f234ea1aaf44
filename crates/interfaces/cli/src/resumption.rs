//! What resuming a session costs and what it left armed, in words: the same on every screen.

use app::choose::resume_cost::{ArmedInfo, ArmedKind, ResumeCost};

use crate::text::{count, dollars, safe};

/// The sign of a session that continues on its own once it is resumed.
pub(crate) const GOES_ON: &str = "↻";

/// What resuming costs, in a sentence or two.
pub(crate) fn sentences(cost: &ResumeCost) -> String {
    let billing = if cost.cache_minutes > 5 {
        "a subscription's one-hour cache"
    } else {
        "an API key's five-minute cache"
    };
    format!(
        "Resuming reads {} tokens again, {} ({billing}): {}. The context is {:.0}% full; {} \
         tokens are left before compaction.",
        count(cost.tokens),
        cache(cost),
        price(cost),
        cost.window_used * 100.0,
        count(cost.tokens_until_compaction)
    )
}

/// The same in a few words: `resume: 12k tokens, no longer cached, $0.08`.
pub(crate) fn short(cost: &ResumeCost) -> String {
    format!("resume: {} tokens, {}, {}", count(cost.tokens), cache(cost), price(cost))
}

/// The same in a cell of a table: the price, and a sign where the context is still cached.
pub(crate) fn cell(cost: &ResumeCost) -> String {
    let price = cost.cost_usd.map_or_else(|| "?".to_owned(), dollars);
    if cost.cached { format!("{price} cached") } else { price }
}

/// What the session left armed, a line each.
pub(crate) fn armed(cost: &ResumeCost) -> Vec<String> {
    let line = |work: &ArmedInfo| {
        let what = safe(&work.what);
        match (work.kind, &work.schedule) {
            (ArmedKind::Cron, Some(schedule)) => {
                format!("armed: prompt scheduled at `{}`: {what}", safe(schedule))
            }
            (ArmedKind::Cron, None) => format!("armed: scheduled prompt: {what}"),
            (ArmedKind::DirectoryCron, schedule) => format!(
                "armed: prompt that any session in this directory asks at `{}`: {what}",
                safe(schedule.as_deref().unwrap_or_default())
            ),
            (ArmedKind::WakeUp, _) => format!("armed: next round of a loop: {what}"),
            (ArmedKind::Shell, _) => format!("armed: command in the background: {what}"),
            (ArmedKind::Monitor, _) => format!("armed: command whose output is watched: {what}"),
        }
    };
    cost.armed.iter().map(line).collect()
}

/// Whether the session continues on its own once it is resumed.
pub(crate) fn goes_on(cost: &ResumeCost) -> bool {
    cost.armed.iter().any(|work| work.kind.fires())
}

fn cache(cost: &ResumeCost) -> &'static str {
    if cost.cached { "still cached" } else { "no longer cached" }
}

fn price(cost: &ResumeCost) -> String {
    cost.cost_usd.map_or_else(|| "unknown price".to_owned(), dollars)
}
