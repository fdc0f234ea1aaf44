//! Keeps answers within the size limit, which protects a model's context.

use std::fmt::Write as _;

use serde_json::Value;

/// The longest answer, in bytes of JSON.
pub(crate) const MAX_ANSWER: usize = 25_000;

/// How long a value is in JSON, in bytes.
pub(crate) fn size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

/// Removes the last items of the list at `pointer` until the answer fits; returns how many are left. The first item stays, with
/// shorter texts if necessary.
pub(crate) fn truncate_list(answer: &mut Value, pointer: &str) -> usize {
    let mut total = size(answer);
    let Some(Value::Array(items)) = answer.pointer_mut(pointer) else { return 0 };
    while total > MAX_ANSWER && items.len() > 1 {
        total -= items.pop().as_ref().map_or(0, size) + 1;
    }
    let left = items.len();
    if total > MAX_ANSWER {
        truncate_texts_to_fit(answer);
    }
    left
}

/// Removes the last items of the longest lists until the answer fits; returns whether it was too long.
pub(crate) fn truncate_lists(answer: &mut Value) -> bool {
    let is_long = size(answer) > MAX_ANSWER;
    while size(answer) > MAX_ANSWER {
        let Some(longest) = longest_list(answer) else {
            truncate_texts_to_fit(answer);
            break;
        };
        longest.pop();
    }
    is_long
}

/// Cuts every text that is longer than `longest`, in bytes; `how` says how to get the rest.
pub(crate) fn truncate_texts(value: &mut Value, longest: usize, how: &str) {
    match value {
        Value::String(text) if text.len() > longest => {
            let end = text.floor_char_boundary(longest);
            let more = text.len() - end;
            text.truncate(end);
            let _ = write!(text, "… [{more} more bytes{how}]");
        }
        Value::Array(all) => all.iter_mut().for_each(|one| truncate_texts(one, longest, how)),
        Value::Object(all) => all.values_mut().for_each(|one| truncate_texts(one, longest, how)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts all texts to ever shorter lengths until the answer fits.
fn truncate_texts_to_fit(answer: &mut Value) {
    let mut longest = MAX_ANSWER / 2;
    while size(answer) > MAX_ANSWER && longest > 100 {
        truncate_texts(answer, longest, "");
        longest /= 2;
    }
}

/// The largest list that is not inside another one.
fn longest_list(value: &mut Value) -> Option<&mut Vec<Value>> {
    fn lists<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Vec<Value>>) {
        match value {
            Value::Array(all) if !all.is_empty() => found.push(all),
            Value::Object(all) => all.values_mut().for_each(|one| lists(one, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    lists(value, &mut found);
    found.into_iter().max_by_key(|list| list.iter().map(size).sum::<usize>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_cut_from_their_end() {
        let text = "é".repeat(1000);
        let mut answer = json!({"hits": vec![json!({"text": text}); 100], "total": 100});
        let left = truncate_list(&mut answer, "/hits");
        assert!(size(&answer) <= MAX_ANSWER && size(&answer) > MAX_ANSWER - 3000, "{}", size(&answer));
        assert_eq!(answer["hits"].as_array().unwrap().len(), left);
        let mut one = json!({"hits": [{"text": "é".repeat(100_000)}]});
        assert_eq!(truncate_list(&mut one, "/hits"), 1);
        assert!(
            size(&one) <= MAX_ANSWER && one["hits"][0]["text"].as_str().unwrap().ends_with(" more bytes]")
        );
        let mut short = json!({"hits": [1, 2]});
        assert_eq!((truncate_list(&mut short, "/hits"), short), (2, json!({"hits": [1, 2]})));
    }

    #[test]
    fn whatever_is_long_is_shortened() {
        let mut answer =
            json!({"a": vec!["x".repeat(500); 100], "b": {"c": vec![1; 10]}, "d": "y".repeat(90_000)});
        assert!(truncate_lists(&mut answer));
        assert!(size(&answer) <= MAX_ANSWER, "{}", size(&answer));
        assert!(!truncate_lists(&mut json!({"a": [1]})));
    }
}
