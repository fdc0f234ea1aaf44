//! The stream itself: first what was missed, or all there is; then each event as it happens.

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

use crate::extract::Granted;
use crate::operation::get;
use crate::routes::Routes;
use crate::security::Grant;
use crate::state::Shared;

/// How often something is sent when nothing happens, so that nobody in between takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What a client is told first: how long to wait before it comes back, in milliseconds.
const GREETING: &str = "retry: 2000\n\n";

pub(crate) fn add(routes: &mut Routes) {
    routes.add(get("/api/v1/events", "events", "What sessions do, as it happens").stream(), events);
    routes.add(get("/api/events", "crew_events", "What sessions do, as it happens").stream(), events);
}

/// One listener.
struct Listener {
    server: Shared,
    grant: Arc<Grant>,
    ready: VecDeque<Bytes>,
    later: Receiver<Bytes>,
    tick: Interval,
    stop: watch::Receiver<bool>,
    is_over: bool,
}

async fn events(State(server): State<Shared>, Granted(grant): Granted, headers: HeaderMap) -> Response {
    let heard = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let beginning = server.hub.join(heard);
    let mut ready = VecDeque::from([Bytes::from_static(GREETING.as_bytes())]);
    if beginning.is_incomplete {
        ready.push_back(server.hub.resync());
    }
    if heard.is_none() || beginning.is_incomplete {
        ready.extend(everything(&server).await);
    }
    ready.extend(beginning.missed);
    let mut tick = interval(KEEP_ALIVE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.reset();
    let stop = server.stop();
    let listener = Listener { server, grant, ready, later: beginning.later, tick, stop, is_over: false };
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

/// All sessions that are watched, as an event without an id: what it holds is older than the last id.
async fn everything(server: &Shared) -> Option<Bytes> {
    let live = server.hub.live()?;
    let found = server.ask(move |context| live.snapshot(context)).await.ok()?;
    let data = json!({ "sessions": found.sessions });
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
            heard = self.later.recv() => match heard {
                Ok(frame) => Some(frame),
                Err(RecvError::Lagged(_)) => {
                    // It comes back by itself, and begins anew.
                    self.is_over = true;
                    Some(self.server.hub.resync())
                }
                Err(RecvError::Closed) => None,
            },
            _ = self.tick.tick() => {
                let is_granted = self.server.door.holds(&self.grant, self.server.context().now);
                is_granted.then(|| Bytes::from_static(b": keepalive\n\n"))
            }
        }
    }
}
