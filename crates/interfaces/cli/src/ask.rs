//! Questions to the person at the terminal: a choice from a list, or yes or no.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Whether standard input and standard error are a terminal, so that a person can be asked.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows numbered choices and returns the index of the chosen one; `None` when none is chosen.
pub(crate) fn which(question: &str, choices: &[String]) -> io::Result<Option<usize>> {
    let mut out = anstream::stderr().lock();
    for (number, choice) in (1..).zip(choices) {
        writeln!(out, "{number:>3}  {choice}")?;
    }
    write!(out, "{question} [1-{}, Enter for none] ", choices.len())?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(chosen(&line, choices.len()))
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

fn chosen(line: &str, choices: usize) -> Option<usize> {
    line.trim().parse().ok().filter(|number| (1..=choices).contains(number)).map(|number| number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_that_was_shown_is_a_choice() {
        let check = |line: &str, expected: Option<usize>| assert_eq!(chosen(line, 3), expected, "{line:?}");
        check("1\n", Some(0));
        check(" 3 \n", Some(2));
        check("0", None);
        check("4", None);
        check("\n", None);
        check("q", None);
    }
}
