//! `worker`: the process that runs a worker in the background. `run --detach` and `send` start it; nobody types it.

use std::sync::mpsc::channel;

use app::Context;
use app::workers::{Command, Event, supervise};

use crate::exit::Failure;
use crate::run::signals;

/// Run a worker in the background.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number.
    worker: i64,
}

enum Input {
    Ended,
    Signal,
}

/// Runs the worker to its end, independently of any terminal.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    // A session of its own outlives the terminal. An error means that the process already leads one.
    let _ = rustix::process::setsid();
    let Some(mut link) = supervise(context, args.worker)? else { return Ok(()) };
    let (sender, inputs) = channel();
    signals(sender.clone(), |_| Input::Signal)?;
    let mut events = link.listen();
    std::thread::spawn(move || {
        let _ = events.find(|event| matches!(event, Event::Ended { .. }));
        // The receiver may be gone.
        let _ = sender.send(Input::Ended);
    });
    for input in &inputs {
        match input {
            Input::Ended => break,
            // A worker that has already ended needs no command.
            Input::Signal => drop(link.command(Command::Stop)),
        }
    }
    // What could not be recorded with OpenClaw is recorded by the next Backstory that recovers workers.
    let _ = link.wait_for_end();
    Ok(())
}
