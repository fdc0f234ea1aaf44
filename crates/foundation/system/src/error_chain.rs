//! The wording of an error together with its causes.

use std::error::Error;
use std::iter;

/// An error and all its causes in one line, each after a colon: `cannot open a.db: permission denied`.
pub fn error_chain(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |cause| (*cause).source());
    let words = |cause: &dyn Error| without_number(&cause.to_string()).to_owned();
    causes.fold(words(error), |chain, cause| format!("{chain}: {}", words(cause)))
}

/// The words of an error of the operating system without the number that the standard library adds to them.
fn without_number(text: &str) -> &str {
    let is_number = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    let numbered =
        text.rsplit_once(" (os error ").and_then(|(words, number)| Some((words, number.strip_suffix(')')?)));
    numbered.filter(|(_, number)| is_number(number)).map_or(text, |(words, _)| words)
}

#[cfg(test)]
mod tests {
    use std::fmt::{self, Display};

    use super::*;

    #[test]
    fn the_number_of_a_system_error_is_left_out() {
        let error = std::io::Error::from_raw_os_error(2);
        assert_eq!(error_chain(&error), "No such file or directory");
        let check = |text: &str, expected: &str| assert_eq!(without_number(text), expected);
        check("no lock (os error 13)", "no lock");
        check("no lock (os error x)", "no lock (os error x)");
        check("(os error 1) and more", "(os error 1) and more");
    }

    #[derive(Debug)]
    struct Failure(&'static str, Option<Box<Failure>>);

    impl Display for Failure {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str(self.0)
        }
    }

    impl Error for Failure {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn every_cause_is_named() {
        let failure = |text, cause: Option<Failure>| Failure(text, cause.map(Box::new));
        let check = |error: Failure, expected: &str| assert_eq!(error_chain(&error), expected);
        check(failure("a", None), "a");
        check(failure("a", Some(failure("b", Some(failure("c", None))))), "a: b: c");
    }
}
