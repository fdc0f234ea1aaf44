//! Ctrl-C, and being told to end.

use std::io;
use std::sync::mpsc::Sender;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What the system tells the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The terminal is gone, or somebody ends the program.
    End,
}

/// Sends every signal as whatever it is wrapped in.
pub(crate) fn signals<T: Send + 'static>(to: Sender<T>, wrap: fn(Signal) -> T) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let signal = if signal == SIGINT { Signal::Interrupt } else { Signal::End };
            if to.send(wrap(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}
