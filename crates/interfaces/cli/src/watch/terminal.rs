//! The terminal of the live view: taken, lent to another program, given back; its keys, and the signals that
//! come by it.

use std::io::{self, Stdout};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// How long is waited for a key until it is looked whether the terminal is to be lent.
const PATIENCE: Duration = Duration::from_millis(100);

/// Reading from a terminal that is gone never ends, and takes nothing from anybody.
const GONE: Duration = Duration::from_secs(1);

/// What comes from the terminal.
#[derive(Debug)]
pub(super) enum Sign {
    /// A key, or another size.
    Event(Event),
    /// The program is to stop until it is taken up again (Ctrl-Z).
    Stop,
    /// The terminal is gone, or somebody ends the program.
    End,
}

/// The terminal as the board needs it; as it was before, once this is dropped.
pub(super) struct Raw {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
    is_taken: bool,
}

impl Raw {
    pub(super) fn enter() -> io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut raw = Self { terminal, is_taken: false };
        raw.take()?;
        Ok(raw)
    }

    /// Has it, all of it to be drawn.
    pub(super) fn take(&mut self) -> io::Result<()> {
        self.is_taken = true;
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        self.terminal.clear()
    }

    /// Gives it back as it was.
    pub(super) fn give_back(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_taken) {
            return Ok(());
        }
        execute!(io::stdout(), LeaveAlternateScreen, Show)?;
        disable_raw_mode()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs no tidying.
        let _ = self.give_back();
    }
}

/// Reads keys and hears signals, on threads of their own.
pub(super) struct Keys(Arc<Gate>);

/// The terminal belongs to another program for as long as this is held: no key is read, and Ctrl-C is that one's.
pub(super) struct Loan(Arc<Gate>);

#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_lent: bool,
    is_reading: bool,
}

impl Keys {
    /// Sends what comes, each wrapped as the receiver wants it.
    pub(super) fn start<T: Send + 'static>(inputs: &Sender<T>, wrap: fn(Sign) -> T) -> io::Result<Self> {
        let gate = Arc::<Gate>::default();
        let (own, to) = (Arc::clone(&gate), inputs.clone());
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || read(&own, &to, wrap))?;
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP])?;
        let (own, to) = (Arc::clone(&gate), inputs.clone());
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || hear(signals, &own, &to, wrap))?;
        Ok(Self(gate))
    }

    /// Lets another program have the terminal, once no key is being read.
    pub(super) fn lend(&self) -> Loan {
        let mut state = self.0.lock();
        state.is_lent = true;
        drop(self.0.changed.wait_timeout_while(state, GONE, |state| state.is_reading));
        Loan(Arc::clone(&self.0))
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.0.lock().is_lent = false;
        self.0.changed.notify_all();
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until keys may be read.
    fn open(&self) {
        let state = self.changed.wait_while(self.lock(), |state| state.is_lent);
        state.unwrap_or_else(PoisonError::into_inner).is_reading = true;
    }

    fn close(&self) {
        self.lock().is_reading = false;
        self.changed.notify_all();
    }
}

fn read<T>(gate: &Gate, inputs: &Sender<T>, wrap: fn(Sign) -> T) {
    loop {
        gate.open();
        let found = event::poll(PATIENCE).and_then(|found| found.then(event::read).transpose());
        gate.close();
        let sign = match found {
            Ok(Some(event)) => Sign::Event(event),
            Ok(None) => continue,
            Err(_) => Sign::End,
        };
        let is_last = matches!(sign, Sign::End);
        if inputs.send(wrap(sign)).is_err() || is_last {
            return;
        }
    }
}

fn hear<T>(mut signals: Signals, gate: &Gate, inputs: &Sender<T>, wrap: fn(Sign) -> T) {
    for signal in signals.forever() {
        let is_lent = gate.lock().is_lent;
        let sign = match signal {
            // The program that has the terminal was meant; the shell waits for all of us.
            SIGINT if is_lent => continue,
            SIGTSTP if is_lent => {
                stop();
                continue;
            }
            SIGTSTP => Sign::Stop,
            _ => Sign::End,
        };
        if inputs.send(wrap(sign)).is_err() {
            return;
        }
    }
}

/// Stops this process until it is taken up again; not where no shell could do that.
pub(super) fn stop() {
    use rustix::process::{getppid, getsid};
    let own = getsid(None).ok();
    if own.is_some() && getppid().and_then(|parent| getsid(Some(parent)).ok()) == own {
        // The system refuses no process to stop itself.
        let _ = emulate_default_handler(SIGTSTP);
    }
}

/// Stops this process and those it was started with, as Ctrl-Z does on a terminal that is not raw.
pub(super) fn stop_all() {
    // Where that is refused nothing stops, and the person sees it.
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
}
