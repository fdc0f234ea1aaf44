//! The events of one worker as a stream. A worker is followed by a thread, because its events are waited for.

use std::convert::Infallible;
use std::sync::mpsc::RecvError;
use std::time::Duration;

use app::Error;
use app::workers::{Event, attach};
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::events::route::response;
use crate::problem::Problem;
use crate::state::Shared;

/// How many events a reader may be behind; the thread waits then.
const BEHIND: usize = 64;
/// How often a follower checks whether its reader has left.
pub(crate) const GLANCE: Duration = Duration::from_millis(250);
/// How often something is sent when nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The reader of a stream, as the thread that follows a worker sees it.
pub(crate) struct Reader(Sender<String>);

impl Reader {
    /// Sends an event; false where the reader has left.
    pub(crate) fn send(&self, frame: String) -> bool {
        self.0.blocking_send(frame).is_ok()
    }

    fn has_left(&self) -> bool {
        self.0.is_closed()
    }

    /// Passes events on until there are no more, the reader has left, or `pass` returns false.
    pub(crate) fn follow(
        &self,
        mut next: impl FnMut(Duration) -> Result<Option<Event>, RecvError>,
        mut pass: impl FnMut(&Self, Event) -> bool,
    ) {
        while !self.has_left() {
            let is_open = match next(GLANCE) {
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
pub(crate) async fn stream(server: &Shared, worker: String) -> Result<Response, Problem> {
    let place = server.follower()?;
    let (link, mut events) = server
        .ask(move |context| {
            let (_, mut link) = attach(context, &worker)?;
            let events = link.listen();
            Ok((link, events))
        })
        .await?;
    Ok(streamed(server, place, move |reader| {
        let _link = link;
        reader.follow(|patience| events.next_within(patience), |reader, event| reader.send(frame_of(&event)));
    }))
}

/// A stream of what `work` sends from a thread of its own, which has one of the places for followers.
pub(crate) fn streamed(
    server: &Shared,
    place: OwnedSemaphorePermit,
    work: impl FnOnce(&Reader) + Send + 'static,
) -> Response {
    let (sender, receiver) = channel(BEHIND);
    spawn_blocking(move || {
        work(&Reader(sender));
        drop(place);
    });
    let stop = server.stop();
    response(Body::from_stream(stream::unfold((receiver, stop), |(mut receiver, mut stop)| async {
        let frame = until_stopped(&mut receiver, &mut stop).await?;
        Some((Ok::<_, Infallible>(Bytes::from(frame)), (receiver, stop)))
    })))
}

async fn until_stopped(receiver: &mut Receiver<String>, stop: &mut watch::Receiver<bool>) -> Option<String> {
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => None,
        frame = receiver.recv() => frame,
        // A comment now and then shows whether the reader has left.
        () = sleep(KEEP_ALIVE) => Some(": keepalive\n\n".to_owned()),
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
