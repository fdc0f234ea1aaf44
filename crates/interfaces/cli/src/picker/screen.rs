//! The picker on a terminal: takes keys and answers from one channel and draws its state.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use app::Context;
use app::proceed::resume::process;
use app::retention::upkeep;
use model::SessionId;
use ratatui::crossterm::event::{Event, KeyEvent, KeyEventKind, MouseButton, MouseEventKind};
use ratatui::widgets::Paragraph;

use super::draw::{Setting, draw};
use super::item::{Listing, Progress};
use super::layout::Layout;
use super::state::{Command, Picker};
use super::worker::{Answer, Interrupt, Question, SessionsQuestion, answer};
use super::{Choice, Purpose};
use crate::clipboard::copy;
use crate::exit::Failure;
use crate::next_step::as_command;
use crate::terminal::{self, Keys, Raw, TerminalEvent};
use crate::text::safe;
use crate::watch::jump::jump;

/// How many rows of the list the mouse's wheel moves.
const WHEEL: isize = 1;
/// How many lines of the preview it scrolls.
const LINES: isize = 3;

/// What is said where a session cannot be continued because a process has it open.
const HELD: &str = "a process has it open: ^T goes to its terminal, ^F continues a copy";

enum Input {
    Terminal(TerminalEvent),
    Answer(Answer),
}

struct Screen<'a> {
    context: &'a Context,
    setting: Setting,
    picker: Picker,
    layout: Layout,
    questions: Sender<Question>,
    interrupt: Interrupt,
}

/// Lets the person find a session, beginning with `question`; a failure where they leave without a choice.
pub(crate) fn pick(context: &Context, purpose: Purpose, question: &str) -> Result<Choice, Failure> {
    let (sender, inputs) = channel();
    let (questions, asked) = channel();
    let interrupt = Interrupt::default();
    let (own, ended, answers) = (context.clone(), interrupt.clone(), sender.clone());
    std::thread::Builder::new()
        .name("picker".to_owned())
        .spawn(move || answer(&own, purpose, &asked, &ended, &answers, Input::Answer))?;
    let here =
        context.directory.file_name().map_or_else(|| "here".to_owned(), |name| name.display().to_string());
    let mut screen = Screen {
        context,
        setting: Setting { purpose, now: context.now, zone: context.zone(), here },
        picker: Picker {
            question: question.into(),
            progress: Progress::Awaited,
            is_demo: context.config().is_demo,
            ..Picker::default()
        },
        layout: Layout::default(),
        questions,
        interrupt,
    };
    screen.ask();
    let mut terminal = Raw::enter_with_mouse()?;
    let keys = Keys::start(&sender, Input::Terminal)?;
    let outcome = screen.run_loop(&mut terminal, &inputs, &keys);
    // What is typed from now on goes to the shell.
    let _asleep = keys.lend();
    screen.interrupt.cancel();
    drop(terminal);
    match outcome {
        Ok(_) => upkeep::before_claude(context),
        Err(_) => drop(upkeep::after_a_listing(context)),
    }
    outcome
}

