//! What is wrong with the installation, and what to do about it.

use app::NextStep;
use app::doctor::{self, Report};
use axum::Json;
use axum::extract::State;

use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

pub(super) fn add(routes: &mut Routes) {
    routes.add(
        get("/api/v1/doctor", "doctor", "What is wrong, and what to do about it").answer::<Report>(),
        answer,
    );
}

async fn answer(State(server): State<Shared>) -> Result<Json<Report>, Problem> {
    let report = server.ask(|context| doctor::doctor(context, &doctor::Request::default())).await?;
    Ok(Json(report.worded(NextStep::to_string)))
}
