//! The ledger: every message of every session once, on its day, for the session that first had it.

mod identity;

use std::cmp::Ordering;
use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::{CostState, MessageUsage, SessionId, SubagentMessages, Usage};
use rustc_hash::FxHashMap;

use self::identity::Duplicates;
use crate::cli_total::{self, ByModel, Expense};
use crate::lineage;
use crate::name::plain_model;
use crate::price::{Prices, Rates};
use crate::spending::SessionSpending;

/// The version of the rules; raised when they produce other rows from the same messages, so that saved rows are
/// recomputed.
pub const RULES_VERSION: u32 = 2;

/// The tokens and price of one session on one day with one model.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRow {
    /// The session that first had the messages.
    pub session: SessionId,
    /// The local day; `None` only when nothing in the session has a time.
    pub day: Option<Date>,
    /// The hour of the day, from 0; `None` where hours were not asked for or nothing says.
    pub hour: Option<i8>,
    /// Who took it; the session itself where that was not asked for.
    pub spender: Spender,
    /// The model's plain name.
    pub model: String,
    /// The tokens of the row.
    pub usage: Usage,
    /// Its price in US dollars; `None` when the model or its terms are not in the price table.
    pub cost: Option<f64>,
    /// Whether API messages account for it; `false` for what only the CLI's total holds: titles, compactions,
    /// interrupted calls.
    pub attributed: bool,
}

/// The further dimensions of rows besides session, day and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowDetail {
    /// Nothing else.
    #[default]
    Day,
    /// Also the hour of the day.
    Hour,
    /// Also whether the session or a sub-agent took it, and the sub-agent's type.
    Agent,
}

/// A span of time; what has no time at all is only in the one without limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    /// When it begins.
    pub begin: Option<Timestamp>,
    /// When it is over.
    pub end: Option<Timestamp>,
}

impl Period {
    /// All of time.
    pub const ALWAYS: Self = Self { begin: None, end: None };

    /// Whether something happened in it.
    pub fn holds(&self, at: Option<Timestamp>) -> bool {
        self.begin.is_none_or(|begin| at.is_some_and(|at| at >= begin))
            && self.end.is_none_or(|end| at.is_some_and(|at| at < end))
    }
}

/// Who took the tokens of a row: a session itself, or a sub-agent of it with its type, where that is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spender {
    /// The session itself.
    Session,
    /// A sub-agent.
    Subagent(Option<String>),
}

/// An API message, counted once.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedMessage<'a> {
    /// The session that first had it.
    pub session: &'a SessionId,
    /// The time of its first block.
    pub at: Option<Timestamp>,
    /// The model's plain name.
    pub model: &'a str,
    /// Its tokens.
    pub usage: Usage,
    /// Its price in US dollars; `None` when the model or its terms have none.
    pub cost: Option<f64>,
}

/// The model of lines that `claude` writes itself, without any call to the API.
const SYNTHETIC: &str = "<synthetic>";

/// Computes the rows of a period, sorted by session, day and model; the unattributed rows of a session come last.
///
/// What only the CLI's total holds is of the time of the session's last message. The result does not depend on the
/// order of `sessions`, each of which occurs once. Days are those of `zone`.
pub fn ledger(
    sessions: &[SessionSpending<'_>],
    zone: &TimeZone,
    prices: &Prices,
    detail: RowDetail,
    period: Period,
) -> Vec<LedgerRow> {
    let mut builder = LedgerBuilder {
        sessions,
        zone,
        prices,
        detail,
        period,
        rows: FxHashMap::default(),
        last: FxHashMap::default(),
        totalled: HashMap::new(),
        copied: HashMap::new(),
    };
    each_message(sessions, prices, |copies| builder.add(copies));
    builder.finish()
}

/// Every message of the sessions once, in any order; what only the CLI's total holds is no message.
pub fn messages<'a>(sessions: &'a [SessionSpending<'a>], prices: &'a Prices) -> Vec<CountedMessage<'a>> {
    let mut messages = Vec::new();
    each_message(sessions, prices, |copies| {
        let Some(MergedMessage { owner, at, usage, cost }) = MergedMessage::new(copies) else { return };
        messages.push(CountedMessage {
            session: &sessions[owner.session].session,
            at,
            model: owner.model,
            usage,
            cost,
        });
    });
    messages
}

