//! The live view on a terminal: keys and events come in on one channel, the board goes out.

use std::io::{self, Stdout};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use app::watch::{Listener, Watch};
use app::{App, Notify};
use jiff::Timestamp;
use model::{SessionEvent, SessionId, SessionInfo};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::widgets::Paragraph;

use super::board::Board;
use super::draw::{Frame, draw};
use super::notice::{self, Call, Notices};
use crate::exit::Failure;
use crate::text::safe;

/// How often what is shown grows older.
const BEAT: Duration = Duration::from_secs(1);
/// Sessions become old without news; nothing else on the board changes its place by time alone.
const ARRANGED: Duration = Duration::from_mins(1);
/// A listing reads every transcript that has changed: it is not wanted more often than this.
const LISTING: Duration = Duration::from_secs(10);
/// Whoever reads a page in a pager takes longer than this.
const UNREAD: Duration = Duration::from_millis(1500);
/// How many events are taken in before the screen is drawn again.
const BATCH: usize = 2000;

enum Input {
    Terminal(Event),
    Session(Arc<SessionEvent>),
    /// The terminal or the monitor is gone.
    End,
}

/// What a key asks for.
enum Wish {
    Stay,
    Quit,
    /// Another command of ours on this terminal, about the selected session.
    Run(&'static str),
}

struct Screen<'a> {
    app: &'a App,
    watch: Watch,
    board: Board,
    frame: Frame,
    notices: Notices,
    notify: Notify,
    clock: fn() -> Timestamp,
    listed: Option<Instant>,
    wants_listing: bool,
    /// Whether anything has happened since the board was arranged, and when that was.
    has_news: bool,
    arranged: Instant,
}

/// Shows the board until the person has seen enough.
pub(crate) fn run(app: &App, clock: fn() -> Timestamp, notify: Notify) -> Result<(), Failure> {
    let (watch, snapshot, listener) = Watch::start(app, clock)?;
    let mut screen = Screen {
        app,
        watch,
        board: Board::default(),
        frame: Frame { trouble: snapshot.watching.and_then(|watching| watching.reason), ..Frame::default() },
        notices: Notices::default(),
        notify,
        clock,
        listed: None,
        wants_listing: true,
        has_news: true,
        arranged: Instant::now(),
    };
    for info in &snapshot.sessions {
        let state = model::SessionActivity::new(&info.session_id, &info.activity);
        // What was asked before anybody looked is seen on the board; nobody is called for it.
        screen.notices.hear(&state, clock());
    }
    screen.show_all(snapshot.sessions);
    let (sender, inputs) = channel();
    forward_sessions(listener, sender.clone())?;
    let mut terminal = Raw::enter()?;
    let keys = Keys::start(sender)?;
    screen.watch_until_enough(&mut terminal, &inputs, &keys)
}

