//! What sessions took: tokens and money.

use app::sessions::cost;
use axum::Json;
use axum::extract::State;

use crate::extract::Asked;
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/v1/cost", "cost", "Tokens and money by time, project, branch, model or session");
    routes.add(route.query::<cost::Request>().answer::<cost::Answer>(), answer);
}

async fn answer(
    State(server): State<Shared>,
    Asked(request): Asked<cost::Request>,
) -> Result<Json<cost::Answer>, Problem> {
    Ok(Json(server.ask(move |context| cost::cost(context, &request)).await?))
}
