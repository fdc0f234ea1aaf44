//! The stream itself: first what was missed, or all sessions; then each event as it happens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::crew::sessions::crew_sessions;
use crate::events::hub::{Dialect, Frame};
use crate::extract::Granted;
use crate::operation::get;
use crate::routes::Routes;
use crate::security::Grant;
use crate::state::Shared;

/// How often something is sent when nothing happens, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The first line of a stream: how long a client waits before it comes back, in milliseconds.
const GREETING: &str = "retry: 2000\n\n";

pub(crate) fn add(routes: &mut Routes) {
    let own = get("/api/v1/events", "events", "What sessions do, as it happens");
    routes.add(own.stream(), |state, granted, headers| events(state, granted, headers, Dialect::Own));
    let crew = get("/api/events", "crew_events", "What sessions do, with CrewHub's keys and rows");
    routes.add(crew.stream(), |state, granted, headers| events(state, granted, headers, Dialect::Crew));
}

/// One listener.
struct Listener {
    server: Shared,
    grant: Arc<Grant>,
    dialect: Dialect,
    ready: VecDeque<Bytes>,
    later: Receiver<Frame>,
    tick: Interval,
    stop: watch::Receiver<bool>,
    is_over: bool,
}

async fn events(
    State(server): State<Shared>,
    Granted(grant): Granted,
    headers: HeaderMap,
    dialect: Dialect,
) -> Response {
    let received = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let mut ready = VecDeque::from([Bytes::from_static(GREETING.as_bytes())]);
    let known = received.map(|received| server.hub.join(Some(received)));
    let beginning = match known {
        Some(beginning) if !beginning.is_incomplete => beginning,
        known => {
            ready.extend(known.map(|_| server.hub.resync()));
            let (snapshot, beginning) =
                server.hub.join_with_snapshot(dialect, everything(&server, dialect)).await;
            ready.extend(snapshot);
            beginning
        }
    };
    ready.extend(beginning.missed.iter().map(|frame| frame.bytes(dialect)));
    let mut tick = interval(KEEP_ALIVE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.reset();
    let stop = server.stop();
    let listener =
        Listener { server, grant, dialect, ready, later: beginning.later, tick, stop, is_over: false };
    response(Body::from_stream(stream::unfold(listener, |mut listener| async {
        let bytes = listener.next().await?;
        Some((Ok::<_, Infallible>(bytes), listener))
    })))
}

/// An answer that is a stream of events.
pub(crate) fn response(body: Body) -> Response {
    let kind =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache, no-transform")];
    (kind, [("x-accel-buffering", "no")], body).into_response()
}

/// All sessions that are watched, as an event without an id: what it contains is older than the last id.
async fn everything(server: &Shared, dialect: Dialect) -> Option<Bytes> {
    let live = server.hub.live()?;
    let found = server.work(move |server, context| match dialect {
        Dialect::Own => Ok(json!({ "sessions": live.snapshot(context)?.sessions })),
        Dialect::Crew => Ok(json!(crew_sessions(server, context, None)?)),
    });
    let data = found.await.ok()?;
    Some(Bytes::from(format!("event: sessions-refresh\ndata: {data}\n\n")))
}

impl Listener {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(ready) = self.ready.pop_front() {
            return Some(ready);
        }
        if self.is_over {
            return None;
        }
        tokio::select! {
            _ = self.stop.wait_for(|stop| *stop) => None,
            received = self.later.recv() => match received {
                Ok(frame) => Some(frame.bytes(self.dialect)),
                Err(RecvError::Lagged(_)) => {
                    // It comes back by itself, and gets everything again.
                    self.is_over = true;
                    Some(self.server.hub.resync())
                }
                Err(RecvError::Closed) => None,
            },
            _ = self.tick.tick() => {
                let is_granted = self.server.credentials.holds(&self.grant, self.server.context().now);
                is_granted.then(|| Bytes::from_static(b": keepalive\n\n"))
            }
        }
    }
}
