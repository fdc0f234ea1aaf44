//! A page of a transcript's messages as a tool shows it: quoted, and within the size limit.

use app::Error;
use app::quoting::neutralize;
use app::sessions::page::Answer;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::schema;
use crate::size::{MAX_ANSWER, size, truncate_texts};
use crate::tool::value;

/// How many messages an answer has by default.
pub(super) const MESSAGES: usize = 20;
/// The longest text of a message among several, in bytes.
const LONGEST: usize = 4_000;
/// The longest text of a message that is shown alone, in bytes.
const LONGEST_ALONE: usize = 20_000;
/// The size of the rest of an answer, in bytes.
const AROUND: usize = 1_000;
/// How to read the rest of a text.
const HOW: &str = "; ask for this message alone: its `offset` as \"around_offset\", \"limit\": 1";
/// The field that says where the text of a long message continues.
pub(super) const NEXT_TEXT_OFFSET: &str = "next_text_offset";

/// The page with `limit` messages, or fewer where those are too long; with `text_offset` one message from that byte of its
/// text on.
pub(super) fn page(
    limit: usize,
    text_offset: Option<usize>,
    mut ask: impl FnMut(usize) -> Result<Answer, Error>,
) -> Result<Value, Error> {
    let mut wanted = if text_offset.is_some() { 1 } else { limit.max(1) };
    loop {
        let mut page = value(&ask(wanted)?)?;
        let mut messages = page["messages"].take();
        if let Some(page) = page.as_object_mut() {
            page.remove("messages");
        }
        neutralize(&mut messages);
        let is_alone = wanted == 1;
        if is_alone {
            let next = messages.get_mut(0).and_then(|message| cut_alone(message, text_offset.unwrap_or(0)));
            page["quoted"] = messages;
            page["truncated"] = json!(limit > 1 || text_offset.is_some() || next.is_some());
            if let Some(next) = next {
                page[NEXT_TEXT_OFFSET] = json!(next);
            }
            return Ok(page);
        }
        let count = messages.as_array().map_or(0, Vec::len);
        page["quoted"] = messages;
        let whole = size(&page);
        truncate_texts(&mut page["quoted"], LONGEST, HOW);
        if size(&page) <= MAX_ANSWER - 3_000 || count == 0 {
            page["truncated"] = json!(wanted < limit || size(&page) != whole);
            return Ok(page);
        }
        wanted = (count / 2).max(1);
    }
}

/// Keeps of a message's concatenated texts what begins at `offset` and fits; returns where the rest begins, if any.
fn cut_alone(message: &mut Value, offset: usize) -> Option<usize> {
    let whole = message.take();
    let mut room = LONGEST_ALONE;
    loop {
        *message = whole.clone();
        let next = cut(message, offset, room);
        // Quotes and line ends take more space in JSON.
        if size(message) <= MAX_ANSWER - AROUND || room < 100 {
            return next;
        }
        room /= 2;
    }
}

fn cut(message: &mut Value, offset: usize, room: usize) -> Option<usize> {
    let parts = message["parts"].as_array_mut()?;
    let (end, mut at, mut next) = (offset + room, 0, None);
    parts.retain_mut(|part| {
        let (mut is_shown, mut has_text) = (false, false);
        for name in ["input", "text"] {
            let Some(Value::String(text)) = part.get_mut(name) else { continue };
            has_text = true;
            let (start, length) = (at, text.len());
            at += length;
            let inside = |place: usize| text.floor_char_boundary(place.saturating_sub(start).min(length));
            let (from, to) = (inside(offset), inside(end));
            if next.is_none() && to < length {
                next = Some(start + to);
            }
            is_shown |= from < to || (length == 0 && start >= offset && start < end);
            *text = text[from..to].to_owned();
        }
        is_shown || !has_text
    });
    next
}

/// The schema of a page, with `messages` renamed to `quoted`.
pub(super) fn quoted(mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Object(properties)) = schema.get_mut("properties")
        && let Some(messages) = properties.remove("messages")
    {
        properties.insert("quoted".to_owned(), messages);
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for name in required.iter_mut().filter(|name| *name == "messages") {
            *name = json!("quoted");
        }
    }
    schema::add_truncated(&mut schema);
    let description = "Where the text of a message that is shown alone continues: give it as `text_offset`.";
    schema::add(&mut schema, NEXT_TEXT_OFFSET, json!({"type": "integer", "description": description}));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_read_to_its_end() {
        let text = "é\n\"".repeat(20_000);
        let whole = json!({"role": "tool", "parts": [
            {"type": "text", "text": text}, {"type": "image"}, {"type": "tool_use", "name": "Bash", "input": text},
        ]});
        let (mut read, mut next, mut calls) = (String::new(), Some(0), 0);
        while let Some(offset) = next {
            let mut message = whole.clone();
            next = cut_alone(&mut message, offset);
            assert!(size(&message) <= MAX_ANSWER - AROUND, "{}", size(&message));
            for part in message["parts"].as_array().unwrap() {
                read += part["input"].as_str().or(part["text"].as_str()).unwrap_or_default();
            }
            calls += 1;
            assert!(calls < 100 && next.is_none_or(|next| next > offset), "{next:?} after {offset}");
        }
        assert_eq!(read, text.repeat(2));
        let mut beyond = whole.clone();
        assert_eq!(cut_alone(&mut beyond, 1_000_000), None);
        let mut short = json!({"parts": [{"type": "text", "text": "Hi"}]});
        assert_eq!(
            (cut_alone(&mut short, 0), &short),
            (None, &json!({"parts": [{"type": "text", "text": "Hi"}]}))
        );
    }
}
