//! Tokens: created, listed and revoked, with the scope `admin`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extract::{Authorized, JsonBody, PathParams};
use crate::operation::{delete, get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::tokens::{NewToken, TokenInfo, TokenScope};
use crate::state::Shared;

/// The tokens that are valid now.
#[derive(Debug, Serialize, JsonSchema)]
struct TokenList {
    /// Oldest first.
    tokens: Vec<TokenInfo>,
    /// The place of the caller's own among them.
    yours: Option<usize>,
}

/// A token to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTokenRequest {
    /// Its name.
    name: String,
    /// What it allows.
    scope: TokenScope,
}

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/v1/tokens", "list_tokens", "The tokens that are valid now");
    routes.add(route.scope(TokenScope::Admin).answer::<TokenList>(), list);
    let route = post("/api/v1/tokens", "add_token", "Creates a token, which is shown once");
    let route = route.scope(TokenScope::Admin).body::<NewTokenRequest>();
    routes.add(route.answer::<NewToken>().status(201), hand_out);
    let route = delete("/api/v1/tokens/{name}", "revoke_token", "Revokes a token and its browsers");
    routes.add(route.scope(TokenScope::Admin).status(204), revoke);
}

async fn list(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
) -> Result<Json<TokenList>, Problem> {
    let asked = server.clone();
    let list = server
        .ask(move |context| {
            let (tokens, yours) = asked.credentials.tokens().list_for(&grant, context.now)?;
            Ok(TokenList { tokens, yours })
        })
        .await?;
    Ok(Json(list))
}

async fn hand_out(
    State(server): State<Shared>,
    JsonBody(wanted): JsonBody<NewTokenRequest>,
) -> Result<(StatusCode, Json<NewToken>), Problem> {
    let asked = server.clone();
    let made = server
        .ask(move |context| asked.credentials.tokens().add(&wanted.name, wanted.scope, context.now))
        .await?;
    Ok((StatusCode::CREATED, Json(made)))
}

async fn revoke(
    State(server): State<Shared>,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, Problem> {
    let asked = server.clone();
    server.ask(move |_| asked.credentials.tokens().revoke(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
