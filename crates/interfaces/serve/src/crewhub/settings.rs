//! Settings of the front end: texts by their names.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::crewhub::change::{edit_stored, now};
use crate::crewhub::store::{Setting, StoredData};
use crate::extract::{JsonBody, PathParams};
use crate::operation::{delete, get, put};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// The longest name and the longest text, in bytes.
const LONGEST_NAME: usize = 200;
const LONGEST: usize = 100_000;

/// The settings that the front end requests when it starts, with their defaults.
const DEFAULTS: [(&str, &str); 2] = [("crewhub-onboarded", "true"), ("projects_base_path", "~")];

/// A text for a setting.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewValue {
    value: String,
}

/// Texts for several settings.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewValues {
    settings: BTreeMap<String, String>,
}

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/settings", "settings", "All settings").answer::<BTreeMap<String, String>>(), all);
    let route = put("/api/settings/batch", "set_all", "Changes settings").body::<NewValues>();
    routes.add(route.answer::<BTreeMap<String, String>>(), set_all);
    routes.add(get("/api/settings/{key}", "setting", "One setting").answer::<Setting>(), one);
    let route = put("/api/settings/{key}", "set", "Changes a setting").body::<NewValue>();
    routes.add(route.answer::<Setting>(), set);
    routes.add(delete("/api/settings/{key}", "unset", "Removes a setting").status(204), unset);
}

fn texts(stored: &StoredData) -> BTreeMap<String, String> {
    let defaults = DEFAULTS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    defaults
        .chain(stored.settings.values().map(|setting| (setting.key.clone(), setting.value.clone())))
        .collect()
}

async fn all(State(server): State<Shared>) -> Json<BTreeMap<String, String>> {
    Json(server.store.read(texts))
}

async fn one(
    State(server): State<Shared>,
    PathParams(key): PathParams<String>,
) -> Result<Json<Setting>, Problem> {
    let kept = server.store.read(|stored| stored.settings.get(&key).cloned());
    let default = || {
        let (key, value) = DEFAULTS.iter().find(|(known, _)| *known == key)?;
        Some(Setting { key: (*key).to_owned(), value: (*value).to_owned(), updated_at: 0 })
    };
    kept.or_else(default).map(Json).ok_or_else(|| Problem::not_found(format!("there is no setting `{key}`")))
}

async fn set(
    State(server): State<Shared>,
    PathParams(key): PathParams<String>,
    JsonBody(new): JsonBody<NewValue>,
) -> Result<Json<Setting>, Problem> {
    let time = now(&server);
    let setting = Setting { key: key.clone(), value: new.value.clone(), updated_at: time };
    keep(&server, BTreeMap::from([(key, new.value)]), time).await?;
    Ok(Json(setting))
}

async fn set_all(
    State(server): State<Shared>,
    JsonBody(new): JsonBody<NewValues>,
) -> Result<Json<BTreeMap<String, String>>, Problem> {
    let time = now(&server);
    keep(&server, new.settings, time).await?;
    Ok(Json(server.store.read(texts)))
}

async fn keep(server: &Shared, new: BTreeMap<String, String>, time: i64) -> Result<(), Problem> {
    let is_fine = |(key, value): (&String, &String)| {
        !key.is_empty() && key.len() <= LONGEST_NAME && value.len() <= LONGEST
    };
    if !new.iter().all(is_fine) {
        return Err(Problem::usage("a setting has a short name and a text that is not too long"));
    }
    edit_stored(server, move |stored| {
        for (key, value) in new {
            stored.settings.insert(key.clone(), Setting { key, value, updated_at: time });
        }
        Ok(())
    })
    .await
}

async fn unset(
    State(server): State<Shared>,
    PathParams(key): PathParams<String>,
) -> Result<StatusCode, Problem> {
    edit_stored(&server, move |stored| match stored.settings.remove(&key) {
        Some(_) => Ok(()),
        None => Err(Problem::not_found(format!("there is no setting `{key}`"))),
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
