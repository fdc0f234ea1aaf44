//! The description of a room for the agents that work in it: a small JSON object, the same for the same state.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::crewhub::store::{Agent, Room};
use crate::state::Server;

/// The person's own front end; other channels may have other people in them.
pub(super) const OWN_CHANNEL: &str = "crewhub-ui";
/// What CrewHub puts between its context and the person's words.
pub(super) const SEPARATOR: &str = "---[user-message-start]---";
/// How many bytes of JSON there may be: with its hash and its fence it has 2 KB.
const MOST: usize = 1950;
/// Texts up to this length, in bytes, are not cut.
const SHORT: usize = 40;
/// Where a text was cut.
const CUT: char = '…';
/// How many hexadecimal digits of its hash a context has.
const DIGITS: usize = 16;

/// The description of a room for an agent that works in it.
pub(super) fn of_room(server: &Server, room: &Room, channel: &str, agent: Option<&Agent>) -> Value {
    let is_own = channel == OWN_CHANNEL;
    let project = room.project_id.as_ref().map(|id| {
        let folder = server.store.read(|stored| {
            stored
                .projects
                .iter()
                .find(|project| project.id == *id)
                .and_then(|project| project.folder_path.clone())
        });
        json!({ "id": id, "name": room.project_name, "repo": folder })
    });
    let mut envelope = Map::from_iter([
        ("v".to_owned(), json!(1)),
        (
            "room".to_owned(),
            json!({ "id": room.id, "name": room.name, "type": if room.is_hq { "hq" } else { "standard" } }),
        ),
        ("projects".to_owned(), json!(project.into_iter().collect::<Vec<_>>())),
        ("privacy".to_owned(), json!(if is_own { "internal" } else { "external" })),
        ("context_version".to_owned(), json!(room.updated_at)),
    ]);
    if let Some(agent) = agent {
        envelope.insert(
            "self".to_owned(),
            json!({ "handle": agent.id, "agentId": agent.id, "role": agent.bio, "color": agent.color }),
        );
    }
    if is_own {
        let participants: Vec<Value> = server.store.read(|stored| {
            let here = stored.agents.iter().filter(|agent| agent.default_room_id.as_ref() == Some(&room.id));
            here.map(|agent| json!({ "handle": agent.id, "role": agent.bio })).collect()
        });
        envelope.insert("participants".to_owned(), json!(participants));
        envelope.insert("tasks".to_owned(), json!([]));
    }
    shorten(&mut envelope);
    let digest = Sha256::digest(Value::Object(envelope.clone()).to_string().as_bytes());
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).take(DIGITS / 2).collect();
    envelope.insert("context_hash".to_owned(), json!(hash));
    Value::Object(envelope)
}

/// Cuts what people wrote, the longest first, and then leaves out participants and the project, until it is short enough.
fn shorten(envelope: &mut Map<String, Value>) {
    let mut whole = Value::Object(std::mem::take(envelope));
    while whole.to_string().len() > MOST {
        if !cut_longest(&mut whole)
            && whole["participants"].as_array_mut().and_then(Vec::pop).is_none()
            && whole["projects"].as_array_mut().and_then(Vec::pop).is_none()
        {
            break;
        }
    }
    if let Value::Object(shortened) = whole {
        *envelope = shortened;
    }
}

/// Cuts the longest text that a person wrote to half of its characters; `false` where all are short.
fn cut_longest(envelope: &mut Value) -> bool {
    let mut texts = Vec::new();
    written(envelope, &mut texts);
    let longest = texts.into_iter().max_by_key(|text| text.len()).filter(|text| text.len() > SHORT);
    longest.is_some_and(|text| {
        let half = text.chars().count() / 2;
        *text = text.chars().take(half).chain([CUT]).collect();
        true
    })
}

/// The names and roles in an envelope: ids and paths are of no use when they are cut.
fn written<'a>(value: &'a mut Value, texts: &mut Vec<&'a mut String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), field) {
                    ("role" | "name", Value::String(text)) => texts.push(text),
                    (_, field) => written(field, texts),
                }
            }
        }
        Value::Array(each) => each.iter_mut().for_each(|each| written(each, texts)),
        _ => {}
    }
}

/// The same as CrewHub puts it before a message, for whoever is called so.
pub(super) fn before(envelope: &Value, name: Option<&str>, message: &str) -> String {
    let who = name.map(|name| format!("**You are {}**\n\n", name.replace(char::is_control, " ")));
    format!("{}{}\n\n{SEPARATOR}\n{message}", who.unwrap_or_default(), block(envelope))
}

fn block(envelope: &Value) -> String {
    format!("```crewhub-context\n{envelope}\n```")
}

/// The answer of the routes that show a context.
pub(super) fn answer(envelope: &Value) -> Value {
    json!({ "envelope": envelope, "formatted": block(envelope), "context_hash": envelope["context_hash"] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_and_then_left_out() {
        let person = |role: &str| json!({ "handle": "dev", "role": role });
        let check = |participants: Vec<Value>, expected: usize| {
            let envelope = json!({ "room": { "name": "é".repeat(3000) }, "participants": participants });
            let Value::Object(mut envelope) = envelope else { panic!("{envelope}") };
            shorten(&mut envelope);
            let text = Value::Object(envelope.clone()).to_string();
            assert!(text.len() <= MOST && text.contains("é…"), "{text}");
            assert_eq!(envelope["participants"].as_array().map(Vec::len), Some(expected), "{text}");
        };
        check(vec![person("short")], 1);
        check(vec![person(&"x".repeat(6000)); 3], 3);
        check(vec![person("short"); 200], 58);
        let Value::Object(mut whole) = json!({ "room": { "name": "é".repeat(900) } }) else { panic!() };
        let before = whole.clone();
        shorten(&mut whole);
        assert_eq!(whole, before);
    }
}
