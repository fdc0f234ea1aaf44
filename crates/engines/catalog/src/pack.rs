//! A compact encoding of a file's facts, so that thousands of them are read quickly.
//!
//! The bytes contain no field names: a change to an encoded type has to raise [`FORMAT`], and entries of an
//! older format are read again from their files. A test compares the bytes with those of this format.

use std::collections::HashMap;

use jiff::Timestamp;
use model::{MessageUsage, PricingTerms, Usage};
use serde::{Deserialize, Serialize};
use system::FileStamp;
use transcript::{Checkpoint, Summary};

use crate::facts::{FileFacts, SubagentFacts};

/// The version of the encoding; raise it when an encoded type or what is read from a transcript changes.
pub(crate) const FORMAT: u32 = 20;

/// About how many bytes the facts of a file take.
const FACTS: usize = 1024;
/// About how many bytes a message takes.
const ROW: usize = 40;
/// How many API messages a block holds: what is added to a long session changes its last block alone.
const BLOCK: usize = 128;

/// A file's facts as they are kept: what a listing shows, and the API messages.
#[derive(Debug)]
pub(crate) struct Packed {
    /// The file's stamp when it was read.
    pub(crate) stamp: FileStamp,
    /// Everything but the API messages.
    pub(crate) facts: Vec<u8>,
    /// The API messages, in blocks.
    pub(crate) messages: Vec<Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
struct Kept<S> {
    mark: Checkpoint,
    summary: S,
    agent: Option<SubagentFacts>,
}

#[derive(Serialize, Deserialize)]
struct Messages<'a> {
    #[serde(borrow)]
    models: Vec<&'a str>,
    rows: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    /// A hash fills its eight bytes; a number of varying length would take ten.
    key: [u8; 8],
    message: [u8; 8],
    model: u32,
    /// The message's time, in microseconds since that of the block's message before it; of the first, since 1970.
    at: Option<i64>,
    usage: Usage,
    requests: Vec<Usage>,
    /// Bits: batch, fast, copied, subagent, us, by record.
    flags: u8,
}

/// Facts as bytes; `None` when they cannot be kept.
pub(crate) fn pack(facts: &FileFacts) -> Option<Packed> {
    let kept = Kept { mark: facts.mark, summary: &facts.summary, agent: facts.agent.clone() };
    Some(Packed {
        stamp: facts.stamp,
        facts: postcard::to_extend(&kept, Vec::with_capacity(FACTS)).ok()?,
        messages: facts.messages.chunks(BLOCK).map(pack_messages).collect::<Option<_>>()?,
    })
}

/// Bytes as facts without API messages; `None` when they are not those of [`FORMAT`].
pub(crate) fn unpack(stamp: FileStamp, facts: &[u8]) -> Option<FileFacts> {
    let Kept { mark, summary, agent } = postcard::from_bytes::<Kept<Box<Summary>>>(facts).ok()?;
    Some(FileFacts { stamp, mark, summary, messages: Vec::new(), agent })
}

fn pack_messages(messages: &[MessageUsage]) -> Option<Vec<u8>> {
    let mut models: Vec<&str> = Vec::new();
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut rows = Vec::with_capacity(messages.len());
    let mut before = 0;
    for message in messages {
        let model = *numbers.entry(&message.model).or_insert_with(|| {
            models.push(&message.model);
            u32::try_from(models.len() - 1).unwrap_or(u32::MAX)
        });
        let at =
            message.at.map(|at| at.as_microsecond() - std::mem::replace(&mut before, at.as_microsecond()));
        rows.push(row(message, model, at));
    }
    let room = Vec::with_capacity(ROW * rows.len() + 64);
    postcard::to_extend(&Messages { models, rows }, room).ok()
}

fn row(message: &MessageUsage, model: u32, at: Option<i64>) -> Row {
    let PricingTerms { batch, fast, us } = message.terms;
    let flags = [batch, fast, message.copied, message.subagent, us, message.by_record];
    Row {
        key: message.key.to_le_bytes(),
        message: message.message.to_le_bytes(),
        model,
        at,
        usage: message.usage,
        requests: message.requests.clone(),
        flags: flags.iter().enumerate().map(|(bit, set)| u8::from(*set) << bit).sum(),
    }
}

