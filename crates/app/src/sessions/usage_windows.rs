//! `cost --blocks`: the five-hour windows in which subscriptions limit usage, with what was used in each.

use std::collections::{HashMap, HashSet};

use catalog::SessionFilter;
use cost::{CountedMessage, Total, UsageWindow, prices_as_of};
use jiff::Timestamp;
use jiff::civil::Date;
use model::{Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::repository::target::{unknown_project_note, with_project};
use crate::sessions::cost::{own_prices, period};
use crate::sessions::ledger;
use crate::sessions::totals::keep_reading;
use crate::{Context, Error, Moment};

/// The most sessions that are given of a window.
const SESSIONS: usize = 50;

/// Which windows to give.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CostBlocksRequest")]
pub struct Request {
    /// Those that began at this time or later, or on this day or later.
    pub since: Option<Moment>,
    /// Those that began before this time, or on this day or earlier.
    pub until: Option<Moment>,
    /// Add up only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it. The windows
    /// are those of all sessions.
    pub project: Option<String>,
}

/// The windows, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CostBlocksAnswer")]
pub struct Answer {
    /// Windows in which something was used.
    pub blocks: Vec<CostBlock>,
    /// The day whose prices these are.
    pub prices_as_of: Option<Date>,
    /// The models among them whose prices are the person's own, from the settings.
    pub own_prices: Vec<String>,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What was used in a window.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostBlock {
    /// The full hour, in UTC, of its first message.
    #[serde(serialize_with = "model::time")]
    pub start: Timestamp,
    /// Five hours later.
    #[serde(serialize_with = "model::time")]
    pub end: Timestamp,
    /// The time of its last message.
    #[serde(serialize_with = "model::time")]
    pub last: Timestamp,
    /// Whether it has not ended.
    pub is_active: bool,
    /// The models that answered.
    pub models: Vec<String>,
    /// The number of sessions.
    pub sessions: usize,
    /// Those that took most, the first of them first.
    pub by_session: Vec<SessionInBlock>,
    /// Input tokens that came neither from nor went into the cache.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the cache.
    pub cache_creation_tokens: u64,
    /// The estimated price of what has one, in US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens of models that have no price here.
    pub unpriced_tokens: u64,
    /// For the active window, what it will have taken at its end if it goes on like this; `null` in its first minutes.
    pub projection: Option<CostProjection>,
}

/// What a session took in a window.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionInBlock {
    /// The session.
    pub session_id: SessionId,
    /// Tokens of every kind.
    pub tokens: u64,
    /// Their estimated price, in US dollars.
    pub cost_usd: Option<f64>,
}

/// What a window will have taken at its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CostProjection {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Their estimated price, in US dollars.
    pub cost_usd: Option<f64>,
}

/// Gives the windows of the sessions that the caller may see.
pub fn usage_windows(context: &Context, request: &Request) -> Result<Answer, Error> {
    let mut catalog =
        catalog::read(&context.config().places(), catalog::Detail::Spending, keep_reading(context));
    context.check_cancelled()?;
    catalog.sessions.append(&mut catalog.unattached_messages);
    let period = period(context, request.since.as_ref(), request.until.as_ref())?;
    let visible = context.visible_filter();
    let sessions: HashMap<&SessionId, &Session> =
        catalog.sessions.iter().map(|entry| (&entry.session.id, &*entry.session)).collect();
    let seen = sessions.values().copied().filter(|session| visible.matches(session));
    let filter = SessionFilter { project: request.project.clone(), ..SessionFilter::default() };
    let filter = with_project(context, &filter, &seen.clone());
    let is_asked = |session: &&Session| request.project.is_none() || filter.matches(session);
    let asked: HashSet<&SessionId> = seen.clone().filter(is_asked).map(|session| &session.id).collect();
    let seen: HashSet<&SessionId> = seen.map(|session| &session.id).collect();
    let prices = &context.config().settings.prices;
    let spending = ledger::spending(&catalog.sessions);
    let mut messages: Vec<CountedMessage<'_>> = cost::messages(&spending, prices);
    messages.retain(|message| seen.contains(message.session));
    let mut windows = cost::windows(&messages, |message| asked.contains(message.session));
    windows.retain(|window| period.holds(Some(window.start)) && !window.sessions.is_empty());
    let all = catalog.sessions.iter().map(|entry| &*entry.session);
    let models = windows.iter().flat_map(|window| window.models.iter().map(String::as_str));
    Ok(Answer {
        own_prices: own_prices(prices, models),
        blocks: windows.iter().map(|window| block(window, context.now)).collect(),
        prices_as_of: prices_as_of(),
        notes: unknown_project_note(context, &filter, all).into_iter().collect(),
    })
}

fn block(window: &UsageWindow, now: Timestamp) -> CostBlock {
    let projection = window.projection(now);
    let usage = window.total.usage;
    CostBlock {
        start: window.start,
        end: window.end,
        last: window.last,
        is_active: window.is_running(now),
        models: window.models.iter().cloned().collect(),
        sessions: window.sessions.len(),
        by_session: by_session(window),
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_creation_tokens: usage.cache_write(),
        cost_usd: window.total.cost,
        unpriced_tokens: window.total.unpriced_tokens,
        projection: projection.map(|found| CostProjection { tokens: found.tokens, cost_usd: found.cost }),
    }
}

/// The sessions of a window that took most.
fn by_session(window: &UsageWindow) -> Vec<SessionInBlock> {
    let of = |(id, total): (&SessionId, &Total)| SessionInBlock {
        session_id: id.clone(),
        tokens: total.usage.total(),
        cost_usd: total.cost,
    };
    let mut all: Vec<SessionInBlock> = window.sessions.iter().map(of).collect();
    let cost = |one: &SessionInBlock| one.cost_usd.unwrap_or_default();
    all.sort_by(|one, other| cost(other).total_cmp(&cost(one)).then(other.tokens.cmp(&one.tokens)));
    all.truncate(SESSIONS);
    all
}
