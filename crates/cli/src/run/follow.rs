//! The loop of `run` and `attach`: events, the person's lines and signals come in; what is shown and commanded goes
//! out.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use app::App;
use app::workers::{Command, Event, Link, Request, WorkerState};

use super::prompt::{Prompt, Step};
use super::show::Show;
use super::{Signal, signals};
use crate::exit::Failure;
use crate::output::Output;
use crate::text::json_line;

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
    let show = Show::new(out.width());
    let mut desk = Desk {
        app,
        link,
        how,
        out,
        show,
        is_asked,
        prompts: VecDeque::new(),
        instead: false,
        signals: 0,
        state: None,
    };
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
    is_asked: bool,
    /// What waits for the person's answer; the first one is shown.
    prompts: VecDeque<Prompt>,
    /// Whether the turn was interrupted and the person may say what to do instead.
    instead: bool,
    signals: u32,
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
        if self.how.json {
            // Whole texts follow their pieces.
            if !matches!(event, Event::Delta { .. }) {
                writeln!(self.out, "{}", json_line(&self.app.told_event(event))?)?;
            }
        } else {
            let app = self.app;
            self.show.event(&mut self.out, event, |event| app.told_event(event))?;
        }
        self.out.flush_now()?;
        match event {
            Event::Asked(request) => self.asked(request)?,
            Event::Withdrawn { request } | Event::Answered { request, .. } => self.drop_prompt(request)?,
            Event::State(WorkerState::Idle { .. }) if self.how.role == Role::Owner => self.turn_is_over()?,
            Event::Ended { state } => {
                self.state = Some(state.clone());
                return Ok(Next::End(self.state.take()));
            }
            _ => {}
        }
        Ok(Next::Goes)
    }

    fn asked(&mut self, request: &Request) -> Result<(), Failure> {
        if self.prompts.iter().any(|prompt| prompt.request.request == request.request) {
            return Ok(());
        }
        if !self.is_asked {
            if !self.how.json {
                let (worker, id) = (self.how.worker, &request.request);
                writeln!(io::stderr(), "waits for an answer: backstory answer {worker} {id} allow|deny")?;
            }
            return Ok(());
        }
        let (prompt, text) = Prompt::new(request.clone(), &self.app.told_request(request), self.out.width());
        self.prompts.push_back(prompt);
        if self.prompts.len() == 1 { ask(&text) } else { Ok(()) }
    }

    fn drop_prompt(&mut self, request: &str) -> Result<(), Failure> {
        let was_first = self.prompts.front().is_some_and(|prompt| prompt.request.request == request);
        self.prompts.retain(|prompt| prompt.request.request != request);
        if was_first { self.show_first() } else { Ok(()) }
    }

    fn show_first(&mut self) -> Result<(), Failure> {
        let Some(next) = self.prompts.front_mut() else { return Ok(()) };
        let (prompt, text) =
            Prompt::new(next.request.clone(), &self.app.told_request(&next.request), self.out.width());
        *next = prompt;
        ask(&text)
    }

    fn turn_is_over(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.instead) && self.is_asked {
            self.instead = true;
            return ask("Interrupted. What should Claude do instead (Enter ends)? ");
        }
        self.command(Command::Close)
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        if let Some(prompt) = self.prompts.front_mut() {
            let reply = match prompt.line(line) {
                Step::Ask(text) => return ask(&text),
                Step::Done(reply) => reply,
            };
            let request = prompt.request.request.clone();
            return self.command(Command::Answer { request, reply });
        }
        if std::mem::take(&mut self.instead) && line.trim().is_empty() {
            return self.command(Command::Close);
        }
        if line.trim().is_empty() {
            return Ok(());
        }
        // What is typed while it works is said to it.
        self.signals = 0;
        self.command(app::run::message(line.trim()))
    }

    fn signal(&mut self, signal: Signal) -> Result<Next, Failure> {
        self.signals += 1;
        if self.how.role == Role::Guest {
            let worker = self.how.worker;
            writeln!(io::stderr(), "\nworker {worker} goes on; backstory stop {worker} ends it")?;
            return Ok(Next::End(None));
        }
        match (signal, self.signals) {
            (Signal::Interrupt, 1) => {
                if self.link.command(Command::Interrupt).is_ok() {
                    self.instead = true;
                    writeln!(io::stderr(), "\ninterrupted; Ctrl-C again ends it")?;
                } else {
                    self.command(Command::Stop)?;
                }
            }
            (_, 1 | 2) => self.command(Command::Stop)?,
            // It does not end in time: whoever runs Backstory next ends it.
            _ => std::process::exit(INTERRUPTED),
        }
        Ok(Next::Goes)
    }

    fn command(&mut self, command: Command) -> Result<(), Failure> {
        if let Err(why) = self.link.command(command) {
            writeln!(io::stderr(), "{}", crate::text::safe(&why))?;
        }
        Ok(())
    }
}

fn ask(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stderr().lock();
    write!(out, "{text}")?;
    Ok(out.flush()?)
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
