//! What a request says, checked: its path, its query and its body. What makes no sense is a problem with its reason.

use std::sync::Arc;

use app::Kind;
use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::problem::Problem;
use crate::security::Grant;

/// The parameters in the path.
pub(crate) struct PathParams<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        found.map(|Path(found)| Self(found)).map_err(|rejected| Problem::usage(rejected.body_text()))
    }
}

/// The parameters in the query.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        found.map(|Query(found)| Self(found)).map_err(|rejected| Problem::usage(rejected.body_text()))
    }
}

/// What the body says in JSON.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        // A page of another origin can send any other kind without asking first.
        if !kind.is_some_and(is_json) {
            let detail = "the body has to be application/json";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Kind::Usage, detail));
        }
        let body =
            Bytes::from_request(request, state).await.map_err(|error| Problem::usage(error.body_text()))?;
        let read = serde_json::from_slice(&body);
        read.map(Self)
            .map_err(|error| Problem::usage(format!("the body is not what this route takes: {error}")))
    }
}

fn is_json(kind: &str) -> bool {
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Refuses to answer with nothing: for the requests of `app`, whose limit can be written as 0.
pub(crate) fn check_limit(limit: usize) -> Result<(), Problem> {
    if limit == 0 { Err(Problem::usage("`limit` has to be at least 1")) } else { Ok(()) }
}

/// What the caller may do.
pub(crate) struct Authorized(pub(crate) Arc<Grant>);

impl<S: Send + Sync> FromRequestParts<S> for Authorized {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let grant = parts.extensions.get::<Arc<Grant>>();
        grant.cloned().map(Self).ok_or_else(|| Problem::forbidden("this needs a token"))
    }
}
