//! Questions to the person at the terminal that are answered with yes or no, or with a line.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Whether standard input and standard error are a terminal, so that a person can be asked.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a yes-or-no question; anything but yes is no.
pub(crate) fn yes(question: &str) -> io::Result<bool> {
    Ok(matches!(&*line(&format!("{question} [y/N] "))?, "y" | "Y" | "yes"))
}

/// Asks for a line, and returns it without the spaces around it.
pub(crate) fn line(question: &str) -> io::Result<String> {
    let mut out = anstream::stderr().lock();
    write!(out, "{question}")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
