//! A request as it arrived: kept for assertions, and read for the person's words in it.

use model::Usage;
use serde_json::Value;

/// One request that the server was sent.
#[derive(Debug, Clone)]
pub struct Request {
    /// The HTTP method: `POST`, `GET`, `HEAD`.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The body; `null` when there was none.
    pub body: Value,
    /// The session the client named in its header.
    pub session_id: Option<String>,
    /// The words of the rule that answered.
    pub rule: Option<String>,
    /// The usage that the answer reported; `None` for other paths and for refusals.
    pub usage: Option<Usage>,
}

impl Request {
    /// The last prompt in it, without what the client put around it.
    pub fn prompt(&self) -> String {
        last_prompt(&self.body).0
    }

    /// The system prompt's text.
    pub fn system(&self) -> String {
        text_of(&self.body["system"])
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// How many messages the conversation has.
    pub fn message_count(&self) -> usize {
        messages(&self.body).len()
    }
}

/// The person's latest words, and how many answers the model has given since.
pub(super) fn last_prompt(body: &Value) -> (String, usize) {
    let mut answers = 0;
    for message in messages(body).iter().rev() {
        match message["role"].as_str() {
            Some("assistant") => answers += 1,
            Some("user") => {
                let words = without_reminders(&text_of(&message["content"]));
                if !words.is_empty() {
                    return (words, answers);
                }
            }
            _ => {}
        }
    }
    (String::new(), answers)
}

/// The beginning of a conversation: the same in all its requests, and in its forks.
pub(super) fn beginning(body: &Value) -> String {
    let first = messages(body).iter().find(|message| message["role"] == "user");
    first.map(|message| text_of(&message["content"])).unwrap_or_default()
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text blocks of a content, which is a string or a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Cuts the reminders that the client wraps in tags of their own.
fn without_reminders(text: &str) -> String {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut rest = text;
    let mut words = String::new();
    while let Some((before, inside)) = rest.split_once(OPEN) {
        words += before;
        rest = inside.split_once(CLOSE).map_or("", |(_, after)| after);
    }
    (words + rest).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tool_results_and_reminders_are_not_prompts() {
        let body = json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": [{"type": "text", "text": "<system-reminder>x</system-reminder>second"}]},
            {"role": "assistant", "content": [{"type": "tool_use"}]},
            {"role": "user", "content": [
                {"type": "tool_result", "content": "out"},
                {"type": "text", "text": "<system-reminder>never</system-reminder>"},
            ]},
        ]});
        assert_eq!(last_prompt(&body), ("second".to_owned(), 1));
        assert_eq!(beginning(&body), "first");
    }
}
