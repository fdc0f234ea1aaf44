//! The terminal of a full-screen view: raw mode, lending it to another program, giving it back; its keys and its signals.

use std::io::{self, Read as _, Stdout, Write as _};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use system::ProcessStat;

/// How long to wait for a key before checking whether the terminal is to be lent.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long to wait for a read in progress: reading from a closed terminal never ends.
const GONE: Duration = Duration::from_secs(1);

/// An event of the terminal.
#[derive(Debug)]
pub(crate) enum TerminalEvent {
    /// A key, a pasted text, or a new size.
    Event(Event),
    /// The program is to be suspended (Ctrl-Z).
    Suspend,
    /// The terminal was closed, or the program is to end.
    End,
}

/// The terminal in raw mode on the alternate screen; restored on drop.
pub(crate) struct Raw {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
    is_taken: bool,
    /// Whether the mouse is reported.
    with_mouse: bool,
}

impl Raw {
    pub(crate) fn enter() -> io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut raw = Self { terminal, is_taken: false, with_mouse: false };
        raw.take()?;
        Ok(raw)
    }

    /// The same with reports of the mouse.
    pub(crate) fn enter_with_mouse() -> io::Result<Self> {
        let mut raw = Self::enter()?;
        raw.with_mouse = true;
        execute!(io::stdout(), EnableMouseCapture)?;
        Ok(raw)
    }

    /// Enters raw mode and the alternate screen; what is pasted comes whole, so that its line ends are no keys.
    pub(crate) fn take(&mut self) -> io::Result<()> {
        self.is_taken = true;
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide, EnableBracketedPaste)?;
        if self.with_mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        self.terminal.clear()
    }

    /// Restores the terminal.
    pub(crate) fn give_back(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_taken) {
            return Ok(());
        }
        if self.with_mouse {
            execute!(io::stdout(), DisableMouseCapture)?;
        }
        execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show)?;
        disable_raw_mode()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A closed terminal needs no restoring.
        let _ = self.give_back();
    }
}

/// Reads keys and signals on threads of their own.
pub(crate) struct Keys(Arc<Gate>);

/// While this is held the terminal belongs to another program: no key is read, and Ctrl-C goes to that program.
pub(crate) struct Loan(Arc<Gate>);

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
    /// Sends every event to `inputs`, wrapped by `wrap`.
    pub(crate) fn start<T: Send + 'static>(
        inputs: &Sender<T>,
        wrap: fn(TerminalEvent) -> T,
    ) -> io::Result<Self> {
        let gate = Arc::<Gate>::default();
        let (own, to) = (Arc::clone(&gate), inputs.clone());
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || read(&own, &to, wrap))?;
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP])?;
        let (own, to) = (Arc::clone(&gate), inputs.clone());
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || receive(signals, &own, &to, wrap))?;
        Ok(Self(gate))
    }

    /// Lets another program have the terminal, once no key is being read.
    pub(crate) fn lend(&self) -> Loan {
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

fn read<T>(gate: &Gate, inputs: &Sender<T>, wrap: fn(TerminalEvent) -> T) {
    loop {
        gate.open();
        let found = event::poll(PATIENCE).and_then(|found| found.then(event::read).transpose());
        gate.close();
        let sign = match found {
            Ok(Some(event)) => TerminalEvent::Event(event),
            Ok(None) => continue,
            Err(_) => TerminalEvent::End,
        };
        let is_last = matches!(sign, TerminalEvent::End);
        if inputs.send(wrap(sign)).is_err() || is_last {
            return;
        }
    }
}

fn receive<T>(mut signals: Signals, gate: &Gate, inputs: &Sender<T>, wrap: fn(TerminalEvent) -> T) {
    for signal in signals.forever() {
        let is_lent = gate.lock().is_lent;
        let sign = match signal {
            // Meant for the program that has the terminal; Ctrl-Z suspends the whole job.
            SIGINT if is_lent => continue,
            SIGTSTP if is_lent => {
                stop();
                continue;
            }
            SIGTSTP => TerminalEvent::Suspend,
            _ => TerminalEvent::End,
        };
        if inputs.send(wrap(sign)).is_err() {
            return;
        }
    }
}

/// Runs a command to its end, and waits for Enter, q or Esc if its error would be covered unread. One that prints waits
/// itself, because it knows whether a pager did.
pub(crate) fn run_until_read(program: &mut Command) -> io::Result<ExitStatus> {
    let status = program.status()?;
    if !status.success() {
        wait_to_go_back()?;
    }
    Ok(status)
}

/// Waits for a key that goes back; other keys leave no trace on the screen.
pub(crate) fn wait_to_go_back() -> io::Result<()> {
    writeln!(io::stderr(), "\n[press Enter, q or Esc to go back]")?;
    enable_raw_mode()?;
    let waited = (|| {
        loop {
            let mut keys = [0; 64];
            match io::stdin().read(&mut keys)? {
                0 => return Ok(()),
                length if goes_back(&keys[..length]) => return Ok(()),
                _ => {}
            }
        }
    })();
    disable_raw_mode()?;
    waited
}

/// Whether Enter, q, Esc, Ctrl-C or Ctrl-D is among the keys that were read at once; the sequences of arrows and the
/// like, which begin with Esc, are none of these.
fn goes_back(keys: &[u8]) -> bool {
    let mut rest = keys;
    while let [key, after @ ..] = rest {
        rest = after;
        match (key, after) {
            (b'\r' | b'\n' | b'q' | b'Q' | 0x03 | 0x04, _) | (0x1b, []) => return true,
            (0x1b, [b'[' | b'O', sequence @ ..]) => {
                let end = sequence.iter().position(|byte| (0x40..=0x7e).contains(byte));
                rest = end.map_or(&[], |end| &sequence[end + 1..]);
            }
            (0x1b, [_, others @ ..]) => rest = others,
            _ => {}
        }
    }
    false
}

/// A pasted text as one line, without the line's end that was copied with it.
pub(crate) fn pasted_line(text: &str) -> String {
    text.trim_end_matches(['\n', '\r']).replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")
}

/// Writes a control sequence to the terminal.
pub(crate) fn write_control(text: &str) {
    let mut out = io::stdout().lock();
    // A terminal that is gone is noticed elsewhere.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Suspends this process, unless no shell could continue it.
pub(crate) fn stop() {
    let is_of_a_shell =
        |own: ProcessStat| ProcessStat::read(own.parent).is_some_and(|parent| parent.session == own.session);
    // Where the system does not say, the person who pressed the key knows.
    if ProcessStat::own().is_none_or(is_of_a_shell) {
        // The system refuses no process to stop itself.
        let _ = emulate_default_handler(SIGTSTP);
    }
}

/// Suspends the whole process group, as Ctrl-Z does on a terminal that is not raw.
pub(crate) fn stop_all() {
    // Where that is refused nothing stops, and the person sees it.
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
}

#[cfg(test)]
mod tests {
    use super::{goes_back, pasted_line};

    #[test]
    fn what_is_pasted_is_one_line() {
        assert_eq!(pasted_line("fix lint\r\nerrors\tplease\n"), "fix lint errors please");
    }

    #[test]
    fn keys_that_go_back() {
        for keys in ["\r", "q", "\x1b", "\x1b[Azq", "\x1bx\r", "\x03"] {
            assert!(goes_back(keys.as_bytes()), "{keys:?}");
        }
        for keys in ["", "z", "\x1b[A", "\x1b[1;5C", "\x1bOP", "\x1b[", "\x1bq"] {
            assert!(!goes_back(keys.as_bytes()), "{keys:?}");
        }
    }
}
