//! What the caller may do, so that a page offers nothing that would be refused.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::extract::Authorized;
use crate::operation::get;
use crate::routes::Routes;
use crate::security::TokenScope;

/// What the caller may do.
#[derive(Debug, Serialize, JsonSchema)]
struct OwnScope {
    /// What its token allows.
    scope: TokenScope,
}

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/v1/scope", "own_scope", "What the caller may do").answer::<OwnScope>();
    routes.add(route, own_scope);
}

async fn own_scope(Authorized(grant): Authorized) -> Json<OwnScope> {
    Json(OwnScope { scope: grant.scope() })
}
