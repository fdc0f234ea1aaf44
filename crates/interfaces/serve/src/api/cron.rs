//! Scheduled jobs.

use app::cron::{self, History, HistoryRequest, JobInfo, JobList, JobRequest, ListRequest, RunInfo};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::extract::{Authorized, JsonBody, PathParams, QueryParams, check_limit};
use crate::operation::{delete, get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::scopes;
use crate::state::Shared;

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/v1/cron/jobs", "list_jobs", "All jobs").answer::<JobList>(), list);
    let route = post("/api/v1/cron/jobs", "add_job", "Adds a job").body::<cron::add::Request>();
    routes.add(route.answer::<JobInfo>().status(201), add_job);
    routes.add(delete("/api/v1/cron/jobs/{job}", "remove_job", "Removes a job").answer::<JobInfo>(), remove);
    routes.add(
        post("/api/v1/cron/jobs/{job}/enable", "enable_job", "Enables a job").answer::<JobInfo>(),
        enable,
    );
    routes.add(
        post("/api/v1/cron/jobs/{job}/disable", "disable_job", "Disables a job").answer::<JobInfo>(),
        disable,
    );
    routes.add(post("/api/v1/cron/jobs/{job}/run", "run_job", "Runs a job now").answer::<RunInfo>(), run);
    let route =
        get("/api/v1/cron/history", "job_history", "Past runs, newest first").query::<HistoryRequest>();
    routes.add(route.answer::<History>(), history);
}

async fn list(State(server): State<Shared>) -> Result<Json<JobList>, Problem> {
    Ok(Json(server.ask(|context| cron::list(context, &ListRequest::default())).await?))
}

async fn add_job(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    JsonBody(request): JsonBody<cron::add::Request>,
) -> Result<(StatusCode, Json<JobInfo>), Problem> {
    let acts_unasked =
        request.permission_mode.as_deref().is_some_and(|mode| mode != "default" && mode != "plan");
    scopes::check_unasked(&grant, acts_unasked || !request.allowed_tools.is_empty(), "a job")?;
    let job = server.ask(move |context| cron::add(context, &request)).await?;
    Ok((StatusCode::CREATED, Json(job)))
}

async fn remove(
    State(server): State<Shared>,
    PathParams(job): PathParams<String>,
) -> Result<Json<JobInfo>, Problem> {
    Ok(Json(server.ask(move |context| cron::remove(context, &JobRequest { job })).await?))
}

/// Enables a job, unless it acts without asking and the token may not have it so.
pub(crate) async fn enable(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(job): PathParams<String>,
) -> Result<Json<JobInfo>, Problem> {
    let job = JobRequest { job };
    let enabled = server.work(move |_, context| {
        scopes::check_job(&grant, context, &job)?;
        Ok(cron::switch(context, &job, true)?)
    });
    Ok(Json(enabled.await?))
}

/// Disables a job.
pub(crate) async fn disable(
    State(server): State<Shared>,
    PathParams(job): PathParams<String>,
) -> Result<Json<JobInfo>, Problem> {
    Ok(Json(server.ask(move |context| cron::switch(context, &JobRequest { job }, false)).await?))
}

/// Runs a job now, with the same exception.
pub(crate) async fn run(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(job): PathParams<String>,
) -> Result<Json<RunInfo>, Problem> {
    let job = JobRequest { job };
    let run = server.work(move |_, context| {
        scopes::check_job(&grant, context, &job)?;
        Ok(cron::run(context, &job)?)
    });
    Ok(Json(run.await?))
}

async fn history(
    State(server): State<Shared>,
    QueryParams(request): QueryParams<HistoryRequest>,
) -> Result<Json<History>, Problem> {
    check_limit(request.limit)?;
    Ok(Json(server.ask(move |context| cron::history(context, &request)).await?))
}
