//! Lists that come in pieces: what was given out before is passed over, and what is too long stays for the next call.

use serde_json::{Value, json};

use crate::bounds;
use crate::instructions::NOTICE;

/// Passes over the first `start` items of the list at `pointer`, keeps at most `limit` and what fits, and tells where the
/// list goes on. The answer has one more item than `start + limit` where there are more.
pub(super) fn cut(answer: &mut Value, pointer: &str, start: usize, limit: usize) {
    answer["notice"] = json!(NOTICE);
    let Some(Value::Array(items)) = answer.pointer_mut(pointer) else { return };
    items.drain(..start.min(items.len()));
    let has_more = items.len() > limit;
    items.truncate(limit);
    let asked = items.len();
    let left = bounds::fit(answer, pointer);
    if has_more || left < asked {
        answer["next_cursor"] = json!((start + left).to_string());
    }
    answer["truncated"] = json!(left < asked);
}
