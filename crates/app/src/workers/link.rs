//! A connection to one worker, of this process or of another: its events, redacted, and the commands it takes.

use workers::{Command, Event, QueuePolicy, RemoteWorker, WorkerHandle, WorkerId};

use crate::Context;
use crate::workers::events::Events;
use crate::workers::registry::RegistryRecorder;
use crate::workers::unredact;

/// A connection to one worker.
#[derive(Debug)]
pub struct Link {
    context: Context,
    worker: WorkerId,
    peer: Peer,
}

/// Who runs the worker.
#[derive(Debug)]
pub(crate) enum Peer {
    /// This process; the recorder writes what the worker does for an agent to that agent's registry.
    Here { handle: WorkerHandle, recorder: Option<RegistryRecorder> },
    /// A worker of another process, reached by its socket.
    There(RemoteWorker),
}

/// Sends commands to a worker of this process without following its events.
#[derive(Debug, Clone)]
pub struct Control(WorkerHandle);

impl Control {
    /// Sends a command; the error says why the worker refuses it.
    pub fn command(&self, command: Command) -> Result<(), String> {
        self.0.command(command)
    }

    /// Waits until the worker has ended.
    pub fn wait(&self) {
        let _ = self
            .0
            .listen(QueuePolicy::Unbounded)
            .iter()
            .find(|event| matches!(&**event, Event::Ended { .. }));
    }
}

impl Link {
    pub(crate) fn new(context: &Context, worker: WorkerId, peer: Peer) -> Self {
        Self { context: context.clone(), worker, peer }
    }

    /// Control over a worker of this process; `None` for one of another process.
    pub fn control(&self) -> Option<Control> {
        match &self.peer {
            Peer::Here { handle, .. } => Some(Control(handle.clone())),
            Peer::There(_) => None,
        }
    }

    /// Sends a command; the error says why the worker refuses it.
    pub fn command(&self, command: Command) -> Result<(), String> {
        let command = unredact::command(&self.context, self.worker, command);
        match &self.peer {
            Peer::Here { handle, .. } => handle.command(command),
            Peer::There(remote) => remote.command(&command),
        }
    }

    /// Ends the worker, and waits for its end.
    pub fn end(&mut self) {
        let mut events = self.listen();
        // The worker may have ended already.
        if self.command(Command::Stop).is_ok() {
            let _ = events.find(|event| matches!(event, Event::Ended { .. }));
        }
    }

    /// Waits until all listeners of a worker of this process have its last event, and OpenClaw's registry has its end
    /// if it worked for an agent; returns the failure, if any.
    pub fn wait_for_end(&self) -> Option<String> {
        let Peer::Here { handle, recorder } = &self.peer else { return None };
        handle.wait_until_closed();
        recorder.as_ref().and_then(RegistryRecorder::wait)
    }

    /// The recent and all further events, redacted, until the worker ends.
    pub fn listen(&mut self) -> Events {
        let raw = match &mut self.peer {
            Peer::Here { handle, .. } => handle.listen(QueuePolicy::Unbounded),
            Peer::There(remote) => remote.listen(),
        };
        Events::new(&self.context, raw)
    }
}
