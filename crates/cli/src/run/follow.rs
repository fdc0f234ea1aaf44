//! The loop of `run` and `attach`: events, the person's lines and signals come in; what is shown and commanded goes
//! out.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use app::App;
use app::workers::{Asked, Command, Event, Link, Request, WorkerState};

use super::questions::{Questions, Typed};
use super::show::Show;
use super::{Signal, Slow, signals};
use crate::exit::Failure;
use crate::output::Output;
use crate::text::{fit, json_line, safe};

/// How much is told of what a tool is asked for, in cells.
const DETAIL: usize = 240;
/// Exit code of a program that was ended by an interrupt.
const INTERRUPTED: i32 = 130;

/// What the one who follows is to the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It ends with them: `run`.
    Owner,
    /// It goes on without them: `attach`.
    Guest,
}

/// How a worker is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Follow {
    /// Its number, for hints.
    pub(crate) worker: i64,
    /// What the one who follows is to it.
    pub(crate) role: Role,
    /// Whether events are printed as JSON.
    pub(crate) json: bool,
}

enum Seen {
    Event(Arc<Event>),
    /// There is no worker any more.
    Over,
    Line(String),
    Signal(Signal),
}

/// Follows a worker until it ends, or the guest goes; gives back how it ended, where it did.
pub(crate) fn follow(app: &App, link: &mut Link, how: Follow) -> Result<Option<WorkerState>, Failure> {
    let (tell, seen) = channel();
    signals(tell.clone(), Seen::Signal)?;
    forward(link.listen(), tell.clone());
    let is_asked = !how.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_asked {
        read_lines(tell);
    }
    let out = Output::plain();
    let (show, questions) = (Show::new(out.width()), Questions::new(app, out.width()));
    let mut desk =
        Desk { app, link, how, out, show, questions, is_asked, signals: 0, slow: None, state: None };
    for seen in &seen {
        if let Next::End(state) = desk.take(seen)? {
            desk.out.finish()?;
            return Ok(state);
        }
    }
    Ok(None)
}

enum Next {
    Goes,
    End(Option<WorkerState>),
}

struct Desk<'a> {
    app: &'a App,
    link: &'a Link,
    how: Follow,
    out: Output,
    show: Show,
    questions: Questions<'a>,
    /// Whether a person is there who can be asked.
    is_asked: bool,
    signals: u32,
    /// The start of `claude`, as long as it is waited for.
    slow: Option<Slow>,
    state: Option<WorkerState>,
}

