//! One message to a session and the events that follow: it goes to the session's worker, or to a new one that resumes it.

use std::sync::mpsc::RecvError;
use std::time::Duration;

use app::workers::{Command, Event, Events, Link, attach, run, send, start};
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
    /// The id of the message, or of the request that was answered: events before it was accepted belong to an earlier turn.
    waits_for: Option<String>,
    is_over: bool,
}

impl Turn {
    /// Sends a message to a session that there is.
    pub(crate) fn of_session(context: &Context, session: &SessionId, message: &str) -> Result<Self, Error> {
        if message.trim().is_empty() {
            return Err(Error::new(Kind::Usage, "the message is empty"));
        }
        if let Ok((worker, mut link)) = attach(context, session.as_str()) {
            let events = link.listen();
            let command = run::message(message);
            let Command::Message { id, .. } = &command else {
                return Err(Error::new(Kind::Internal, "a message became something else"));
            };
            let waits_for = Some(id.clone());
            link.command(command)
                .map_err(|why| Error::new(Kind::Held, format!("worker {}: {why}", worker.worker)))?;
            let session = worker.session_id;
            return Ok(Self {
                worker: worker.worker,
                session,
                _link: link,
                events,
                waits_for,
                is_over: false,
            });
        }
        let sent =
            send::send(context, &send::Request { to: session.to_string(), message: message.to_owned() })?;
        Self::of_worker(context, sent.worker)
    }

    /// Starts a worker, whose task is the message.
    pub(crate) fn of_task(context: &Context, request: &start::Request) -> Result<Self, Error> {
        let ready = start::start(context, request)?;
        Self::of_worker(context, ready.worker)
    }

    /// Listens to a worker from the moment on at which a request of it is answered.
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

    /// The next event of the turn, unless none comes within `patience`; an error after the last one, which is the turn's
    /// result or the end of the worker.
    pub(crate) fn next_within(&mut self, patience: Duration) -> Result<Option<Event>, RecvError> {
        if self.is_over {
            return Err(RecvError);
        }
        let Some(event) = self.events.next_within(patience)? else { return Ok(None) };
        let is_end = matches!(event, Event::Ended { .. });
        if let (Some(wanted), Event::Accepted { message: id } | Event::Answered { request: id, .. }) =
            (&self.waits_for, &event)
            && wanted == id
        {
            self.waits_for = None;
        }
        if self.waits_for.is_some() && !is_end {
            return Ok(None);
        }
        self.is_over = is_end || matches!(event, Event::Result(_));
        Ok(Some(event))
    }
}
