//! Checks tasks and messages for Claude: not empty, and not so long that one fills a session by itself.

use crate::{Error, Kind};

/// The longest task or message, in kB: about 25,000 tokens. The texts of jobs have the same limit.
const LONGEST: usize = 100;

/// Refuses a task that is empty or too long.
pub(crate) fn require_task(text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::new(Kind::Usage, "the task is empty: say what to do"));
    }
    require_short("a task", text)
}

/// Refuses a message that is empty or too long.
pub(crate) fn require_message(text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::new(Kind::Usage, "the message is empty: say what to do"));
    }
    require_short("a message", text)
}

/// Refuses a text that is too long; `what` names it in the error.
pub(crate) fn require_short(what: &str, text: &str) -> Result<(), Error> {
    if text.len() <= LONGEST * 1000 {
        return Ok(());
    }
    let length = text.len().div_ceil(1000);
    let message = format!("{what} may have at most {LONGEST} kB; this one has {length} kB");
    Err(Error::new(Kind::TooLarge, message)
        .hint("write the long part to a file, and name the file: Claude reads it there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_too_long_texts_are_refused() {
        let check = |text: &str, expected: Option<(Kind, &str)>| {
            for (what, found) in [("task", require_task(text)), ("message", require_message(text))] {
                let found = found.err().map(|error| (error.kind, error.message));
                let expected = expected.map(|(kind, message)| (kind, message.replace("{}", what)));
                assert_eq!(found, expected, "{} bytes", text.len());
            }
        };
        check("fix the login", None);
        check(&"x".repeat(100_000), None);
        check(" \n", Some((Kind::Usage, "the {} is empty: say what to do")));
        let long = "a {} may have at most 100 kB; this one has 101 kB";
        check(&"x".repeat(100_001), Some((Kind::TooLarge, long)));
    }
}
