//! How an operation can refuse: the statuses, by what kind of operation it is. A failure of the server itself is not among them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::operation::Operation;

/// The statuses of refusals, and what each means.
const MEANINGS: [(u16, &str); 10] = [
    (400, "The request is invalid"),
    (401, "There is no valid credential"),
    (403, "The Host or the Origin is not allowed, or the token's scope is too small"),
    (404, "Nothing has that name"),
    (408, "The body did not arrive in time"),
    (409, "Several things match the name, or the thing's state does not allow the request"),
    (413, "The body, or a text in it, is too large"),
    (415, "The body is not `application/json`, or is compressed"),
    (429, "The token has too many connections or streams, or the request comes too soon after the last one"),
    (503, "A file, a program, a setting or a free place is missing"),
];

/// The statuses with which an operation can refuse.
pub(crate) fn statuses(operation: &Operation) -> BTreeSet<u16> {
    // The host and the origin are looked at first.
    let mut all = BTreeSet::from([400, 403]);
    if operation.scope.is_some() {
        all.extend([401, 429, 503]);
    }
    let names = operation.path.contains('{') || operation.query.is_some() || operation.body.is_some();
    if names {
        all.insert(404);
    }
    if names || operation.method != "get" {
        all.insert(409);
    }
    if operation.body.is_some() {
        all.extend([408, 413, 415]);
    }
    all
}

/// All refusals, by their statuses, as components of the document.
pub(crate) fn components(problem: &Value) -> Map<String, Value> {
    let described = MEANINGS.into_iter().map(|(status, meaning)| {
        let content = json!({ "application/problem+json": { "schema": problem } });
        (status.to_string(), json!({ "description": meaning, "content": content }))
    });
    described.collect()
}
