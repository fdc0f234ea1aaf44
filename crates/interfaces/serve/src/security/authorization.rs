//! The authorization of each request: refused here, or passed on with what its credential grants.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;

use crate::connection_table::ConnectionMark;
use crate::notice::Notice;
use crate::page;
use crate::problem::Problem;
use crate::security::credentials::{COOKIE, unauthorized};
use crate::security::tokens::Grant;
use crate::security::{body, headers, link, origin, scopes};
use crate::state::Shared;

/// Passes on a request that is authorized, and answers one that is not. An unauthenticated connection is closed after one
/// answer; an authenticated one is never closed for another, only after a request that was refused with its body unread:
/// what comes next on it may be meant as that body.
pub(crate) async fn authorize(State(server): State<Shared>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let reads_pages = page::reads_pages(&request);
    let authentication = authenticate(&server, &request);
    if let Ok(Authentication::LinkExchanged(_) | Authentication::Token(_)) = &authentication
        && let Some(mark) = request.extensions().get::<ConnectionMark>()
    {
        mark.set_authenticated();
    }
    let mut response = match authentication {
        Ok(Authentication::Token(grant)) => match check_grant(grant, request).await {
            Ok(request) => next.run(request).await,
            Err(problem) => closing(problem.into_response()),
        },
        Ok(Authentication::LinkExchanged(response)) => response,
        Ok(Authentication::NotNeeded) => closing(next.run(request).await),
        Err(problem) if reads_pages && problem.is_unauthorized() => closing(page::refusal()),
        Err(problem) => closing(problem.into_response()),
    };
    headers::secure(response.headers_mut());
    let status = response.status().as_u16();
    server.report(Notice::Request { method: method.to_string(), path, status, took: began.elapsed() });
    response
}

/// How a request was authenticated.
enum Authentication {
    /// It needs no credential.
    NotNeeded,
    /// By the token of a link, which was exchanged for a cookie with this answer.
    LinkExchanged(Response),
    /// By a token or a cookie, which grants this.
    Token(Grant),
}

/// The response, after which its connection is closed.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Authenticates a request, after its host and its origin were checked.
fn authenticate(server: &Shared, request: &Request) -> Result<Authentication, Problem> {
    let bound = server.credentials.bound;
    let host = origin::host(request, bound)?;
    origin::check(request.method(), request.uri().path(), request.headers(), (bound, host))?;
    if request.uri().path() == "/health" {
        return Ok(Authentication::NotNeeded);
    }
    let now = server.context().now;
    let Some(secret) = link::in_page(request) else {
        return credential(server, request, now).map(Authentication::Token);
    };
    let home = (header::LOCATION, "/".to_owned());
    let cookie = match server.credentials.exchange(&secret, now) {
        // A link that was used already still leads a browser that is signed in to the page.
        Err(problem) if problem.is_unauthorized() && browser(server, request.headers(), now).is_some() => {
            return Ok(Authentication::LinkExchanged((StatusCode::SEE_OTHER, [home]).into_response()));
        }
        exchanged => exchanged?,
    };
    let place = [home, (header::SET_COOKIE, cookie)];
    Ok(Authentication::LinkExchanged((StatusCode::SEE_OTHER, place).into_response()))
}

/// The request with its grant and its whole body, if the grant is enough for it.
async fn check_grant(grant: Grant, request: Request) -> Result<Request, Problem> {
    let needed = scopes::needed(request.method(), request.uri().path());
    if grant.scope() < needed {
        return Err(Problem::forbidden(format!(
            "this token may {}, which is not enough: {needed} is needed",
            grant.scope()
        )));
    }
    let mut request = body::whole(request).await?;
    request.extensions_mut().insert(Arc::new(grant));
    Ok(request)
}

/// What the request's credential grants: a bearer token, the token of an event stream, or a browser's cookie.
fn credential(server: &Shared, request: &Request, now: Timestamp) -> Result<Grant, Problem> {
    let headers = request.headers();
    if let Some(secret) = bearer(headers).or_else(|| link::in_stream(request)) {
        let grant = server.credentials.tokens.grant(&secret, now);
        return grant.ok_or_else(|| unauthorized("this token is not valid"));
    }
    let grant = browser(server, headers, now);
    let none = || unauthorized("open the link that `backstory serve link` prints, or send a token");
    let grant = grant.ok_or_else(none)?;
    origin::check_browser(request.method(), headers)?;
    Ok(grant)
}

/// What the cookie of a browser grants.
fn browser(server: &Shared, headers: &HeaderMap, now: Timestamp) -> Option<Grant> {
    let mut grants = cookies(headers).filter_map(|secret| server.credentials.tokens.grant(secret, now));
    grants.find(Grant::is_browser)
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim().to_owned())
}

/// Every value of our cookie: another page on this machine may have set one beside ours.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}
