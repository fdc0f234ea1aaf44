//! How the places that hits cite are read: the arguments of `read_session` for each.

use std::path::Path;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// The field that holds them.
const READ: &str = "read";
/// What else a model needs of a further place.
const FURTHER: [&str; 5] = ["line", "at", "subagent_id", "snippet", READ];

/// Adds to each hit, and to its further places, the arguments that open it.
pub(crate) fn add_reads(answer: &mut Value) {
    for hit in answer.get_mut("hits").and_then(Value::as_array_mut).into_iter().flatten() {
        let session = hit["session_id"].as_str().map(str::to_owned);
        let source = hit["source"].as_str().unwrap_or_default().to_owned();
        add(hit, session.as_deref(), &source);
        if hit["later"].is_object() {
            add_further(&mut hit["later"], session.as_deref(), &source);
        }
        for place in hit.get_mut("places").and_then(Value::as_array_mut).into_iter().flatten() {
            add_further(place, session.as_deref(), &source);
        }
        if let Some(fields) = hit.as_object_mut().filter(|fields| fields.get("more") == Some(&json!(0))) {
            fields.remove("more");
        }
    }
}

fn add_further(place: &mut Value, session: Option<&str>, source: &str) {
    add(place, session, source);
    if let Some(fields) = place.as_object_mut() {
        fields.retain(|name, _| FURTHER.contains(&name.as_str()));
    }
}

fn add(place: &mut Value, session: Option<&str>, source: &str) {
    let arguments = arguments(place, session, source);
    let Some(fields) = place.as_object_mut() else { return };
    if source != "claude-sessions" {
        // They are those of a file that may be one of several: only `read` names the place.
        fields.remove("offset");
    }
    fields.insert(READ.to_owned(), arguments);
}

fn arguments(place: &Value, session: Option<&str>, source: &str) -> Value {
    let file = place["file"].as_str().unwrap_or_default();
    match (source, session) {
        ("claude-sessions", Some(session)) => match place["subagent_id"].as_str() {
            Some(agent) => {
                json!({"session": session, "subagent": agent, "around_offset": place["offset"]})
            }
            // A fork may cite the one it was copied from.
            None => json!({"session": session_of(file).unwrap_or(session), "around_offset": place["offset"]}),
        },
        (_, Some(session)) => match place["uuid"].as_str() {
            Some(uuid) => json!({"session": session, "around": uuid}),
            None => json!({"session": session}),
        },
        (_, None) => json!({"session": format!("{file}:{}", place["line"])}),
    }
}

/// The session whose transcript a file is, by its name.
fn session_of(file: &str) -> Option<&str> {
    let (stem, _) = Path::new(file).file_name()?.to_str()?.split_once(".jsonl")?;
    Some(stem).filter(|stem| !stem.starts_with("agent-"))
}

/// Describes what is added.
pub(crate) fn add_to_schema(schema: &mut JsonObject) {
    for name in ["SearchHit", "SearchPlace"] {
        let properties =
            schema.get_mut("$defs").and_then(|all| all.pointer_mut(&format!("/{name}/properties")));
        if let Some(Value::Object(properties)) = properties {
            properties.insert(READ.to_owned(), json!({"type": "object"}));
            if name == "SearchPlace" {
                properties.retain(|name, _| FURTHER.contains(&name.as_str()));
            }
        }
        let definition = schema.get_mut("$defs").and_then(|all| all.pointer_mut(&format!("/{name}")));
        if let Some(definition) = definition.and_then(Value::as_object_mut) {
            definition.remove("required");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_read_where_it_is() {
        let check = |hit: Value, expected: Value| {
            let mut answer = json!({"hits": [hit]});
            add_reads(&mut answer);
            assert_eq!(answer["hits"][0][READ], expected, "{answer}");
            answer["hits"][0].clone()
        };
        let own = json!({
            "session_id": "s", "source": "claude-sessions", "file": "/p/s.jsonl", "offset": 7, "line": 2, "more": 0,
            "later": {"file": "/p/s/subagents/agent-a1.jsonl", "subagent_id": "a1", "offset": 9},
            "places": [{"file": "/p/s.jsonl", "offset": 11, "line": 3, "marks": []}],
        });
        let own = check(own, json!({"session": "s", "around_offset": 7}));
        let later =
            json!({"subagent_id": "a1", "read": {"session": "s", "subagent": "a1", "around_offset": 9}});
        assert_eq!(own["later"], later);
        assert_eq!(own["places"][0], json!({"line": 3, "read": {"session": "s", "around_offset": 11}}));
        assert!(own.get("more").is_none(), "{own}");
        check(
            json!({"session_id": "s", "source": "claude-sessions", "file": "/p/t.jsonl.zst", "offset": 7}),
            json!({"session": "t", "around_offset": 7}),
        );
        let of_openclaw = check(
            json!({"session_id": "c", "source": "sessions", "file": "/o/c.jsonl", "offset": 7, "uuid": "u"}),
            json!({"session": "c", "around": "u"}),
        );
        assert!(of_openclaw.get("offset").is_none(), "{of_openclaw}");
        check(
            json!({"session_id": null, "source": "memory", "file": "/w/MEMORY.md", "line": 4}),
            json!({"session": "/w/MEMORY.md:4"}),
        );
    }
}
