//! Tokens: handed out, listed and revoked by those who may.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extract::{At, Given};
use crate::operation::{delete, get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::tokens::{NewToken, TokenInfo, TokenScope};
use crate::state::Shared;

/// The tokens that are good now.
#[derive(Debug, Serialize, JsonSchema)]
struct TokenList {
    /// Oldest first.
    tokens: Vec<TokenInfo>,
}

/// A token to hand out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTokenRequest {
    /// Its name.
    name: String,
    /// What it is good for.
    scope: TokenScope,
}

pub(super) fn add(routes: &mut Routes) {
    routes.add(
        get("/api/v1/tokens", "list_tokens", "The tokens that are good now").answer::<TokenList>(),
        list,
    );
    let route = post("/api/v1/tokens", "add_token", "Hands out a token, which is shown this once");
    routes.add(route.body::<NewTokenRequest>().answer::<NewToken>().status(201), hand_out);
    routes.add(
        delete("/api/v1/tokens/{name}", "revoke_token", "Ends a token and its browsers").status(204),
        revoke,
    );
}

async fn list(State(server): State<Shared>) -> Result<Json<TokenList>, Problem> {
    let asked = server.clone();
    let tokens = server.ask(move |context| asked.credentials.tokens().list(context.now)).await?;
    Ok(Json(TokenList { tokens }))
}

async fn hand_out(
    State(server): State<Shared>,
    Given(wanted): Given<NewTokenRequest>,
) -> Result<(StatusCode, Json<NewToken>), Problem> {
    let asked = server.clone();
    let made = server
        .ask(move |context| asked.credentials.tokens().add(&wanted.name, wanted.scope, context.now))
        .await?;
    Ok((StatusCode::CREATED, Json(made)))
}

async fn revoke(State(server): State<Shared>, At(name): At<String>) -> Result<StatusCode, Problem> {
    let asked = server.clone();
    server.ask(move |_| asked.credentials.tokens().revoke(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
