//! Lists that come in pieces: what was given out before is passed over, and what is too long stays for the next call.

use app::Error;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::{arguments, bounds};

/// The piece of a list that a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// How many items were given out before.
    start: usize,
    /// How many there may be now.
    limit: usize,
}

/// Takes `cursor` out of the arguments, and lets `limit` ask the app for one item more than the piece needs, by which it
/// is known whether the list goes on. A `limit` that is no number stays for the app to refuse.
pub(crate) fn take(given: &mut JsonObject, default: usize, most: usize) -> Result<Piece, Error> {
    let start = arguments::take_cursor(given)?;
    arguments::read_number(given, "limit");
    let limit = match given.get("limit") {
        None | Some(Value::Null) => Some(default),
        Some(limit) => limit.as_u64().map(|limit| usize::try_from(limit).unwrap_or(most)),
    };
    let piece = Piece { start, limit: limit.unwrap_or(default).clamp(1, most) };
    if limit.is_some() {
        given.insert("limit".to_owned(), json!(start.saturating_add(piece.limit).saturating_add(1)));
    }
    Ok(piece)
}

impl Piece {
    /// Keeps this piece of the list at `pointer`, or as much of it as fits, and says where the list goes on.
    pub(crate) fn cut(self, answer: &mut Value, pointer: &str) {
        let Some(Value::Array(items)) = answer.pointer_mut(pointer) else { return };
        items.drain(..self.start.min(items.len()));
        let beyond = items.len().saturating_sub(self.limit);
        items.truncate(self.limit);
        let asked = items.len();
        let left = bounds::fit(answer, pointer);
        // Lists that count what they leave out know neither of the item that was asked for in addition nor of those that do not fit.
        if let Some(more) = answer.get("more").and_then(Value::as_u64) {
            answer["more"] = json!(more + (beyond + asked - left) as u64);
        }
        if beyond > 0 || left < asked {
            answer["next_cursor"] = json!((self.start + left).to_string());
        }
        answer["truncated"] = json!(left < asked);
    }
}
