//! Continuing a session elsewhere: the command that does it, for the person to paste into a terminal.

use app::sessions::page as messages;
use app::{Error, Kind, workers};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse as _, Response};
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::crewhub::key::Key;
use crate::extract::{JsonBody, PathParams};
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// Where a session is to be continued.
#[derive(Debug, Deserialize, JsonSchema)]
struct Destination {
    /// `clipboard`: nothing is started on the machine of the server.
    target: String,
}

/// How a session is continued.
#[derive(Debug, Serialize, JsonSchema)]
struct Handoff {
    success: bool,
    target: String,
    /// The command that continues it.
    command: String,
    message: String,
}

pub(super) fn add(routes: &mut Routes) {
    let path = "/api/handoff/sessions/{key}";
    let route = post(path, "hand_off", "The command that continues a session in a terminal");
    routes.add(route.body::<Destination>().answer::<Handoff>(), hand_off);
    let route = get(path, "handoff_command", "The command that continues a session in a terminal");
    routes.add(route.answer::<Handoff>(), show);
}

/// The command; as a page for a browser, because the front end opens this address in a new tab.
async fn show(server: State<Shared>, key: PathParams<Key>, headers: HeaderMap) -> Result<Response, Problem> {
    let Json(handoff) = handed_off(server, key).await?;
    let accepts = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    if accepts.is_some_and(|accepted| accepted.contains("text/html")) {
        return Ok(page(&handoff.command).into_response());
    }
    Ok(Json(handoff).into_response())
}

/// A page with a command, which has an id in it and nothing that would be markup.
fn page(command: &str) -> Html<String> {
    let words = format!("<p>Paste this command into a terminal:<pre><code>{command}</code></pre>");
    crate::page::plain("Continue this session in a terminal", &words)
}

async fn hand_off(
    server: State<Shared>,
    key: PathParams<Key>,
    JsonBody(destination): JsonBody<Destination>,
) -> Result<Json<Handoff>, Problem> {
    if destination.target != "clipboard" {
        return Err(Problem::usage("the target is `clipboard`: paste the command into a terminal"));
    }
    handed_off(server, key).await
}

async fn handed_off(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
) -> Result<Json<Handoff>, Problem> {
    let session = key.session(&server.store);
    let session =
        session.ok_or_else(|| Problem::not_found(format!("{key} has no session of Claude Code")))?;
    let command = server.ask(move |context| command(context, &session)).await?;
    let message = "Paste the command into a terminal".to_owned();
    Ok(Json(Handoff { success: true, target: "clipboard".to_owned(), command, message }))
}

/// A worker that lives is answered where it is; any other session is continued.
fn command(context: &app::Context, session: &SessionId) -> Result<String, Error> {
    match workers::find(context, session.as_str()) {
        Ok(worker) if !worker.state.is_over() => Ok(format!("backstory attach {session}")),
        Err(error) if error.kind != Kind::NotFound => Err(error),
        _ => {
            // Only what can be read can be continued.
            let last = messages::Request {
                session: session.to_string(),
                limit: Some(1),
                ..messages::Request::default()
            };
            messages::page(context, &last)?;
            Ok(format!("backstory resume {session}"))
        }
    }
}
