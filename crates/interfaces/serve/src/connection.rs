//! One connection: HTTP/1.1 with limits on the time and the size of a request's head, and on how long the client may read
//! nothing of the answer.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::connection_table::ConnectionMark;
use crate::stall::Stallable;

/// How long the head of a request may take, also the next one on a connection that is kept.
const HEAD: Duration = Duration::from_secs(15);
/// How long the client may read nothing of what is written for it.
const STALL: Duration = Duration::from_secs(30);
/// How long what is being answered may go on when the server stops.
const GRACE: Duration = Duration::from_secs(5);
/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 32 << 10;
/// The most headers of a request.
const MOST_HEADERS: usize = 64;

/// Answers the requests of a connection until the client closes it or the server stops.
pub(crate) async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    mark: ConnectionMark,
    mut stop: watch::Receiver<bool>,
) {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS);
    let stream = TokioIo::new(Stallable::new(stream, STALL));
    let router = TowerToHyperService::new(router);
    let marked = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(mark.clone());
        let answered = (head_length(&request) <= LONGEST_HEAD).then(|| router.call(request));
        async move {
            match answered {
                Some(answer) => answer.await,
                None => Ok(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.into_response()),
            }
        }
    });
    let mut connection = std::pin::pin!(builder.serve_connection(stream, marked));
    // A connection that failed cannot be answered.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(GRACE, connection).await;
}

/// How many bytes the head of a request has. The buffer that it is read into can hold a little more than its limit.
fn head_length(request: &Request<Incoming>) -> usize {
    const BESIDE: usize = "  HTTP/1.1\r\n\r\n".len();
    let target = request.uri().to_string().len();
    let lines =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    BESIDE + request.method().as_str().len() + target + lines.sum::<usize>()
}

/// Answers the requests of a connection that is to be encrypted, once both ends agree on how.
pub(crate) async fn answer_encrypted(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    acceptor: TlsAcceptor,
    router: Router,
    mark: ConnectionMark,
    mut stop: watch::Receiver<bool>,
) {
    // A client that fails the handshake, or sends plain HTTP, cannot be answered.
    let agreed = tokio::select! {
        agreed = timeout(HEAD, acceptor.accept(stream)) => agreed,
        _ = stop.wait_for(|stop| *stop) => return,
    };
    if let Ok(Ok(stream)) = agreed {
        answer(stream, router, mark, stop).await;
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use futures_util::stream;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::time::Instant;

    use super::*;
    use crate::connection_table::ConnectionTable;

    /// The other end of a connection; small, so that what is not read stalls.
    fn connected(stop: &watch::Sender<bool>) -> DuplexStream {
        let endless = || async {
            Body::from_stream(stream::repeat(Ok::<_, std::convert::Infallible>("x".repeat(1000))))
        };
        let router = Router::new().route("/", get(async || "hello")).route("/endless", get(endless));
        let (near, far) = duplex(4000);
        let mark = ConnectionTable::new(1).open().mark();
        tokio::spawn(answer(far, router, mark, stop.subscribe()));
        near
    }

    /// What the other end says until it hangs up, and after how many seconds it does.
    async fn said(mut near: DuplexStream) -> (String, u64) {
        let began = Instant::now();
        let mut said = Vec::new();
        let _ = near.read_to_end(&mut said).await;
        (String::from_utf8_lossy(&said).into_owned(), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_never_ends_is_not_waited_for() {
        let stop = watch::channel(false).0;
        for beginning in ["", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
            let mut near = connected(&stop);
            near.write_all(beginning.as_bytes()).await.unwrap();
            let (_, seconds) = said(near).await;
            assert_eq!(seconds, HEAD.as_secs(), "{beginning}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_kept_is_not_kept_forever() {
        let stop = watch::channel(false).0;
        let mut near = connected(&stop);
        near.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let (text, seconds) = said(near).await;
        assert!(text.ends_with("hello"), "{text}");
        assert_eq!(seconds, HEAD.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn heads_have_a_size() {
        let stop = watch::channel(false).0;
        let many = "X: y\r\n".repeat(MOST_HEADERS + 1);
        let long = |length: usize| {
            let beside = "GET / HTTP/1.1\r\nHost: localhost\r\nX: \r\n\r\n".len();
            format!("Host: localhost\r\nX: {}\r\n", "y".repeat(length - beside))
        };
        for (headers, status) in [
            (many, 431),
            (long(LONGEST_HEAD * 2), 431),
            (long(LONGEST_HEAD + 1), 431),
            (long(LONGEST_HEAD), 200),
        ] {
            let near = connected(&stop);
            let (mut reader, mut writer) = tokio::io::split(near);
            let head = format!("GET / HTTP/1.1\r\n{headers}\r\n");
            tokio::spawn(async move { writer.write_all(head.as_bytes()).await });
            let mut text = String::new();
            let _ = reader.read_to_string(&mut text).await;
            assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{} {text}", headers.len());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_is_left() {
        let stop = watch::channel(false).0;
        let mut near = connected(&stop);
        near.write_all(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut byte = [0];
        near.read_exact(&mut byte).await.unwrap();
        tokio::time::sleep(STALL * 2).await;
        let (text, _) = said(near).await;
        assert!(text.len() < 10_000, "{}", text.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_ends_with_the_server() {
        let stop = watch::channel(false).0;
        let near = connected(&stop);
        stop.send(true).unwrap();
        assert!(said(near).await.1 <= GRACE.as_secs());
    }
}
