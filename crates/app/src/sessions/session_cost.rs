//! `cost ID`: what one session took, by turn, model and sub-agent, and why.

use std::collections::HashSet;

use catalog::{CatalogEntry, Detail};
use cost::{CountedMessage, Period, RowDetail, Spender, totals_by};
use jiff::{SignedDuration, Timestamp};
use model::{SessionId, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::before;
use crate::sessions::cost::{CostLine, OWN_CALLS, line};
use crate::sessions::ledger;
use crate::sessions::locate::locate;
use crate::sessions::message::Piece;
use crate::sessions::show::{self, begins_turn, show};
use crate::sessions::totals::keep_reading;
use crate::{Context, Error, Kind, NextStep};

/// After a longer pause the usual cache is gone, and what is before the model is written to it again.
const CACHE_LIFE: SignedDuration = SignedDuration::from_mins(5);

/// Which session to look at.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SessionCostRequest")]
pub struct Request {
    /// Its id, or a prefix of it.
    pub session: String,
}

/// What a session took. Messages that it shares with another session count for the one that had them first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SessionCostAnswer")]
pub struct Answer {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// When its first message was.
    #[serde(serialize_with = "model::optional_time")]
    pub since: Option<Timestamp>,
    /// When its last message was.
    #[serde(serialize_with = "model::optional_time")]
    pub until: Option<Timestamp>,
    /// All of it, as `cost --by session` has it.
    pub total: CostLine,
    /// By model, the most expensive first.
    pub models: Vec<CostLine>,
    /// The session itself, its sub-agents by their type, and what Claude Code took for titles and compactions.
    pub spenders: Vec<CostLine>,
    /// By turn, in order: what was asked, and all that followed.
    pub turns: Vec<TurnCost>,
    /// Its compactions, in order.
    pub compactions: Vec<before::CompactionInfo>,
    /// The most tokens that were before the model at once.
    pub largest_context: u64,
    /// How often a pause of more than five minutes was followed by a message that wrote more than half of what was before the
    /// model to the cache again.
    pub pauses: u64,
    /// The tokens that these wrote.
    pub rewritten_tokens: u64,
}

/// What a turn took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TurnCost {
    /// Where it begins, as `ID:LINE`; absent where no line says.
    pub place: Option<String>,
    /// The beginning of what was asked.
    pub prompt: String,
    /// When that was.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// How many answers of the API it took.
    pub messages: u64,
    /// The estimated price of what has one, in US dollars.
    pub cost_usd: Option<f64>,
    /// The part of that which sub-agents took.
    pub subagents_usd: Option<f64>,
    /// Tokens of models that have no price here.
    pub unpriced_tokens: u64,
}

/// Adds up what one session took.
pub fn session_cost(context: &Context, request: &Request) -> Result<Answer, Error> {
    let id = locate(context, &request.session)?.id;
    let mut catalog = catalog::read(&context.config().places(), Detail::Spending, keep_reading(context));
    context.check_cancelled()?;
    catalog.sessions.append(&mut catalog.unattached_messages);
    let Some(entry) = catalog.sessions.iter().find(|entry| entry.session.id == id) else {
        let error = Error::new(Kind::Unavailable, format!("no messages of session {id} are left to count"));
        return Err(error.next(NextStep::Show { session: id }));
    };
    let prices = &context.config().settings.prices;
    let mut rows = ledger::rows(context, &catalog.sessions, RowDetail::Agent, Period::ALWAYS);
    rows.retain(|row| row.session == id);
    let spending = ledger::spending(&catalog.sessions);
    let mut counted = cost::messages(&spending, prices);
    counted.retain(|message| *message.session == id);
    counted.sort_by_key(|message| message.at);
    let lines = |of: &dyn Fn(&cost::LedgerRow) -> String| {
        let totals = totals_by(&rows, |row| of(row));
        let mut lines: Vec<CostLine> =
            totals.into_iter().map(|(name, total)| line(name.clone(), name, &total)).collect();
        lines.sort_by(|one, other| other.cost_usd.unwrap_or(-1.0).total_cmp(&one.cost_usd.unwrap_or(-1.0)));
        lines
    };
    let total = totals_by(&rows, |_| ()).into_values().next().unwrap_or_default();
    let (pauses, rewritten_tokens) = rewritten_after_pauses(&counted, &subagent_times(entry));
    let title =
        entry.session.title.as_deref().map(|title| context.secrets.redacted_beginning(title.to_owned()));
    Ok(Answer {
        models: lines(&|row| row.model.clone()),
        spenders: lines(&|row| match &row.spender {
            _ if !row.attributed => OWN_CALLS.to_owned(),
            Spender::Session => "session".to_owned(),
            Spender::Subagent(kind) => kind.clone().unwrap_or_else(|| "(sub-agent)".to_owned()),
        }),
        turns: turns(context, &id, &counted, &subagent_times(entry))?,
        compactions: compactions(context, &id),
        largest_context: counted.iter().map(|message| context_of(&message.usage)).max().unwrap_or_default(),
        pauses,
        rewritten_tokens,
        since: counted.first().and_then(|message| message.at),
        until: counted.last().and_then(|message| message.at),
        total: line(id.to_string(), title.clone().unwrap_or_default(), &total),
        title,
        session_id: id,
    })
}

