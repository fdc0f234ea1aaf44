//! Everything that the server answers, and the checks that every request passes first.

use std::path::Path;

use app::{Error, Kind};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Json, Router};
use serde_json::{Map, Value};

use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::authorization::authorize;
use crate::state::Shared;
use crate::{api, crewhub, etag, front, health, openapi, page, reference};

/// The description of the API.
pub fn document() -> Value {
    openapi::describe(all().operations())
}

/// The routes of everything.
fn all() -> Routes {
    let mut routes = Routes::new();
    health::add(&mut routes);
    api::add(&mut routes);
    crewhub::add(&mut routes);
    let route = get("/api/v1/openapi.json", "openapi", "This document").answer::<Map<String, Value>>();
    let describe = || async { Json(document()) };
    routes.add(route, describe);
    routes
}

/// Everything that is answered, behind the checks.
pub(crate) fn router(server: &Shared, front: Option<&Path>) -> Result<Router, Error> {
    let front = front.map(front::Front::open).transpose()?;
    let page = move |method: Method, uri: Uri, headers: HeaderMap| {
        let front = front.clone();
        async move {
            if is_api(uri.path()) {
                return Err(Problem::not_found(format!("there is no {}", uri.path())));
            }
            if !matches!(method, Method::GET | Method::HEAD) {
                return Err(not_allowed());
            }
            match front {
                Some(front) => front::answer(front, uri.path().to_owned()).await,
                None => page::answer(uri.path(), &headers),
            }
        }
    };
    Ok(all()
        .into_router()
        .merge(reference::routes())
        .fallback(page)
        .method_not_allowed_fallback(async || not_allowed())
        .layer(from_fn(etag::tag))
        .layer(from_fn_with_state(server.clone(), authorize))
        .with_state(server.clone()))
}

fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

fn not_allowed() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, Kind::Usage, "this method is not allowed here")
}
