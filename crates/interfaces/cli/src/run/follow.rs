//! The loop of `run` and `attach`: takes events, typed lines and signals; prints events and sends commands.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use app::Context;
use app::workers::{
    Command, Event, Events, Link, PermissionReply, PermissionRequest, RequestKind, UserQuestion, WorkerState,
};

use super::SlowNotice;
use super::interrupts::{InterruptAction, Interrupts};
use super::prompt::offer_lines;
use super::questions::{Questions, Typed};
use super::show::Show;
use super::thinking::Thinking;
use crate::exit::Failure;
use crate::json::json_line;
use crate::output::Output;
use crate::text::{fit, safe};

/// How often the waiting line is updated.
const TICK: Duration = Duration::from_secs(1);
/// The longest description of a permission request, in cells.
const DETAIL: usize = 240;
/// What the model reads where a request is denied because nobody could be asked.
const NOBODY: &str = "Nobody is there to allow this. Go on without it, or end and say what you need.";

/// How the worker depends on the one who follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The worker ends with the command (`run`).
    Owner,
    /// The worker keeps running without the command (`attach`).
    Guest,
}

/// What happens to a request where nobody is at the terminal to answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnPermission {
    /// It waits for `answer`.
    Wait,
    /// It is denied.
    Deny,
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
    /// What happens to requests that cannot be asked here.
    pub(crate) on_permission: OnPermission,
    /// How long such a request waits before it is denied; `None` for ever.
    pub(crate) patience: Option<Duration>,
}

enum Input {
    Event(Box<Event>),
    /// The worker has ended.
    Ended,
    Line(String),
    Signal(InterruptAction),
}

/// Follows a worker until it ends or the guest leaves; returns the state it ended in.
pub(crate) fn follow(
    context: &Context,
    link: &mut Link,
    how: Follow,
) -> Result<Option<WorkerState>, Failure> {
    let (sender, inputs) = channel();
    let control = link.control().filter(|_| how.role == Role::Owner);
    let interrupts = Interrupts::start(control, sender.clone(), Input::Signal)?;
    forward(link.listen(), sender.clone());
    let is_asked = !how.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_asked {
        read_lines(sender);
    }
    let out = Output::plain();
    let is_seen = !how.json && io::stdout().is_terminal() && io::stderr().is_terminal();
    let show = Show::new(out.width());
    let show = if is_seen { show.word_by_word() } else { show };
    let questions = Questions::new(out.width());
    let thinking = is_seen.then(Thinking::default);
    let mut state = FollowLoop {
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
        waiting: Vec::new(),
    };
    loop {
        state.deny_overdue()?;
        let input = match inputs.recv_timeout(TICK) {
            Ok(input) => input,
            Err(RecvTimeoutError::Timeout) => {
                state.tick()?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        };
        if let Flow::End(end) = state.handle(input)? {
            state.out.finish()?;
            return Ok(end);
        }
    }
}

enum Flow {
    Continue,
    End(Option<WorkerState>),
}

struct FollowLoop<'a> {
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
    slow: Option<SlowNotice>,
    state: Option<WorkerState>,
    /// The requests that nobody here can answer, and since when they wait.
    waiting: Vec<(PermissionRequest, Instant)>,
}

