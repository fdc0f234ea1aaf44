//! The signals that interrupt or end the program.

use std::io;
use std::sync::mpsc::Sender;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A signal to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The terminal was closed (SIGHUP), or the program is to end (SIGTERM).
    End,
}

/// Sends every signal to `to`, wrapped by `wrap`.
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
