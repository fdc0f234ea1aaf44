//! Paged lists: the cursor is the number of items already given out, and items that do not fit are left for the next call.

use app::Error;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::{arguments, size};

/// The page of a list that a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// How many items earlier pages had.
    start: usize,
    /// How many items it may have.
    limit: usize,
}

/// Removes `cursor` from the arguments, and makes `limit` ask the app for one item more than the page has, which shows
/// whether the list continues. An invalid `limit` is left for the app to refuse.
pub(crate) fn take_page(given: &mut JsonObject, default: usize, most: usize) -> Result<Page, Error> {
    let start = arguments::take_cursor(given)?;
    arguments::read_number(given, "limit");
    let limit = match given.get("limit") {
        None | Some(Value::Null) => Some(default),
        Some(limit) => limit.as_u64().map(|limit| usize::try_from(limit).unwrap_or(most)),
    };
    let page = Page { start, limit: limit.unwrap_or(default).clamp(1, most) };
    if limit.is_some() {
        given.insert("limit".to_owned(), json!(start.saturating_add(page.limit).saturating_add(1)));
    }
    Ok(page)
}

impl Page {
    /// Keeps this page of the list at `pointer`, or as much of it as fits, and adds the cursor of the next one.
    pub(crate) fn cut(self, answer: &mut Value, pointer: &str) {
        let Some(Value::Array(items)) = answer.pointer_mut(pointer) else { return };
        items.drain(..self.start.min(items.len()));
        let beyond = items.len().saturating_sub(self.limit);
        items.truncate(self.limit);
        let asked = items.len();
        let left = size::truncate_list(answer, pointer);
        // The app counts neither the additional item nor those that do not fit.
        if let Some(more) = answer.get("more").and_then(Value::as_u64) {
            answer["more"] = json!(more + (beyond + asked - left) as u64);
        }
        if beyond > 0 || left < asked {
            answer["next_cursor"] = json!((self.start + left).to_string());
        }
        answer["truncated"] = json!(left < asked);
    }
}
