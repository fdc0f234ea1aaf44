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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::TokenScope;

    /// Who reads `x-scope` in openapi.json sees what each route needs; these are the ones that do not follow from the method.
    #[test]
    fn the_scopes_of_all_routes() {
        let routes = all();
        let named = |is_it: &dyn Fn(&str, Option<TokenScope>) -> bool| -> Vec<String> {
            let found = routes.operations().iter().filter(|route| is_it(route.method, route.scope));
            let mut named: Vec<String> =
                found.map(|route| format!("{} {}", route.method, route.path)).collect();
            named.sort();
            named
        };
        assert_eq!(named(&|_, scope| scope.is_none()), ["get /health"]);
        let questions = named(&|method, scope| method != "get" && scope == Some(TokenScope::Read));
        assert_eq!(
            questions,
            [
                "post /api/discovery/scan",
                "post /api/discovery/test",
                "post /api/v1/pick",
                "post /api/v1/search"
            ]
        );
        let administration = named(&|_, scope| scope == Some(TokenScope::Admin));
        assert_eq!(
            administration,
            [
                "delete /api/connections/{connection}",
                "delete /api/v1/tokens/{name}",
                "get /api/backup/export",
                "get /api/v1/tokens",
                "patch /api/connections/{connection}",
                "post /api/auth/keys",
                "post /api/backup/create",
                "post /api/backup/import",
                "post /api/connections",
                "post /api/connections/{connection}/connect",
                "post /api/connections/{connection}/disconnect",
                "post /api/connections/{connection}/pair",
                "post /api/v1/tokens",
            ]
        );
        assert_eq!(named(&|method, scope| method == "get" && scope == Some(TokenScope::Act)), [""; 0]);
    }
}
