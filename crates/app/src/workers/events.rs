//! The events of a worker without secrets, even where a text arrives in pieces.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError};
use std::time::Duration;

use workers::Event;

use crate::Context;
use crate::workers::stream_redactor::StreamRedactor;

/// The events of one worker, in order; the iterator waits for the next one and ends with the worker.
#[derive(Debug)]
pub struct Events {
    context: Context,
    raw: Receiver<Arc<Event>>,
    /// Redacts the text that is being streamed.
    redactor: StreamRedactor,
    ready: VecDeque<Event>,
}

impl Events {
    pub(crate) fn new(context: &Context, raw: Receiver<Arc<Event>>) -> Self {
        let redactor = StreamRedactor::new(context.secrets);
        Self { context: context.clone(), raw, redactor, ready: VecDeque::new() }
    }

    /// The next event, unless none comes within `timeout`; an error once the worker has ended.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Option<Event>, RecvError> {
        if let Some(event) = self.ready.pop_front() {
            return Ok(Some(event));
        }
        match self.raw.recv_timeout(timeout) {
            Ok(event) => self.take(&event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(RecvError),
        }
        Ok(self.ready.pop_front())
    }

    fn take(&mut self, event: &Event) {
        let piece = match event {
            Event::Delta { text } => self.redactor.add(text),
            // The whole text follows its pieces.
            Event::Text { agent: None, streamed: true, .. } => self.redactor.finish(),
            _ => String::new(),
        };
        if !piece.is_empty() {
            self.ready.push_back(Event::Delta { text: piece });
        }
        match event {
            Event::Delta { .. } => {}
            // Only the table knows whose worker that is.
            Event::Queued { .. } if self.context.caller.agent().is_some() => {
                self.ready.push_back(Event::Queued { behind: None });
            }
            event => self.ready.push_back(self.redacted(event)),
        }
    }

    /// The redacted event; one that cannot be redacted is replaced by a note.
    fn redacted(&self, event: &Event) -> Event {
        self.context.redacted(event).unwrap_or_else(|error| Event::Note { text: error.message })
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let event = self.raw.recv().ok()?;
            self.take(&event);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::{Config, testing};

    #[test]
    fn secrets_are_redacted_in_pieces_and_in_whole_texts() {
        let secret = format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi");
        let (send, raw) = channel();
        let mut events = Events::new(&testing::context(Config::default()), raw);
        let text = format!("use {secret} now");
        for piece in text.as_bytes().chunks(3) {
            let text = String::from_utf8_lossy(piece).into_owned();
            send.send(Arc::new(Event::Delta { text })).unwrap();
        }
        send.send(Arc::new(Event::Text { text, agent: None, streamed: true })).unwrap();
        drop(send);
        let all: Vec<Event> = events.by_ref().collect();
        let texts = all.iter().filter_map(|event| match event {
            Event::Delta { text } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(texts.collect::<String>(), "use [redacted:github-token] now");
        assert!(!format!("{all:?}").contains(&secret[4..]), "{all:?}");
        assert!(matches!(all.last(), Some(Event::Text { text, .. }) if text.ends_with("] now")), "{all:?}");
    }
}
