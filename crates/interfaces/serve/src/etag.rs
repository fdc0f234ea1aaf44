//! Entity tags: a client that has the same answer already gets 304 instead of the answer. A long answer is compressed for a
//! client that takes that.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::task::spawn_blocking;
use xxhash_rust::xxh3::xxh3_128;

use crate::encoding::{ENCODING, LEAST, accepts, compressed};

/// Tags answers of JSON to questions.
pub(crate) async fn tag(request: Request, next: Next) -> Response {
    let is_question = matches!(*request.method(), Method::GET | Method::HEAD);
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let takes_compressed = accepts(request.headers(), ENCODING);
    let response = next.run(request).await;
    if !is_question || response.status() != StatusCode::OK || !is_json(response.headers()) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // It is in memory already, in one piece.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let tag = format!("\"{:032x}\"", xxh3_128(&bytes));
    let is_known = known.is_some_and(|known| matches(&known, &tag));
    head.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    head.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    head.headers.extend(HeaderValue::from_str(&tag).map(|tag| (header::ETAG, tag)));
    if is_known {
        head.status = StatusCode::NOT_MODIFIED;
        head.headers.remove(header::CONTENT_TYPE);
        head.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(head, Body::empty());
    }
    if !takes_compressed || bytes.len() < LEAST {
        return Response::from_parts(head, Body::from(bytes));
    }
    let whole = bytes.clone();
    let Ok(Some(packed)) = spawn_blocking(move || compressed(&whole)).await else {
        return Response::from_parts(head, Body::from(bytes));
    };
    // Other bytes with the same meaning.
    if let Ok(tag) = HeaderValue::from_str(&format!("W/{tag}")) {
        head.headers.insert(header::ETAG, tag);
    }
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(ENCODING));
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(packed))
}

fn is_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes() == b"application/json")
}

fn matches(known: &HeaderValue, tag: &str) -> bool {
    let known = known.to_str().unwrap_or_default();
    known.split(',').any(|one| matches!(one.trim(), "*") || one.trim().trim_start_matches("W/") == tag)
}