impl FollowLoop<'_> {
    /// Denies the requests that have waited too long for an answer from elsewhere, and says so.
    fn deny_overdue(&mut self) -> Result<(), Failure> {
        let Some(patience) = self.how.patience else { return Ok(()) };
        let (overdue, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(_, since)| since.elapsed() >= patience);
        self.waiting = waiting;
        for (request, _) in overdue {
            let line = request_line(self.how.worker, &request, false);
            let what = line.lines().next().unwrap_or_default();
            let seconds = patience.as_secs();
            writeln!(io::stderr(), "{what}: denied, because nobody answered within {seconds} s")?;
            let reply = PermissionReply::Deny { message: NOBODY.to_owned(), interrupt: false };
            self.command(Command::Answer { request: request.request, reply })?;
        }
        Ok(())
    }

    /// Removes the waiting line.
    fn clear_waiting_line(&mut self) -> Result<(), Failure> {
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

    fn handle(&mut self, input: Input) -> Result<Flow, Failure> {
        match input {
            Input::Event(event) => {
                if let Some(thinking) = &mut self.thinking {
                    thinking.update(&event);
                }
                self.event(&event)
            }
            Input::Ended => Ok(Flow::End(self.state.take())),
            Input::Line(line) => {
                // The waiting line is above the line that was typed.
                self.thinking.iter_mut().for_each(Thinking::leave);
                self.line(&line).map(|()| Flow::Continue)
            }
            Input::Signal(signal) => {
                self.clear_waiting_line()?;
                self.signal(signal)
            }
        }
    }

    fn event(&mut self, event: &Event) -> Result<Flow, Failure> {
        self.starting(event);
        self.show.hold(self.questions.is_asking());
        let text = self.text(event)?;
        let asks = matches!(event, Event::Asked(_) | Event::Withdrawn { .. } | Event::Answered { .. });
        if asks || !text.is_empty() || matches!(event, Event::State(WorkerState::Idle { .. })) {
            self.clear_waiting_line()?;
        }
        if !text.is_empty() {
            self.questions.end_line()?;
        }
        self.out.write_all(&text)?;
        self.out.flush_now()?;
        match event {
            Event::Asked(request) => self.asked(request)?,
            Event::Withdrawn { request } => {
                self.waiting.retain(|(waiting, _)| waiting.request != *request);
                self.questions.remove(request, None)?;
            }
            Event::Answered { request, allowed, .. } => {
                self.waiting.retain(|(waiting, _)| waiting.request != *request);
                self.questions.remove(request, Some(*allowed))?;
            }
            Event::State(WorkerState::Idle { .. }) if self.how.role == Role::Owner => self.turn_is_over()?,
            Event::Ended { state } => {
                self.state = Some(state.clone());
                return Ok(Flow::End(self.state.take()));
            }
            Event::Tool { name, input, .. } => self.questions.remember_plan(name, input),
            _ => {}
        }
        if !text.is_empty() {
            self.questions.ask_again()?;
        }
        Ok(Flow::Continue)
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
                self.slow = Some(SlowNotice::start(format!("waiting for claude to start, at most {most} s")));
            }
            Event::Note { .. } => {}
            _ => self.slow = None,
        }
    }

    fn asked(&mut self, request: &PermissionRequest) -> Result<(), Failure> {
        if self.is_asked {
            return Ok(self.questions.add(request)?);
        }
        let is_denied = self.how.on_permission == OnPermission::Deny;
        if !self.how.json {
            let line = request_line(self.how.worker, request, false);
            let what = line.lines().next().unwrap_or_default();
            let text = if is_denied { format!("{what}: denied, because nobody is asked") } else { line };
            writeln!(io::stderr(), "{text}")?;
        }
        if is_denied {
            let reply = PermissionReply::Deny { message: NOBODY.to_owned(), interrupt: false };
            self.command(Command::Answer { request: request.request.clone(), reply })?;
        } else {
            self.waiting.push((request.clone(), Instant::now()));
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
        match self.questions.read_line(line)? {
            Typed::Answer(request, reply) => {
                if !self.send(Command::Answer { request, reply })? {
                    self.questions.reopen();
                    self.questions.ask_again()?;
                }
                Ok(())
            }
            // What is typed while Claude works is sent to it.
            Typed::Message(text) => {
                self.interrupts.reset();
                match app::workers::run::message(&text) {
                    Ok((_, command)) => self.command(command),
                    Err(error) => self.refused(&error.message),
                }
            }
            Typed::End => self.command(Command::Close),
            Typed::Nothing => Ok(()),
        }
    }

    fn signal(&mut self, action: InterruptAction) -> Result<Flow, Failure> {
        match action {
            InterruptAction::Detaching => {
                let worker = self.how.worker;
                writeln!(io::stderr(), "\nworker {worker} keeps running; stop it: backstory stop {worker}")?;
                return Ok(Flow::End(None));
            }
            InterruptAction::Interrupting => self.questions.set_interrupted(true),
            InterruptAction::Interrupted => {
                self.questions.next_line()?;
                writeln!(io::stderr(), "interrupted; press Ctrl-C again to stop the worker")?;
            }
            InterruptAction::Stopping => {
                self.questions.set_interrupted(false);
                self.questions.next_line()?;
                writeln!(io::stderr(), "stopping the worker")?;
            }
        }
        Ok(Flow::Continue)
    }

    fn command(&mut self, command: Command) -> Result<(), Failure> {
        self.send(command).map(drop)
    }

    /// Sends a command; prints why if the worker refuses it.
    fn send(&mut self, command: Command) -> Result<bool, Failure> {
        let done = self.link.command(command);
        if let Err(why) = &done {
            self.refused(why)?;
        }
        Ok(done.is_ok())
    }

    fn refused(&mut self, why: &str) -> Result<(), Failure> {
        self.questions.end_line()?;
        Ok(writeln!(io::stderr(), "{}", safe(why))?)
    }
}

