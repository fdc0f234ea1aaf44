//! How the rest of this process reaches a worker: inputs to the thread that owns it, and a place among its listeners.

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};

use crate::listeners::Listeners;
use crate::recover::pause;
use crate::{Command, Event, QueuePolicy, WorkerId};

/// Whoever asked, and is told what came of it.
pub(crate) type Asker = Option<Sender<Result<(), String>>>;

/// What comes to the owner.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line of the process's.
    Line(Vec<u8>),
    /// A line that was too long to be taken in.
    TooLong,
    /// A line of its complaints.
    Stderr(Vec<u8>),
    /// One of its two pipes has ended.
    PipeClosed,
    /// It has ended.
    Exited(Option<ExitStatus>),
    /// Somebody wants something.
    Command(Command, Asker),
}

/// A worker of this process; it goes on when this is dropped.
#[derive(Debug, Clone)]
pub struct WorkerHandle {
    /// Its number.
    pub id: WorkerId,
    inputs: SyncSender<Input>,
    listeners: Arc<Listeners>,
}

impl WorkerHandle {
    /// A handle on the thread that takes these inputs.
    pub(crate) fn new(id: WorkerId, inputs: SyncSender<Input>, listeners: Arc<Listeners>) -> Self {
        Self { id, inputs, listeners }
    }

    /// Has something done; or says why it is not.
    pub fn command(&self, command: Command) -> Result<(), String> {
        let (answer, answered) = channel();
        let over = || "the worker has ended".to_owned();
        self.inputs.send(Input::Command(command, Some(answer))).map_err(|_| over())?;
        answered.recv().map_err(|_| over())?
    }

    /// Tells all who listen something that is worth a word.
    pub fn note(&self, text: String) {
        self.listeners.send(Event::Note { text });
    }

    /// Waits until all who are connected have been told how it ended.
    pub fn wait_until_closed(&self) {
        // The owner lets go of its end of the queue when the door is closed.
        while self.inputs.send(Input::PipeClosed).is_ok() {
            pause();
        }
    }

    /// What happened lately, and what happens from now on.
    pub fn listen(&self, policy: QueuePolicy) -> Receiver<Arc<Event>> {
        self.listeners.listen(policy)
    }
}