impl Screen<'_> {
    fn watch_until_enough(
        &mut self,
        terminal: &mut Raw,
        inputs: &Receiver<Input>,
        keys: &Keys,
    ) -> Result<(), Failure> {
        loop {
            self.draw(terminal)?;
            self.has_news = false;
            let first = match inputs.recv_timeout(BEAT) {
                Ok(input) => Some(input),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            for input in first.into_iter().chain(inputs.try_iter().take(BATCH)) {
                match self.take(input) {
                    Wish::Stay => {}
                    Wish::Quit => return Ok(()),
                    Wish::Run(command) => self.run(command, terminal, keys)?,
                }
            }
            self.settle();
        }
    }

    fn take(&mut self, input: Input) -> Wish {
        self.has_news = true;
        match input {
            Input::Terminal(Event::Key(key)) if key.kind != KeyEventKind::Release => self.key(key),
            Input::Terminal(_) => Wish::Stay,
            Input::Session(event) => {
                self.hear(&self.watch.completed(&event));
                Wish::Stay
            }
            Input::End => Wish::Quit,
        }
    }

    fn show_all(&mut self, sessions: Vec<SessionInfo>) {
        self.board.reset(sessions.into_iter().map(|info| self.watch.complete(info)).collect());
    }

    fn hear(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Resync { .. } => {
                if let Some(snapshot) = self.watch.snapshot() {
                    self.show_all(snapshot.sessions);
                }
            }
            SessionEvent::Watching(watching) => self.frame.trouble.clone_from(&watching.reason),
            SessionEvent::SessionActivity(activity) => {
                if let Some(call) = self.notices.hear(activity, (self.clock)()) {
                    self.call(&call);
                }
            }
            _ => {}
        }
        self.wants_listing |= self.board.hear(event);
    }

    fn settle(&mut self) {
        for call in self.notices.settled((self.clock)()) {
            self.call(&call);
        }
        if self.watch.take_facts() {
            self.board.learn(self.watch.facts());
            self.has_news = true;
        }
        if self.wants_listing && self.listed.is_none_or(|at| at.elapsed() >= LISTING) {
            self.wants_listing = false;
            self.listed = Some(Instant::now());
            self.watch.want_facts();
        }
    }

    fn call(&self, call: &Call) {
        let (Call::Asked { session, .. } | Call::Finished { session }) = call;
        notice::call(call, &self.title(session), self.notify);
    }

    fn title(&self, id: &SessionId) -> String {
        let card = self.board.cards().iter().find(|card| card.id == *id);
        card.map_or_else(|| id.short().to_owned(), |card| format!("{}: {}", card.project, card.title))
    }

    fn draw(&mut self, terminal: &mut Raw) -> io::Result<()> {
        let now = (self.clock)();
        if self.has_news || self.arranged.elapsed() >= ARRANGED {
            self.board.arrange(now);
            self.arranged = Instant::now();
        }
        self.frame.notify = match self.notify {
            Notify::Off => "off",
            Notify::Bell => "bell",
            Notify::Notify => "notify",
        };
        terminal.0.draw(|out| {
            let area = out.area();
            self.frame.size = (area.width.into(), area.height.into());
            let lines = draw(&self.board, &mut self.frame, now);
            out.render_widget(Paragraph::new(lines), area);
        })?;
        Ok(())
    }

    fn key(&mut self, key: KeyEvent) -> Wish {
        self.frame.message = None;
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return Wish::Quit;
        }
        if self.frame.is_typing {
            self.type_filter(key.code);
            return Wish::Stay;
        }
        if std::mem::take(&mut self.frame.help) {
            return Wish::Stay;
        }
        let page = isize::try_from(self.frame.size.1.saturating_sub(4)).unwrap_or(10);
        match key.code {
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Char('j') | KeyCode::Down => self.board.step(1),
            KeyCode::Char('k') | KeyCode::Up => self.board.step(-1),
            KeyCode::PageDown => self.board.step(page),
            KeyCode::PageUp => self.board.step(-page),
            KeyCode::Char('g') | KeyCode::Home => self.board.step(isize::MIN),
            KeyCode::Char('G') | KeyCode::End => self.board.step(isize::MAX),
            KeyCode::Tab => self.board.next_in_need(),
            KeyCode::Enter => return Wish::Run("show"),
            KeyCode::Char('r') => return Wish::Run("resume"),
            KeyCode::Char('f') => return Wish::Run("fork"),
            KeyCode::Char('c' | 'y') => self.copy(),
            KeyCode::Char('/') => self.frame.is_typing = true,
            KeyCode::Esc => self.board.filter.clear(),
            KeyCode::Char('a') => self.board.all = !self.board.all,
            KeyCode::Char('n') => self.next_notify(),
            KeyCode::Char('?' | 'h') => self.frame.help = true,
            _ => {}
        }
        Wish::Stay
    }

    fn type_filter(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.frame.is_typing = false,
            KeyCode::Esc => {
                self.frame.is_typing = false;
                self.board.filter.clear();
            }
            KeyCode::Backspace => {
                self.board.filter.pop();
            }
            KeyCode::Char(c) if self.board.filter.len() < 200 => self.board.filter.push(c),
            _ => {}
        }
    }

    fn next_notify(&mut self) {
        let (notify, message) = match self.notify {
            Notify::Off => (Notify::Bell, "calls you by the terminal's bell"),
            Notify::Bell => (Notify::Notify, "calls you by a notification of the desktop"),
            Notify::Notify => (Notify::Off, "does not call you"),
        };
        self.notify = notify;
        self.frame.message = Some(message.to_owned());
    }

    /// By the terminal's own clipboard (OSC 52), which works through ssh and tmux.
    fn copy(&mut self) {
        let Some(id) = self.board.selected().map(|card| card.id.clone()) else { return };
        notice::tell_terminal(&format!("\u{1b}]52;c;{}\u{7}", base64(id.as_str().as_bytes())));
        self.frame.message = Some(format!("copied {id}"));
    }

    /// Lends the terminal to another command of ours, and comes back.
    fn run(&mut self, command: &str, terminal: &mut Raw, keys: &Keys) -> Result<(), Failure> {
        let Some(id) = self.board.selected().map(|card| card.id.clone()) else { return Ok(()) };
        let program = std::env::current_exe()?;
        let demo = self.app.config.is_demo.then_some("--demo");
        let asleep = keys.pause();
        Raw::leave()?;
        let began = Instant::now();
        let status = Command::new(program).arg(command).arg(id.as_str()).args(demo).status();
        // What was printed without a pager has to be read before it is covered.
        let was_read = command != "show" || began.elapsed() > UNREAD;
        if status.as_ref().is_ok_and(|status| !status.success() || !was_read) {
            println_and_wait("\n[Enter goes back]")?;
        }
        terminal.come_back()?;
        drop(asleep);
        self.frame.message =
            status.err().map(|error| format!("cannot run `{command}`: {}", safe(&error.to_string())));
        Ok(())
    }
}

