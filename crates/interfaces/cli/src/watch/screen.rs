//! The live view on a terminal: takes keys and events from one channel and draws the board.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use app::choose::resume_cost;
use app::live::watch::{Listed, Live, Subscription};
use app::{Context, Notify};
use model::{Evidence, SessionEvent, SessionId, SessionInfo};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::widgets::Paragraph;

use super::board::{Board, Need};
use super::draw::{Frame, draw};
use super::hidden::HiddenSessions;
use super::jump::jump;
use super::notice::{self, Notices, Notification};
use crate::clipboard;
use crate::exit::Failure;
use crate::resumption;
use crate::terminal::{self, Keys, Loan, Raw, TerminalEvent, pasted_line};
use crate::text::safe;

/// How often the ages on the screen are updated.
const REDRAW: Duration = Duration::from_secs(1);
/// How often the board is arranged without events, because sessions become old.
const ARRANGED: Duration = Duration::from_mins(1);
/// How many events are handled before the screen is drawn again.
const BATCH: usize = 2000;

enum Input {
    Terminal(TerminalEvent),
    Session(Arc<SessionEvent>),
    /// There is a new listing.
    Facts(Listed),
    /// The command that was run on this terminal has ended.
    Back(io::Result<ExitStatus>),
    /// The monitor has ended.
    End,
}

/// What a key or an event leads to.
enum Action {
    Continue,
    Quit,
    /// Suspend until the shell continues the program.
    Suspend,
    /// Run this command on this terminal for the selected session.
    Run(&'static str),
    /// Take the terminal back after such a command.
    Back,
}

struct Screen<'a> {
    context: &'a Context,
    live: Live,
    board: Board,
    frame: Frame,
    notices: Notices,
    notify: Notify,
    hidden: HiddenSessions,
    /// Whether anything has happened since the board was arranged, and when it was.
    has_news: bool,
    arranged: Instant,
    /// Present while another command has the terminal; events are still handled.
    loan: Option<Loan>,
}

/// Shows the board until the person quits.
pub(crate) fn run(context: &Context, notify: Notify) -> Result<(), Failure> {
    let live = Live::start(context)?;
    let (snapshot, subscription) = live.subscribe(context)?;
    let mut screen = Screen {
        context,
        live,
        board: Board::default(),
        frame: Frame { trouble: snapshot.watching.and_then(|watching| watching.reason), ..Frame::default() },
        notices: Notices::default(),
        notify,
        hidden: HiddenSessions::default(),
        has_news: true,
        arranged: Instant::now(),
        loan: None,
    };
    for info in &snapshot.sessions {
        let state = model::SessionActivity::new(&info.session_id, &info.activity);
        // What was asked before the start is on the board and needs no notification.
        screen.notices.update(&state, context.read_clock());
    }
    screen.leave_out_hidden();
    screen.show_all(snapshot.sessions);
    let (sender, inputs) = channel();
    forward_sessions(subscription, sender.clone())?;
    let mut terminal = Raw::enter()?;
    let keys = Keys::start(&sender, Input::Terminal)?;
    let outcome = screen.run_loop(&mut terminal, &inputs, &keys, &sender);
    // What is typed from now on goes to the shell.
    let _asleep = keys.lend();
    drop(terminal);
    outcome
}

