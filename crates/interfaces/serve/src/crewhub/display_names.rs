//! The names that people gave sessions.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::crewhub::change::{Removed, edit_stored, now};
use crate::crewhub::key::Key;
use crate::crewhub::store::DisplayName;
use crate::extract::{JsonBody, PathParams};
use crate::operation::{delete, get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// The longest name of a session, in characters.
const LONGEST: usize = 200;

/// The names that people gave sessions.
#[derive(Debug, Serialize, JsonSchema)]
struct DisplayNames {
    display_names: Vec<DisplayName>,
}

/// A name for a session.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewDisplayName {
    display_name: String,
}

pub(super) fn add(routes: &mut Routes) {
    const NAMES: &str = "/api/session-display-names";
    routes.add(get(NAMES, "display_names", "The names of sessions").answer::<DisplayNames>(), list);
    let route = get(format!("{NAMES}/{{key}}"), "display_name", "The name of a session");
    routes.add(route.answer::<DisplayName>(), one);
    let route =
        post(format!("{NAMES}/{{key}}"), "set_display_name", "Names a session").body::<NewDisplayName>();
    routes.add(route.answer::<DisplayName>(), rename);
    let route = delete(format!("{NAMES}/{{key}}"), "remove_display_name", "Takes a session's name away");
    routes.add(route.answer::<Removed>(), remove);
}

async fn list(State(server): State<Shared>) -> Json<DisplayNames> {
    Json(DisplayNames {
        display_names: server.store.read(|stored| stored.display_names.values().cloned().collect()),
    })
}

async fn one(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
) -> Result<Json<DisplayName>, Problem> {
    let key = key.to_string();
    let found = server.store.read(|stored| stored.display_names.get(&key).cloned());
    found.map(Json).ok_or_else(|| Problem::not_found(format!("{key} was not renamed")))
}

async fn rename(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
    JsonBody(wanted): JsonBody<NewDisplayName>,
) -> Result<Json<DisplayName>, Problem> {
    Ok(Json(set(&server, key, &wanted.display_name).await?))
}

/// Names a session.
pub(super) async fn set(server: &Shared, key: Key, name: &str) -> Result<DisplayName, Problem> {
    let name = name.trim().to_owned();
    if name.is_empty() || name.chars().count() > LONGEST {
        return Err(Problem::usage(format!("a name has 1 to {LONGEST} characters")));
    }
    let named = DisplayName { session_key: key.to_string(), display_name: name, updated_at: now(server) };
    let new = named.clone();
    edit_stored(server, move |stored| {
        stored.display_names.insert(new.session_key.clone(), new);
        Ok(())
    })
    .await?;
    server.hub.publish(
        "display-name-updated",
        &json!({ "session_key": named.session_key, "display_name": named.display_name, "action": "updated" }),
    );
    Ok(named)
}

async fn remove(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
) -> Result<Json<Removed>, Problem> {
    let key = key.to_string();
    let gone = key.clone();
    edit_stored(&server, move |stored| match stored.display_names.remove(&gone) {
        Some(_) => Ok(()),
        None => Err(Problem::not_found(format!("{gone} was not renamed"))),
    })
    .await?;
    server.hub.publish(
        "display-name-updated",
        &json!({ "session_key": key, "display_name": null, "action": "deleted" }),
    );
    Ok(Json(Removed::new(key)))
}