/// Calls `take` with all copies of each message, the owner's first.
fn each_message<'a>(
    sessions: &[SessionSpending<'a>],
    prices: &'a Prices,
    mut take: impl FnMut(&[&SessionMessage<'a>]),
) {
    let all = all_messages(sessions, prices);
    let mut copies: Vec<&SessionMessage<'a>> = Vec::new();
    for (held, same) in all.iter().zip(identity::groups(sessions, &all)) {
        copies.clear();
        match same {
            Duplicates::None => copies.push(held),
            Duplicates::First(others) => copies.extend(others.iter().map(|at| &all[*at])),
            Duplicates::OfEarlier => continue,
        }
        copies.sort_unstable_by_key(|held| held.order());
        take(&copies);
    }
}

/// A message as it is counted: its copies taken together.
struct MergedMessage<'a, 'b> {
    owner: &'b SessionMessage<'a>,
    at: Option<Timestamp>,
    usage: Usage,
    cost: Option<f64>,
}

impl<'a, 'b> MergedMessage<'a, 'b> {
    /// Of all its copies, the owner's first.
    fn new(copies: &[&'b SessionMessage<'a>]) -> Option<Self> {
        let owner = *copies.first()?;
        let usage = copies.iter().fold(Usage::default(), |usage, held| usage.max(held.message.usage));
        // The parts of a message that was copied before it was complete are not those of the whole.
        let is_whole = |held: &&&SessionMessage<'_>| held.message.usage == usage;
        let requests = copies.iter().find(is_whole).map_or(&[][..], |held| &held.message.requests);
        let cost = owner.rates.and_then(|rates| rates.price_of_parts(&usage, requests, owner.message.terms));
        let at = owner.message.at.or_else(|| copies.iter().find_map(|held| held.message.at));
        Some(Self { owner, at, usage, cost })
    }
}

/// One message as one session holds it.
struct SessionMessage<'a> {
    message: &'a MessageUsage,
    /// Where it is among the messages of its session.
    place: usize,
    session: usize,
    rank: usize,
    model: &'a str,
    rates: Option<&'a Rates>,
}

impl<'a> SessionMessage<'a> {
    /// The sort key that puts the owner's copy first. The parts after mark and rank only make the order of several
    /// lines of one message in one file irrelevant.
    fn order(&self) -> (bool, usize, bool, Option<Timestamp>, &'a str, [bool; 3]) {
        let MessageUsage { copied, at, terms, subagent, .. } = self.message;
        (*copied, self.rank, *subagent, *at, self.model, [terms.batch, terms.fast, terms.us])
    }
}

/// All messages, ordered by the rank of their sessions.
fn all_messages<'a>(sessions: &[SessionSpending<'a>], prices: &'a Prices) -> Vec<SessionMessage<'a>> {
    let mut by_rank: Vec<(usize, usize)> = lineage::ranks(sessions).into_iter().zip(0..).collect();
    by_rank.sort_unstable();
    let mut models: FxHashMap<&str, (&str, Option<&Rates>)> = FxHashMap::default();
    let mut last = None;
    let mut all = Vec::with_capacity(sessions.iter().map(|session| session.messages.len()).sum());
    let mut messages: Vec<(usize, &MessageUsage)> = Vec::new();
    for (rank, session) in by_rank {
        messages.clear();
        let placed = sessions[session].messages.iter().enumerate();
        messages.extend(placed.filter(|(_, message)| message.model != SYNTHETIC));
        // Sums of prices depend on their order, and that of the lines must make no difference.
        messages.sort_unstable_by_key(|(_, message)| message.key);
        for &(place, message) in &messages {
            let name = message.model.as_str();
            // Mostly it is the model of the message before.
            let (_, (model, rates)) = last.filter(|(known, _)| *known == name).unwrap_or_else(|| {
                (name, *models.entry(name).or_insert_with(|| (plain_model(name), prices.rates(name))))
            });
            last = Some((name, (model, rates)));
            all.push(SessionMessage { message, place, session, rank, model, rates });
        }
    }
    all
}

/// What the messages of a row have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RowKey<'a> {
    session: usize,
    day: Option<Date>,
    hour: Option<i8>,
    /// The place of the first with its type among the session's sub-agents; beyond them for a type that is not known.
    subagent: Option<usize>,
    model: &'a str,
    /// The priced and the unpriced never mix in a row.
    is_priced: bool,
}

/// The ledger while it is written.
struct LedgerBuilder<'a> {
    sessions: &'a [SessionSpending<'a>],
    zone: &'a TimeZone,
    prices: &'a Prices,
    detail: RowDetail,
    period: Period,
    rows: FxHashMap<RowKey<'a>, Expense>,
    /// When each session had its last message.
    last: FxHashMap<usize, Timestamp>,
    /// For each session with a CLI total, what it spent itself until that total was written.
    totalled: HashMap<usize, ByModel<'a>>,
    /// For each session with a CLI total, what it holds of other sessions.
    copied: HashMap<usize, ByModel<'a>>,
}

