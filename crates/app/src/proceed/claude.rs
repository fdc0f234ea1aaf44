//! Finds the `claude` program that continues sessions.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use workers::{Program, Release};

use crate::{Context, Error, Kind};

/// How Claude Code is installed.
pub(crate) const INSTALL: &str = "npm install -g @anthropic-ai/claude-code@latest";

/// The program that the settings name, where it is on this machine.
pub(crate) fn installed(context: &Context) -> Option<Program> {
    let wanted = context.config().settings.claude.binary.as_os_str();
    Program::find(wanted, OsStr::new(&context.config().search_path))
}

/// Where the program that continues sessions is, without asking it anything.
pub fn path(context: &Context) -> Option<PathBuf> {
    installed(context).map(|program| program.path)
}

/// The program, or what to do to have one.
pub(crate) fn required(context: &Context) -> Result<Program, Error> {
    installed(context).ok_or_else(|| Error::new(Kind::Unavailable, missing(context)).hint(advice(context)))
}

/// Its release, as far as it says within the time that a worker has to start: on a busy machine a release that runs on
/// Node needs a good part of it for this alone.
pub(crate) fn release(context: &Context, program: &Program) -> Option<Release> {
    let limit = Duration::from_secs(context.config().settings.workers.start_seconds.into());
    // A home that is not there is no place to start a program in.
    let home = context.config().home.as_path();
    program.release(if home.is_dir() { home } else { Path::new("/") }, limit)
}

/// A program that can be a worker. It is asked once.
#[derive(Debug, Clone)]
pub(crate) struct ControllableClaude {
    /// The program.
    pub(crate) program: Program,
    /// Its release.
    pub(crate) release: Release,
}

/// The program that can be a worker, or what to do to have one.
pub(crate) fn controllable(context: &Context) -> Result<ControllableClaude, Error> {
    let program = required(context)?;
    let Some(release) = release(context, &program) else {
        let path = program.path.display();
        let message = format!("{path} does not report its version, or not in time");
        return Err(
            Error::new(Kind::Unavailable, message).hint(format!("check whether it runs: {path} --version"))
        );
    };
    if release.supports_control() {
        return Ok(ControllableClaude { program, release });
    }
    let first = Release::CONTROL;
    let message = format!("claude {release} cannot be controlled through its pipes; {first} and newer can");
    Err(Error::new(Kind::Unavailable, message).hint(format!("install a newer one: {INSTALL}")))
}

/// The error message when the program is not found.
pub(crate) fn missing(context: &Context) -> String {
    let wanted = context.config().settings.claude.binary.display();
    format!("there is no program `{wanted}`{}", if is_path(context) { "" } else { " on your PATH" })
}

/// What to do about it.
pub(crate) fn advice(context: &Context) -> String {
    if is_path(context) {
        return "set `claude.binary` (or BACKSTORY_CLAUDE_BINARY) to Claude Code's program".into();
    }
    format!("install Claude Code: {INSTALL}; or set `claude.binary` to its program")
}

fn is_path(context: &Context) -> bool {
    context.config().settings.claude.binary.components().count() > 1
}
