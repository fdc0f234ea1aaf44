//! Streamable HTTP on the loopback interface, for clients with the token.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use app::{Error, Kind};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcRequest, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::frames::{Frame, LONGEST, decode, id_in_use, too_long, with_next_step};
use crate::http_sessions::{HttpSessions, MAX_SESSIONS};
use crate::server::Server;
use crate::token::Token;
use crate::validation::{validate, with_default_next_step};

/// The code that the official libraries use for an unknown session.
const SESSION_NOT_FOUND: ErrorCode = ErrorCode(-32001);
/// The header that names a session.
const SESSION: &str = "Mcp-Session-Id";
/// Where clients find the server.
const PATH: &str = "/mcp";

/// Answers clients until the process ends.
pub(crate) async fn serve(server: Server, address: SocketAddr) -> Result<(), Error> {
    if !address.ip().is_loopback() {
        let message = format!("{address} can be reached from other machines");
        return Err(
            Error::new(Kind::Usage, message).hint("give an address of the loopback, such as 127.0.0.1:8766")
        );
    }
    let failed = |error| Error::caused(Kind::Unavailable, format!("cannot listen on {address}"), &error);
    let token = Token::load_or_create(&server.app.config.state)?;
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    print_address(address);
    let sessions = HttpSessions::new();
    let manager = sessions.manager.clone();
    let service = StreamableHttpService::new(move || Ok(server.clone()), manager, config(address));
    let router = Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn_with_state(sessions, require_message))
        .layer(middleware::from_fn_with_state(token, require_token))
        .layer(middleware::from_fn(as_json_rpc_error));
    axum::serve(listener, router).await.map_err(failed)
}

