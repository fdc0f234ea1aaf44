//! The events of one worker as a stream. A worker is followed by a thread, because its events are waited for.

use std::convert::Infallible;

use app::Error;
use app::workers::{Event, attach};
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::spawn_blocking;

use crate::events::route::response;
use crate::problem::Problem;
use crate::state::Shared;

/// How many pieces a reader may be behind; the thread waits then.
const BEHIND: usize = 64;

/// What a worker does, from lately until it ends.
pub(crate) async fn stream(server: &Shared, worker: String) -> Result<Response, Problem> {
    let events = server
        .ask(move |context| {
            let (_, mut link) = attach(context, &worker)?;
            let events = link.listen();
            Ok((link, events))
        })
        .await?;
    Ok(sent(server, move |send| {
        let (_link, events) = events;
        for event in events {
            if !send(frame_of(&event)) {
                return;
            }
        }
    }))
}

/// A stream of what `work` sends from a thread of its own; `work` is told when nobody listens any more.
pub(crate) fn sent(
    server: &Shared,
    work: impl FnOnce(&mut dyn FnMut(String) -> bool) + Send + 'static,
) -> Response {
    let (sender, receiver) = channel(BEHIND);
    spawn_blocking(move || work(&mut |frame| sender.blocking_send(frame).is_ok()));
    let stop = server.stop();
    response(Body::from_stream(stream::unfold((receiver, stop), |(mut receiver, mut stop)| async {
        let frame = until_stopped(&mut receiver, &mut stop).await?;
        Some((Ok::<_, Infallible>(Bytes::from(frame)), (receiver, stop)))
    })))
}

async fn until_stopped(
    receiver: &mut Receiver<String>,
    stop: &mut tokio::sync::watch::Receiver<bool>,
) -> Option<String> {
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => None,
        frame = receiver.recv() => frame,
        // A comment now and then shows a reader who left.
        () = tokio::time::sleep(std::time::Duration::from_secs(15)) => Some(": keepalive\n\n".to_owned()),
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
