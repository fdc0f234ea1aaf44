//! The `claude` that sessions are continued with, and what to do where there is none.

use std::ffi::OsStr;
use std::path::Path;

use workers::{Program, Release};

use crate::{App, Error, Kind};

/// How Claude Code is installed.
pub(crate) const INSTALL: &str = "npm install -g @anthropic-ai/claude-code@latest";

/// The program that the settings name, where it is on this machine.
pub(crate) fn installed(app: &App) -> Option<Program> {
    let wanted = app.config.settings.claude.binary.as_os_str();
    Program::find(wanted, OsStr::new(&app.config.search_path))
}

/// The program, or what to do to have one.
pub(crate) fn required(app: &App) -> Result<Program, Error> {
    installed(app).ok_or_else(|| Error::new(Kind::Unavailable, missing(app)).hint(advice(app)))
}

/// Its release, as far as it says.
pub(crate) fn release(app: &App, program: &Program) -> Option<Release> {
    // A home that is not there is no place to start a program in.
    let home = app.config.home.as_path();
    program.release(if home.is_dir() { home } else { Path::new("/") })
}

/// A program that can be a worker. It is asked once: on a busy machine that alone takes seconds.
#[derive(Debug, Clone)]
pub(crate) struct Steered {
    /// The program.
    pub(crate) program: Program,
    /// Its release.
    pub(crate) release: Release,
}

/// The program that can be a worker, or what to do to have one.
pub(crate) fn steered(app: &App) -> Result<Steered, Error> {
    let program = required(app)?;
    let Some(release) = release(app, &program) else {
        let path = program.path.display();
        let message = format!("{path} does not say which release of Claude Code it is, or not in time");
        return Err(
            Error::new(Kind::Unavailable, message).hint(format!("see whether it runs: {path} --version"))
        );
    };
    if release.can_be_steered() {
        return Ok(Steered { program, release });
    }
    let first = Release::STEERED;
    let message = format!("claude {release} cannot be steered through its pipes; {first} and newer can");
    Err(Error::new(Kind::Unavailable, message).hint(format!("install a newer one: {INSTALL}")))
}

/// What is wrong where no program is found.
pub(crate) fn missing(app: &App) -> String {
    let wanted = app.config.settings.claude.binary.display();
    format!("there is no program `{wanted}` {}", if is_path(app) { "there" } else { "on your PATH" })
}

/// What to do about it.
pub(crate) fn advice(app: &App) -> String {
    if is_path(app) {
        return "let the setting `claude.binary` (or BACKSTORY_CLAUDE_BINARY) name Claude Code's program"
            .into();
    }
    format!("install Claude Code: {INSTALL}; or let the setting `claude.binary` name its program")
}

fn is_path(app: &App) -> bool {
    app.config.settings.claude.binary.components().count() > 1
}
