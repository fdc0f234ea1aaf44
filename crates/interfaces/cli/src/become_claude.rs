//! Replaces this process by `claude`, or prints the command that would.

use app::Context;
use app::proceed::CommandLine;
use app::proceed::fork::Fork;
use app::retention::upkeep;

use crate::exit::Failure;
use crate::output::print_line;

/// Replaces this process by `claude`, once what it deletes at its start is copied; returns only if that fails.
pub(crate) fn become_claude(context: &Context, command: &CommandLine) -> std::io::Error {
    use std::os::unix::process::CommandExt as _;
    upkeep::before_claude(context);
    command.command().exec()
}

/// Replaces this process by the fork's `claude`, or prints the command for it.
pub(crate) fn start(context: &Context, fork: &Fork, print: bool) -> Result<(), Failure> {
    if print {
        return Ok(print_line(&fork.for_a_shell()?)?);
    }
    let cause = become_claude(context, fork.prepare()?);
    Err(fork.not_started(&cause).into())
}
