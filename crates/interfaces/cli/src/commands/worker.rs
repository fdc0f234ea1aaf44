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

enum Seen {
    Over,
    Told,
}

/// Runs the worker to its end, independently of any terminal.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    // A session of its own outlives the terminal. An error means that the process already leads one.
    let _ = rustix::process::setsid();
    let Some(mut link) = supervise(context, args.worker)? else { return Ok(()) };
    let (tell, seen) = channel();
    signals(tell.clone(), |_| Seen::Told)?;
    let mut events = link.listen();
    std::thread::spawn(move || {
        let _ = events.find(|event| matches!(event, Event::Ended { .. }));
        // The receiver may be gone.
        let _ = tell.send(Seen::Over);
    });
    for seen in &seen {
        match seen {
            Seen::Over => break,
            // A worker that has already ended needs no command.
            Seen::Told => drop(link.command(Command::Stop)),
        }
    }
    // What could not be recorded with OpenClaw is recorded by the next Backstory that recovers workers.
    let _ = link.last_words();
    Ok(())
}
