//! Errors for users: what failed, on what, why, and the next steps.

use std::fmt::{self, Display};

use schemars::JsonSchema;
use serde::Serialize;

use crate::NextStep;

/// A failure: its kind, a message that names the thing and the place, and next steps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Error {
    /// What sort of failure it is; interfaces choose exit codes and statuses by it.
    #[serde(rename = "error")]
    pub kind: Kind,
    /// What failed, on what, and why.
    pub message: String,
    /// What to do now.
    pub next_steps: Vec<NextStep>,
}

/// The sorts of failure that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ErrorKind")]
pub enum Kind {
    /// A name, a filter or an option makes no sense.
    Usage,
    /// A settings file or variable makes no sense.
    Settings,
    /// Nothing goes by that name.
    NotFound,
    /// More than one thing goes by that name.
    Ambiguous,
    /// A file, database, program or worker could not be used.
    Unavailable,
    /// A live process holds the session.
    Held,
    /// The caller may not do that.
    Forbidden,
    /// The caller cancelled the request.
    Cancelled,
    /// What was sent or asked for is larger than it may be.
    TooLarge,
    /// A defect in Backstory.
    Internal,
}

impl Error {
    /// A failure without next steps yet.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), next_steps: Vec::new() }
    }

    /// A failure caused by another one, in one line with all its causes.
    pub fn caused(kind: Kind, attempt: impl Display, cause: &dyn std::error::Error) -> Self {
        Self::new(kind, format!("{attempt}: {}", system::error_chain(cause)))
    }

    /// Adds advice that holds in every interface.
    #[must_use]
    pub fn hint(self, advice: impl Into<String>) -> Self {
        self.next(NextStep::Advice { text: advice.into() })
    }

    /// Adds a next step.
    #[must_use]
    pub fn next(mut self, step: NextStep) -> Self {
        self.next_steps.push(step);
        self
    }
}

/// What to do where the folder of Backstory's state cannot be written.
pub(crate) const WRITABLE: &str = "make the folder writable, or set BACKSTORY_HOME to another folder";

/// Whether an error or one of its causes is that something may not be written.
pub(crate) fn is_not_permitted(error: &(dyn std::error::Error + 'static)) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    std::iter::successors(Some(error), |cause| cause.source())
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| matches!(cause.kind(), PermissionDenied | ReadOnlyFilesystem))
}

impl Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};

    use super::*;

    #[test]
    fn a_missing_permission_is_found_among_the_causes() {
        #[derive(Debug)]
        struct Attempt(std::io::Error);
        impl Display for Attempt {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("cannot save")
            }
        }
        impl std::error::Error for Attempt {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let check = |kind: std::io::ErrorKind, expected: bool| {
            assert_eq!(is_not_permitted(&std::io::Error::from(kind)), expected, "{kind}");
            assert_eq!(is_not_permitted(&Attempt(kind.into())), expected, "{kind}, as a cause");
        };
        check(std::io::ErrorKind::PermissionDenied, true);
        check(std::io::ErrorKind::ReadOnlyFilesystem, true);
        check(std::io::ErrorKind::NotFound, false);
    }

    #[test]
    fn an_error_is_an_object_with_its_code_and_its_next_steps() {
        let error = Error::new(Kind::TooLarge, "the brief is too large")
            .next(NextStep::ListSessions)
            .next(NextStep::RenameJob { job: "tidy".to_owned() })
            .hint("shorten it");
        let expected = json!({
            "error": "too_large",
            "message": "the brief is too large",
            "next_steps": [
                { "step": "list_sessions" },
                { "step": "rename_job", "job": "tidy" },
                { "step": "advice", "text": "shorten it" },
            ],
        });
        assert_eq!(to_value(&error).unwrap(), expected);
    }
}
