//! The rooms that sessions were put into.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::crewhub::change::{Removed, edit_stored, now};
use crate::crewhub::key::Key;
use crate::crewhub::layout;
use crate::crewhub::store::Assignment;
use crate::extract::{JsonBody, PathParams};
use crate::operation::{delete, get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

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
}

async fn all(server: &Shared) -> Result<Vec<Assignment>, Problem> {
    server
        .work(|server, context| {
            let (sessions, models) = (layout::sessions(context)?, layout::models(server, context));
            Ok(server.store.read(|stored| layout::assignments(context, stored, &sessions, &models)))
        })
        .await
}

async fn list(State(server): State<Shared>) -> Result<Json<Assignments>, Problem> {
    Ok(Json(Assignments { assignments: all(&server).await? }))
}

async fn in_room(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
) -> Result<Json<Assignments>, Problem> {
    let mut assignments = all(&server).await?;
    assignments.retain(|assignment| assignment.room_id == room);
    Ok(Json(Assignments { assignments }))
}

async fn one(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
) -> Result<Json<Assignment>, Problem> {
    let (all, key) = (all(&server).await?, key.to_string());
    let found = all.into_iter().find(|assignment| assignment.session_key == key);
    found.map(Json).ok_or_else(|| Problem::not_found(format!("{key} is in no room")))
}

async fn assign(
    State(server): State<Shared>,
    JsonBody(wanted): JsonBody<NewAssignment>,
) -> Result<Json<Assignment>, Problem> {
    let mut made = put_into_rooms(&server, vec![wanted]).await?;
    made.pop().map(Json).ok_or_else(|| Problem::usage("nothing was assigned"))
}

async fn assign_all(
    State(server): State<Shared>,
    JsonBody(wanted): JsonBody<Vec<NewAssignment>>,
) -> Result<Json<Assigned>, Problem> {
    let assigned = put_into_rooms(&server, wanted).await?;
    Ok(Json(Assigned { success: true, count: assigned.len(), assigned }))
}

async fn put_into_rooms(server: &Shared, wanted: Vec<NewAssignment>) -> Result<Vec<Assignment>, Problem> {
    let time = now(server);
    let made = server
        .work(move |server, context| {
            let sessions = layout::sessions(context)?;
            server.store.edit(|stored| {
                let rooms = layout::rooms(stored, &layout::projects(stored, &sessions));
                let mut made = Vec::new();
                for one in wanted {
                    let key: Key = one.session_key.parse()?;
                    if !rooms.iter().any(|room| room.id == one.room_id) {
                        return Err(Problem::usage(format!("there is no room `{}`", one.room_id)));
                    }
                    let put =
                        Assignment { session_key: key.to_string(), room_id: one.room_id, assigned_at: time };
                    stored.assignments.insert(put.session_key.clone(), put.clone());
                    made.push(put);
                }
                Ok(made)
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "assignment_changed" }));
    Ok(made)
}

async fn unassign(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
) -> Result<Json<Removed>, Problem> {
    let key = key.to_string();
    let gone = key.clone();
    edit_stored(&server, move |stored| match stored.assignments.remove(&gone) {
        Some(_) => Ok(()),
        None => Err(Problem::not_found(format!("{gone} was put into no room"))),
    })
    .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "assignment_changed" }));
    Ok(Json(Removed::new(key)))
}
