//! Failures as problem details (RFC 9457), with our own code and the next steps.

use app::{Error, Kind, NextStep};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request was not answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: the title is that of the status.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The name of the status.
    title: &'static str,
    /// The status.
    status: u16,
    /// What failed, on what, and why.
    detail: String,
    /// What sort of failure it is.
    code: Kind,
    /// What to do now.
    next_steps: Vec<NextStep>,
}

impl Problem {
    /// A failure with a given status.
    pub(crate) fn new(status: StatusCode, code: Kind, detail: impl Into<String>) -> Self {
        Self::from_error(status, Error::new(code, detail))
    }

    fn from_error(status: StatusCode, error: Error) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: error.message,
            code: error.kind,
            next_steps: error.next_steps,
        }
    }

    /// Nothing has that name.
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Kind::NotFound, what)
    }

    /// The request is invalid.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::Usage, what)
    }

    /// Whether the request had no valid credential.
    pub(crate) fn is_unauthorized(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED.as_u16()
    }

    /// The caller may not do that.
    pub(crate) fn forbidden(what: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, Kind::Forbidden, what)
    }

    /// What failed, in words.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from_error(status(error.kind), error)
    }
}

fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::Usage => StatusCode::BAD_REQUEST,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Ambiguous | Kind::Held => StatusCode::CONFLICT,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::Settings | Kind::Unavailable | Kind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}
