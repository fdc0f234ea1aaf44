//! The folder of `--demo`: unpacked when a command needs it, and removed when the process ends, or after the terminal is closed.

use std::cell::OnceCell;
use std::sync::Arc;

use app::TerminalSession;
use app::{Config, DemoFolder, Error};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::clock::clock;
use crate::last_search;

/// Whether made-up sessions are used, and where they are; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Demo {
    is_wanted: bool,
    is_own: bool,
    signals: SignalHandler,
    folder: OnceCell<Arc<DemoFolder>>,
}

/// Who acts on a signal that is to end the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalHandler {
    /// The command, which then ends as usual.
    Command,
    /// Nobody else: the system would end the process at once.
    Nobody,
}

impl Demo {
    pub(crate) fn new(is_wanted: bool, signals: SignalHandler) -> Self {
        Self { is_wanted, is_own: false, signals, folder: OnceCell::new() }
    }

    /// One that no other process has.
    pub(crate) fn own(is_wanted: bool, signals: SignalHandler) -> Self {
        Self { is_wanted, is_own: true, signals, folder: OnceCell::new() }
    }

    /// The terminal, whose demo the next command there has, too; a server has one of its own.
    fn terminal(&self) -> Option<TerminalSession> {
        if self.is_own { None } else { last_search::terminal() }
    }

    /// The configuration of this process, or the one that knows only the made-up sessions.
    pub(crate) fn applied_to(&self, config: Config) -> Result<Config, Error> {
        if !self.is_wanted {
            return Ok(config);
        }
        let created = Arc::new(DemoFolder::create(&config.scratch, clock(), self.terminal().as_ref())?);
        let folder = self.folder.get_or_init(|| created);
        if self.signals == SignalHandler::Nobody {
            remove_at_signals(Arc::clone(folder));
        }
        Ok(config.demo(folder))
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // The thread that waits for signals holds it, too.
        if let Some(folder) = self.folder.get() {
            folder.remove();
        }
    }
}

/// Removes the folder before a signal ends the process. Where that is not possible, the next demo does it.
fn remove_at_signals(folder: Arc<DemoFolder>) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    let wait = move || {
        for signal in signals.forever() {
            folder.remove();
            let _ = emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("demo".to_owned()).spawn(wait);
}
