//! The loop of `run` and `attach`: takes events, typed lines and signals; prints events and sends commands.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use app::Context;
use app::workers::{Command, Event, Events, Link, PermissionRequest, RequestKind, WorkerState};

use super::Slow;
use super::interrupts::{Heeded, Interrupts};
use super::questions::{Questions, Typed};
use super::show::Show;
use super::thinking::Thinking;
use crate::exit::Failure;
use crate::output::Output;
use crate::text::{fit, json_line, safe};

/// How often the waiting line is updated.
const TICK: Duration = Duration::from_secs(1);
/// The longest description of a permission request, in cells.
const DETAIL: usize = 240;

/// How the worker depends on the one who follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The worker ends with the command (`run`).
    Owner,
    /// The worker keeps running without the command (`attach`).
    Guest,
}

/// How a worker is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Follow {
    /// The worker's number, for hints.
    pub(crate) worker: i64,
    /// How the worker depends on this command.
    pub(crate) role: Role,
    /// Whether events are printed as JSON.
    pub(crate) json: bool,
}

enum Seen {
    Event(Box<Event>),
    /// The worker has ended.
    Over,
    Line(String),
    Signal(Heeded),
}

/// Follows a worker until it ends or the guest leaves; returns the state it ended in.
pub(crate) fn follow(
    context: &Context,
    link: &mut Link,
    how: Follow,
) -> Result<Option<WorkerState>, Failure> {
    let (tell, seen) = channel();
    let control = link.control().filter(|_| how.role == Role::Owner);
    let interrupts = Interrupts::heed(control, tell.clone(), Seen::Signal)?;
    forward(link.listen(), tell.clone());
    let is_asked = !how.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_asked {
        read_lines(tell);
    }
    let out = Output::plain();
    let is_seen = !how.json && io::stdout().is_terminal() && io::stderr().is_terminal();
    let show = Show::new(out.width());
    let show = if is_seen { show.word_by_word() } else { show };
    let questions = Questions::new(out.width());
    let thinking = is_seen.then(Thinking::default);
    let mut desk = Desk {
        context,
        link,
        how,
        out,
        show,
        thinking,
        questions,
        is_asked,
        interrupts,
        slow: None,
        state: None,
    };
    loop {
        let seen = match seen.recv_timeout(TICK) {
            Ok(seen) => seen,
            Err(RecvTimeoutError::Timeout) => {
                desk.tick()?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        };
        if let Next::End(state) = desk.take(seen)? {
            desk.out.finish()?;
            return Ok(state);
        }
    }
}

enum Next {
    Goes,
    End(Option<WorkerState>),
}

struct Desk<'a> {
    context: &'a Context,
    link: &'a Link,
    how: Follow,
    out: Output,
    show: Show,
    /// The waiting line, if a person sees it.
    thinking: Option<Thinking>,
    questions: Questions,
    /// Whether a person can answer questions.
    is_asked: bool,
    interrupts: Interrupts,
    /// The notice that `claude` starts slowly, while it is starting.
    slow: Option<Slow>,
    state: Option<WorkerState>,
}

