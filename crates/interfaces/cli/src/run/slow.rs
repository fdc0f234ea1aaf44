//! What takes long is told, once, so that nobody wonders whether anything happens.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anstyle::Style;

/// How long something may take without a word.
const QUIET: Duration = Duration::from_secs(2);

/// Something that is waited for; it is told on the standard error unless this is dropped before.
#[derive(Debug)]
pub(crate) struct Slow {
    _over: Sender<()>,
}

impl Slow {
    /// Begins to wait for what the text says.
    pub(crate) fn begin(text: String) -> Self {
        let (over, is_over) = channel::<()>();
        std::thread::spawn(move || {
            if is_over.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                let dim = Style::new().dimmed();
                // Where the standard error is closed there is nobody to tell.
                let _ = writeln!(anstream::stderr().lock(), "{dim}{text}{dim:#}");
            }
        });
        Self { _over: over }
    }
}
