//! Where sessions are shown and what they are called: rooms, names, and the rules for rooms.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::crew::change::{Change, Removed, new_id, now};
use crate::crew::key::Key;
use crate::crew::office;
use crate::crew::rule::check;
use crate::crew::store::{Assignment, DisplayName, Rule, changed};
use crate::extract::{At, Given};
use crate::operation::{delete, get, post, put};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// The longest name of a session, in characters.
const LONGEST_NAME: usize = 200;

/// The rooms of sessions.
#[derive(Debug, Serialize, JsonSchema)]
struct Assignments {
    assignments: Vec<Assignment>,
}

/// A session to put into a room.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewAssignment {
    session_key: String,
    room_id: String,
}

/// Several were put into rooms.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "CrewHub names it so")]
struct Assigned {
    success: bool,
    assigned: Vec<Assignment>,
    count: usize,
}

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

const NAMES: &str = "/api/session-display-names";

const RULES: &str = "/api/room-assignment-rules";

pub(super) fn add(routes: &mut Routes) {
    const ROOMS: &str = "/api/session-room-assignments";
    routes.add(get(ROOMS, "assignments", "The rooms of sessions").answer::<Assignments>(), list);
    let route = post(ROOMS, "assign", "Puts a session into a room").body::<NewAssignment>();
    routes.add(route.answer::<Assignment>(), assign);
    let route =
        post(format!("{ROOMS}/batch"), "assign_all", "Puts sessions into rooms").body::<Vec<NewAssignment>>();
    routes.add(route.answer::<Assigned>(), assign_all);
    let route = get(format!("{ROOMS}/room/{{room}}"), "room_assignments", "The sessions in a room");
    routes.add(route.answer::<Assignments>(), in_room);
    let route = get(format!("{ROOMS}/{{key}}"), "assignment", "The room of a session");
    routes.add(route.answer::<Assignment>(), one);
    let route = delete(format!("{ROOMS}/{{key}}"), "unassign", "Takes a session out of its room");
    routes.add(route.answer::<Removed>(), unassign);
    routes.add(get(NAMES, "display_names", "The names of sessions").answer::<DisplayNames>(), names);
    let route = get(format!("{NAMES}/{{key}}"), "display_name", "The name of a session");
    routes.add(route.answer::<DisplayName>(), name);
    let route =
        post(format!("{NAMES}/{{key}}"), "set_display_name", "Names a session").body::<NewDisplayName>();
    routes.add(route.answer::<DisplayName>(), set_name);
    let route = delete(format!("{NAMES}/{{key}}"), "remove_display_name", "Takes a session's name away");
    routes.add(route.answer::<Removed>(), remove_name);
    routes.add(get(RULES, "rules", "The rules for rooms").answer::<Rules>(), rules);
    routes.add(post(RULES, "add_rule", "Adds a rule").body::<Rule>().answer::<Rule>(), add_rule);
    let route = put(format!("{RULES}/bulk"), "replace_rules", "Replaces all rules").body::<NewRules>();
    routes.add(route.answer::<Rules>(), replace_rules);
    routes.add(get(format!("{RULES}/{{rule}}"), "rule", "One rule").answer::<Rule>(), rule);
    let route = put(format!("{RULES}/{{rule}}"), "change_rule", "Changes a rule").body::<Change>();
    routes.add(route.answer::<Rule>(), change_rule);
    routes.add(
        delete(format!("{RULES}/{{rule}}"), "remove_rule", "Removes a rule").answer::<Removed>(),
        remove_rule,
    );
}

async fn all(server: &Shared) -> Result<Vec<Assignment>, Problem> {
    server
        .work(|server, context| {
            let (sessions, models) = (office::sessions(context)?, office::models(server, context));
            Ok(server.store.read(|book| office::assignments(context, book, &sessions, &models)))
        })
        .await
}

async fn list(State(server): State<Shared>) -> Result<Json<Assignments>, Problem> {
    Ok(Json(Assignments { assignments: all(&server).await? }))
}

async fn in_room(State(server): State<Shared>, At(room): At<String>) -> Result<Json<Assignments>, Problem> {
    let mut assignments = all(&server).await?;
    assignments.retain(|assignment| assignment.room_id == room);
    Ok(Json(Assignments { assignments }))
}

async fn one(State(server): State<Shared>, At(key): At<Key>) -> Result<Json<Assignment>, Problem> {
    let (all, key) = (all(&server).await?, key.to_string());
    let found = all.into_iter().find(|assignment| assignment.session_key == key);
    found.map(Json).ok_or_else(|| Problem::not_found(format!("{key} is in no room")))
}

async fn assign(
    State(server): State<Shared>,
    Given(wanted): Given<NewAssignment>,
) -> Result<Json<Assignment>, Problem> {
    let mut made = put_into_rooms(&server, vec![wanted]).await?;
    made.pop().map(Json).ok_or_else(|| Problem::usage("nothing was assigned"))
}

async fn assign_all(
    State(server): State<Shared>,
    Given(wanted): Given<Vec<NewAssignment>>,
) -> Result<Json<Assigned>, Problem> {
    let assigned = put_into_rooms(&server, wanted).await?;
    Ok(Json(Assigned { success: true, count: assigned.len(), assigned }))
}

