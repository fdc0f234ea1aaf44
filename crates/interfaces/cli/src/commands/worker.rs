//! `worker`: what runs a worker in the background. `run --detach` and `send` start it; nobody types it.

use std::sync::mpsc::channel;

use app::Context;
use app::workers::{Command, Event, supervise};

use crate::exit::Failure;
use crate::run::signals;

/// Run a worker in the background.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its number.
    worker: i64,
}

enum Seen {
    Over,
    Told,
}

/// Runs it to its end, whatever becomes of the terminal.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    // It leads a session of its own, which no terminal can end. Where it does already, it is so.
    let _ = rustix::process::setsid();
    let Some(mut link) = supervise(context, args.worker)? else { return Ok(()) };
    let (tell, seen) = channel();
    signals(tell.clone(), |_| Seen::Told)?;
    let mut events = link.listen();
    std::thread::spawn(move || {
        let _ = events.find(|event| matches!(event, Event::Ended { .. }));
        // Whoever waited may have gone.
        let _ = tell.send(Seen::Over);
    });
    for seen in &seen {
        match seen {
            Seen::Over => break,
            // Ended already, it has nothing to be told.
            Seen::Told => drop(link.command(Command::Stop)),
        }
    }
    // What could not be told OpenClaw is told it by the next Backstory that looks after workers.
    let _ = link.last_words();
    Ok(())
}
