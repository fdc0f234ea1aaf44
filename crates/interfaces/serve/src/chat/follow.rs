//! The events of one worker as a stream. A worker is followed by a thread, because its events are waited for.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::RecvError;
use std::time::Duration;

use app::Error;
use app::workers::{Event, attach};
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::{Stream, stream};
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::events::route::response;
use crate::problem::Problem;
use crate::security::Grant;
use crate::state::{Follower, Shared};

/// How many events a client may be behind; the thread waits then.
const CAPACITY: usize = 64;
/// How often a follower checks whether its client has disconnected.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// How often a comment is sent, which fails where the client has disconnected, and the token is checked again, as it is for
/// each event and whenever tokens change.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The client of a stream, for the thread that follows a worker.
pub(crate) struct Reader(Sender<String>);

impl Reader {
    /// Sends an event; false where the client has disconnected.
    pub(crate) fn send(&self, frame: String) -> bool {
        self.0.blocking_send(frame).is_ok()
    }

    fn is_disconnected(&self) -> bool {
        self.0.is_closed()
    }

    /// Passes events on until there are no more, the client has disconnected, or `pass` returns false.
    pub(crate) fn follow(
        &self,
        mut next: impl FnMut(Duration) -> Result<Option<Event>, RecvError>,
        mut pass: impl FnMut(&Self, Event) -> bool,
    ) {
        while !self.is_disconnected() {
            let is_open = match next(POLL_INTERVAL) {
                Ok(Some(event)) => pass(self, event),
                Ok(None) => true,
                Err(RecvError) => false,
            };
            if !is_open {
                return;
            }
        }
    }
}

/// What a worker does, from lately until it ends.
pub(crate) async fn stream(server: &Shared, grant: Arc<Grant>, worker: String) -> Result<Response, Problem> {
    let place = server.follower(&grant)?;
    let (link, mut events) = server
        .ask(move |context| {
            let (_, mut link) = attach(context, &worker)?;
            let events = link.listen();
            Ok((link, events))
        })
        .await?;
    Ok(streamed(server, grant, place, move |reader| {
        let _link = link;
        reader.follow(|timeout| events.next_within(timeout), |reader, event| reader.send(frame_of(&event)));
    }))
}

/// A stream of what `work` sends. It runs on its own thread and takes one of the follower permits.
pub(crate) fn streamed(
    server: &Shared,
    grant: Arc<Grant>,
    place: Follower,
    work: impl FnOnce(&Reader) + Send + 'static,
) -> Response {
    let (sender, receiver) = channel(CAPACITY);
    spawn_blocking(move || {
        work(&Reader(sender));
        drop(place);
    });
    let (ends, server) = ((server.stop(), server.credentials.changes()), server.clone());
    let is_granted = move || server.credentials.holds(&grant, server.context().now);
    response(Body::from_stream(while_granted(receiver, ends, is_granted)))
}

/// The frames that are received until the server stops or the client's token is revoked.
fn while_granted(
    receiver: Receiver<String>,
    ends: (watch::Receiver<bool>, watch::Receiver<()>),
    is_granted: impl Fn() -> bool + Send + 'static,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let mut tick = interval(KEEP_ALIVE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.reset();
    stream::unfold(
        (receiver, ends, tick, is_granted),
        |(mut receiver, mut ends, mut tick, is_granted)| async move {
            let frame = until_tick(&mut receiver, &mut ends, &mut tick).await?;
            let frame = frame.unwrap_or_else(|| ": keepalive\n\n".to_owned());
            is_granted().then(|| (Ok(Bytes::from(frame)), (receiver, ends, tick, is_granted)))
        },
    )
}

/// The next frame, or nothing at a tick and when tokens change; none at the end.
async fn until_tick(
    receiver: &mut Receiver<String>,
    (stop, tokens): &mut (watch::Receiver<bool>, watch::Receiver<()>),
    tick: &mut Interval,
) -> Option<Option<String>> {
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => None,
        Ok(()) = tokens.changed() => Some(None),
        frame = receiver.recv() => frame.map(Some),
        _ = tick.tick() => Some(None),
    }
}

/// An event as it is written on a stream.
pub(crate) fn frame(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn frame_of(event: &Event) -> String {
    let data = serde_json::to_value(event).unwrap_or_default();
    frame(data["event"].as_str().unwrap_or("event"), &data)
}

/// What failed, as the last event of a stream.
pub(crate) fn failure(error: &Error) -> String {
    frame("error", &serde_json::json!({ "error": error.message }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures_util::StreamExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_when_its_token_is_revoked() {
        let (_sender, receiver) = channel(CAPACITY);
        let (_stopper, stop) = watch::channel(false);
        let (_keeper, changes) = watch::channel(());
        let holds = AtomicBool::new(true);
        let frames = while_granted(receiver, (stop, changes), move || holds.swap(false, Ordering::Relaxed));
        let frames: Vec<_> = frames.take(3).collect().await;
        assert_eq!(frames, [Ok(Bytes::from_static(b": keepalive\n\n"))]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_at_once_when_its_token_is_revoked() {
        let (_sender, receiver) = channel(CAPACITY);
        let (_stopper, stop) = watch::channel(false);
        let (signal, changes) = watch::channel(());
        let began = tokio::time::Instant::now();
        let frames = while_granted(receiver, (stop, changes), || false);
        signal.send_replace(());
        assert!(frames.collect::<Vec<_>>().await.is_empty() && began.elapsed() < KEEP_ALIVE);
    }

    #[tokio::test(start_paused = true)]
    async fn no_event_is_sent_to_a_revoked_token() {
        let (sender, receiver) = channel(CAPACITY);
        for word in ["first", "second", "third"] {
            sender.send(word.to_owned()).await.unwrap();
        }
        let (_stopper, stop) = watch::channel(false);
        let (_keeper, changes) = watch::channel(());
        let holds = AtomicBool::new(true);
        let frames = while_granted(receiver, (stop, changes), move || holds.swap(false, Ordering::Relaxed));
        let frames: Vec<_> = frames.collect().await;
        assert_eq!(frames, [Ok(Bytes::from_static(b"first"))]);
    }
}
