//! All routes: each is added with what it is for, so that the API's description cannot leave one out.

use std::path::Path;

use app::{Error, Kind};
use axum::Router;
use axum::handler::Handler;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodFilter, on};

use crate::openapi::Operation;
use crate::problem::Problem;
use crate::state::Shared;
use crate::{api, crew, etag, front, health, openapi, security};

/// Routes and their descriptions.
pub(crate) struct Routes {
    router: Router<Shared>,
    operations: Vec<Operation>,
}

impl Routes {
    /// The routes of everything.
    pub(crate) fn all() -> Self {
        let mut routes = Self { router: Router::new(), operations: Vec::new() };
        health::add(&mut routes);
        api::add(&mut routes);
        crew::add(&mut routes);
        openapi::add(&mut routes);
        routes
    }

    /// Adds a route.
    pub(crate) fn add<H, T>(&mut self, operation: Operation, handler: H)
    where
        H: Handler<T, Shared>,
        T: 'static,
    {
        let filter = match operation.method {
            "get" => MethodFilter::GET,
            "post" => MethodFilter::POST,
            "put" => MethodFilter::PUT,
            "patch" => MethodFilter::PATCH,
            _ => MethodFilter::DELETE,
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(&operation.path, on(filter, handler));
        self.operations.push(operation);
    }

    /// The descriptions of all routes.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }
}

/// Everything behind the door.
pub(crate) fn router(server: &Shared, front: Option<&Path>) -> Result<Router, Error> {
    let front = front.map(front::Front::open).transpose()?;
    let routes = Routes::all();
    let page = move |method: Method, uri: Uri| {
        let front = front.clone();
        async move {
            if is_api(uri.path()) {
                return Err(Problem::not_found(format!("there is no {}", uri.path())));
            }
            if !matches!(method, Method::GET | Method::HEAD) {
                return Err(not_allowed());
            }
            front::answer(front, uri.path().to_owned()).await
        }
    };
    Ok(routes
        .router
        .fallback(page)
        .method_not_allowed_fallback(async || not_allowed())
        .layer(from_fn(etag::tag))
        .layer(from_fn_with_state(server.clone(), security::guard))
        .with_state(server.clone()))
}

fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

fn not_allowed() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, Kind::Usage, "that cannot be done here")
}
