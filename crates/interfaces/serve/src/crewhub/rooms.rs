//! Rooms: listed, made, changed, ordered and removed.

use axum::Json;
use axum::extract::State;
use model::Session;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::crewhub::change::{Change, Done, Removed, edit_stored, now, plain};
use crate::crewhub::context;
use crate::crewhub::layout;
use crate::crewhub::store::{Room, StoredData, changed};
use crate::extract::{JsonBody, PathParams, QueryParams};
use crate::operation::{delete, get, post, put};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// What no change of a room changes.
const FIXED: [&str; 7] =
    ["id", "is_hq", "project_id", "project_name", "project_color", "created_at", "updated_at"];

/// All rooms.
#[derive(Debug, Serialize, JsonSchema)]
struct Rooms {
    /// In their order.
    rooms: Vec<Room>,
}

/// The project that a room is for.
#[derive(Debug, Deserialize, JsonSchema)]
struct RoomProject {
    project_id: String,
}

/// For whom the context of a room is.
#[derive(Debug, Deserialize, JsonSchema)]
struct ContextQuery {
    /// Where it is read; other channels than `crewhub-ui` get less.
    channel: Option<String>,
}

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/rooms", "rooms", "All rooms").answer::<Rooms>(), list);
    routes.add(post("/api/rooms", "add_room", "Makes a room").body::<Room>().answer::<Room>(), make);
    let route = put("/api/rooms/reorder", "reorder_rooms", "Puts rooms in order").body::<Vec<String>>();
    routes.add(route.answer::<Done>(), reorder);
    routes.add(get("/api/rooms/{room}", "room", "One room").answer::<Room>(), one);
    let route = put("/api/rooms/{room}", "change_room", "Changes a room").body::<Change>();
    routes.add(route.answer::<Room>(), change);
    routes.add(delete("/api/rooms/{room}", "remove_room", "Removes a room").answer::<Removed>(), remove);
    let route = post("/api/rooms/{room}/project", "set_room_project", "Gives a room a project");
    routes.add(route.body::<RoomProject>().answer::<Room>(), set_project);
    let route = delete("/api/rooms/{room}/project", "clear_room_project", "Takes a room's project away");
    routes.add(route.answer::<Room>(), clear_project);
    routes.add(
        put("/api/rooms/{room}/hq", "set_headquarters", "Makes a room the headquarters").answer::<Room>(),
        set_hq,
    );
    let route =
        get("/api/rooms/{room}/context", "room_context", "The room's part of what an agent in it gets");
    routes.add(route.query::<ContextQuery>().answer::<Value>(), room_context);
}

async fn list(State(server): State<Shared>) -> Result<Json<Rooms>, Problem> {
    let rooms = server
        .work(|server, context| {
            let sessions = layout::sessions(context)?;
            Ok(server.store.read(|stored| all(stored, &sessions)))
        })
        .await?;
    Ok(Json(Rooms { rooms }))
}

fn all(stored: &StoredData, sessions: &[Session]) -> Vec<Room> {
    layout::rooms(stored, &layout::projects(stored, sessions))
}

async fn one(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
) -> Result<Json<Room>, Problem> {
    let found = server.work(move |server, context| find(server, context, &room)).await?;
    Ok(Json(found))
}

fn find(server: &Server, context: &app::Context, id: &str) -> Result<Room, Problem> {
    let sessions = layout::sessions(context)?;
    let rooms = server.store.read(|stored| all(stored, &sessions));
    rooms
        .into_iter()
        .find(|room| room.id == id)
        .ok_or_else(|| Problem::not_found(format!("there is no room `{id}`")))
}

async fn make(State(server): State<Shared>, JsonBody(wanted): JsonBody<Room>) -> Result<Json<Room>, Problem> {
    plain(&wanted.id)?;
    let time = now(&server);
    let made = Room { project_id: None, is_hq: false, created_at: time, updated_at: time, ..wanted };
    let room = made.clone();
    edit_stored(&server, move |stored| {
        if stored.rooms.iter().any(|known| known.id == made.id) {
            return Err(Problem::usage(format!("there is already a room `{}`", made.id)));
        }
        stored.removed.remove(&made.id);
        stored.rooms.push(made);
        Ok(())
    })
    .await?;
    Ok(Json(published(&server, room)))
}

