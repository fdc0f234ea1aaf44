//! The hits of the last search on this terminal, which `@1`, `@2`, … name.

use std::borrow::Cow;

use app::TerminalSession;
use app::search::last_results;
use app::search::{Answer, grep};
use app::{Context, Error};
use rustix::termios::ttyname;

/// Saves the hits of a search for the next command on this terminal.
pub(crate) fn save(context: &Context, answer: &Answer) {
    if let Some(terminal) = terminal() {
        last_results::save(context, &terminal, answer);
    }
}

/// Saves the lines that match a pattern for the next command on this terminal.
pub(crate) fn save_lines(context: &Context, answer: &grep::Answer) {
    if let Some(terminal) = terminal() {
        last_results::save_lines(context, &terminal, answer);
    }
}

/// Whether the hits of a search are kept, so that `@1` names the first; those of a demo that has no terminal end with it.
pub(crate) fn is_kept(context: &Context) -> bool {
    (!context.config().is_demo || context.config().is_demo_kept) && terminal().is_some()
}

/// What a name says, with `@2` replaced by the place that the second hit cites, as `ID:LINE`.
pub(crate) fn place<'a>(context: &Context, name: &'a str) -> Result<Cow<'a, str>, Error> {
    last_results::place(context, terminal().as_ref(), name)
}

/// What a name says, with `@2` replaced by the id of the second hit.
pub(crate) fn session<'a>(context: &Context, name: &'a str) -> Result<Cow<'a, str>, Error> {
    last_results::session(context, terminal().as_ref(), name)
}

/// The words that the last search found at a place, in small letters.
pub(crate) fn words(context: &Context, session: &str, line: u64) -> Vec<String> {
    terminal().map_or_else(Vec::new, |terminal| last_results::words(context, &terminal, session, line))
}

/// The terminal; none where no standard stream is one.
pub(crate) fn terminal() -> Option<TerminalSession> {
    let name = ttyname(std::io::stdin(), Vec::new())
        .or_else(|_| ttyname(std::io::stderr(), Vec::new()))
        .or_else(|_| ttyname(std::io::stdout(), Vec::new()));
    Some(TerminalSession::of(name.ok()?.to_string_lossy().into_owned()))
}
