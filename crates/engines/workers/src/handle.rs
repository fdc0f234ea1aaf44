//! Access to a worker from the process that runs it: sends inputs to the thread that owns the worker and
//! subscribes to its events.

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};

use crate::listeners::Listeners;
use crate::recover::pause;
use crate::{Command, Event, QueuePolicy, WorkerId};

/// Where to send the result of a command, if anyone waits for it.
pub(crate) type Asker = Option<Sender<Result<(), String>>>;

/// An input of the thread that owns a worker.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line of the process's output.
    Line(Vec<u8>),
    /// A line that exceeded the limit.
    TooLong,
    /// A line of the process's error output.
    Stderr(Vec<u8>),
    /// One of the two output pipes was closed.
    PipeClosed,
    /// The process ended; its status if known.
    Exited(Option<ExitStatus>),
    /// A command, and where to send its result.
    Command(Command, Asker),
}

/// A handle on a worker of this process; dropping it does not end the worker.
#[derive(Debug, Clone)]
pub struct WorkerHandle {
    /// Id of the worker.
    pub id: WorkerId,
    inputs: SyncSender<Input>,
    listeners: Arc<Listeners>,
}

impl WorkerHandle {
    /// A handle on the thread that receives these inputs.
    pub(crate) fn new(id: WorkerId, inputs: SyncSender<Input>, listeners: Arc<Listeners>) -> Self {
        Self { id, inputs, listeners }
    }

    /// Executes a command, or returns a message saying why not.
    pub fn command(&self, command: Command) -> Result<(), String> {
        let (answer, answered) = channel();
        let over = || "the worker has ended".to_owned();
        self.inputs.send(Input::Command(command, Some(answer))).map_err(|_| over())?;
        answered.recv().map_err(|_| over())?
    }

    /// Sends a message to all listeners.
    pub fn note(&self, text: String) {
        self.listeners.send(Event::Note { text });
    }

    /// Waits until all connected clients have received the last event.
    pub fn wait_until_closed(&self) {
        // The owner drops its end of the queue when the socket is closed.
        while self.inputs.send(Input::PipeClosed).is_ok() {
            pause();
        }
    }

    /// Subscribes to events: recent ones first, then new ones.
    pub fn listen(&self, policy: QueuePolicy) -> Receiver<Arc<Event>> {
        self.listeners.listen(policy)
    }
}
