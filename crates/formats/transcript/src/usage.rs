//! Tokens of API messages, gathered from the lines of one file.

use jiff::Timestamp;
use model::{CostState, MessageUsage, PricingTerms, Usage};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::json::{Raw, raw_fields};
use crate::record::{ApiMessage, Charges, Record, RecordKind};

raw_fields! {
    struct ModelTotals {
        input = "inputTokens",
        output = "outputTokens",
        cache_read = "cacheReadInputTokens",
        cache_write = "cacheCreationInputTokens",
        one_hour = "cacheCreationEphemeral1hInputTokens",
        web_searches = "webSearchRequests",
    }
}

/// The messages of one file, each once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageCollector {
    messages: Vec<MessageUsage>,
    /// The latest message with each identity.
    by_key: FxHashMap<u64, usize>,
}

impl UsageCollector {
    /// Continues where an earlier pass over the file stopped.
    pub fn resume(messages: Vec<MessageUsage>) -> Self {
        let identity = |message: &MessageUsage| if message.by_record { message.message } else { message.key };
        let by_key = messages.iter().enumerate().map(|(at, message)| (identity(message), at)).collect();
        Self { messages, by_key }
    }

    /// The messages, in the order of their first line.
    pub fn messages(&self) -> &[MessageUsage] {
        &self.messages
    }

    /// The messages, for keeping.
    pub fn into_messages(self) -> Vec<MessageUsage> {
        self.messages
    }

    /// Adds an assistant line; of a message's several lines the greatest counter of each kind counts.
    pub(crate) fn add(&mut self, record: &Record<'_>, message: &ApiMessage<'_>, place: LineOrigin) {
        let Some(model) = message.model().filter(|model| *model != "<synthetic>") else { return };
        let Some(identity) = Identity::of(record, message) else { return };
        let Charges { own, requests, beside } = message.charges();
        let terms = message.terms();
        let at = self.place_of(&identity, place);
        let known = match at {
            Some(at) => &mut self.messages[at],
            None => self.begin(&identity, record, MessageUsage { terms, ..place.message(model) }),
        };
        if own.total() >= known.usage.total() {
            known.requests = requests;
        }
        known.usage = known.usage.max(own);
        known.copied &= place.copied;
        let (key, message, by_record) = (known.key, known.message, known.by_record);
        for (number, (other, usage)) in (1..).zip(beside) {
            let part = Identity { whole: mixed(key, number), id: mixed(message, number), by_record };
            // An advisor answers on usual terms, wherever the message itself was answered.
            let terms = PricingTerms { us: terms.us, ..PricingTerms::default() };
            let begun = MessageUsage { terms, ..place.message(other.unwrap_or(model)) };
            let known = match self.by_key.get(&part.whole) {
                Some(&at) => &mut self.messages[at],
                None => self.push(
                    part.whole,
                    MessageUsage { key: part.whole, message: part.id, by_record: false, ..begun },
                ),
            };
            known.usage = known.usage.max(usage);
            known.copied &= place.copied;
        }
    }

    /// Where the message of a line is, if the line does not begin one.
    fn place_of(&mut self, identity: &Identity, place: LineOrigin) -> Option<usize> {
        let at = *self.by_key.get(&identity.whole)?;
        let known = &mut self.messages[at];
        let is_before = |prompted: &Timestamp| known.at.is_some_and(|begun| begun < *prompted);
        let is_after = |prompted: &Timestamp| place.at.is_some_and(|at| at >= *prompted);
        let is_asked_between = place.prompted.filter(is_before).is_some_and(|prompted| is_after(&prompted));
        if is_asked_between && !place.subagent && !known.by_record {
            // An id on both sides of a prompt is no id: the first message that had it has none, either.
            known.by_record = true;
            known.message = identity.whole;
            known.key = mixed(identity.whole, micros(known.at));
        }
        let answers_anew = known.by_record && place.answers;
        let is_another = (is_asked_between && !place.subagent) || answers_anew;
        (!is_another).then_some(at)
    }

    fn begin(
        &mut self,
        identity: &Identity,
        record: &Record<'_>,
        message: MessageUsage,
    ) -> &mut MessageUsage {
        let by_record = identity.by_record || self.by_key.contains_key(&identity.whole);
        let (key, id) = if by_record {
            // Copies in other files have the same ids and times.
            (record_key(record).unwrap_or_else(|| mixed(identity.whole, micros(message.at))), identity.whole)
        } else {
            (identity.whole, identity.id)
        };
        self.push(identity.whole, MessageUsage { key, message: id, by_record, ..message })
    }

    fn push(&mut self, identity: u64, message: MessageUsage) -> &mut MessageUsage {
        let at = self.messages.len();
        self.by_key.insert(identity, at);
        self.messages.push(message);
        &mut self.messages[at]
    }
}

