//! A notice that something takes long, printed once.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anstyle::Style;

/// How long something takes before the notice is printed.
const QUIET: Duration = Duration::from_secs(2);

/// A notice that is printed on standard error after a while, unless this is dropped before.
#[derive(Debug)]
pub(crate) struct SlowNotice {
    _over: Sender<()>,
}

impl SlowNotice {
    /// Starts waiting; `text` says what for.
    pub(crate) fn start(text: String) -> Self {
        let (over, is_over) = channel::<()>();
        std::thread::spawn(move || {
            if is_over.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                let dim = Style::new().dimmed();
                // Nothing can be printed if standard error is closed.
                let _ = writeln!(anstream::stderr().lock(), "{dim}{text}{dim:#}");
            }
        });
        Self { _over: over }
    }
}