/// A session that is not a transcript of Claude Code has no compactions to read.
fn compactions(context: &Context, id: &SessionId) -> Vec<before::CompactionInfo> {
    let request = before::Request { session: id.to_string(), compaction: None };
    before::before(context, &request).map(|answer| answer.compactions).unwrap_or_default()
}

/// When sub-agents' messages were, and of which model: by these they are told apart.
fn subagent_times(entry: &CatalogEntry) -> HashSet<(Option<Timestamp>, &str)> {
    let of_agents = entry.messages.iter().filter(|message| message.subagent);
    of_agents.map(|message| (message.at, cost::plain_model(&message.model))).collect()
}

/// What was before the model when it wrote a message.
fn context_of(usage: &Usage) -> u64 {
    usage.input + usage.cache_read + usage.cache_write()
}

fn rewritten_after_pauses(
    counted: &[CountedMessage<'_>],
    of_agents: &HashSet<(Option<Timestamp>, &str)>,
) -> (u64, u64) {
    let own = counted.iter().filter(|message| !of_agents.contains(&(message.at, message.model)));
    let own: Vec<&CountedMessage<'_>> = own.collect();
    let is_after_pause = |two: &&[&CountedMessage<'_>]| {
        two[0].at.zip(two[1].at).is_some_and(|(before, after)| after.duration_since(before) > CACHE_LIFE)
    };
    let written = own.windows(2).filter(is_after_pause).map(|two| two[1].usage);
    let again = written.filter(|usage| 2 * usage.cache_write() > context_of(usage));
    again.fold((0, 0), |(pauses, tokens), usage| (pauses + 1, tokens + usage.cache_write()))
}

/// The turns of a session, each with the messages until the next one began.
fn turns(
    context: &Context,
    id: &SessionId,
    counted: &[CountedMessage<'_>],
    of_agents: &HashSet<(Option<Timestamp>, &str)>,
) -> Result<Vec<TurnCost>, Error> {
    let begun = TurnCost {
        place: None,
        prompt: "(before the first prompt)".to_owned(),
        at: None,
        messages: 0,
        cost_usd: None,
        subagents_usd: None,
        unpriced_tokens: 0,
    };
    let mut turns = vec![begun.clone()];
    let request = show::Request { session: id.to_string(), all_branches: true, ..show::Request::default() };
    show(context, request)?.each(|message| -> Result<(), Error> {
        if begins_turn(&message) {
            let said = message.parts.iter().find_map(|piece| match piece {
                Piece::Text { text } => Some(transcript::preview(text)),
                _ => None,
            });
            let place = message.line.map(|line| format!("{}:{line}", id.short()));
            turns.push(TurnCost { place, prompt: said.unwrap_or_default(), at: message.at, ..begun.clone() });
        }
        Ok(())
    })?;
    turns[1..].sort_by_key(|turn| turn.at);
    for message in counted {
        let at = turns.partition_point(|turn| turn.at <= message.at).max(1) - 1;
        let turn = &mut turns[at];
        turn.messages += 1;
        match message.cost {
            Some(cost) => {
                *turn.cost_usd.get_or_insert(0.0) += cost;
                if of_agents.contains(&(message.at, message.model)) {
                    *turn.subagents_usd.get_or_insert(0.0) += cost;
                }
            }
            None => turn.unpriced_tokens += message.usage.total(),
        }
    }
    turns.retain(|turn| turn.at.is_some() || turn.messages > 0);
    Ok(turns)
}