impl Desk<'_> {
    fn take(&mut self, seen: Seen) -> Result<Next, Failure> {
        match seen {
            Seen::Event(event) => self.event(&event),
            Seen::Over => Ok(Next::End(self.state.take())),
            Seen::Line(line) => self.line(&line).map(|()| Next::Goes),
            Seen::Signal(signal) => self.signal(signal),
        }
    }

    fn event(&mut self, event: &Event) -> Result<Next, Failure> {
        self.starting(event);
        let text = self.text(event)?;
        if !text.is_empty() {
            self.questions.step_aside()?;
        }
        self.out.write_all(&text)?;
        self.out.flush_now()?;
        match event {
            Event::Asked(request) => self.asked(request)?,
            Event::Withdrawn { request } => self.questions.over(request, None)?,
            Event::Answered { request, allowed } => self.questions.over(request, Some(*allowed))?,
            Event::State(WorkerState::Idle { .. }) if self.how.role == Role::Owner => self.turn_is_over()?,
            Event::Ended { state } => {
                self.state = Some(state.clone());
                return Ok(Next::End(self.state.take()));
            }
            Event::Tool { name, input, .. } => self.questions.called(name, input),
            _ => {}
        }
        if !text.is_empty() {
            self.questions.ask_again()?;
        }
        Ok(Next::Goes)
    }

    /// What is printed of an event.
    fn text(&mut self, event: &Event) -> Result<Vec<u8>, Failure> {
        let mut text = Vec::new();
        let app = self.app;
        if !self.how.json {
            self.show.event(&mut text, event, |event| app.told_event(event))?;
        } else if !matches!(event, Event::Delta { .. }) {
            // Whole texts follow their pieces.
            writeln!(text, "{}", json_line(&app.told_event(event))?)?;
        }
        Ok(text)
    }

    /// Who waits for `claude` to start is told so where that takes long.
    fn starting(&mut self, event: &Event) {
        match event {
            Event::State(WorkerState::Starting) if !self.how.json => {
                let most = self.app.config.settings.workers.start_seconds;
                self.slow = Some(Slow::begin(format!(
                    "claude is starting; its first answer is waited for, at most {most} s"
                )));
            }
            Event::Note { .. } => {}
            _ => self.slow = None,
        }
    }

    fn asked(&mut self, request: &Request) -> Result<(), Failure> {
        if self.is_asked {
            return Ok(self.questions.asked(request)?);
        }
        if !self.how.json {
            let request = self.app.told_request(request);
            writeln!(io::stderr(), "{}", in_a_line(self.how.worker, &request))?;
        }
        Ok(())
    }

    fn turn_is_over(&mut self) -> Result<(), Failure> {
        if self.is_asked && self.questions.ask_instead()? {
            return Ok(());
        }
        self.command(Command::Close)
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        match self.questions.typed(line)? {
            Typed::Answer(request, reply) => {
                if !self.is_done(Command::Answer { request, reply })? {
                    self.questions.refused();
                    self.questions.ask_again()?;
                }
                Ok(())
            }
            // What is typed while it works is said to it.
            Typed::Message(text) => {
                self.signals = 0;
                self.command(app::run::message(&text))
            }
            Typed::End => self.command(Command::Close),
            Typed::Nothing => Ok(()),
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<Next, Failure> {
        self.signals += 1;
        if self.how.role == Role::Guest {
            let worker = self.how.worker;
            writeln!(io::stderr(), "\nworker {worker} goes on; backstory stop {worker} ends it")?;
            return Ok(Next::End(None));
        }
        match (signal, self.signals) {
            (Signal::Interrupt, 1) if self.link.command(Command::Interrupt).is_ok() => {
                self.questions.interrupted();
                self.questions.next_line()?;
                writeln!(io::stderr(), "interrupted; Ctrl-C again ends it")?;
            }
            (_, 1 | 2) => {
                self.questions.next_line()?;
                writeln!(io::stderr(), "it is being ended")?;
                self.command(Command::Stop)?;
            }
            // It does not end in time: whoever runs Backstory next ends it.
            _ => std::process::exit(INTERRUPTED),
        }
        Ok(Next::Goes)
    }

    fn command(&mut self, command: Command) -> Result<(), Failure> {
        self.is_done(command).map(drop)
    }

    /// Has something done; where it is not, it is told why.
    fn is_done(&mut self, command: Command) -> Result<bool, Failure> {
        let done = self.link.command(command);
        if let Err(why) = &done {
            self.questions.step_aside()?;
            writeln!(io::stderr(), "{}", safe(why))?;
        }
        Ok(done.is_ok())
    }
}

/// What a worker asks, and the command that answers it from another terminal; `request` is as it may be shown.
pub(crate) fn in_a_line(worker: i64, request: &Request) -> String {
    let id: String = request.request.chars().take(8).collect();
    let (what, answer) = match request.asked() {
        Asked::Questions(questions) => {
            let all: Vec<_> = questions.iter().map(|asked| asked.question.as_str()).collect();
            let answers = questions.len().max(1);
            (format!("asks: {}", all.join(" ")), ["--say 'QUESTION=ANSWER'"].repeat(answers).join(" "))
        }
        Asked::Plan(_) => ("has a plan, and asks whether to begin".to_owned(), String::new()),
        Asked::Permission => {
            // A command is decided on by what it is, not by what it calls itself.
            let command = request.input["command"].as_str().map(str::to_owned);
            let detail = command.or_else(|| request.detail()).map(|detail| format!(": {detail}"));
            let text = format!("asks for {}{}", request.tool, detail.unwrap_or_default());
            (fit(&text, DETAIL), String::new())
        }
    };
    let answer = if answer.is_empty() { "allow|deny".to_owned() } else { format!("allow {answer}") };
    let (what, id) = (safe(&what), safe(&id));
    format!("worker {worker} {what}\n  answer it: backstory answer {worker} {id} {answer}")
}

fn forward(events: Receiver<Arc<Event>>, to: Sender<Seen>) {
    std::thread::spawn(move || {
        for event in events {
            if to.send(Seen::Event(event)).is_err() {
                return;
            }
        }
        // Whoever followed may have gone.
        let _ = to.send(Seen::Over);
    });
}

fn read_lines(to: Sender<Seen>) {
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if to.send(Seen::Line(line)).is_err() {
                return;
            }
        }
    });
}
