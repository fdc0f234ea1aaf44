//! The rules by which sessions come into rooms.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::crewhub::change::{Change, Removed, edit_stored, new_id, now, take};
use crate::crewhub::rule::check;
use crate::crewhub::store::{Rule, changed};
use crate::extract::{JsonBody, PathParams};
use crate::operation::{delete, get, post, put};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// The rules for rooms.
#[derive(Debug, Serialize, JsonSchema)]
struct Rules {
    /// The most important first.
    rules: Vec<Rule>,
}

/// Rules in the place of all others.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewRules {
    rules: Vec<Rule>,
}

pub(super) fn add(routes: &mut Routes) {
    const RULES: &str = "/api/room-assignment-rules";
    routes.add(get(RULES, "rules", "The rules for rooms").answer::<Rules>(), list);
    routes.add(post(RULES, "add_rule", "Adds a rule").body::<Rule>().answer::<Rule>(), make);
    let route = put(format!("{RULES}/bulk"), "replace_rules", "Replaces all rules").body::<NewRules>();
    routes.add(route.answer::<Rules>(), replace);
    routes.add(get(format!("{RULES}/{{rule}}"), "rule", "One rule").answer::<Rule>(), one);
    let route = put(format!("{RULES}/{{rule}}"), "change_rule", "Changes a rule").body::<Change>();
    routes.add(route.answer::<Rule>(), change);
    routes.add(
        delete(format!("{RULES}/{{rule}}"), "remove_rule", "Removes a rule").answer::<Removed>(),
        remove,
    );
}

fn ordered(server: &Server) -> Rules {
    let mut rules = server.store.read(|stored| stored.rules.clone());
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
    Rules { rules }
}

async fn list(State(server): State<Shared>) -> Json<Rules> {
    Json(ordered(&server))
}

async fn one(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Rule>, Problem> {
    let found = ordered(&server).rules.into_iter().find(|rule| rule.id == id);
    found.map(Json).ok_or_else(|| missing(&id))
}

async fn make(State(server): State<Shared>, JsonBody(wanted): JsonBody<Rule>) -> Result<Json<Rule>, Problem> {
    check(&wanted)?;
    let made = Rule { id: new_id(), created_at: now(&server), ..wanted };
    let rule = made.clone();
    edit_rules(&server, move |rules| {
        rules.push(made);
        Ok(())
    })
    .await?;
    Ok(Json(rule))
}

async fn replace(
    State(server): State<Shared>,
    JsonBody(wanted): JsonBody<NewRules>,
) -> Result<Json<Rules>, Problem> {
    wanted.rules.iter().try_for_each(check)?;
    let time = now(&server);
    let made = wanted.rules.into_iter().map(move |rule| Rule { id: new_id(), created_at: time, ..rule });
    edit_rules(&server, move |rules| {
        *rules = made.collect();
        Ok(())
    })
    .await?;
    Ok(Json(ordered(&server)))
}

async fn change(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
    JsonBody(fields): JsonBody<Change>,
) -> Result<Json<Rule>, Problem> {
    let rule = edit_rules(&server, move |rules| {
        let known = rules.iter_mut().find(|rule| rule.id == id).ok_or_else(|| missing(&id))?;
        let new = changed(known, &fields, &["id", "created_at"])?;
        check(&new)?;
        *known = new.clone();
        Ok(new)
    })
    .await?;
    Ok(Json(rule))
}

async fn remove(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Removed>, Problem> {
    let gone = id.clone();
    edit_rules(&server, move |rules| take(rules, |rule| rule.id == gone, || missing(&gone))).await?;
    Ok(Json(Removed::new(id)))
}

/// Changes the rules, and says so to those who show rooms.
async fn edit_rules<T: Send + 'static>(
    server: &Shared,
    change: impl FnOnce(&mut Vec<Rule>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = edit_stored(server, move |stored| change(&mut stored.rules)).await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "rules_changed" }));
    Ok(done)
}

fn missing(id: &str) -> Problem {
    Problem::not_found(format!("there is no rule `{id}`"))
}
