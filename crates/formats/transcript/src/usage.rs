//! Tokens of API messages, gathered from the lines of one file.

use jiff::Timestamp;
use model::{CostState, MessageUsage, Usage};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::json::{Raw, raw_fields};
use crate::record::{ApiMessage, Record, RecordKind};

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
    by_key: FxHashMap<u64, usize>,
}

impl UsageCollector {
    /// Continues where an earlier pass over the file stopped.
    pub fn resume(messages: Vec<MessageUsage>) -> Self {
        let by_key = messages.iter().enumerate().map(|(at, message)| (message.key, at)).collect();
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
    pub(crate) fn add(
        &mut self,
        record: &Record<'_>,
        message: &ApiMessage<'_>,
        usage: Usage,
        place: LineOrigin,
    ) {
        let Some(model) = message.model().filter(|model| *model != "<synthetic>") else { return };
        let Some(id) = message.id() else { return };
        let key = key(id, record.request());
        if let Some(&known) = self.by_key.get(&key) {
            let known = &mut self.messages[known];
            known.usage = known.usage.max(usage);
            known.copied &= place.copied;
            return;
        }
        self.by_key.insert(key, self.messages.len());
        self.messages.push(MessageUsage {
            key,
            message: self::key(id, None),
            model: model.to_owned(),
            at: place.at,
            usage,
            terms: message.terms(),
            copied: place.copied,
            subagent: place.subagent,
        });
    }
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
            let used = message.usage();
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
