//! The picker: find a session by typing, look at it, and continue it.
//!
//! `state` decides what a key does, `draw` how it looks, `worker` asks `app`, `screen` connects them to the terminal.

mod draw;
mod preview;
mod screen;
mod state;
mod worker;

use std::io::{self, IsTerminal as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use app::{Context, Error, Kind};
use model::SessionId;

use crate::exit::Failure;

/// What Enter does with the chosen session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Continue it.
    Resume,
    /// Continue a copy of it.
    Fork,
    /// Read it.
    Read,
    /// Take a prompt that was asked before: prompts are listed instead of sessions.
    Recall,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What to do.
    pub(crate) purpose: Purpose,
    /// With which session.
    pub(crate) session: SessionId,
    /// The line of its transcript that was found.
    pub(crate) line: Option<u64>,
    /// The prompt, where one was chosen.
    pub(crate) prompt: Option<String>,
    /// What was asked when it was chosen.
    pub(crate) question: String,
}

impl Choice {
    /// The command that does it, as a shell takes it.
    pub(crate) fn command(&self) -> String {
        let (command, session) = self.words();
        format!("backstory {command} {session}")
    }

    fn words(&self) -> (&'static str, String) {
        match self.purpose {
            Purpose::Resume => ("resume", self.session.to_string()),
            Purpose::Fork => ("fork", self.session.to_string()),
            Purpose::Read | Purpose::Recall => ("show", self.place()),
        }
    }

    /// The program that does it; to be read, with the words marked that were asked for.
    pub(crate) fn program(&self, context: &Context) -> Command {
        let (command, session) = self.words();
        let mut program = Command::new(context.program());
        program.arg(command).arg(session).args(context.config().is_demo.then_some("--demo"));
        if self.purpose == Purpose::Read && !self.question.is_empty() {
            program.arg(format!("--mark={}", self.question));
        }
        program
    }

    /// The session as `show` takes it.
    pub(crate) fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.session),
            None => self.session.to_string(),
        }
    }
}

/// Lets the person find a session, and does what they choose; `question` is where they begin.
pub(crate) fn open(context: &Context, question: &str) -> Result<(), Failure> {
    require_terminal()?;
    match screen::pick(context, Purpose::Resume, question)? {
        Some(choice) => Err(run(context, &choice)),
        None => Ok(()),
    }
}

/// Lets the person find a session for a purpose; what else they choose is done instead. `None` where they leave.
pub(crate) fn session(context: &Context, purpose: Purpose) -> Result<Option<Choice>, Failure> {
    require_terminal()?;
    match screen::pick(context, purpose, "")? {
        Some(choice) if choice.purpose != purpose => Err(run(context, &choice)),
        choice => Ok(choice),
    }
}

/// Lets the person choose, and does nothing with it. `None` where they leave.
pub(crate) fn choose(context: &Context, purpose: Purpose) -> Result<Option<Choice>, Failure> {
    require_terminal()?;
    screen::pick(context, purpose, "")
}

/// Replaces this process by the command for a choice; returns only if that fails.
fn run(context: &Context, choice: &Choice) -> Failure {
    let cause = choice.program(context).exec();
    Error::caused(Kind::Unavailable, "cannot start this program again", &cause).into()
}

fn require_terminal() -> Result<(), Failure> {
    if is_possible() {
        return Ok(());
    }
    let error =
        Error::new(Kind::Usage, "no session is named, and there is no terminal on which to choose one");
    Err(error.hint("give a session's id; `backstory list` shows them").into())
}

/// Whether a person sits at the terminal, so that a screen can be shown.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
