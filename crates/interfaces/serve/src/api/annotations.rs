//! What the person annotates sessions with: names, tags, notes, pins, and what they hide. The event stream
//! announces each change.

use app::sessions::annotate::{self, AnnotatedSession, Tags};
use app::{Error, Kind};
use axum::Json;
use axum::extract::State;
use model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::extract::{JsonBody, PathParams};
use crate::operation::{get, patch};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// What to change in a session's annotations; what is not named stays as it is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct NewAnnotations {
    /// The name in place of the title; an empty one removes it.
    name: Option<String>,
    /// Tags to add.
    add_tags: Vec<String>,
    /// Tags to remove.
    remove_tags: Vec<String>,
    /// The note; an empty one removes it.
    note: Option<String>,
    /// Whether the session is listed before others.
    pinned: Option<bool>,
    /// Whether the session is listed and found only on request.
    hidden: Option<bool>,
}

pub(super) fn add(routes: &mut Routes) {
    let path = "/api/v1/sessions/{session}/annotations";
    let route = patch(path, "annotate", "Names, tags, notes, pins or hides a session");
    routes.add(route.body::<NewAnnotations>().answer::<AnnotatedSession>(), change);
    let route = get("/api/v1/tags", "tags", "The tags that sessions have");
    routes.add(route.answer::<Tags>(), tags);
}

async fn change(
    State(server): State<Shared>,
    PathParams(session): PathParams<SessionId>,
    JsonBody(new): JsonBody<NewAnnotations>,
) -> Result<Json<AnnotatedSession>, Problem> {
    let NewAnnotations { name, add_tags, remove_tags, note, pinned, hidden } = new;
    let sessions = vec![session.to_string()];
    let request = annotate::Request { sessions, name, add_tags, remove_tags, note, pinned, hidden };
    let annotated = server
        .ask(move |context| {
            let answer = annotate::annotate(context, &request)?;
            let gone = || Error::new(Kind::NotFound, format!("there is no session `{session}`"));
            answer.sessions.into_iter().next().ok_or_else(gone)
        })
        .await?;
    Ok(Json(annotated))
}

async fn tags(State(server): State<Shared>) -> Result<Json<Tags>, Problem> {
    Ok(Json(server.ask(annotate::tags).await?))
}
