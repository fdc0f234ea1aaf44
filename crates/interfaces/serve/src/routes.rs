//! Routes: each is added with what it is for, so that the API's description cannot leave one out.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{MethodFilter, on};

use crate::operation::Operation;
use crate::security::scopes::admit;
use crate::state::Shared;

/// Routes and their descriptions.
pub(crate) struct Routes {
    router: Router<Shared>,
    operations: Vec<Operation>,
}

/// What answers a route, whatever its function takes and returns.
type Answering = Arc<dyn Fn(Request, Shared) -> Pin<Box<dyn Future<Output = Response> + Send>> + Send + Sync>;

impl Routes {
    /// No routes.
    pub(crate) fn new() -> Self {
        Self { router: Router::new(), operations: Vec::new() }
    }

    /// Adds a route, which answers only requests with the scope that it needs.
    ///
    /// Handlers become one type here: the router's own code would else be compiled again for each of them, which took
    /// most of the time that this crate takes.
    pub(crate) fn add<H, T>(&mut self, operation: Operation, handler: H)
    where
        H: Handler<T, Shared> + Sync,
        T: 'static,
    {
        self.add_answering(
            operation,
            Arc::new(move |request, server| Box::pin(handler.clone().call(request, server))),
        );
    }

    fn add_answering(&mut self, operation: Operation, answering: Answering) {
        let filter = match operation.method {
            "get" => MethodFilter::GET,
            "post" => MethodFilter::POST,
            "put" => MethodFilter::PUT,
            "patch" => MethodFilter::PATCH,
            _ => MethodFilter::DELETE,
        };
        let mut answers =
            on(filter, move |State(server): State<Shared>, request: Request| answering(request, server));
        if let Some(needed) = operation.scope {
            answers =
                answers.layer(from_fn(move |request: Request, next: Next| admit(needed, request, next)));
        }
        let router = std::mem::take(&mut self.router);
        self.router = router.route(&operation.path, answers);
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
