//! Messages of a transcript as a tool shows them: quoted, and no more than a model can take in.

use app::Error;
use app::sessions::page::Answer;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::bounds::{LIMIT, cut_texts, size};
use crate::schema;
use crate::tool::value;

/// How many messages an answer has without a limit.
pub(super) const MESSAGES: usize = 20;
/// The longest text of one message among several, in bytes.
const LONGEST: usize = 4_000;
/// The longest text of a message that is asked for alone.
const LONGEST_ALONE: usize = 20_000;
/// How to get the rest of a text.
const HOW: &str = "; ask for this message alone: its `offset` as \"around_offset\", \"limit\": 1";
/// What is left out of a message that was asked for alone.
const TOO_LONG: &str = ", more than an answer holds; `search` in this session finds places in it";

/// The page that `ask` gives for a number of messages, or for fewer where those are too long.
pub(super) fn page(
    limit: usize,
    mut ask: impl FnMut(usize) -> Result<Answer, Error>,
) -> Result<Value, Error> {
    let mut wanted = limit.max(1);
    loop {
        let mut page = value(&ask(wanted)?)?;
        let messages = page["messages"].take();
        let count = messages.as_array().map_or(0, Vec::len);
        page["quoted"] = messages;
        if let Some(page) = page.as_object_mut() {
            page.remove("messages");
        }
        let whole = size(&page);
        let (longest, how) = if wanted == 1 { (LONGEST_ALONE, TOO_LONG) } else { (LONGEST, HOW) };
        cut_texts(&mut page["quoted"], longest, how);
        let is_cut = size(&page) != whole;
        if size(&page) <= LIMIT - 3_000 || count <= 1 {
            page["truncated"] = json!(wanted < limit || is_cut);
            return Ok(page);
        }
        wanted = (count / 2).max(1);
    }
}

/// The schema of a page: what it calls `messages` is `quoted` here.
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
    schema
}
