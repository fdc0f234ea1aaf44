//! The authorization of each request: refused here, or passed on with what its credential grants.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;

use crate::notice::Notice;
use crate::page;
use crate::problem::Problem;
use crate::security::credentials::{COOKIE, unauthorized};
use crate::security::tokens::Grant;
use crate::security::{body, headers, link, origin, scopes};
use crate::state::Shared;

/// Passes on a request that is authorized, and answers one that is not.
pub(crate) async fn authorize(State(server): State<Shared>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let reads_pages = page::reads_pages(&request);
    let mut response = match admit(&server, request).await {
        Ok(Admitted::Request(request)) => next.run(*request).await,
        Ok(Admitted::Answer(response)) => response,
        Err(problem) if reads_pages && problem.is_unauthorized() => page::refusal(),
        Err(problem) => problem.into_response(),
    };
    headers::secure(response.headers_mut());
    let status = response.status().as_u16();
    server.report(Notice::Request { method: method.to_string(), path, status, took: began.elapsed() });
    response
}

enum Admitted {
    Request(Box<Request>),
    Answer(Response),
}

async fn admit(server: &Shared, request: Request) -> Result<Admitted, Problem> {
    let bound = server.credentials.bound;
    let host = origin::host(&request, bound)?;
    origin::check(request.method(), request.uri().path(), request.headers(), (bound, host))?;
    if request.uri().path() == "/health" {
        return Ok(Admitted::Request(Box::new(request)));
    }
    let now = server.context().now;
    if let Some(secret) = link::in_page(&request) {
        let cookie = server.credentials.exchange(&secret, now)?;
        let place = [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)];
        return Ok(Admitted::Answer((StatusCode::SEE_OTHER, place).into_response()));
    }
    let grant = credential(server, &request, now)?;
    let needed = scopes::needed(request.method(), request.uri().path());
    if grant.scope() < needed {
        return Err(Problem::forbidden(format!(
            "this token may {}, which is not enough: {needed} is needed",
            grant.scope()
        )));
    }
    let mut request = body::whole(request).await?;
    request.extensions_mut().insert(Arc::new(grant));
    Ok(Admitted::Request(Box::new(request)))
}

/// What the request's credential grants: a bearer, the token of an event stream, or a browser's cookie.
fn credential(server: &Shared, request: &Request, now: Timestamp) -> Result<Grant, Problem> {
    let headers = request.headers();
    if let Some(secret) = bearer(headers).or_else(|| link::in_stream(request)) {
        let grant = server.credentials.tokens.grant(&secret, now);
        return grant.ok_or_else(|| unauthorized("this token is not valid"));
    }
    let mut grants = cookies(headers).filter_map(|secret| server.credentials.tokens.grant(secret, now));
    let grant = grants.find(Grant::is_browser);
    let grant =
        grant.ok_or_else(|| unauthorized("open the link that `backstory serve` printed, or send a token"))?;
    origin::check_browser(request.method(), headers)?;
    Ok(grant)
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim().to_owned())
}

/// Every value of our cookie: one that somebody planted beside the right one does no harm.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}