fn println_and_wait(text: &str) -> io::Result<()> {
    use std::io::Write as _;
    writeln!(io::stderr(), "{text}")?;
    io::stdin().read_line(&mut String::new()).map(drop)
}

/// The terminal as the board needs it; as it was before, once this is dropped.
struct Raw(Terminal<CrosstermBackend<Stdout>>);

impl Raw {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(Self(Terminal::new(CrosstermBackend::new(io::stdout()))?))
    }

    fn leave() -> io::Result<()> {
        execute!(io::stdout(), LeaveAlternateScreen, Show)?;
        disable_raw_mode()
    }

    fn come_back(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        self.0.clear()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs no tidying.
        let _ = Self::leave();
    }
}

fn forward_sessions(listener: Listener, inputs: Sender<Input>) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(1);
    std::thread::Builder::new().name("sessions".to_owned()).spawn(move || {
        loop {
            let input = match listener.next(PATIENCE) {
                Ok(Some(event)) => Input::Session(event),
                Ok(None) => continue,
                Err(_) => Input::End,
            };
            let is_last = matches!(input, Input::End);
            if inputs.send(input).is_err() || is_last {
                return;
            }
        }
    })?;
    Ok(())
}

/// The thread that reads keys; it can be paused while another program has the terminal.
struct Keys(Arc<std::sync::Mutex<()>>);

impl Keys {
    fn start(inputs: Sender<Input>) -> io::Result<Self> {
        const PATIENCE: Duration = Duration::from_millis(100);
        let gate = Arc::new(std::sync::Mutex::new(()));
        let own = Arc::clone(&gate);
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            loop {
                let turn = own.lock();
                let found = event::poll(PATIENCE)
                    .and_then(|found| if found { event::read().map(Some) } else { Ok(None) });
                drop(turn);
                let input = match found {
                    Ok(Some(event)) => Input::Terminal(event),
                    Ok(None) => {
                        std::thread::yield_now();
                        continue;
                    }
                    Err(_) => Input::End,
                };
                let is_last = matches!(input, Input::End);
                if inputs.send(input).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self(gate))
    }

    /// No key is read for as long as this is held.
    fn pause(&self) -> Option<std::sync::MutexGuard<'_, ()>> {
        self.0.lock().ok()
    }
}

/// As OSC 52 wants it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0_u32, |number, byte| (number << 8) | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_as_everybody_writes_it() {
        let check = |text: &str, expected: &str| assert_eq!(super::base64(text.as_bytes()), expected);
        check("", "");
        check("f", "Zg==");
        check("fo", "Zm8=");
        check("foo", "Zm9v");
        check("469a19a4", "NDY5YTE5YTQ=");
    }
}
