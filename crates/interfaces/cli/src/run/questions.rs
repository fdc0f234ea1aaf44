//! What a worker asks the person, one question after the other, and the line that is typed below it.

use std::collections::VecDeque;
use std::io::{self, Write as _};

use app::workers::{PermissionReply, PermissionRequest, RequestKind};
use serde_json::Value;

use super::prompt::{Prompt, Step};

/// How the person is asked who has interrupted a turn.
const INSTEAD: &str = "Interrupted. What should Claude do instead (Enter ends)? ";

/// The questions that are open.
pub(crate) struct Questions {
    width: usize,
    /// The first one is shown.
    open: VecDeque<Prompt>,
    /// The one whose answer the worker was just given.
    answered: Option<String>,
    /// Whether the turn was interrupted and the person may say what to do instead.
    instead: bool,
    /// Whether a question stands at the end of the screen, without an end of its line.
    is_shown: bool,
    /// The plan that was called last, for a Claude Code that asks about it without repeating it.
    plan: Value,
}

/// What a line that was typed means.
pub(crate) enum Typed {
    /// The answer to this request.
    Answer(String, PermissionReply),
    /// Something to say to the worker.
    Message(String),
    /// Nothing more is to be done.
    End,
    /// Nothing yet.
    Nothing,
}

impl Questions {
    /// None yet; lines have at most `width` cells.
    pub(crate) fn new(width: usize) -> Self {
        let open = VecDeque::new();
        Self { width, open, answered: None, instead: false, is_shown: false, plan: Value::Null }
    }

    /// Takes in what a tool is called with, which may be a plan.
    pub(crate) fn called(&mut self, tool: &str, input: &Value) {
        if tool == "ExitPlanMode" {
            self.plan.clone_from(&input["plan"]);
        }
    }

    /// A question more.
    pub(crate) fn asked(&mut self, request: &PermissionRequest) -> io::Result<()> {
        if self.open.iter().any(|prompt| prompt.request.request == request.request) {
            return Ok(());
        }
        let (prompt, text) = self.prompt(request);
        self.open.push_back(prompt);
        if self.open.len() == 1 { self.ask(&text) } else { self.ask_again() }
    }

    /// Whether one is open.
    pub(crate) fn is_asking(&self) -> bool {
        !self.open.is_empty()
    }

    /// A question less: it has this answer, or needs none.
    pub(crate) fn over(&mut self, request: &str, allowed: Option<bool>) -> io::Result<()> {
        let is_ours = self.answered.take_if(|answered| answered == request).is_some();
        let was_first = self.open.front().is_some_and(|prompt| prompt.request.request == request);
        self.open.retain(|prompt| prompt.request.request != request);
        if !was_first {
            return Ok(());
        }
        if let Some(allowed) = allowed.filter(|_| !is_ours) {
            self.step_aside()?;
            let how = if allowed { "allowed" } else { "denied" };
            writeln!(io::stderr(), "answered elsewhere: {how}")?;
        }
        let Some(next) = self.open.front().map(|next| next.request.clone()) else { return Ok(()) };
        let (prompt, text) = self.prompt(&next);
        if let Some(first) = self.open.front_mut() {
            *first = prompt;
        }
        self.ask(&text)
    }

    /// Whether the turn is interrupted: once it is over the person may say what to do instead.
    pub(crate) fn interrupted(&mut self, is_so: bool) {
        self.instead = is_so;
    }

    /// Asks what to do instead, where the turn was interrupted; false where it was not.
    pub(crate) fn ask_instead(&mut self) -> io::Result<bool> {
        if self.instead {
            self.ask(INSTEAD)?;
        }
        Ok(self.instead)
    }

    /// What is said begins on a line of its own.
    pub(crate) fn step_aside(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_shown) { writeln!(io::stderr()) } else { Ok(()) }
    }

    /// The person has pressed a key that ends nothing but stands there: what is said begins on the next line.
    pub(crate) fn next_line(&mut self) -> io::Result<()> {
        self.is_shown = true;
        self.step_aside()
    }

    /// The question that is open stands again below what was said.
    pub(crate) fn ask_again(&mut self) -> io::Result<()> {
        let short = match self.open.front() {
            Some(first) if self.answered.as_ref() != Some(&first.request.request) => first.in_short(),
            _ => return Ok(()),
        };
        self.step_aside()?;
        self.ask(&short)
    }

    /// What the person's line means; their Enter has ended the question's line.
    pub(crate) fn typed(&mut self, line: &str) -> io::Result<Typed> {
        self.is_shown = false;
        if let Some(first) = self.open.front_mut() {
            let request = first.request.request.clone();
            return match first.line(line) {
                Step::Ask(text) => self.ask(&text).map(|()| Typed::Nothing),
                Step::Done(reply) => {
                    self.answered = Some(request.clone());
                    Ok(Typed::Answer(request, reply))
                }
            };
        }
        let line = line.trim();
        let instead = std::mem::take(&mut self.instead);
        Ok(match (line.is_empty(), instead) {
            (true, true) => Typed::End,
            (true, false) => Typed::Nothing,
            (false, _) => Typed::Message(line.to_owned()),
        })
    }

    /// An answer was not taken: the question stands.
    pub(crate) fn refused(&mut self) {
        self.answered = None;
    }

    fn prompt(&self, request: &PermissionRequest) -> (Prompt, String) {
        let mut whole = request.clone();
        if matches!(request.kind(), RequestKind::Plan(plan) if plan.is_empty()) && whole.input.is_object() {
            whole.input["plan"].clone_from(&self.plan);
        }
        Prompt::new(request.clone(), &whole, self.width)
    }

    fn ask(&mut self, text: &str) -> io::Result<()> {
        self.is_shown = true;
        let mut out = anstream::stderr().lock();
        write!(out, "{text}")?;
        out.flush()
    }
}
