//! Records of the client beside the conversation: titles, modes, compactions, costs, and things it should
//! never have written.

use jiff::SignedDuration;
use serde::Serialize;
use serde_json::{Value, json};

use super::record::Record;
use super::{Line, Transcript};

impl Transcript {
    /// The person names the session.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.note("custom-title", json!({"customTitle": title}))
    }

    /// The client titles the session by itself.
    #[must_use]
    pub fn ai_title(self, title: &str) -> Self {
        self.note("ai-title", json!({"aiTitle": title}))
    }

    /// A summary in the manner of 2.0.0 and before; it belongs to the file that holds `leaf`.
    #[must_use]
    pub fn summary_of(mut self, leaf: &str, summary: &str) -> Self {
        self.close_message();
        self.line(Record::new().with("type", "summary").with("summary", summary).with("leafUuid", leaf));
        self
    }

    /// Any record outside the tree: its type and its own fields.
    #[must_use]
    pub fn note(mut self, kind: &str, fields: Value) -> Self {
        self.close_message();
        let line = Record::new().with("type", kind).join(fields_of(fields)).with("sessionId", &self.id);
        self.line(line);
        self
    }

    /// A `system` record of this subtype.
    #[must_use]
    pub fn system(mut self, subtype: &str, fields: Value) -> Self {
        self.close_message();
        let line = Record::new().with("type", "system").with("subtype", subtype).join(fields_of(fields));
        self.tree(line);
        self
    }

    /// An `attachment` record of this kind.
    #[must_use]
    pub fn attachment(mut self, kind: &str, fields: Value) -> Self {
        self.close_message();
        let inner = Record::new().with("type", kind).join(fields_of(fields));
        self.tree(Record::new().nest("attachment", &inner).with("type", "attachment"));
        self
    }

    /// A `progress` record, as releases around 2.1.38 to 2.1.76 wrote them.
    #[must_use]
    pub fn progress(mut self, kind: &str, fields: Value) -> Self {
        self.close_message();
        let data = Record::new().with("type", kind).join(fields_of(fields));
        self.tree(Record::new().with("type", "progress").nest("data", &data));
        self
    }

    /// The context is compacted: the boundary, and the summary with which the model continues.
    #[must_use]
    pub fn compaction(mut self, summary: &str) -> Self {
        self.close_message();
        let metadata = json!({"trigger": "manual", "preTokens": self.total.total(), "postTokens": 900});
        let before = self.last_uuid.take();
        let boundary = Record::new()
            .with("logicalParentUuid", before)
            .with("type", "system")
            .with("subtype", "compact_boundary")
            .with("compactMetadata", metadata);
        self.tree(boundary);
        let message = Record::new().with("role", "user").with("content", summary);
        let line = Record::new().with("type", "user").nest("message", &message);
        self.tree(line.with("isVisibleInTranscriptOnly", true).with("isCompactSummary", true));
        self
    }

    /// The turn took this long.
    #[must_use]
    pub fn turn_ended(self, milliseconds: u64) -> Self {
        self.system("turn_duration", json!({"durationMs": milliseconds}))
    }

    /// The client exits properly: what its release appends at the end, its total cost included.
    #[must_use]
    pub fn exit(mut self, cost_usd: f64) -> Self {
        self.close_message();
        if self.release.ends_with_envelope() {
            let (prompt, leaf) = (self.last_prompt.clone(), self.last_uuid.clone());
            self = self.note("last-prompt", json!({"lastPrompt": prompt, "leafUuid": leaf}));
        }
        if self.release.records_cost() {
            let (tools, costs) = (json!({"tools": self.tools_used}), self.costs(cost_usd));
            self = self.note("tools-used", tools).note("cost-state", costs);
        }
        self
    }

    fn costs(&self, usd: f64) -> Value {
        let total = self.total;
        let model = json!({
            "inputTokens": total.input,
            "outputTokens": total.output,
            "cacheReadInputTokens": total.cache_read,
            "cacheCreationInputTokens": total.cache_write(),
            "webSearchRequests": total.web_searches,
            "costUSD": usd,
        });
        json!({"totalCostUSD": usd, "modelUsage": {&self.model: model}, "hasUnknownModelCost": false})
    }

    /// A prompt enters or leaves the queue.
    pub(super) fn queue_operation(&mut self, operation: &str, prompt: Option<&str>) {
        let line = Record::new()
            .with("type", "queue-operation")
            .with("operation", operation)
            .with("timestamp", self.now())
            .with("sessionId", &self.id)
            .with_some("content", prompt);
        self.line(line);
    }

    /// Sets one field of the last record, whatever it is.
    #[must_use]
    pub fn field(mut self, key: &str, value: impl Serialize) -> Self {
        self.close_message();
        match self.lines.last_mut() {
            Some(Line::Record(record)) => record.set(key, value),
            _ => panic!("there is no record to set `{key}` on"),
        }
        self
    }

    /// A whole line that is no record at all.
    #[must_use]
    pub fn junk(mut self, line: impl AsRef<[u8]>) -> Self {
        self.close_message();
        self.lines.push(Line::Bytes([line.as_ref(), b"\n"].concat()));
        self
    }

    /// A last line that was cut before its end; nothing may follow.
    #[must_use]
    pub fn torn(mut self, line: impl AsRef<[u8]>) -> Self {
        self.close_message();
        self.lines.push(Line::Bytes(line.as_ref().to_vec()));
        self
    }

    /// Nothing happens for some minutes.
    #[must_use]
    pub fn minutes_later(mut self, minutes: i64) -> Self {
        self.close_message();
        self.clock += SignedDuration::from_mins(minutes);
        self
    }
}

fn fields_of(object: Value) -> Record {
    let Value::Object(fields) = object else { panic!("not an object of fields: {object}") };
    fields.iter().fold(Record::new(), |record, (key, value)| record.with(key, value))
}
