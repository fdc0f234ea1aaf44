//! The wording of an error together with its causes.

use std::error::Error;
use std::iter;

/// An error and all its causes in one line, each after a colon: `cannot open a.db: permission denied`.
pub fn error_chain(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |chain, cause| format!("{chain}: {cause}"))
}

#[cfg(test)]
mod tests {
    use std::fmt::{self, Display};

    use super::*;

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
