//! One message to a session and the events that follow: it goes to the session's worker, or to a new one that resumes it.

use std::sync::mpsc::RecvError;
use std::time::Duration;

use app::workers::{Event, Events, Link, attach, run, send, start};
use app::{Context, Error, Kind};
use model::SessionId;

/// A message that was sent, and the events that follow from it.
pub(crate) struct Turn {
    /// The worker that has it.
    pub(crate) worker: i64,
    /// Its session.
    pub(crate) session: SessionId,
    _link: Link,
    events: Events,
    /// The id of the message, or of the request that was answered: events before it was accepted belong to an earlier turn,
    /// of which only requests are passed on.
    waits_for: Option<String>,
    is_over: bool,
}

impl Turn {
    /// Sends a message to a session that there is.
    pub(crate) fn of_session(context: &Context, session: &SessionId, message: &str) -> Result<Self, Error> {
        if let Some(turn) = Self::of_living_worker(context, session, message)? {
            return Ok(turn);
        }
        let sent =
            send::send(context, &send::Request { to: session.to_string(), message: message.to_owned() })?;
        Self::of_worker(context, sent.worker)
    }

    /// Sends a message to the session's worker; `None` where none lives.
    pub(crate) fn of_living_worker(
        context: &Context,
        session: &SessionId,
        message: &str,
    ) -> Result<Option<Self>, Error> {
        let (id, command) = run::message(message)?;
        let Ok((worker, mut link)) = attach(context, session.as_str()) else { return Ok(None) };
        let events = link.listen();
        link.command(command)
            .map_err(|why| Error::new(Kind::Held, format!("worker {}: {why}", worker.worker)))?;
        let (worker, session) = (worker.worker, worker.session_id);
        Ok(Some(Self { worker, session, _link: link, events, waits_for: Some(id), is_over: false }))
    }

    /// Starts a worker, whose task is the message.
    pub(crate) fn of_task(context: &Context, request: &start::Request) -> Result<Self, Error> {
        let ready = start::start(context, request)?;
        Self::of_worker(context, ready.worker)
    }

    /// Follows a worker from the answer to one of its requests on.
    pub(crate) fn of_answer(context: &Context, worker: i64, request: &str) -> Result<Self, Error> {
        let waits_for = Some(request.to_owned());
        Ok(Self { waits_for, ..Self::of_worker(context, worker)? })
    }

    fn of_worker(context: &Context, worker: i64) -> Result<Self, Error> {
        let (worker, mut link) = attach(context, &worker.to_string())?;
        let events = link.listen();
        let session = worker.session_id;
        Ok(Self { worker: worker.worker, session, _link: link, events, waits_for: None, is_over: false })
    }

    /// The next event of the turn, unless none comes within `timeout`; an error after the last one, which is the turn's
    /// result or the end of the worker.
    pub(crate) fn next_within(&mut self, timeout: Duration) -> Result<Option<Event>, RecvError> {
        if self.is_over {
            return Err(RecvError);
        }
        let Some(event) = self.events.next_within(timeout)? else { return Ok(None) };
        if let (Some(wanted), Event::Accepted { message: id } | Event::Answered { request: id, .. }) =
            (&self.waits_for, &event)
            && wanted == id
        {
            self.waits_for = None;
        }
        if self.waits_for.as_ref().is_some_and(|wanted| !is_passed_on_before(wanted, &event)) {
            return Ok(None);
        }
        self.is_over = matches!(event, Event::Ended { .. } | Event::Result(_));
        Ok(Some(event))
    }
}

/// Whether an event is passed on before the wanted message or answer has been accepted: the worker's end, after which it never
/// will be, and another request, which may have to be answered first.
fn is_passed_on_before(wanted: &str, event: &Event) -> bool {
    match event {
        Event::Ended { .. } => true,
        Event::Asked(asked) => asked.request != wanted,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use app::workers::PermissionRequest;

    use super::*;

    #[test]
    fn what_else_is_asked_is_passed_on_before_an_answer_is_taken() {
        let asked = |id: &str| {
            Event::Asked(PermissionRequest {
                request: id.to_owned(),
                tool: "Bash".to_owned(),
                input: serde_json::json!({ "command": "make" }),
                description: None,
                reason: None,
                suggestions: Vec::new(),
                offers: Vec::new(),
                not_offered: Vec::new(),
                tool_use_id: None,
                agent: None,
            })
        };
        let check = |event: &Event, expected: bool| {
            assert_eq!(is_passed_on_before("wanted", event), expected, "{event:?}");
        };
        check(&asked("other"), true);
        check(&asked("wanted"), false);
        check(&Event::Delta { text: "of an earlier turn".to_owned() }, false);
        check(&Event::Answered { request: "other".to_owned(), allowed: true, granted: Vec::new() }, false);
    }
}