async fn put_into_rooms(server: &Shared, wanted: Vec<NewAssignment>) -> Result<Vec<Assignment>, Problem> {
    let time = now(server);
    let made = server
        .work(move |server, context| {
            let sessions = office::sessions(context)?;
            server.store.edit(|book| {
                let rooms = office::rooms(book, &office::projects(book, &sessions));
                let mut made = Vec::new();
                for one in wanted {
                    let key: Key = one.session_key.parse()?;
                    if !rooms.iter().any(|room| room.id == one.room_id) {
                        return Err(Problem::usage(format!("there is no room `{}`", one.room_id)));
                    }
                    let put =
                        Assignment { session_key: key.to_string(), room_id: one.room_id, assigned_at: time };
                    book.assignments.insert(put.session_key.clone(), put.clone());
                    made.push(put);
                }
                Ok(made)
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "assignment_changed" }));
    Ok(made)
}

async fn unassign(State(server): State<Shared>, At(key): At<Key>) -> Result<Json<Removed>, Problem> {
    let key = key.to_string();
    let gone = key.clone();
    server
        .work(move |server, _| {
            let removed = |book: &mut crate::crew::store::Book| book.assignments.remove(&gone);
            server.store.edit(|book| {
                removed(book).ok_or_else(|| Problem::not_found(format!("{gone} was put into no room")))
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "assignment_changed" }));
    Ok(Json(Removed::new(key)))
}

async fn names(State(server): State<Shared>) -> Json<DisplayNames> {
    Json(DisplayNames {
        display_names: server.store.read(|book| book.display_names.values().cloned().collect()),
    })
}

async fn name(State(server): State<Shared>, At(key): At<Key>) -> Result<Json<DisplayName>, Problem> {
    let key = key.to_string();
    let found = server.store.read(|book| book.display_names.get(&key).cloned());
    found.map(Json).ok_or_else(|| Problem::not_found(format!("{key} has no name of its own")))
}

async fn set_name(
    State(server): State<Shared>,
    At(key): At<Key>,
    Given(wanted): Given<NewDisplayName>,
) -> Result<Json<DisplayName>, Problem> {
    let text = wanted.display_name.trim().to_owned();
    if text.is_empty() || text.chars().count() > LONGEST_NAME {
        return Err(Problem::usage(format!("a name has 1 to {LONGEST_NAME} characters")));
    }
    let named = DisplayName { session_key: key.to_string(), display_name: text, updated_at: now(&server) };
    let kept = named.clone();
    server
        .work(move |server, _| {
            server.store.edit(|book| {
                book.display_names.insert(kept.session_key.clone(), kept);
                Ok(())
            })
        })
        .await?;
    server.hub.publish(
        "display-name-updated",
        &json!({ "session_key": named.session_key, "display_name": named.display_name, "action": "updated" }),
    );
    Ok(Json(named))
}

async fn remove_name(State(server): State<Shared>, At(key): At<Key>) -> Result<Json<Removed>, Problem> {
    let key = key.to_string();
    let gone = key.clone();
    server
        .work(move |server, _| {
            server.store.edit(|book| match book.display_names.remove(&gone) {
                Some(_) => Ok(()),
                None => Err(Problem::not_found(format!("{gone} has no name of its own"))),
            })
        })
        .await?;
    server.hub.publish(
        "display-name-updated",
        &json!({ "session_key": key, "display_name": null, "action": "deleted" }),
    );
    Ok(Json(Removed::new(key)))
}

fn ordered(server: &Server) -> Rules {
    let mut rules = server.store.read(|book| book.rules.clone());
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
    Rules { rules }
}

async fn rules(State(server): State<Shared>) -> Json<Rules> {
    Json(ordered(&server))
}

async fn rule(State(server): State<Shared>, At(id): At<String>) -> Result<Json<Rule>, Problem> {
    let found = ordered(&server).rules.into_iter().find(|rule| rule.id == id);
    found.map(Json).ok_or_else(|| Problem::not_found(format!("there is no rule `{id}`")))
}

async fn add_rule(State(server): State<Shared>, Given(wanted): Given<Rule>) -> Result<Json<Rule>, Problem> {
    check(&wanted)?;
    let made = Rule { id: new_id(), created_at: now(&server), ..wanted };
    let rule = made.clone();
    server
        .work(move |server, _| {
            server.store.edit(|book| {
                book.rules.push(made);
                Ok(())
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "rules_changed" }));
    Ok(Json(rule))
}

async fn replace_rules(
    State(server): State<Shared>,
    Given(wanted): Given<NewRules>,
) -> Result<Json<Rules>, Problem> {
    wanted.rules.iter().try_for_each(check)?;
    let time = now(&server);
    let made = wanted.rules.into_iter().map(move |rule| Rule { id: new_id(), created_at: time, ..rule });
    server
        .work(move |server, _| {
            server.store.edit(|book| {
                book.rules = made.collect();
                Ok(())
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "rules_changed" }));
    Ok(Json(ordered(&server)))
}

async fn change_rule(
    State(server): State<Shared>,
    At(id): At<String>,
    Given(fields): Given<Change>,
) -> Result<Json<Rule>, Problem> {
    let rule = server
        .work(move |server, _| {
            server.store.edit(|book| {
                let known = book.rules.iter_mut().find(|rule| rule.id == id);
                let known = known.ok_or_else(|| Problem::not_found(format!("there is no rule `{id}`")))?;
                let new = changed(known, &fields, &["id", "created_at"])?;
                check(&new)?;
                *known = new.clone();
                Ok(new)
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "rules_changed" }));
    Ok(Json(rule))
}

async fn remove_rule(State(server): State<Shared>, At(id): At<String>) -> Result<Json<Removed>, Problem> {
    let gone = id.clone();
    server
        .work(move |server, _| {
            server.store.edit(|book| {
                let before = book.rules.len();
                book.rules.retain(|rule| rule.id != gone);
                if book.rules.len() == before {
                    return Err(Problem::not_found(format!("there is no rule `{gone}`")));
                }
                Ok(())
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "rules_changed" }));
    Ok(Json(Removed::new(id)))
}