impl<'a> LedgerBuilder<'a> {
    fn add(&mut self, copies: &[&SessionMessage<'a>]) {
        let Some(MergedMessage { owner, at, usage, cost }) = MergedMessage::new(copies) else { return };
        let placed = at.or(self.sessions[owner.session].started);
        let spent = Expense { usage, cost };
        if self.period.holds(placed) {
            *self.rows.entry(self.key(owner, placed, cost.is_some())).or_default() += spent;
        }
        if let Some(placed) = placed {
            let last = self.last.entry(owner.session).or_insert(placed);
            *last = placed.max(*last);
        }
        let is_in = |total: &CostState| at.zip(total.at).is_none_or(|(said, written)| said <= written);
        if self.sessions[owner.session].cost_state.is_some_and(is_in) {
            *self.totalled.entry(owner.session).or_default().entry(owner.model).or_default() += spent;
        }

        let counts =
            |session: &usize| *session != owner.session && self.sessions[*session].cost_state.is_some();
        let mut holders: Vec<_> = copies.iter().map(|held| held.session).filter(counts).collect();
        holders.sort_unstable();
        holders.dedup();
        for holder in holders {
            *self.copied.entry(holder).or_default().entry(owner.model).or_default() += spent;
        }
    }

    fn finish(self) -> Vec<LedgerRow> {
        let mut rows = self.unattributed();
        rows.extend(self.rows.iter().map(|(key, spent)| LedgerRow {
            session: self.sessions[key.session].session.clone(),
            day: key.day,
            hour: key.hour,
            spender: self.spender(key),
            model: key.model.to_owned(),
            usage: spent.usage,
            cost: spent.cost,
            attributed: true,
        }));
        rows.sort_by(order);
        rows
    }

    fn unattributed(&self) -> Vec<LedgerRow> {
        let sessions: HashMap<&SessionId, &SessionSpending<'_>> =
            self.sessions.iter().map(|session| (&session.session, session)).collect();
        let nothing = ByModel::new();
        let mut rows = Vec::new();
        for (at, session) in self.sessions.iter().enumerate() {
            let Some(total) = session.cost_state else { continue };
            let last = self.last.get(&at).copied().or(session.started);
            if !self.period.holds(last) {
                continue;
            }
            let own = self.totalled.get(&at).unwrap_or(&nothing);
            let copied = self.copied.get(&at).unwrap_or(&nothing);
            let parent = session.forked_from.as_ref().and_then(|parent| sessions.get(parent));
            let newest_first = parent
                .into_iter()
                .flat_map(|parent| parent.cost_state.into_iter().chain(parent.earlier_totals.iter().rev()));
            let unattributed_excess =
                cli_total::unattributed_excess(self.prices, total, newest_first, own, copied);
            rows.extend(unattributed_excess.into_iter().map(|(model, spent)| LedgerRow {
                session: session.session.clone(),
                day: last.map(|last| self.zone.to_datetime(last).date()),
                hour: None,
                spender: Spender::Session,
                model: model.to_owned(),
                usage: spent.usage,
                cost: spent.cost,
                attributed: false,
            }));
        }
        rows
    }

    fn key(&self, owner: &SessionMessage<'a>, at: Option<Timestamp>, is_priced: bool) -> RowKey<'a> {
        let at = at.map(|at| self.zone.to_datetime(at));
        let hour = at.filter(|_| self.detail == RowDetail::Hour).map(jiff::civil::DateTime::hour);
        let subagent = (self.detail == RowDetail::Agent && owner.message.subagent).then(|| {
            let subagents = self.sessions[owner.session].subagents;
            let is_its = |subagent: &&SubagentMessages| subagent.messages.contains(&owner.place);
            let kind = subagents.iter().find(is_its).and_then(|subagent| subagent.kind.as_ref());
            // Those of the same type share a row.
            let same =
                kind.and_then(|kind| subagents.iter().position(|other| other.kind.as_ref() == Some(kind)));
            same.unwrap_or(subagents.len())
        });
        let day = at.map(jiff::civil::DateTime::date);
        RowKey { session: owner.session, day, hour, subagent, model: owner.model, is_priced }
    }

    fn spender(&self, key: &RowKey<'_>) -> Spender {
        let Some(subagent) = key.subagent else { return Spender::Session };
        let known = self.sessions[key.session].subagents.get(subagent);
        Spender::Subagent(known.and_then(|known| known.kind.as_deref()).map(str::to_owned))
    }
}

/// Orders rows: by session, the unattributed ones last, then by time, agent and model.
fn order(one: &LedgerRow, other: &LedgerRow) -> Ordering {
    type Key<'a> = (&'a SessionId, bool, Option<Date>, Option<i8>, &'a Spender, &'a str, bool);
    fn key(row: &LedgerRow) -> Key<'_> {
        (&row.session, !row.attributed, row.day, row.hour, &row.spender, &row.model, row.cost.is_none())
    }
    key(one).cmp(&key(other))
}

#[cfg(test)]
mod tests;
