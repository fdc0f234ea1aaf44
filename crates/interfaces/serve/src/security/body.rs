//! The body of a request is read whole before anything is done with it, with a limit on its size and on the time.

use std::time::Duration;

use app::Kind;
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use tokio::time::timeout;

use crate::problem::Problem;

/// The largest body, in bytes.
const LARGEST: usize = 1 << 20;
/// How long a body may take.
const LONGEST: Duration = Duration::from_secs(20);

/// The request with its whole body in memory.
pub(super) async fn whole(request: Request) -> Result<Request, Problem> {
    let (head, body) = request.into_parts();
    if head.headers.contains_key(header::CONTENT_ENCODING) {
        let detail = "a compressed body is not accepted";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Kind::Usage, detail));
    }
    if let Some(coding) = head.headers.get(header::TRANSFER_ENCODING) {
        if head.headers.contains_key(header::CONTENT_LENGTH) {
            return Err(Problem::usage("send either Content-Length or Transfer-Encoding, not both"));
        }
        if !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
            return Err(Problem::usage("the only Transfer-Encoding that is accepted is `chunked`"));
        }
    }
    // Before the client is asked to go on with it.
    if body.size_hint().lower() > LARGEST as u64 {
        return Err(too_large());
    }
    let bytes = match timeout(LONGEST, to_bytes(body, LARGEST)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return Err(too_large()),
        Err(_) => {
            let detail = "the body did not arrive in time";
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, Kind::Usage, detail));
        }
    };
    Ok(Request::from_parts(head, Body::from(bytes)))
}

fn too_large() -> Problem {
    let detail = format!("the body is larger than {LARGEST} bytes, or was not sent whole");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, Kind::TooLarge, detail)
}
