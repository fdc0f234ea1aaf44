//! The authorization of each request: refused here, or passed on with what its credential grants. Whether that is enough is
//! checked where the request's route is known (`routes`).

use std::sync::Arc;
use std::time::Instant;

use app::Kind;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;

use crate::connection_table::{ConnectionMark, Owner};
use crate::notice::Notice;
use crate::page;
use crate::problem::Problem;
use crate::security::credentials::{COOKIE, KEY, unauthorized};
use crate::security::tokens::Grant;
use crate::security::{body, headers, link, origin};
use crate::state::Shared;

/// Passes on a request that is authorized, and answers one that is not. An unauthenticated connection is closed after one
/// answer; an authenticated one is never closed for another, only after a request that was refused with its body unread:
/// what comes next on it may be meant as that body.
pub(crate) async fn authorize(State(server): State<Shared>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let reads_pages = page::reads_pages(&request);
    let mut response = match authenticate_connection(&server, &request) {
        Ok(Authentication::Token(grant)) => match with_grant(grant, request).await {
            Ok(request) => next.run(request).await,
            Err(problem) => closing(problem.into_response()),
        },
        Ok(Authentication::Cookie(_)) => match body::whole(request).await {
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
    /// By the token of a link, which was exchanged for a browser's secrets with this answer.
    LinkExchanged(Response),
    /// By a browser's cookie alone, which is enough for a page that is the same for everybody.
    Cookie(Grant),
    /// By a token, or by a browser's cookie and its key, which grants this.
    Token(Grant),
}

impl Authentication {
    /// Who has the connection that it came on.
    fn owner(&self) -> Option<Owner> {
        match self {
            Self::NotNeeded | Self::LinkExchanged(_) => None,
            // Another program of this machine may have got the cookie, and can take only the places of pages with it.
            Self::Cookie(grant) => Some(Owner { name: format!("{} pages", grant.digest()), is_admin: false }),
            Self::Token(grant) => Some(grant.owner()),
        }
    }
}

/// Authenticates a request, and the connection that it came on.
fn authenticate_connection(server: &Shared, request: &Request) -> Result<Authentication, Problem> {
    let authentication = authenticate(server, request)?;
    if let Some(owner) = authentication.owner() {
        take_connection(request, owner)?;
    }
    Ok(authentication)
}

/// Makes the request's connection one of the owner's, unless there are too many.
fn take_connection(request: &Request, owner: Owner) -> Result<(), Problem> {
    let mark = request.extensions().get::<ConnectionMark>();
    if mark.is_none_or(|mark| mark.set_authenticated(owner)) {
        return Ok(());
    }
    let detail = "this token has too many connections; close some, and try again";
    Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, Kind::Unavailable, detail))
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
        return credential(server, request, now);
    };
    let home = |fragment: &str| (header::LOCATION, format!("/{fragment}"));
    let secrets = match server.credentials.exchange(&secret, now) {
        // A link that was used already still leads a browser that is signed in to the page.
        Err(problem) if problem.is_unauthorized() && cookie_of(server, request, now).is_some() => {
            return Ok(Authentication::LinkExchanged((StatusCode::SEE_OTHER, [home("")]).into_response()));
        }
        exchanged => exchanged?,
    };
    // A browser sends what follows `#` to nobody; the page stores it for its own address, to which the port belongs.
    let place = home(&format!("#key={}", secrets.key));
    let cookie = (header::SET_COOKIE, server.credentials.set_cookie(&secrets));
    Ok(Authentication::LinkExchanged((StatusCode::SEE_OTHER, [place, cookie]).into_response()))
}

/// The request with its grant and its whole body.
async fn with_grant(grant: Grant, request: Request) -> Result<Request, Problem> {
    let mut request = body::whole(request).await?;
    request.extensions_mut().insert(Arc::new(grant));
    Ok(request)
}

/// What the request's credential grants: a bearer token, the token of an event stream, or a browser's cookie with its key.
fn credential(server: &Shared, request: &Request, now: Timestamp) -> Result<Authentication, Problem> {
    let headers = request.headers();
    if let Some(secret) = bearer(headers).or_else(|| link::in_stream(request)) {
        let grant = server.credentials.tokens.grant(&secret, now);
        return grant.map(Authentication::Token).ok_or_else(|| unauthorized("this token is not valid"));
    }
    if let Some(grant) = browser(server, request, now) {
        origin::check_browser(request.method(), headers)?;
        return Ok(Authentication::Token(grant));
    }
    let is_page = origin::is_safe(request.method()) && page::is_for_everybody(request.uri().path());
    let grant = is_page.then(|| cookie_of(server, request, now)).flatten();
    let none = || unauthorized("open the link that `backstory serve link` prints, or send a token");
    grant.map(Authentication::Cookie).ok_or_else(none)
}

/// What the cookie of a browser and its key grant together.
fn browser(server: &Shared, request: &Request, now: Timestamp) -> Option<Grant> {
    let in_header = request.headers().get(KEY).and_then(|key| key.to_str().ok()).map(str::to_owned);
    let key = in_header.or_else(|| link::key(request))?;
    cookies(request.headers()).find_map(|cookie| server.credentials.tokens.browser(cookie, &key, now))
}

/// The browser that the request's cookie is of.
fn cookie_of(server: &Shared, request: &Request, now: Timestamp) -> Option<Grant> {
    cookies(request.headers()).find_map(|cookie| server.credentials.tokens.browser_of_cookie(cookie, now))
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
