//! The description of a room for the agents that work in it: a small JSON object, the same for the same state.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::crew::store::{Agent, Room};
use crate::state::Server;

/// The person's own front end; other channels may have strangers in them.
pub(super) const OWN_CHANNEL: &str = "crewhub-ui";
/// How many hexadecimal digits of its hash a context has.
const DIGITS: usize = 16;

/// The description of a room for an agent that works in it.
pub(super) fn of_room(server: &Server, room: &Room, channel: &str, agent: Option<&Agent>) -> Value {
    let is_own = channel == OWN_CHANNEL;
    let project = room.project_id.as_ref().map(|id| {
        let folder = server.store.read(|book| {
            book.projects
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
        let participants: Vec<Value> = server.store.read(|book| {
            let here = book.agents.iter().filter(|agent| agent.default_room_id.as_ref() == Some(&room.id));
            here.map(|agent| json!({ "handle": agent.id, "role": agent.bio })).collect()
        });
        envelope.insert("participants".to_owned(), json!(participants));
        envelope.insert("tasks".to_owned(), json!([]));
    }
    let digest = Sha256::digest(Value::Object(envelope.clone()).to_string().as_bytes());
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).take(DIGITS / 2).collect();
    envelope.insert("context_hash".to_owned(), json!(hash));
    Value::Object(envelope)
}

/// The same as text for an agent's instructions.
pub(super) fn block(envelope: &Value) -> String {
    format!("```crewhub-context\n{envelope}\n```")
}

/// The answer of the routes that show a context.
pub(super) fn answer(envelope: &Value) -> Value {
    json!({ "envelope": envelope, "formatted": block(envelope), "context_hash": envelope["context_hash"] })
}
