//! Workers: started, followed, written to, answered and stopped.

use app::workers::{
    self, PermissionMode, PermissionReply, WorkerInfo, answer, list, run, send, start, steer, stop,
};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::message::Message;
use crate::chat::follow;
use crate::extract::{Authorized, JsonBody, PathParams, QueryParams};
use crate::operation::{delete, get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::scopes;
use crate::security::tokens::TokenScope;
use crate::state::Shared;

/// The answer to a permission request or a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorkerAnswer {
    /// The id of what the worker asks.
    request: String,
    /// The answer.
    reply: PermissionReply,
}

/// What to change in a worker.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorkerChange {
    /// Another model.
    model: Option<String>,
    /// What it may do without asking from now on.
    permission_mode: Option<PermissionMode>,
}

/// How to stop a worker.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StopQuery {
    /// Also remove its work tree if nothing would be lost; the worker may have ended already.
    #[serde(default)]
    remove_worktree: bool,
}

pub(super) fn add(routes: &mut Routes) {
    routes.add(
        get("/api/v1/workers", "list_workers", "Workers, newest first").answer::<list::Answer>(),
        list_all,
    );
    let route =
        post("/api/v1/workers", "start_worker", "Starts a worker for a task").body::<start::Request>();
    routes.add(route.answer::<run::Ready>().status(201), start_one);
    routes.add(get("/api/v1/workers/{worker}", "worker", "One worker").answer::<WorkerInfo>(), find);
    let route = delete("/api/v1/workers/{worker}", "stop_worker", "Stops a worker").query::<StopQuery>();
    routes.add(route.answer::<stop::Answer>(), stop_one);
    let route = post("/api/v1/workers/{worker}/messages", "send_to_worker", "Sends a message to a worker");
    routes.add(route.body::<Message>().answer::<send::Answer>(), send_message);
    let route = post("/api/v1/workers/{worker}/answers", "answer_worker", "Answers what a worker asks");
    routes.add(route.body::<WorkerAnswer>().status(204), answer_one);
    let what = "Ends a worker's turn; it waits for the next message";
    routes
        .add(post("/api/v1/workers/{worker}/interrupt", "interrupt_worker", what).status(204), interrupt_one);
    let route = post("/api/v1/workers/{worker}/options", "change_worker", "Changes a worker's model or mode");
    routes.add(route.body::<WorkerChange>().status(204), change_one);
    routes
        .add(get("/api/v1/workers/{worker}/events", "worker_events", "What a worker does").stream(), events);
}

async fn list_all(State(server): State<Shared>) -> Result<Json<list::Answer>, Problem> {
    Ok(Json(server.ask(|context| list::list(context, &list::Request::default())).await?))
}

async fn start_one(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    JsonBody(request): JsonBody<start::Request>,
) -> Result<(StatusCode, Json<run::Ready>), Problem> {
    let order = request.task_spec()?;
    scopes::check_unasked(&grant, order.options.acts_without_asking(), "a worker")?;
    let ready = server.ask(move |context| start::start(context, &request)).await?;
    Ok((StatusCode::CREATED, Json(ready)))
}

async fn find(
    State(server): State<Shared>,
    PathParams(worker): PathParams<String>,
) -> Result<Json<WorkerInfo>, Problem> {
    Ok(Json(server.ask(move |context| workers::find(context, &worker)).await?))
}

async fn stop_one(
    State(server): State<Shared>,
    PathParams(worker): PathParams<String>,
    QueryParams(query): QueryParams<StopQuery>,
) -> Result<Json<stop::Answer>, Problem> {
    let request = stop::Request { worker, remove_worktree: query.remove_worktree };
    Ok(Json(server.ask(move |context| stop::stop(context, &request)).await?))
}

async fn send_message(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(worker): PathParams<String>,
    JsonBody(said): JsonBody<Message>,
) -> Result<Json<send::Answer>, Problem> {
    said.send(&server, grant, worker).await
}

async fn answer_one(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(worker): PathParams<String>,
    JsonBody(given): JsonBody<WorkerAnswer>,
) -> Result<StatusCode, Problem> {
    let changes_input = matches!(given.reply, PermissionReply::Allow { input: Some(_), .. });
    let allows_more = changes_input || given.reply.grant().is_some();
    if allows_more && grant.scope() < TokenScope::Admin {
        let detail = "an answer that allows more than what is asked for, once, needs an admin's token";
        return Err(Problem::forbidden(detail));
    }
    let request = answer::Request { worker, request: given.request, reply: given.reply };
    server.ask(move |context| answer::answer(context, &request)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn interrupt_one(
    State(server): State<Shared>,
    PathParams(worker): PathParams<String>,
) -> Result<StatusCode, Problem> {
    server.ask(move |context| steer::interrupt(context, &worker)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn change_one(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(worker): PathParams<String>,
    JsonBody(change): JsonBody<WorkerChange>,
) -> Result<StatusCode, Problem> {
    let WorkerChange { model, permission_mode } = change;
    let acts_unasked = permission_mode.is_some_and(PermissionMode::acts_without_asking);
    scopes::check_unasked(&grant, acts_unasked, "a worker")?;
    server.ask(move |context| steer::change(context, &worker, model, permission_mode)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn events(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(worker): PathParams<String>,
) -> Result<Response, Problem> {
    follow::stream(&server, grant, worker).await
}