/// A pending request and the command that answers it from another terminal, which names it unless it `is_only`;
/// `request` must be redacted.
pub(crate) fn request_line(worker: i64, request: &PermissionRequest, is_only: bool) -> String {
    let id: String = request.request.chars().take(8).collect();
    let id = if is_only { String::new() } else { safe(&id) + " " };
    let (what, answer) = match request.kind() {
        RequestKind::Questions(questions) => {
            let all: Vec<_> = questions.iter().map(question_line).collect();
            let answer = match &questions[..] {
                [only] if only.choices.is_empty() => "<answer>".to_owned(),
                [only] => {
                    let numbers: Vec<_> = (1..=only.choices.len()).map(|number| number.to_string()).collect();
                    format!("{}, or your own words", numbers.join("|"))
                }
                _ => ["<answer>"].repeat(questions.len()).join(" "),
            };
            (safe(&format!("asks: {}", all.join("; "))), answer)
        }
        RequestKind::Plan(_) => ("has a plan and asks whether to start".to_owned(), "yes|no".to_owned()),
        RequestKind::Permission => {
            let grants = request.offers.iter().map(|offer| offer.answer.as_str());
            let words: Vec<&str> = ["yes"].into_iter().chain(grants).chain(["no"]).collect();
            (permission_line(worker, &id, request), words.join("|"))
        }
    };
    let asked = format!("worker {worker} {what}\n  answer it: backstory answer {worker} {id}{answer}");
    [vec![asked], offer_lines(request)].concat().join("\n  ")
}

/// What a permission is about in a line, and where the rest of it is shown.
fn permission_line(worker: i64, id: &str, request: &PermissionRequest) -> String {
    let text = request.input_text();
    let first = text.lines().next().unwrap_or_default();
    let line = fit(&format!("asks to use {}: {first}", request.tool), DETAIL);
    let line = safe(line.trim_end_matches([' ', ':']));
    if text == first && !line.ends_with('…') {
        return line;
    }
    let command = format!("backstory answer {worker} {id}");
    format!("{line}\n  see all of it: {}", command.trim_end())
}

/// A question with its options.
fn question_line(asked: &UserQuestion) -> String {
    let options: Vec<String> =
        (1..).zip(&asked.choices).map(|(number, choice)| format!("{number} {}", choice.label)).collect();
    if options.is_empty() {
        return asked.question.clone();
    }
    format!("{} ({})", asked.question, options.join(", "))
}

fn forward(events: Events, to: Sender<Input>) {
    std::thread::spawn(move || {
        for event in events {
            if to.send(Input::Event(Box::new(event))).is_err() {
                return;
            }
        }
        // The receiver may be gone.
        let _ = to.send(Input::Ended);
    });
}

fn read_lines(to: Sender<Input>) {
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if to.send(Input::Line(line)).is_err() {
                return;
            }
        }
    });
}
