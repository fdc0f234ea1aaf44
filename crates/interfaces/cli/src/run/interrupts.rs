//! Ctrl-C while a worker is followed: handled on threads of its own, even if the loop that shows the worker is blocked
//! on an output that nobody reads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use app::workers::{Command, Control};

use super::{Signal, signals};

/// Exit code of a program that was ended by an interrupt.
const INTERRUPTED: i32 = 130;
/// How many signals go to the worker; the next one ends the program.
const MAX_SIGNALS: u32 = 2;
/// How long showing the end of a worker may take.
const SHOW_TIMEOUT: Duration = Duration::from_secs(2);

/// The response to a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterruptAction {
    /// The turn is about to be interrupted.
    Interrupting,
    /// The turn was interrupted.
    Interrupted,
    /// The worker is being stopped.
    Stopping,
    /// The command leaves the worker running.
    Detaching,
}

/// The handler of the person's signals; it works until this is dropped.
#[derive(Debug)]
pub(crate) struct Interrupts {
    count: Arc<AtomicU32>,
    /// Dropped when everything has been shown.
    _held: Sender<()>,
}

impl Interrupts {
    /// Handles signals from now on and sends every response to `to`. `control` is the worker that ends with the
    /// program, if one does.
    pub(crate) fn start<T: Send + 'static>(
        control: Option<Control>,
        to: Sender<T>,
        wrap: fn(InterruptAction) -> T,
    ) -> io::Result<Self> {
        let count = Arc::new(AtomicU32::new(0));
        let (held, over) = channel();
        let (forward, numbered) = channel();
        let (sent, counted) = channel();
        signals(sent, |signal| signal)?;
        let counts = Arc::clone(&count);
        std::thread::spawn(move || {
            for signal in counted {
                // A further Ctrl-C ends the program whatever the worker or the output is doing.
                if counts.fetch_add(1, Ordering::AcqRel) >= MAX_SIGNALS {
                    std::process::exit(INTERRUPTED);
                }
                let number = counts.load(Ordering::Acquire);
                if forward.send((signal, number)).is_err() {
                    return;
                }
            }
        });
        std::thread::spawn(move || match control {
            Some(control) => end(&control, &numbered, &over, |action| drop(to.send(wrap(action)))),
            None => numbered.iter().for_each(|_| drop(to.send(wrap(InterruptAction::Detaching)))),
        });
        Ok(Self { count, _held: held })
    }

    /// Starts counting again: the next Ctrl-C interrupts the turn.
    pub(crate) fn reset(&self) {
        self.count.store(0, Ordering::Release);
    }
}

/// Interrupts the worker's turn at the first signal and stops the worker at the next.
fn end(
    control: &Control,
    signals: &Receiver<(Signal, u32)>,
    over: &Receiver<()>,
    report: impl Fn(InterruptAction),
) {
    for (signal, number) in signals {
        if signal == Signal::Interrupt && number == 1 {
            // Reported first, because the end of the turn may be shown at once.
            report(InterruptAction::Interrupting);
            if control.command(Command::Interrupt).is_ok() {
                report(InterruptAction::Interrupted);
                continue;
            }
        }
        report(InterruptAction::Stopping);
        // A worker that is already ending refuses the command.
        let _ = control.command(Command::Stop);
        control.wait();
        if over.recv_timeout(SHOW_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            // The output is blocked: nobody reads it.
            std::process::exit(INTERRUPTED);
        }
    }
}
