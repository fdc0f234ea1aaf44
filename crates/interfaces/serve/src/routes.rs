//! Routes: each is added with what it is for, so that the API's description cannot leave one out.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};

use crate::operation::Operation;
use crate::state::Shared;

/// Routes and their descriptions.
pub(crate) struct Routes {
    router: Router<Shared>,
    operations: Vec<Operation>,
}

impl Routes {
    /// No routes.
    pub(crate) fn new() -> Self {
        Self { router: Router::new(), operations: Vec::new() }
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

    /// What answers them.
    pub(crate) fn into_router(self) -> Router<Shared> {
        self.router
    }
}
