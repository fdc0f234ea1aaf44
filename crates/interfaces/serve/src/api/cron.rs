//! Scheduled jobs.

use app::cron::{self, History, HistoryRequest, JobInfo, JobList, JobRequest, ListRequest, RunInfo};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::extract::{Asked, At, Given, Granted};
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
    Granted(grant): Granted,
    Given(request): Given<cron::add::Request>,
) -> Result<(StatusCode, Json<JobInfo>), Problem> {
    let acts_unasked =
        request.permission_mode.as_deref().is_some_and(|mode| mode != "default" && mode != "plan");
    scopes::check_unasked(&grant, acts_unasked || !request.allowed_tools.is_empty(), "a job")?;
    let job = server.ask(move |context| cron::add(context, &request)).await?;
    Ok((StatusCode::CREATED, Json(job)))
}

async fn remove(State(server): State<Shared>, At(job): At<String>) -> Result<Json<JobInfo>, Problem> {
    Ok(Json(server.ask(move |context| cron::remove(context, &JobRequest { job })).await?))
}

async fn enable(State(server): State<Shared>, At(job): At<String>) -> Result<Json<JobInfo>, Problem> {
    Ok(Json(server.ask(move |context| cron::switch(context, &JobRequest { job }, true)).await?))
}

async fn disable(State(server): State<Shared>, At(job): At<String>) -> Result<Json<JobInfo>, Problem> {
    Ok(Json(server.ask(move |context| cron::switch(context, &JobRequest { job }, false)).await?))
}

async fn run(State(server): State<Shared>, At(job): At<String>) -> Result<Json<RunInfo>, Problem> {
    Ok(Json(server.ask(move |context| cron::run(context, &JobRequest { job })).await?))
}

async fn history(
    State(server): State<Shared>,
    Asked(request): Asked<HistoryRequest>,
) -> Result<Json<History>, Problem> {
    Ok(Json(server.ask(move |context| cron::history(context, &request)).await?))
}
