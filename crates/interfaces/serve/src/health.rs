//! Whether the server runs: the one route that needs no token, and reports nothing else.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::get;
use crate::routes::Routes;

/// Whether the server is there.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    /// Always `healthy`.
    status: &'static str,
}

pub(crate) fn add(routes: &mut Routes) {
    let health = || async { Json(Health { status: "healthy" }) };
    routes.add(get("/health", "health", "Whether the server is there").open().answer::<Health>(), health);
    routes.add(get("/api/health", "api_health", "Whether the server is there").answer::<Health>(), health);
}
