//! Streamable HTTP on the loopback, for clients that show the token.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use app::{Error, Kind};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::frames::{Frame, LONGEST, decode, too_long};
use crate::server::Server;
use crate::token::Token;

/// How long a client may say nothing until it has to begin again. A person leaves a session open over night.
const SESSION_LIVES: Duration = Duration::from_hours(24);
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
    let token = Token::kept(&server.app.config.state)?;
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    announce(address, &token);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_LIVES);
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config(address));
    let router = Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn(require_message))
        .layer(middleware::from_fn_with_state(token, require_token));
    axum::serve(listener, router).await.map_err(failed)
}

/// A page of another site must reach the server neither by its own name nor by one that leads to the loopback.
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
    let shown = request.headers().get(header::AUTHORIZATION);
    if shown.is_some_and(|shown| token.is_shown_by(shown.as_bytes())) {
        return next.run(request).await;
    }
    let why = "show the token that `backstory mcp --http` printed: Authorization: Bearer <token>\n";
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], why).into_response()
}

/// Answers what is no message of the protocol as standard input does, with the protocol's own codes.
async fn require_message(request: Request, next: Next) -> Response {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if request.method() != Method::POST || !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, LONGEST).await else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, ServerJsonRpcMessage::error(too_long(), None));
    };
    match decode(&bytes) {
        Frame::Invalid { id, error } => {
            refused(StatusCode::BAD_REQUEST, ServerJsonRpcMessage::error(error, id))
        }
        Frame::Message(_) | Frame::Nothing => next.run(Request::from_parts(head, Body::from(bytes))).await,
    }
}

fn refused(status: StatusCode, message: ServerJsonRpcMessage) -> Response {
    (status, Json(message)).into_response()
}

/// Tells the person how a client connects.
fn announce(address: SocketAddr, token: &Token) {
    let url = format!("http://{address}{PATH}");
    let text = format!(
        "Listening on {url}\n\
         claude mcp add --transport http backstory {url} --header \"Authorization: Bearer {}\"\n",
        token.as_str()
    );
    // Without a standard error nobody reads it.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