impl Desk<'_> {
    /// Removes the waiting line.
    fn nothing_is_waited_for(&mut self) -> Result<(), Failure> {
        Ok(self.thinking.as_mut().map_or(Ok(()), Thinking::clear)?)
    }

    /// Updates the waiting line when nothing has come for a while.
    fn tick(&mut self) -> Result<(), Failure> {
        match &mut self.thinking {
            // The latest words end in an unfinished line.
            Some(thinking) if !self.show.is_open() => Ok(thinking.tick()?),
            _ => Ok(()),
        }
    }

    fn take(&mut self, seen: Seen) -> Result<Next, Failure> {
        match seen {
            Seen::Event(event) => {
                if let Some(thinking) = &mut self.thinking {
                    thinking.hear(&event);
                }
                self.event(&event)
            }
            Seen::Over => Ok(Next::End(self.state.take())),
            Seen::Line(line) => {
                // The waiting line is above the line that was typed.
                self.thinking.iter_mut().for_each(Thinking::leave);
                self.line(&line).map(|()| Next::Goes)
            }
            Seen::Signal(signal) => {
                self.nothing_is_waited_for()?;
                self.signal(signal)
            }
        }
    }

    fn event(&mut self, event: &Event) -> Result<Next, Failure> {
        self.starting(event);
        self.show.hold(self.questions.is_asking());
        let text = self.text(event)?;
        let asks = matches!(event, Event::Asked(_) | Event::Withdrawn { .. } | Event::Answered { .. });
        if asks || !text.is_empty() || matches!(event, Event::State(WorkerState::Idle { .. })) {
            self.nothing_is_waited_for()?;
        }
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

    /// The text that is printed for an event.
    fn text(&mut self, event: &Event) -> Result<Vec<u8>, Failure> {
        let mut text = Vec::new();
        if self.how.json {
            writeln!(text, "{}", json_line(event)?)?;
        } else {
            self.show.event(&mut text, event)?;
        }
        Ok(text)
    }

    /// Starts or ends the notice that `claude` takes long to start.
    fn starting(&mut self, event: &Event) {
        match event {
            Event::State(WorkerState::Starting) if !self.how.json => {
                let most = self.context.config().settings.workers.start_seconds;
                self.slow = Some(Slow::begin(format!("waiting for claude to start, at most {most} s")));
            }
            Event::Note { .. } => {}
            _ => self.slow = None,
        }
    }

    fn asked(&mut self, request: &PermissionRequest) -> Result<(), Failure> {
        if self.is_asked {
            return Ok(self.questions.asked(request)?);
        }
        if !self.how.json {
            writeln!(io::stderr(), "{}", in_a_line(self.how.worker, request))?;
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
            // What is typed while Claude works is sent to it.
            Typed::Message(text) => {
                self.interrupts.forget();
                self.command(app::workers::run::message(&text))
            }
            Typed::End => self.command(Command::Close),
            Typed::Nothing => Ok(()),
        }
    }

    fn signal(&mut self, heeded: Heeded) -> Result<Next, Failure> {
        match heeded {
            Heeded::Leaving => {
                let worker = self.how.worker;
                writeln!(io::stderr(), "\nworker {worker} keeps running; stop it: backstory stop {worker}")?;
                return Ok(Next::End(None));
            }
            Heeded::Interrupting => self.questions.interrupted(true),
            Heeded::Interrupted => {
                self.questions.next_line()?;
                writeln!(io::stderr(), "interrupted; press Ctrl-C again to stop the worker")?;
            }
            Heeded::Ending => {
                self.questions.interrupted(false);
                self.questions.next_line()?;
                writeln!(io::stderr(), "stopping the worker")?;
            }
        }
        Ok(Next::Goes)
    }

    fn command(&mut self, command: Command) -> Result<(), Failure> {
        self.is_done(command).map(drop)
    }

    /// Sends a command; prints why if the worker refuses it.
    fn is_done(&mut self, command: Command) -> Result<bool, Failure> {
        let done = self.link.command(command);
        if let Err(why) = &done {
            self.questions.step_aside()?;
            writeln!(io::stderr(), "{}", safe(why))?;
        }
        Ok(done.is_ok())
    }
}

/// A pending request and the command that answers it from another terminal; `request` must be redacted.
pub(crate) fn in_a_line(worker: i64, request: &PermissionRequest) -> String {
    let id: String = request.request.chars().take(8).collect();
    let (what, answer) = match request.kind() {
        RequestKind::Questions(questions) => {
            let all: Vec<_> = questions.iter().map(|asked| asked.question.as_str()).collect();
            let answers = questions.len().max(1);
            (format!("asks: {}", all.join(" ")), ["--say 'QUESTION=ANSWER'"].repeat(answers).join(" "))
        }
        RequestKind::Plan(_) => ("has a plan and asks whether to start".to_owned(), String::new()),
        RequestKind::Permission => {
            // A command is judged by what it runs, not by its description.
            let command = request.input["command"].as_str().map(str::to_owned);
            let detail = command.or_else(|| request.detail()).map(|detail| format!(": {detail}"));
            let text = format!("asks to use {}{}", request.tool, detail.unwrap_or_default());
            (fit(&text, DETAIL), String::new())
        }
    };
    let answer = if answer.is_empty() { "allow|deny".to_owned() } else { format!("allow {answer}") };
    let (what, id) = (safe(&what), safe(&id));
    format!("worker {worker} {what}\n  answer it: backstory answer {worker} {id} {answer}")
}

fn forward(events: Events, to: Sender<Seen>) {
    std::thread::spawn(move || {
        for event in events {
            if to.send(Seen::Event(Box::new(event))).is_err() {
                return;
            }
        }
        // The receiver may be gone.
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
