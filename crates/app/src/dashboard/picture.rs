//! One picture of a transcript, by the place of its record and its number in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transcript::Reader;

use crate::sessions::locate::{Files, locate};
use crate::{Context, Error, Kind};

/// What may be shown: no type that can hold a script.
const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Which picture to give.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "PictureRequest")]
pub struct Request {
    /// The id of a session, or a prefix of it.
    pub session: String,
    /// Where the record's line begins.
    pub offset: u64,
    /// The picture's number in the record.
    pub number: usize,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Picture")]
pub struct Answer {
    /// Its type: PNG, JPEG, GIF or WebP.
    pub media_type: String,
    /// Its bytes in base64.
    pub data: String,
}

/// Gives a picture.
pub fn picture(context: &Context, request: &Request) -> Result<Answer, Error> {
    let missing = || Error::new(Kind::NotFound, "there is no such picture");
    let Files::Claude(file) = locate(context, &request.session)?.files else { return Err(missing()) };
    let read = || -> std::io::Result<Option<Value>> {
        let mut reader = Reader::open_at(&file, request.offset, 0)?;
        Ok(reader.next_line()?.and_then(|line| serde_json::from_slice(line.bytes).ok()))
    };
    let record = read().map_err(|error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    })?;
    let mut found = Vec::new();
    if let Some(content) = record.as_ref().and_then(|record| record.pointer("/message/content")) {
        pictures(content, &mut found);
    }
    let source = found.get(request.number).and_then(|block| block.get("source")).ok_or_else(missing)?;
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    match (text("media_type"), text("data")) {
        (Some(kind), Some(data)) if KINDS.contains(&kind) => {
            Ok(Answer { media_type: kind.to_owned(), data: data.to_owned() })
        }
        _ => Err(missing()),
    }
}

/// The pictures of a message's content and of results in it, in order.
fn pictures<'a>(content: &'a Value, found: &mut Vec<&'a Value>) {
    for block in content.as_array().into_iter().flatten() {
        match block.get("type").and_then(Value::as_str) {
            Some("image") => found.push(block),
            Some("tool_result") => {
                let inside = block.get("content").and_then(Value::as_array).into_iter().flatten();
                found.extend(inside.filter(|part| part.get("type").and_then(Value::as_str) == Some("image")));
            }
            _ => {}
        }
    }
}
