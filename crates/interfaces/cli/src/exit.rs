//! How the program ends: prints a failure and chooses the exit code.

use std::io::{self, ErrorKind, Write as _};

use app::{Error, Kind};

use crate::next_step::as_command;
use crate::text::{safe, safe_lines};

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

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The app returned an error.
    App(Error),
    /// `doctor` found a problem and has printed it.
    Unhealthy,
    /// A worker ended without finishing its task, and how it ended was printed.
    Worker,
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
        Kind::Cancelled => 130,
    }
}

fn print_error(message: &str, hints: &[String]) {
    let mut out = anstream::stderr().lock();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    // Nothing can be printed if standard error is closed.
    let _ = writeln!(out, "{red}error{red:#}: {}", safe_lines(message));
    for hint in hints {
        let _ = writeln!(out, "  {}", safe(hint));
    }
}
