//! The open requests of a worker, asked one after the other, and the meaning of typed lines.

use std::collections::VecDeque;
use std::io::{self, Write as _};

use app::workers::{PermissionReply, PermissionRequest, RequestKind};
use serde_json::Value;

use super::prompt::{Prompt, Step};

/// Asks what to do instead of the turn that was interrupted.
const INSTEAD: &str = "Interrupted. What should Claude do instead (Enter to end)? ";

/// The open requests of a worker.
pub(crate) struct Questions {
    width: usize,
    /// The first one is shown.
    open: VecDeque<Prompt>,
    /// The request whose answer was just sent.
    answered: Option<String>,
    /// Whether the turn was interrupted and the person may say what to do instead.
    instead: bool,
    /// Whether the screen ends with a question, whose line is not ended.
    is_shown: bool,
    /// The latest plan, for releases of Claude Code that ask about it without repeating it.
    plan: Value,
}

/// What a line that was typed means.
pub(crate) enum Typed {
    /// The answer to this request.
    Answer(String, PermissionReply),
    /// A message to the worker.
    Message(String),
    /// The person wants to end.
    End,
    /// Nothing to do yet.
    Nothing,
}

impl Questions {
    /// No open requests; lines have at most `width` cells.
    pub(crate) fn new(width: usize) -> Self {
        let open = VecDeque::new();
        Self { width, open, answered: None, instead: false, is_shown: false, plan: Value::Null }
    }

    /// Remembers the plan if the tool that was called presents one.
    pub(crate) fn remember_plan(&mut self, tool: &str, input: &Value) {
        if tool == "ExitPlanMode" {
            self.plan.clone_from(&input["plan"]);
        }
    }

    /// Adds a request, and asks it if it is the only one.
    pub(crate) fn add(&mut self, request: &PermissionRequest) -> io::Result<()> {
        if self.open.iter().any(|prompt| prompt.request.request == request.request) {
            return Ok(());
        }
        let (prompt, text) = self.prompt(request);
        self.open.push_back(prompt);
        if self.open.len() == 1 { self.ask(&text) } else { self.ask_again() }
    }

    /// Whether a request is open.
    pub(crate) fn is_asking(&self) -> bool {
        !self.open.is_empty()
    }

    /// Removes a request that was answered or withdrawn, and asks the next one.
    pub(crate) fn remove(&mut self, request: &str, allowed: Option<bool>) -> io::Result<()> {
        let is_ours = self.answered.take_if(|answered| answered == request).is_some();
        let was_first = self.open.front().is_some_and(|prompt| prompt.request.request == request);
        self.open.retain(|prompt| prompt.request.request != request);
        if !was_first {
            return Ok(());
        }
        if let Some(allowed) = allowed.filter(|_| !is_ours) {
            self.end_line()?;
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

    /// Sets whether the turn was interrupted, so that the person is asked what to do instead once it is over.
    pub(crate) fn set_interrupted(&mut self, is_interrupted: bool) {
        self.instead = is_interrupted;
    }

    /// Asks what to do instead if the turn was interrupted, and returns whether it was.
    pub(crate) fn ask_instead(&mut self) -> io::Result<bool> {
        if self.instead {
            self.ask(INSTEAD)?;
        }
        Ok(self.instead)
    }

    /// Ends the line of the question, so that other output starts on a new line.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_shown) { writeln!(io::stderr()) } else { Ok(()) }
    }

    /// Starts a new line after a key whose echo does not end the line.
    pub(crate) fn next_line(&mut self) -> io::Result<()> {
        self.is_shown = true;
        self.end_line()
    }

    /// Repeats the open question below other output.
    pub(crate) fn ask_again(&mut self) -> io::Result<()> {
        let short = match self.open.front() {
            Some(first) if self.answered.as_ref() != Some(&first.request.request) => first.short_text(),
            _ => return Ok(()),
        };
        self.end_line()?;
        self.ask(&short)
    }

    /// Interprets a line that the person typed.
    pub(crate) fn read_line(&mut self, line: &str) -> io::Result<Typed> {
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

    /// Keeps the request open, because the worker refused the answer.
    pub(crate) fn reopen(&mut self) {
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