impl Screen<'_> {
    fn run_loop(
        &mut self,
        terminal: &mut Raw,
        inputs: &Receiver<Input>,
        keys: &Keys,
        sender: &Sender<Input>,
    ) -> Result<(), Failure> {
        loop {
            if self.loan.is_none() {
                self.draw(terminal)?;
            }
            self.has_news = false;
            let first = match inputs.recv_timeout(REDRAW) {
                Ok(input) => Some(input),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            for input in first.into_iter().chain(inputs.try_iter().take(BATCH)) {
                match self.handle(input) {
                    Action::Continue => {}
                    Action::Quit => return Ok(()),
                    Action::Suspend => {
                        let asleep = keys.lend();
                        terminal.give_back()?;
                        terminal::stop();
                        terminal.take()?;
                        drop(asleep);
                    }
                    Action::Run(command) => self.lend(command, terminal, keys, sender)?,
                    Action::Back => {
                        terminal.take()?;
                        self.loan = None;
                    }
                }
            }
            self.finish_batch();
        }
    }

    fn handle(&mut self, input: Input) -> Action {
        self.has_news = true;
        match input {
            Input::Terminal(TerminalEvent::End) | Input::End => Action::Quit,
            // Typed before the other command began to read.
            Input::Terminal(_) if self.loan.is_some() => Action::Continue,
            Input::Terminal(TerminalEvent::Event(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                self.key(key)
            }
            Input::Terminal(TerminalEvent::Event(Event::Paste(text))) => {
                self.paste(&text);
                Action::Continue
            }
            Input::Terminal(TerminalEvent::Event(_)) => Action::Continue,
            Input::Terminal(TerminalEvent::Suspend) => Action::Suspend,
            Input::Back(ended) => {
                let wrong =
                    |error: io::Error| format!("the command could not be run: {}", safe(&error.to_string()));
                self.frame.message = ended.err().map(wrong);
                self.live.request_listing();
                Action::Back
            }
            Input::Session(event) => {
                self.apply(&event);
                Action::Continue
            }
            Input::Facts(facts) => {
                self.board.set_facts(facts);
                Action::Continue
            }
        }
    }

    fn show_all(&mut self, sessions: Vec<SessionInfo>) {
        self.board.reset(sessions);
    }

    /// Takes over which sessions the person has hidden.
    fn leave_out_hidden(&mut self) {
        if self.hidden.refresh(self.context) {
            self.board.leave_out(self.hidden.ids().clone());
            self.has_news = true;
        }
    }

    fn apply(&mut self, event: &SessionEvent) {
        match event {
            // The board keeps what they do, and nothing is said of it.
            SessionEvent::Announcement(_) | SessionEvent::SessionActivity(_) if self.hidden.has(event) => {}
            SessionEvent::Resync { .. } => {
                if let Ok(snapshot) = self.live.snapshot(self.context) {
                    self.show_all(snapshot.sessions);
                }
            }
            SessionEvent::Watching(watching) => self.frame.trouble.clone_from(&watching.reason),
            SessionEvent::Announcement(event) => {
                let title = self.title(&event.session_id);
                self.frame.message = Some(safe(&format!("{title} announces: {}", event.message)));
                let (session, message) = (event.session_id.clone(), event.message.clone());
                self.notify(&Notification::Announced { session, message });
            }
            SessionEvent::SessionActivity(activity) => {
                if let Some(call) = self.notices.update(activity, self.context.read_clock()) {
                    self.notify(&call);
                }
            }
            _ => {}
        }
        if self.board.apply(event) {
            self.live.request_listing();
        }
    }

    fn finish_batch(&mut self) {
        self.leave_out_hidden();
        for call in self.notices.settled(self.context.read_clock()) {
            self.notify(&call);
        }
    }

    fn notify(&self, notification: &Notification) {
        let (Notification::Asked { session, .. }
        | Notification::Announced { session, .. }
        | Notification::Finished { session }) = notification;
        notice::send(notification, &self.title(session), self.notify);
    }

    fn title(&self, id: &SessionId) -> String {
        let card = self.board.cards().iter().find(|card| card.id == *id);
        card.map_or_else(|| id.short().to_owned(), |card| format!("{}: {}", card.project, card.title))
    }

    fn draw(&mut self, terminal: &mut Raw) -> io::Result<()> {
        let now = self.context.read_clock();
        if self.has_news || self.arranged.elapsed() >= ARRANGED {
            self.board.arrange(now);
            self.arranged = Instant::now();
        }
        self.frame.notify = match self.notify {
            Notify::Off => "off",
            Notify::Bell => "bell",
            Notify::Notify => "notify",
        };
        self.frame.details = self.details();
        terminal.terminal.draw(|out| {
            let area = out.area();
            self.frame.size = (area.width.into(), area.height.into());
            let lines = draw(&self.board, &mut self.frame, now);
            out.render_widget(Paragraph::new(lines), area);
        })?;
        Ok(())
    }

    /// The details of the selected session: what it asks, or what resuming it costs.
    fn details(&self) -> Vec<String> {
        let asking = self.board.selected().and_then(|card| card.activity.asking.clone());
        if asking.is_some() {
            return asking.into_iter().collect();
        }
        let Some(facts) = self.board.resumable() else { return Vec::new() };
        let cost = resume_cost::watched(self.context, facts);
        if cost.tokens == 0 && cost.armed.is_empty() {
            return Vec::new();
        }
        std::iter::once(resumption::short(&cost)).chain(resumption::armed(&cost)).collect()
    }

    fn key(&mut self, key: KeyEvent) -> Action {
        self.frame.message = None;
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
            && let KeyCode::Char(letter) = key.code
        {
            return self.control(letter);
        }
        if self.frame.is_typing {
            self.type_filter(key.code);
            return Action::Continue;
        }
        if std::mem::take(&mut self.frame.help) {
            return Action::Continue;
        }
        let page = isize::try_from(self.frame.size.1.saturating_sub(4)).unwrap_or(10);
        match key.code {
            KeyCode::Char('q') => return Action::Quit,
            KeyCode::Char('j') | KeyCode::Down => self.board.step(1),
            KeyCode::Char('k') | KeyCode::Up => self.board.step(-1),
            KeyCode::PageDown => self.board.step(page),
            KeyCode::PageUp => self.board.step(-page),
            KeyCode::Char('g') | KeyCode::Home => self.board.step(isize::MIN),
            KeyCode::Char('G') | KeyCode::End => self.board.step(isize::MAX),
            KeyCode::Tab => self.board.next_in_need(),
            KeyCode::Enter => return Action::Run("show"),
            KeyCode::Char('t') => return self.jump(),
            KeyCode::Char('r') => return Action::Run("resume"),
            KeyCode::Char('f') => return Action::Run("fork"),
            KeyCode::Char('c' | 'y') => self.copy(),
            KeyCode::Char('/') => self.frame.is_typing = true,
            KeyCode::Esc => self.board.filter.clear(),
            KeyCode::Char('a') => self.board.all = !self.board.all,
            KeyCode::Char('n') => self.next_notify(),
            KeyCode::Char('?' | 'h') => self.frame.help = true,
            _ => {}
        }
        Action::Continue
    }

    /// Handles a letter with Ctrl or Alt, which is never text.
    fn control(&mut self, letter: char) -> Action {
        match letter {
            'c' => return Action::Quit,
            'z' => terminal::stop_all(),
            'u' if self.frame.is_typing => self.board.filter.clear(),
            _ => {}
        }
        Action::Continue
    }

    fn type_filter(&mut self, code: KeyCode) {
        match code {
            KeyCode::Down => self.board.step(1),
            KeyCode::Up => self.board.step(-1),
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

    /// Takes a pasted text into the filter while that is typed.
    fn paste(&mut self, text: &str) {
        if self.frame.is_typing {
            pasted_line(text).chars().for_each(|letter| self.type_filter(KeyCode::Char(letter)));
        }
    }

    fn next_notify(&mut self) {
        let (notify, message) = match self.notify {
            Notify::Off => (Notify::Bell, "notifications by the terminal's bell"),
            Notify::Bell => (Notify::Notify, "notifications on the desktop"),
            Notify::Notify => (Notify::Off, "notifications off"),
        };
        self.notify = notify;
        self.frame.message = Some(message.to_owned());
    }

    /// Goes to the terminal of the selected session; a worker or a background job, which has none, is attached to
    /// here.
    fn jump(&mut self) -> Action {
        let Some(card) = self.board.selected() else { return Action::Continue };
        let is_open = card.need() != Need::Idle;
        if card.job.is_some() || (is_open && card.activity.evidence == Evidence::Protocol) {
            return Action::Run("attach");
        }
        self.frame.message = Some(match card.pid {
            Some(pid) => jump(pid),
            None => "no process has it open; r continues it here".to_owned(),
        });
        Action::Continue
    }

    /// Copies the selected id.
    fn copy(&mut self) {
        let Some(id) = self.board.selected().map(|card| card.id.clone()) else { return };
        clipboard::copy(id.as_str());
        self.frame.message = Some(format!("copied {id}"));
    }

    /// Runs another command on this terminal; [`Input::Back`] comes when it has ended.
    fn lend(
        &mut self,
        command: &'static str,
        terminal: &mut Raw,
        keys: &Keys,
        sender: &Sender<Input>,
    ) -> Result<(), Failure> {
        let Some(id) = self.board.selected().map(|card| card.id.clone()) else { return Ok(()) };
        let mut program = Command::new(std::env::current_exe()?);
        program.arg(command).arg(id.as_str()).args(self.context.config().is_demo.then_some("--demo"));
        if command == "show" {
            program.args(["--wait", "--at-end"]);
        }
        self.loan = Some(keys.lend());
        terminal.give_back()?;
        let back = sender.clone();
        std::thread::Builder::new().name("loan".to_owned()).spawn(move || {
            let ended = terminal::run_until_read(&mut program);
            // The receiver is gone when the program ends.
            let _ = back.send(Input::Back(ended));
        })?;
        Ok(())
    }
}

fn forward_sessions(mut subscription: Subscription, inputs: Sender<Input>) -> io::Result<()> {
    /// How long a new listing may wait to be shown where nothing happens.
    const PATIENCE: Duration = Duration::from_millis(200);
    std::thread::Builder::new().name("sessions".to_owned()).spawn(move || {
        loop {
            if let Some(facts) = subscription.new_facts()
                && inputs.send(Input::Facts(facts)).is_err()
            {
                return;
            }
            let input = match subscription.next(PATIENCE) {
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
