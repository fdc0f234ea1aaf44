//! An API message while it grows, and the lines it becomes: one for each block, or one for all in the
//! oldest releases.

use model::Usage;

use super::Transcript;
use super::record::Record;
use super::version::OutputCount;

/// A message of the model that may still get blocks.
#[derive(Debug, Clone)]
pub(super) struct OpenMessage {
    id: String,
    request_id: String,
    usage: Usage,
    /// Blocks that have no line yet.
    waiting: Vec<Record>,
    written: usize,
    calls_tool: bool,
}

impl Transcript {
    /// Adds a block to the open message, opening one when there is none.
    pub(super) fn push_block(&mut self, block: Record) {
        let open = match self.open.take() {
            Some(open) => open,
            None => self.open_message(),
        };
        let calls_tool = open.calls_tool || block.text("type").is_some_and(|kind| kind == "tool_use");
        let mut waiting = open.waiting;
        waiting.push(block);
        self.open = Some(OpenMessage { waiting, calls_tool, ..open });
    }

    fn open_message(&mut self) -> OpenMessage {
        let usage = self.next_usage.take().unwrap_or_else(|| self.invent_usage());
        self.total += usage;
        OpenMessage {
            id: self.ids.api("msg_01"),
            request_id: self.ids.api("req_011"),
            usage,
            waiting: Vec::new(),
            written: 0,
            calls_tool: false,
        }
    }

    /// Each message differs from every other, and reads from the cache what those before it wrote.
    fn invent_usage(&mut self) -> Usage {
        self.messages += 1;
        let written = self.total.cache_write_5m;
        Usage {
            input: 3 + self.messages,
            output: 20 + self.messages,
            cache_read: written,
            cache_write_5m: 1_000 + 10 * self.messages,
            ..Usage::default()
        }
    }

    /// Writes the blocks that wait; the message stays open.
    pub(super) fn write_blocks(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let blocks = std::mem::take(&mut open.waiting);
        let lines = if self.release.splits_messages() {
            blocks.into_iter().map(|block| vec![block]).collect()
        } else if blocks.is_empty() {
            vec![]
        } else {
            vec![blocks]
        };
        let count = lines.len();
        for (at, content) in lines.iter().enumerate() {
            self.write_message_line(&open, content, at + 1 == count);
            open.written += 1;
        }
        self.open = Some(open);
    }

    /// Writes what waits and ends the message.
    pub(super) fn close_message(&mut self) {
        self.write_blocks();
        self.open = None;
    }

    fn write_message_line(&mut self, open: &OpenMessage, content: &[Record], last: bool) {
        let stop = if open.calls_tool { "tool_use" } else { "end_turn" };
        let (output, stop) = match self.release.output_count() {
            OutputCount::Final => (open.usage.output, Some(stop)),
            OutputCount::FinalOnLast if last => (open.usage.output, Some(stop)),
            OutputCount::FinalOnLast | OutputCount::Lost => (1, None),
        };
        let message = Record::new()
            .with("id", &open.id)
            .with("type", "message")
            .with("role", "assistant")
            .with("model", &self.model)
            .nest("usage", &usage_record(Usage { output, ..open.usage }))
            .nest_all("content", content)
            .with("stop_reason", stop)
            .with("stop_sequence", None::<String>);
        let release = self.release;
        let line = Record::new()
            .nest("message", &message)
            .with_some("apiBlockIndex", release.numbers_blocks().then_some(open.written))
            .with_some("requestId", release.records_branch_and_request().then_some(&open.request_id))
            .with("type", "assistant");
        self.tree(line);
    }
}

fn usage_record(usage: Usage) -> Record {
    let cache = Record::new()
        .with("ephemeral_1h_input_tokens", usage.cache_write_1h)
        .with("ephemeral_5m_input_tokens", usage.cache_write_5m);
    let searches =
        Record::new().with("web_search_requests", usage.web_searches).with("web_fetch_requests", 0);
    Record::new()
        .with("input_tokens", usage.input)
        .with("cache_creation_input_tokens", usage.cache_write())
        .with("cache_read_input_tokens", usage.cache_read)
        .with("output_tokens", usage.output)
        .nest("server_tool_use", &searches)
        .with("service_tier", "standard")
        .nest("cache_creation", &cache)
}
