//! An event that a program of the person's sends to all who listen, as CrewHub's scripts do.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::crewhub::change::now;
use crate::extract::JsonBody;
use crate::operation::post;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// The longest name of an event, in bytes.
const LONGEST: usize = 64;

/// An event to pass on.
#[derive(Debug, Deserialize, JsonSchema)]
struct Notification {
    /// Its name: letters, digits, dots, dashes and underscores; `update` without it.
    #[serde(rename = "type")]
    name: Option<String>,
    /// What it says; the time without it.
    data: Option<Map<String, Value>>,
}

/// An event was passed on.
#[derive(Debug, Serialize, JsonSchema)]
struct Notified {
    ok: bool,
    /// How many listen.
    clients: usize,
}

pub(super) fn add(routes: &mut Routes) {
    let route = post("/api/notify", "notify", "Sends an event to all subscribers").body::<Notification>();
    routes.add(route.answer::<Notified>(), notify);
}

async fn notify(
    State(server): State<Shared>,
    JsonBody(given): JsonBody<Notification>,
) -> Result<Json<Notified>, Problem> {
    let name = given.name.as_deref().unwrap_or("update");
    // A line break in it would begin another field of the stream.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || name.len() > LONGEST || !name.bytes().all(is_plain) {
        return Err(Problem::usage("the name of an event has letters, digits, dots, dashes and underscores"));
    }
    let data = given.data.map_or_else(|| json!({ "ts": now(&server) / 1000 }), Value::Object);
    server.hub.publish(name, &data);
    Ok(Json(Notified { ok: true, clients: server.hub.subscribers() }))
}
