//! How the program ends: prints a failure and chooses the exit code.

use std::io::{self, ErrorKind, Write as _};

use app::{Error, Kind};
use unicode_width::UnicodeWidthStr as _;

use crate::next_step::as_command;
use crate::output::error_width;
use crate::text::{safe, safe_lines};
use crate::wrap::wrapped;

/// The exit codes, for `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0  success
  1  a file, folder or database could not be used
  2  the command or one of its arguments is invalid
  3  no matching session
  4  several sessions match, or one matches too poorly to be certain
  5  the settings are invalid
  6  the session is in use by a running process
  7  `doctor` found a problem
  8  a worker ended without finishing its task
  9  the caller may not do that
130  cancelled";

/// The exit code of what a person ended.
const CANCELLED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The app returned an error.
    App(Error),
    /// `doctor` found a problem and has printed it.
    Unhealthy,
    /// A worker ended without finishing its task, and how it ended was printed.
    Worker,
    /// The person left a screen without a choice.
    Left,
    /// No command was given, and the help was printed.
    NoCommand,
    /// The output could not be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::App(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Ends the process without running destructors: everything is written and closed by now, and freeing all memory would
/// take longer than many answers.
pub(crate) fn exit_now(code: u8) -> ! {
    // A closed output was handled where it was written.
    let _ = io::stdout().flush();
    signal_hook::low_level::exit(i32::from(code))
}

/// Prints a failure and returns the exit code.
pub(crate) fn report(outcome: Result<(), Failure>) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(Failure::App(error)) => {
            print_error(&error.message, &error.next_steps.iter().map(as_command).collect::<Vec<_>>());
            exit_code(error.kind)
        }
        Err(Failure::NoCommand) => 2,
        Err(Failure::Left) => CANCELLED,
        Err(Failure::Worker) => 8,
        Err(Failure::Unhealthy) => 7,
        // The reader closed the pipe (`| head`), which is not a failure.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(Failure::Output(error)) => {
            print_error(&format!("cannot write the output: {error}"), &[]);
            1
        }
    }
}

fn exit_code(kind: Kind) -> u8 {
    match kind {
        Kind::Unavailable | Kind::Internal => 1,
        Kind::Usage | Kind::TooLarge => 2,
        Kind::NotFound => 3,
        Kind::Ambiguous => 4,
        Kind::Settings => 5,
        Kind::Held => 6,
        Kind::Forbidden => 9,
        Kind::Cancelled => CANCELLED,
    }
}

fn print_error(message: &str, hints: &[String]) {
    let mut out = anstream::stderr().lock();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let text = error_text(message, hints, error_width());
    // Nothing can be printed if standard error is closed.
    let _ = writeln!(out, "{red}error{red:#}: {text}");
}

/// What failed and the hints below it, indented; wrapped at words where it goes to a terminal.
fn error_text(message: &str, hints: &[String], width: Option<usize>) -> String {
    const LEAD: usize = "error: ".len();
    let wrap = |text: &str, lead: usize| match width {
        // The first line has something before it, which counts.
        Some(width) => wrapped(&format!("{}{text}", ".".repeat(lead)), width)[lead..].to_owned(),
        None => text.to_owned(),
    };
    let mut text = wrap(&safe_lines(message), LEAD);
    for hint in hints {
        text.push_str("\n  ");
        let hint = match width {
            Some(width) => hint_text(&safe(hint), width.saturating_sub(2)),
            None => safe(hint),
        };
        text.push_str(&hint.replace('\n', "\n  "));
    }
    text
}

/// A hint in lines of at most `width` cells; a command at its end stays in one line, because it is pasted.
fn hint_text(hint: &str, width: usize) -> String {
    let begins_one = |text: &str| text.starts_with("backstory ") || text.starts_with("mkdir ");
    match hint.split_once(": ") {
        // Behind a semicolon are more words.
        Some((words, command)) if begins_one(command) && !command.contains("; ") && hint.width() > width => {
            format!("{}\n{command}", wrapped(&format!("{words}:"), width))
        }
        _ => wrapped(hint, width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_broken_between_words_and_commands_are_not() {
        let hints = ["write it again: backstory show 3601d36e".to_owned()];
        assert_eq!(
            error_text("no session id starts with abcd", &hints, Some(24)),
            "no session id\nstarts with abcd\n  write it again:\n  backstory show 3601d36e"
        );
        assert_eq!(error_text("one two", &hints, None), "one two\n  write it again: backstory show 3601d36e");
    }
}