/// The API messages of a block; `None` when the bytes are not those of [`FORMAT`].
pub(crate) fn unpack_messages(bytes: &[u8]) -> Option<Vec<MessageUsage>> {
    let Messages { models, rows } = postcard::from_bytes(bytes).ok()?;
    let mut before = 0_i64;
    let mut moment = |since: i64| {
        before = before.saturating_add(since);
        Timestamp::from_microsecond(before).ok()
    };
    rows.into_iter()
        .map(|row| {
            let flag = |bit: u8| row.flags & (1 << bit) != 0;
            Some(MessageUsage {
                key: u64::from_le_bytes(row.key),
                message: u64::from_le_bytes(row.message),
                model: (*models.get(usize::try_from(row.model).ok()?)?).to_owned(),
                at: row.at.and_then(&mut moment),
                by_record: flag(5),
                usage: row.usage,
                requests: row.requests,
                terms: PricingTerms { batch: flag(0), fast: flag(1), us: flag(4) },
                copied: flag(2),
                subagent: flag(3),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use transcript::{Line, UsageCollector};

    use super::*;

    /// Facts in which every field that a transcript can set is set.
    fn facts() -> FileFacts {
        let lines = [
            r#"{"type":"summary","summary":"A summary","leafUuid":"other"}"#,
            r#"{"type":"permission-mode","permissionMode":"plan"}"#,
            r#"{"type":"user","uuid":"u1","parentUuid":null,"cwd":"/p","sessionId":"other","gitBranch":"main","version":"2.1.329","slug":"a-b-c","entrypoint":"cli","timestamp":"2026-01-02T03:04:05.678Z","forkedFrom":{"sessionId":"parent","messageUuid":"m"},"message":{"role":"user","content":"[openclaw:agent=main]\n\nFix it"}}"#,
            r#"{"type":"assistant","uuid":"u2","parentUuid":"u1","timestamp":"2026-01-02T03:04:06Z","requestId":"r","message":{"id":"i","model":"claude-opus-5-5","content":[{"type":"text","text":"Done"}],"usage":{"input_tokens":1,"output_tokens":300,"cache_read_input_tokens":70000,"speed":"fast","inference_geo":"us","iterations":[{"type":"message","input_tokens":1,"output_tokens":100,"cache_read_input_tokens":30000},{"type":"message","input_tokens":0,"output_tokens":200,"cache_read_input_tokens":40000},{"type":"advisor_message","model":"claude-fable-5-2","input_tokens":8}]}}}"#,
            r#"{"type":"assistant","uuid":"u3","parentUuid":"u2","isSidechain":true,"message":{"id":"j","model":"claude-haiku-5-5","content":[],"usage":{"input_tokens":5,"service_tier":"batch"}}}"#,
            r#"{"type":"system","subtype":"compact_boundary","uuid":"u4","compactMetadata":{"postTokens":9}}"#,
            r#"{"type":"user","uuid":"u5","isSidechain":true,"message":{"content":"Count"}}"#,
            r#"{"type":"assistant","uuid":"u6","message":{"content":[{"type":"tool_use","id":"t","name":"Task","input":{"prompt":"Count","description":"Count files","subagent_type":"general-purpose"}}]}}"#,
            r#"{"type":"custom-title","customTitle":"A title"}"#,
            r#"{"type":"tag","tag":"t"}"#,
            r#"{"type":"relocated","relocatedCwd":"/q"}"#,
            r#"{"type":"pr-link","prUrl":"https://example.com/1"}"#,
            r#"{"type":"cost-state","totalCostUSD":1.2,"modelUsage":{}}"#,
            r#"{"type":"cost-state","totalCostUSD":1.5,"modelUsage":{"claude-opus-5-5":{"inputTokens":3}}}"#,
            r#"{"type":"file-history-snapshot","snapshot":{},"isSnapshotUpdate":false}"#,
            "not json",
        ];
        let (mut summary, mut spent) = (Summary::new(&"s1".parse().unwrap()), UsageCollector::default());
        for line in lines {
            let mut line = Line::of(line.as_bytes());
            line.is_mended = true;
            summary.observe(line, &mut spent);
        }
        let agent = SubagentFacts {
            session: "s1".parse().ok(),
            kind: Some("Explore".into()),
            task: Some(1),
            ..SubagentFacts::UNKNOWN
        };
        FileFacts {
            stamp: FileStamp { dev: 1, ino: 2, size: 3, mtime: 4 },
            mark: Checkpoint { dev: 1, ino: 2, offset: 3, lines: 15, tail_hash: u64::MAX },
            summary: Box::new(summary),
            messages: spent.into_messages(),
            agent: Some(agent),
        }
    }

    #[test]
    fn packed_facts_are_unpacked_unchanged() {
        let facts = facts();
        assert_eq!(facts.messages.len(), 3);
        let Packed { facts: bytes, messages, .. } = pack(&facts).unwrap();
        let messages = messages.iter().flat_map(|block| unpack_messages(block).unwrap()).collect();
        assert_eq!(unpack(facts.stamp, &bytes).map(|kept| FileFacts { messages, ..kept }), Some(facts));
    }

    #[test]
    fn a_new_message_changes_only_the_last_block() {
        let facts = facts();
        let with = |count| FileFacts { messages: vec![facts.messages[0].clone(); count], ..facts.clone() };
        let [before, after] =
            [2 * BLOCK + 1, 2 * BLOCK + 2].map(|count| pack(&with(count)).unwrap().messages);
        assert_eq!((before.len(), &before[..2]), (3, &after[..2]));
        assert_ne!(before[2], after[2]);
    }

    #[test]
    fn the_format_is_unchanged() {
        let packed = pack(&facts()).unwrap();
        let hash = |bytes: &[u8]| {
            bytes.iter().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)))
        };
        let found = (FORMAT, hash(&packed.facts), hash(&packed.messages.concat()));
        assert_eq!(
            found,
            (20, 8_240_470_897_761_388_038, 15_449_533_136_585_712_104),
            "the kept types changed: raise FORMAT, then put the new figures here"
        );
    }

    #[test]
    fn damaged_bytes_are_rejected() {
        let packed = pack(&facts()).unwrap();
        let stamp = FileStamp::default();
        assert_eq!(unpack(stamp, &packed.facts[..20]), None);
        assert_eq!(unpack(stamp, b""), None);
        assert_eq!(unpack_messages(&packed.messages[0][..20]), None);
        assert_eq!(unpack_messages(b""), None);
    }
}
