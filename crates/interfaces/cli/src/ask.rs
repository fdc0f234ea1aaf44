//! Questions to the person at the terminal that are answered with yes or no.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Whether standard input and standard error are a terminal, so that a person can be asked.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a yes-or-no question; anything but yes is no.
pub(crate) fn yes(question: &str) -> io::Result<bool> {
    let mut out = anstream::stderr().lock();
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
