//! Turns of people and the model in a conversation.

use model::Usage;
use serde_json::{Value, json};

use super::Transcript;
use super::record::Record;

impl Transcript {
    /// Adds a prompt of the person.
    #[must_use]
    pub fn prompt(self, text: &str) -> Self {
        self.prompt_with(json!(text))
    }

    /// The person asks with content of their own: blocks, images, wrapped commands.
    #[must_use]
    pub fn prompt_with(mut self, content: Value) -> Self {
        self.close_message();
        self.prompt_id = self.ids.uuid();
        let text = content.as_str().map(str::to_owned);
        self.write_queue(text.as_deref());
        if text.is_some() {
            self.last_prompt = text;
        }
        let source = if self.prints() { "sdk" } else { "typed" };
        let line = self
            .user_line(&content)
            .with_some(
                "permissionMode",
                self.release.records_permission_mode().then_some(&self.permission_mode),
            )
            .with_some("promptSource", self.release.records_prompt_source().then_some(source));
        self.tree(line);
        self
    }

    /// A prompt of print mode passes through the queue.
    fn write_queue(&mut self, prompt: Option<&str>) {
        if self.prints() && self.release.records_queue() {
            self.queue_operation("enqueue", prompt);
            self.queue_operation("dequeue", None);
        }
    }

    /// The person asks while the model works: the prompt is absorbed, and there is no `user` record.
    #[must_use]
    pub fn queued(mut self, text: &str) -> Self {
        self.close_message();
        self.queue_operation("enqueue", Some(text));
        self.queue_operation("remove", Some(text));
        self.last_prompt = Some(text.to_owned());
        self.attachment("queued_command", json!({"prompt": text, "commandMode": "prompt"}))
    }

    /// The person asks while the model works, and takes the prompt back before its turn.
    #[must_use]
    pub fn withdrawn(mut self, text: &str) -> Self {
        self.close_message();
        self.queue_operation("enqueue", Some(text));
        self.queue_operation("popAll", Some(text));
        self
    }

    /// The client adds a message for the model that no person wrote.
    #[must_use]
    pub fn meta(mut self, text: &str) -> Self {
        self.close_message();
        let line = self.user_line(&json!(text)).with("isMeta", true);
        self.tree(line);
        self
    }

    /// Adds a thinking block of the model.
    #[must_use]
    pub fn thinking(mut self, text: &str) -> Self {
        let block = Record::new().with("type", "thinking").with("thinking", text).with("signature", "c2ln");
        self.push_block(block);
        self
    }

    /// A text of the model; after thinking or another text it is part of the same message.
    #[must_use]
    pub fn answer(mut self, text: &str) -> Self {
        text.clone_into(&mut self.last_answer);
        self.push_block(Record::new().with("type", "text").with("text", text));
        self
    }

    /// The model calls a tool, which answers `output`.
    #[must_use]
    pub fn tool(mut self, name: &str, input: Value, output: &str) -> Self {
        let call = self.call(name, &input);
        self.close_message();
        self.result(&call, json!(output), &details(name, &input, output), false);
        self
    }

    /// The model calls a tool, which fails.
    #[must_use]
    pub fn failed_tool(mut self, name: &str, input: Value, error: &str) -> Self {
        let call = self.call(name, &input);
        self.close_message();
        self.result(&call, json!(error), &json!(format!("Error: {error}")), true);
        self
    }

    /// The model calls a tool that has not answered yet.
    #[must_use]
    pub fn open_tool(mut self, name: &str, input: Value) -> Self {
        self.call(name, &input);
        self.close_message();
        self
    }

    /// The model calls several tools in one message: name, input and output of each.
    #[must_use]
    pub fn parallel_tools<const N: usize>(mut self, tools: [(&str, Value, &str); N]) -> Self {
        let mut results = Vec::new();
        for (name, input, output) in tools {
            let call = self.call(name, &input);
            let result = (call, json!(output), details(name, &input, output));
            if self.release.interleaves_tools() {
                self.write_blocks();
                self.result(&result.0, result.1, &result.2, false);
            } else {
                results.push(result);
            }
        }
        self.close_message();
        for (call, output, details) in results {
            self.result(&call, output, &details, false);
        }
        self
    }

    /// The person stops the model.
    #[must_use]
    pub fn interrupted(mut self) -> Self {
        self.close_message();
        let marker = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
        let line = self.user_line(&marker);
        self.tree(line);
        self
    }

    /// A message that the client writes in the model's place, without an API call.
    #[must_use]
    pub fn synthetic(mut self, text: &str) -> Self {
        self.close_message();
        let message = Record::new()
            .with("id", self.ids.uuid())
            .with("model", "<synthetic>")
            .with("role", "assistant")
            .with("type", "message")
            .with("usage", json!({"input_tokens": 0, "output_tokens": 0}))
            .with("content", json!([{"type": "text", "text": text}]));
        self.tree(Record::new().nest("message", &message).with("type", "assistant"));
        self
    }

    /// The next message of the model counts this, instead of invented numbers.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.close_message();
        self.next_usage = Some(usage);
        self
    }

    /// Adds a call to the open message; answers its id.
    pub(super) fn call(&mut self, name: &str, input: &Value) -> String {
        let id = self.ids.api("toolu_01");
        if !self.tools_used.iter().any(|used| used == name) {
            self.tools_used.push(name.to_owned());
        }
        let block = Record::new().with("type", "tool_use").with("id", &id).with("name", name);
        self.push_block(block.with("input", input));
        id
    }

    /// The record of a tool's result.
    pub(super) fn result(&mut self, call: &str, output: Value, details: &Value, failed: bool) {
        let block = Record::new()
            .with("tool_use_id", call)
            .with("type", "tool_result")
            .with("content", output)
            .with_some("is_error", failed.then_some(true));
        let source = self.release.links_tool_results().then(|| self.last_uuid.clone()).flatten();
        let content = format!("[{}]", block.to_json());
        let content: Value = serde_json::from_str(&content).expect("JSON that was just written");
        let line = self
            .user_line(&content)
            .with("toolUseResult", details)
            .with_some("sourceToolAssistantUUID", source);
        self.tree(line);
    }

    fn user_line(&self, content: &Value) -> Record {
        let prompt_id = self.release.ends_with_envelope().then_some(&self.prompt_id);
        Record::new()
            .with_some("promptId", prompt_id)
            .with("type", "user")
            .nest("message", &Record::new().with("role", "user").with("content", content))
    }

    /// Whether the session runs in print mode.
    pub(super) fn prints(&self) -> bool {
        self.entrypoint.starts_with("sdk-")
    }
}

/// The fields of a tool's result record beside the text that the model gets.
fn details(name: &str, input: &Value, output: &str) -> Value {
    match name {
        "Bash" => json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false}),
        "Read" => json!({"type": "text", "file": {"filePath": input["file_path"], "content": output}}),
        "Edit" | "Write" => json!({
            "filePath": input["file_path"],
            "oldString": input["old_string"],
            "newString": input["new_string"],
            "structuredPatch": [],
        }),
        _ => json!({"content": output}),
    }
}