/// Publishes a room that has changed.
fn published(server: &Shared, room: Room) -> Room {
    server.hub.publish("rooms-refresh", &json!({ "action": "updated", "room": room }));
    room
}

/// Changes a room; a default one is stored from then on.
async fn edit(
    server: &Shared,
    id: String,
    change: impl FnOnce(&mut StoredData, Room) -> Result<Room, Problem> + Send + 'static,
) -> Result<Json<Room>, Problem> {
    let time = now(server);
    let room = server
        .work(move |server, context| {
            let room = find(server, context, &id)?;
            server.store.edit(|stored| {
                let room = Room { updated_at: time, ..change(stored, room)? };
                keep(stored, room.clone());
                Ok(room)
            })
        })
        .await?;
    Ok(Json(published(server, room)))
}

fn keep(stored: &mut StoredData, room: Room) {
    match stored.rooms.iter_mut().find(|known| known.id == room.id) {
        Some(known) => *known = room,
        None => stored.rooms.push(room),
    }
}

async fn change(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
    JsonBody(fields): JsonBody<Change>,
) -> Result<Json<Room>, Problem> {
    edit(&server, room, move |_, room| changed(&room, &fields, &FIXED)).await
}

async fn set_project(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
    JsonBody(wanted): JsonBody<RoomProject>,
) -> Result<Json<Room>, Problem> {
    let id = wanted.project_id;
    let project = server
        .work(move |server, context| {
            let sessions = layout::sessions(context)?;
            let projects = server.store.read(|stored| layout::projects(stored, &sessions));
            let found = projects.into_iter().find(|project| project.id == id);
            found.ok_or_else(|| Problem::not_found(format!("there is no project `{id}`")))
        })
        .await?;
    let place = move |_: &mut StoredData, room: Room| {
        let (name, color) = (Some(project.name), project.color);
        Ok(Room { project_id: Some(project.id), project_name: name, project_color: color, ..room })
    };
    edit(&server, room, place).await
}

async fn clear_project(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
) -> Result<Json<Room>, Problem> {
    let clear = |_: &mut StoredData, room: Room| {
        Ok(Room { project_id: None, project_name: None, project_color: None, ..room })
    };
    edit(&server, room, clear).await
}

async fn set_hq(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
) -> Result<Json<Room>, Problem> {
    let move_there = |stored: &mut StoredData, room: Room| {
        for other in &mut stored.rooms {
            other.is_hq = false;
        }
        Ok(Room { is_hq: true, ..room })
    };
    edit(&server, room, move_there).await
}

async fn reorder(
    State(server): State<Shared>,
    JsonBody(order): JsonBody<Vec<String>>,
) -> Result<Json<Done>, Problem> {
    server
        .work(move |server, context| {
            let sessions = layout::sessions(context)?;
            server.store.edit(|stored| {
                for (id, place) in order.iter().zip(0..) {
                    let known = all(stored, &sessions).into_iter().find(|room| room.id == *id);
                    let room = known.ok_or_else(|| Problem::not_found(format!("there is no room `{id}`")))?;
                    keep(stored, Room { sort_order: place, ..room });
                }
                Ok(())
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "reordered" }));
    Ok(Json(Done::new()))
}

async fn remove(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
) -> Result<Json<Removed>, Problem> {
    let id = room.clone();
    server
        .work(move |server, context| {
            let found = find(server, context, &id)?;
            if found.is_hq {
                return Err(Problem::usage(
                    "the headquarters stays; make another room the headquarters first",
                ));
            }
            server.store.edit(|stored| {
                stored.rooms.retain(|known| known.id != id);
                stored.assignments.retain(|_, assignment| assignment.room_id != id);
                stored.rules.retain(|rule| rule.room_id != id);
                stored.removed.insert(id.clone());
                Ok(())
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "deleted", "room_id": room }));
    Ok(Json(Removed::new(room)))
}

async fn room_context(
    State(server): State<Shared>,
    PathParams(room): PathParams<String>,
    QueryParams(query): QueryParams<ContextQuery>,
) -> Result<Json<Value>, Problem> {
    let envelope = server
        .work(move |server, asked| {
            let room = find(server, asked, &room)?;
            let channel = query.channel.as_deref().unwrap_or(context::OWN_CHANNEL);
            Ok(context::answer(&context::of_room(server, &room, channel, None)))
        })
        .await?;
    Ok(Json(envelope))
}
