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

use crate::crewhub::sessions::crewhub_sessions;
use crate::events::hub::{Dialect, Frame, unnumbered};
use crate::events::watching::{ASKS, REFRESH, open_asks};
use crate::extract::Authorized;
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::Grant;
use crate::shares::Share;
use crate::state::Shared;

/// How often something is sent when nothing happens, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What is sent then.
const KEEPALIVE: &[u8] = b": keepalive\n\n";
/// The first line of a stream: how long a client waits before it reconnects, in milliseconds.
const GREETING: &str = "retry: 2000\n\n";

pub(crate) fn add(routes: &mut Routes) {
    let own = get("/api/v1/events", "events", "What sessions do, as it happens");
    routes.add(own.stream(), |state, authorized, headers| events(state, authorized, headers, Dialect::Own));
    let crew = get("/api/events", "crew_events", "What sessions do, with CrewHub's keys and rows");
    routes.add(crew.stream(), |state, authorized, headers| {
        events(state, authorized, headers, Dialect::CrewHub)
    });
}

/// One subscriber.
struct Subscriber {
    server: Shared,
    grant: Arc<Grant>,
    dialect: Dialect,
    ready: VecDeque<Bytes>,
    later: Receiver<Frame>,
    tick: Interval,
    stop: watch::Receiver<bool>,
    tokens: watch::Receiver<()>,
    is_over: bool,
    _place: Share,
}

async fn events(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    headers: HeaderMap,
    dialect: Dialect,
) -> Result<Response, Problem> {
    let place = server.stream(&grant)?;
    let received = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let mut ready = VecDeque::from([Bytes::from_static(GREETING.as_bytes())]);
    let known = received.map(|received| server.hub.subscribe(Some(received)));
    let subscription = match known {
        Some(subscription) if !subscription.is_incomplete => subscription,
        known => {
            ready.extend(known.map(|_| server.hub.resync()));
            let (snapshot, subscription) =
                server.hub.subscribe_with_snapshot(dialect, everything(&server, dialect)).await;
            ready.extend(snapshot);
            subscription
        }
    };
    ready.extend(subscription.missed.iter().map(|frame| frame.bytes(dialect)));
    let mut tick = interval(KEEP_ALIVE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.reset();
    let (stop, tokens) = (server.stop(), server.credentials.changes());
    let subscriber = Subscriber {
        server,
        grant,
        dialect,
        ready,
        later: subscription.later,
        tick,
        stop,
        tokens,
        is_over: false,
        _place: place,
    };
    Ok(response(Body::from_stream(stream::unfold(subscriber, |mut subscriber| async {
        let bytes = subscriber.next().await?;
        Some((Ok::<_, Infallible>(bytes), subscriber))
    }))))
}

/// An answer that is a stream of events.
pub(crate) fn response(body: Body) -> Response {
    let kind =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache, no-transform")];
    (kind, [("x-accel-buffering", "no")], body).into_response()
}

/// All sessions that are watched and all that workers ask, as events without an id: what they contain is older than the
/// last id.
async fn everything(server: &Shared, dialect: Dialect) -> Option<Bytes> {
    let live = server.hub.live()?;
    let found = server.work(move |server, context| {
        let sessions = match dialect {
            Dialect::Own => json!({ "sessions": live.snapshot(context)?.sessions }),
            Dialect::CrewHub => json!(crewhub_sessions(server, context, None)?),
        };
        let asks = open_asks(context).into_iter().map(|asks| (ASKS, asks.written(server, dialect)));
        Ok([(REFRESH, sessions)].into_iter().chain(asks).collect::<Vec<_>>())
    });
    let events = found.await.ok()?;
    let written = events.iter().map(|(name, data)| unnumbered(name, &data.to_string()));
    Some(Bytes::from(written.collect::<String>()))
}

impl Subscriber {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(ready) = self.ready.pop_front() {
            return Some(ready);
        }
        if self.is_over {
            return None;
        }
        let bytes = tokio::select! {
            _ = self.stop.wait_for(|stop| *stop) => return None,
            received = self.later.recv() => match received {
                Ok(frame) => frame.bytes(self.dialect),
                Err(RecvError::Lagged(_)) => {
                    // The client reconnects, and gets everything again.
                    self.is_over = true;
                    self.server.hub.resync()
                }
                Err(RecvError::Closed) => return None,
            },
            // Who still has its token gets no more than a comment.
            Ok(()) = self.tokens.changed() => Bytes::from_static(KEEPALIVE),
            _ = self.tick.tick() => Bytes::from_static(KEEPALIVE),
        };
        let is_granted = self.server.credentials.holds(&self.grant, self.server.context().now);
        is_granted.then_some(bytes)
    }
}
