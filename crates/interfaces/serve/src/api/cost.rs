//! What sessions took: tokens and money.

use app::sessions::{cost, usage_windows};
use axum::Json;
use axum::extract::State;

use crate::extract::QueryParams;
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/v1/cost", "cost", "Tokens and money by time, project, branch, model or session");
    routes.add(route.query::<cost::Request>().answer::<cost::Answer>(), answer);
    let route =
        get("/api/v1/cost/blocks", "cost_blocks", "The five-hour windows in which subscriptions limit usage");
    routes.add(route.query::<usage_windows::Request>().answer::<usage_windows::Answer>(), blocks);
}

async fn answer(
    State(server): State<Shared>,
    QueryParams(request): QueryParams<cost::Request>,
) -> Result<Json<cost::Answer>, Problem> {
    Ok(Json(server.ask(move |context| cost::cost(context, &request)).await?))
}

async fn blocks(
    State(server): State<Shared>,
    QueryParams(request): QueryParams<usage_windows::Request>,
) -> Result<Json<usage_windows::Answer>, Problem> {
    Ok(Json(server.ask(move |context| usage_windows::usage_windows(context, &request)).await?))
}
