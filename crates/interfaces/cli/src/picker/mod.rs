//! The picker: find a session by typing, look at it, and continue it.
//!
//! `state` decides what a key does to the items, `typed_line` what it does to the question, `draw` how that looks in a
//! `layout`, `worker` asks `app`, `screen` connects them to the terminal.

mod draw;
mod item;
mod layout;
mod preview;
mod screen;
mod state;
mod typed_line;
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
    /// Name it to the command that asked, which does this with it.
    Take(&'static str),
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
    /// Whether a copy continues in the current directory, because that of the session is gone.
    pub(crate) is_here: bool,
    /// The prompt, where one was chosen.
    pub(crate) prompt: Option<String>,
    /// What was asked when it was chosen.
    pub(crate) question: String,
}

impl Choice {
    /// The command that does it, as a shell takes it.
    pub(crate) fn command(&self) -> String {
        let (command, session) = self.words();
        let into = if self.is_here { " --in ." } else { "" };
        format!("backstory {command} {session}{into}")
    }

    fn words(&self) -> (&'static str, String) {
        match self.purpose {
            Purpose::Resume => ("resume", self.session.to_string()),
            Purpose::Fork => ("fork", self.session.to_string()),
            Purpose::Read | Purpose::Recall | Purpose::Take(_) => ("show", self.place()),
        }
    }

    /// The program that does it; to be read, with the words marked that were asked for.
    pub(crate) fn program(&self, context: &Context) -> Command {
        let (command, session) = self.words();
        let mut program = Command::new(context.program());
        program.arg(command).arg(session).args(context.config().is_demo.then_some("--demo"));
        if self.is_here {
            program.args(["--in", "."]);
        }
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
    require_terminal(context)?;
    Err(run(context, &screen::pick(context, Purpose::Resume, question)?))
}

/// Lets the person find a session for a purpose, beginning with `question`; what else they choose is done instead. To
/// leave is a failure.
pub(crate) fn session(context: &Context, purpose: Purpose, question: &str) -> Result<Choice, Failure> {
    require_terminal(context)?;
    let choice = screen::pick(context, purpose, question)?;
    if choice.purpose == purpose { Ok(choice) } else { Err(run(context, &choice)) }
}

/// Lets the person choose, and does nothing with it. To leave is a failure.
pub(crate) fn choose(context: &Context, purpose: Purpose) -> Result<Choice, Failure> {
    require_terminal(context)?;
    screen::pick(context, purpose, "")
}

/// Replaces this process by the command for a choice; returns only if that fails.
fn run(context: &Context, choice: &Choice) -> Failure {
    let cause = choice.program(context).exec();
    Error::caused(Kind::Unavailable, "cannot start this program again", &cause).into()
}

fn require_terminal(context: &Context) -> Result<(), Failure> {
    if is_possible(context) {
        return Ok(());
    }
    let why = if is_at_terminal() {
        "no session is named, and this terminal cannot show a screen on which to choose one (TERM=dumb)"
    } else {
        "no session is named, and there is no terminal on which to choose one"
    };
    let error = Error::new(Kind::Usage, why);
    Err(error.hint("give a session's id; `backstory list` shows them").into())
}

/// Whether a person sits at a terminal that can show a screen.
pub(crate) fn is_possible(context: &Context) -> bool {
    is_at_terminal() && !context.config().is_terminal_dumb
}

/// Whether a person sits at a terminal.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