/// What a line says of the API message that it is part of.
struct Identity {
    /// A hash of all its ids.
    whole: u64,
    /// A hash of the id that copies keep which lost the request's.
    id: u64,
    /// Whether these do not tell it from other messages.
    by_record: bool,
}

impl Identity {
    /// The API's own ids are unique. Those of others are not: a relay may give every answer the same, and only the
    /// request tells them apart, or the record.
    fn of(record: &Record<'_>, message: &ApiMessage<'_>) -> Option<Self> {
        let is_some = |id: &&str| !id.is_empty();
        let (id, request) = (message.id().filter(is_some), record.request().filter(is_some));
        let Some(id) = id else {
            let whole = record_key(record)?;
            return Some(Self { whole, id: whole, by_record: true });
        };
        let is_unique = id.starts_with("msg_");
        let whole = key(id, request);
        let lost = if is_unique { key(id, None) } else { whole };
        Some(Self { whole, id: lost, by_record: request.is_none() && !is_unique })
    }
}

/// A hash of a record's own id.
fn record_key(record: &Record<'_>) -> Option<u64> {
    Some(xxh3_64(record.uuid()?.as_bytes()))
}

/// A hash of another one and a number.
fn mixed(key: u64, number: u64) -> u64 {
    xxh3_64(&[key.to_le_bytes(), number.to_le_bytes()].concat())
}

fn micros(at: Option<Timestamp>) -> u64 {
    at.map_or(0, |at| at.as_microsecond().cast_unsigned())
}

/// Where and when a line comes from, which decides who paid for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineOrigin {
    /// Whether a mark says that it was copied here.
    pub(crate) copied: bool,
    /// Whether it is in a sub-agent's file or chain.
    pub(crate) subagent: bool,
    /// When it was written.
    pub(crate) at: Option<Timestamp>,
    /// When the person last asked something before it.
    pub(crate) prompted: Option<Timestamp>,
    /// Whether it follows directly what was said to the model, a prompt or a tool's result.
    pub(crate) answers: bool,
}

impl LineOrigin {
    /// A message that begins here.
    fn message(self, model: &str) -> MessageUsage {
        MessageUsage {
            key: 0,
            message: 0,
            by_record: false,
            model: model.to_owned(),
            at: self.at,
            usage: Usage::default(),
            requests: Vec::new(),
            terms: PricingTerms::default(),
            copied: self.copied,
            subagent: self.subagent,
        }
    }
}

/// A hash that identifies an API message, whatever file it is in.
pub fn key(id: &str, request: Option<&str>) -> u64 {
    const USUAL: usize = 128;
    let Some(request) = request else { return xxh3_64(id.as_bytes()) };
    let parts = [id.as_bytes(), b"\0", request.as_bytes()];
    let length = id.len() + 1 + request.len();
    if length > USUAL {
        return xxh3_64(&parts.concat());
    }
    let mut buffer = [0; USUAL];
    let mut at = 0;
    for part in parts {
        buffer[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    xxh3_64(&buffer[..length])
}

/// The tokens the model would see after this record; `None` where the record does not say.
pub fn context_tokens(record: &Record<'_>) -> Option<u64> {
    match record.kind() {
        RecordKind::CompactBoundary => record.compact_metadata().get("postTokens").count(),
        RecordKind::Assistant if !record.is_sidechain() => {
            let message = record.message().filter(|message| message.model() != Some("<synthetic>"))?;
            let used = message.last_pass();
            (used != Usage::default()).then(|| used.context().saturating_add(used.output))
        }
        _ => None,
    }
}

/// The CLI's running total in a `cost-state` record.
pub(crate) fn cost_state(record: &Record<'_>, at: Option<Timestamp>) -> Option<CostState> {
    debug_assert_eq!(record.kind(), RecordKind::CostState);
    let (total, models) = record.cost_state()?;
    let models = models.entries().map(|(model, totals)| {
        let totals = ModelTotals::from_raw(totals);
        let count = |field: Raw<'_>| field.count().unwrap_or(0);
        let all_writes = count(totals.cache_write);
        let one_hour = count(totals.one_hour).min(all_writes);
        let usage = Usage {
            input: count(totals.input),
            output: count(totals.output),
            cache_read: count(totals.cache_read),
            cache_write_5m: all_writes - one_hour,
            cache_write_1h: one_hour,
            web_searches: count(totals.web_searches),
        };
        (model.into_owned(), usage)
    });
    Some(CostState { at, total_cost_usd: total.number().unwrap_or(0.0).max(0.0), models: models.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length() {
        for length in [0, 1, 30, 63, 64, 65, 200] {
            let (id, request) = ("i".repeat(length), "r".repeat(63));
            assert_eq!(key(&id, Some(&request)), xxh3_64(format!("{id}\0{request}").as_bytes()));
        }
        assert_ne!(key("a", Some("")), key("a", None));
    }
}