/// Refuses web pages of other sites, also those that reach the server by DNS rebinding.
fn config(address: SocketAddr) -> StreamableHttpServerConfig {
    let port = address.port();
    let names = ["localhost", "127.0.0.1", "[::1]"];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.map(|name| format!("{name}:{port}")))
        .with_allowed_origins(names.map(|name| format!("http://{name}:{port}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(LONGEST)
}

async fn require_token(State(token): State<Token>, request: Request, next: Next) -> Response {
    let authorization = request.headers().get(header::AUTHORIZATION);
    if authorization.is_some_and(|value| token.is_in(value.as_bytes())) {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], "the token is missing or wrong")
        .into_response()
}

/// Makes the body of every error response, also of the library's, a JSON-RPC error with a next step.
async fn as_json_rpc_error(request: Request, next: Next) -> Response {
    let is_other_path = request.uri().path() != PATH;
    let response = next.run(request).await;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    let (mut head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, LONGEST).await.unwrap_or_default();
    if is_json && let Ok(ServerJsonRpcMessage::Error(refusal)) = serde_json::from_slice(&body) {
        head.headers.remove(header::CONTENT_LENGTH);
        let message = ServerJsonRpcMessage::error(with_default_next_step(refusal.error), refusal.id);
        return (head, Json(message)).into_response();
    }
    let text = String::from_utf8_lossy(&body).trim().to_owned();
    let (code, step) = next_step(status, is_other_path);
    let reason = status.canonical_reason().unwrap_or("refused").to_lowercase();
    let message = if text.is_empty() { reason } else { text };
    let error = with_next_step(ErrorData::new(code, message, None), step);
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.remove(header::CONTENT_TYPE);
    (head, Json(ServerJsonRpcMessage::error(error, None))).into_response()
}

/// The error code and the next step for a status.
fn next_step(status: StatusCode, is_other_path: bool) -> (ErrorCode, &'static str) {
    match status {
        StatusCode::UNAUTHORIZED => (
            ErrorCode::INVALID_REQUEST,
            "send the headers that `backstory mcp --headers` prints: Authorization: Bearer <token>",
        ),
        StatusCode::FORBIDDEN => (
            ErrorCode::INVALID_REQUEST,
            "use the host 127.0.0.1 or localhost with the port, and not from a web page of another site",
        ),
        StatusCode::NOT_FOUND if is_other_path => {
            (ErrorCode::INVALID_REQUEST, "the server is at the path /mcp")
        }
        StatusCode::NOT_FOUND => {
            (SESSION_NOT_FOUND, "start a new session: send `initialize` without Mcp-Session-Id")
        }
        StatusCode::METHOD_NOT_ALLOWED => (ErrorCode::INVALID_REQUEST, "send messages with POST"),
        StatusCode::NOT_ACCEPTABLE => {
            (ErrorCode::INVALID_REQUEST, "send the header Accept: application/json, text/event-stream")
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            (ErrorCode::INVALID_REQUEST, "send the header Content-Type: application/json")
        }
        status if status.is_server_error() => {
            (ErrorCode::INTERNAL_ERROR, "try again; if it fails again, see what `backstory doctor` says")
        }
        _ => (ErrorCode::INVALID_REQUEST, "see docs/mcp.md of Backstory for what the server accepts"),
    }
}

/// Refuses invalid messages with the same errors as over standard input.
async fn require_message(State(sessions): State<HttpSessions>, request: Request, next: Next) -> Response {
    if let Some(session) = request.headers().get(SESSION) {
        sessions.used(session);
    }
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    if request.method() != Method::POST || request.uri().path() != PATH || !is_json {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, LONGEST).await else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, ServerJsonRpcMessage::error(too_long(), None));
    };
    let session = head.headers.get(SESSION).cloned();
    let next = |bytes| next.run(Request::from_parts(head, Body::from(bytes)));
    let message = match decode(&bytes) {
        Frame::Nothing => return next(bytes).await,
        Frame::Invalid { id, error } => {
            return refused(StatusCode::BAD_REQUEST, ServerJsonRpcMessage::error(error, id));
        }
        Frame::Message(message) => *message,
    };
    if let ClientJsonRpcMessage::Request(request) = &message
        && let Some(error) = validate(&request.request)
    {
        let status = status_of(&error, session.is_some());
        return refused(status, ServerJsonRpcMessage::error(error, Some(request.id.clone())));
    }
    match (message, session) {
        (ClientJsonRpcMessage::Request(request), Some(session)) => {
            match sessions.open.take(session, request.id.clone()) {
                Some(taken) => taken.answered_by(next(bytes).await),
                None => refused(StatusCode::BAD_REQUEST, in_use(request.id)),
            }
        }
        (
            ClientJsonRpcMessage::Request(JsonRpcRequest {
                id,
                request: ClientRequest::InitializeRequest(_),
                ..
            }),
            None,
        ) => {
            let Some(_room) = sessions.make_room().await else {
                return refused(StatusCode::SERVICE_UNAVAILABLE, all_busy(id));
            };
            let response = next(bytes).await;
            if let Some(session) = response.headers().get(SESSION) {
                sessions.started(session);
            }
            response
        }
        _ => next(bytes).await,
    }
}

/// The status of an answer to an invalid request. In a session it is 200: clients take another status for the end of the
/// connection.
fn status_of(error: &ErrorData, is_in_session: bool) -> StatusCode {
    match error.code {
        ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_PARAMS if is_in_session => StatusCode::OK,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    }
}

fn all_busy(id: RequestId) -> ServerJsonRpcMessage {
    let message = format!("there are {MAX_SESSIONS} sessions, and every one has a request in progress");
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None);
    let step = "send `initialize` again once a request is answered, or end a session: DELETE /mcp with its Mcp-Session-Id";
    ServerJsonRpcMessage::error(with_next_step(error, step), Some(id))
}

fn in_use(id: RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(id_in_use(), Some(id))
}

fn refused(status: StatusCode, message: ServerJsonRpcMessage) -> Response {
    (status, Json(message)).into_response()
}

/// Prints how a client connects. What is printed is kept in logs, and what is pasted in a shell's history: the token is in
/// neither, because Claude Code asks this program for it.
fn print_address(address: SocketAddr) {
    let url = format!("http://{address}{PATH}");
    let server = json!({ "type": "http", "url": url, "headersHelper": "backstory mcp --headers" });
    let text = format!("Listening on {url}\nclaude mcp add-json backstory '{server}'\n");
    // Standard error may be closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The headers that a client sends.
pub fn headers(state: &Path) -> Result<Value, Error> {
    let token = Token::load_or_create(state)?;
    Ok(json!({ "Authorization": format!("Bearer {}", token.as_str()) }))
}
