//! Ctrl-C while a worker is followed: it is heeded whatever the loop that shows the worker is waiting for, be it a
//! reader who does not read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use app::workers::{Command, Control};

use super::{Signal, signals};

/// Exit code of a program that was ended by an interrupt.
const INTERRUPTED: i32 = 130;
/// How many signals a worker is given to end by; the next one ends the program.
const MOST: u32 = 2;
/// How long the end of a worker may take to be shown.
const SHOWN: Duration = Duration::from_secs(2);

/// What is done about a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heeded {
    /// The turn is about to be interrupted.
    Interrupting,
    /// It is interrupted.
    Interrupted,
    /// The worker is being ended.
    Ending,
    /// The one who follows goes.
    Leaving,
}

/// The person's signals, heeded for as long as this is held.
#[derive(Debug)]
pub(crate) struct Interrupts {
    count: Arc<AtomicU32>,
    /// Dropped when nothing more is shown.
    _held: Sender<()>,
}

impl Interrupts {
    /// Heeds signals from now on: `control` is the worker that ends with the program, where one does. What is done is
    /// told to `to`.
    pub(crate) fn heed<T: Send + 'static>(
        control: Option<Control>,
        to: Sender<T>,
        wrap: fn(Heeded) -> T,
    ) -> io::Result<Self> {
        let count = Arc::new(AtomicU32::new(0));
        let (held, over) = channel();
        let (tell, told) = channel();
        let (sent, counted) = channel();
        signals(sent, |signal| signal)?;
        let counts = Arc::clone(&count);
        std::thread::spawn(move || {
            for signal in counted {
                // Whatever the worker or its reader is doing, who presses the keys again wants the end.
                if counts.fetch_add(1, Ordering::AcqRel) >= MOST {
                    std::process::exit(INTERRUPTED);
                }
                let number = counts.load(Ordering::Acquire);
                if tell.send((signal, number)).is_err() {
                    return;
                }
            }
        });
        std::thread::spawn(move || match control {
            Some(control) => end(&control, &told, &over, |heeded| drop(to.send(wrap(heeded)))),
            None => told.iter().for_each(|_| drop(to.send(wrap(Heeded::Leaving)))),
        });
        Ok(Self { count, _held: held })
    }

    /// The person goes on: the next Ctrl-C interrupts again.
    pub(crate) fn forget(&self) {
        self.count.store(0, Ordering::Release);
    }
}

/// Interrupts the turn of a worker at the first signal, ends the worker at the next.
fn end(control: &Control, told: &Receiver<(Signal, u32)>, over: &Receiver<()>, tell: impl Fn(Heeded)) {
    for (signal, number) in told {
        if signal == Signal::Interrupt && number == 1 {
            // Told before: the end of the turn may be shown at once.
            tell(Heeded::Interrupting);
            if control.command(Command::Interrupt).is_ok() {
                tell(Heeded::Interrupted);
                continue;
            }
        }
        tell(Heeded::Ending);
        // One that is being ended already has nothing more to be told.
        let _ = control.command(Command::Stop);
        control.wait();
        if over.recv_timeout(SHOWN) == Err(RecvTimeoutError::Timeout) {
            // Nobody reads what there is to show.
            std::process::exit(INTERRUPTED);
        }
    }
}