impl Screen<'_> {
    fn run_loop(
        &mut self,
        terminal: &mut Raw,
        inputs: &Receiver<Input>,
        keys: &Keys,
    ) -> Result<Choice, Failure> {
        loop {
            self.draw(terminal)?;
            let Ok(first) = inputs.recv() else { return Err(Failure::Left) };
            for input in std::iter::once(first).chain(inputs.try_iter()) {
                match self.handle(input) {
                    Command::Redraw => {}
                    Command::Ask => self.ask(),
                    Command::Preview => self.preview(),
                    Command::More => {
                        self.send(Question::Sessions(self.asked()));
                        self.preview();
                    }
                    Command::Choose(choice) if self.is_held(&choice) => {
                        self.picker.message = Some(HELD.to_owned());
                    }
                    Command::Choose(choice) => return Ok(choice),
                    Command::Quit => return Err(Failure::Left),
                    Command::Copy(text) => {
                        copy(&text);
                        self.picker.message = Some(format!("copied {text}"));
                    }
                    Command::Jump(session) => self.jump(&session),
                    Command::Read(choice) => {
                        let asleep = keys.lend();
                        terminal.give_back()?;
                        self.read(&choice);
                        terminal.take()?;
                        drop(asleep);
                    }
                    Command::Enter(directory) => {
                        let asleep = keys.lend();
                        terminal.give_back()?;
                        self.enter(&directory);
                        terminal.take()?;
                        drop(asleep);
                    }
                    Command::Suspend => {
                        let asleep = keys.lend();
                        terminal.give_back()?;
                        terminal::stop();
                        terminal.take()?;
                        drop(asleep);
                    }
                }
            }
        }
    }

    fn handle(&mut self, input: Input) -> Command {
        match input {
            Input::Terminal(TerminalEvent::End) => Command::Quit,
            Input::Terminal(TerminalEvent::Suspend) => Command::Suspend,
            Input::Terminal(TerminalEvent::Event(event)) => self.event(&event),
            // What was typed since is asked already.
            Input::Answer(Answer::Sessions(asked, _)) if asked != self.asked() => Command::Redraw,
            Input::Answer(Answer::Sessions(_, Ok(listing))) => {
                let held = self.picker.answer(listing);
                self.preview();
                held.map_or(Command::Redraw, |key| self.key(key))
            }
            Input::Answer(Answer::Sessions(_, Err(error))) => {
                // What makes no sense is said where its answer would be.
                let remarks = std::iter::once(error.message).chain(error.next_steps.iter().map(as_command));
                let remarks = remarks.map(|remark| safe(&remark)).collect();
                self.picker.answer(Listing { remarks, progress: Progress::Refused, ..Listing::default() });
                Command::Redraw
            }
            Input::Answer(Answer::Preview { session, passages, notes }) => {
                // The selection may have moved on.
                if self.picker.item().is_some_and(|item| item.id == session) {
                    self.picker.preview = Some(passages);
                    self.picker.notes = notes;
                }
                Command::Redraw
            }
        }
    }

    fn event(&mut self, event: &Event) -> Command {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            Event::Paste(text) => self.picker.paste(text),
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollDown if self.layout.is_preview(mouse.row.into()) => {
                    self.picker.scroll(LINES)
                }
                MouseEventKind::ScrollUp if self.layout.is_preview(mouse.row.into()) => {
                    self.picker.scroll(-LINES)
                }
                MouseEventKind::ScrollDown => self.picker.moved(WHEEL),
                MouseEventKind::ScrollUp => self.picker.moved(-WHEEL),
                MouseEventKind::Down(MouseButton::Left) => self.click(mouse.row.into()),
                _ => Command::Redraw,
            },
            _ => Command::Redraw,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Command {
        self.picker.key(key, self.setting.purpose, self.layout.rows())
    }

    fn click(&mut self, line: usize) -> Command {
        match self.layout.item_at(line, self.picker.items.len()) {
            Some(item) => {
                self.picker.select(item);
                Command::Preview
            }
            None => Command::Redraw,
        }
    }

    fn ask(&mut self) {
        self.interrupt.cancel();
        self.send(Question::Sessions(self.asked()));
    }

    /// What is typed now.
    fn asked(&self) -> SessionsQuestion {
        let Picker { question, scope, wanted, .. } = &self.picker;
        SessionsQuestion { text: question.text().to_owned(), scope: *scope, wanted: *wanted }
    }

    fn preview(&mut self) {
        if let Some(item) = self.picker.item() {
            let (session, line, is_summary) = (item.id.clone(), item.line, item.is_summary);
            self.send(Question::Preview { session, line, is_summary });
        }
    }

    fn send(&self, question: Question) {
        // The worker ends with the program only.
        let _ = self.questions.send(question);
    }

    fn draw(&mut self, terminal: &mut Raw) -> io::Result<()> {
        terminal.terminal.draw(|out| {
            let area = out.area();
            (self.layout.width, self.layout.height) = (area.width.into(), area.height.into());
            let lines = draw(&self.picker, &mut self.layout, &self.setting);
            // What was scrolled too far comes back at once.
            let (first, last) = self.layout.preview;
            self.picker.preview_top = self.picker.preview_top.clamp(first, last);
            out.render_widget(Paragraph::new(lines), area);
        })?;
        Ok(())
    }

    /// Whether a process has the session open that is to be continued.
    fn is_held(&self, choice: &Choice) -> bool {
        choice.purpose == Purpose::Resume && process(self.context, &choice.session).is_some()
    }

    /// Goes to the terminal of a session.
    fn jump(&mut self, session: &SessionId) {
        self.picker.message = Some(match process(self.context, session) {
            Some(pid) => jump(pid),
            None if self.picker.is_gone() => "no process has it open; ^F continues a copy here".to_owned(),
            None => "no process has it open; Enter continues it here".to_owned(),
        });
    }

    /// Opens a shell in a directory until the person leaves it.
    fn enter(&mut self, directory: &Path) {
        let shell = self.context.config().shell.clone().unwrap_or_else(|| "sh".to_owned());
        terminal::write_control(&format!("{}  (exit comes back)\n", safe(&directory.display().to_string())));
        let ended = std::process::Command::new(&shell).current_dir(directory).status();
        if let Err(error) = ended {
            self.picker.message = Some(format!("cannot start {}: {error}", safe(&shell)));
        }
    }

    /// Shows the conversation in the pager.
    fn read(&mut self, choice: &Choice) {
        if let Err(error) = terminal::run_until_read(choice.program(self.context).arg("--wait")) {
            self.picker.message = Some(format!("cannot show it: {}", safe(&error.to_string())));
        }
    }
}
