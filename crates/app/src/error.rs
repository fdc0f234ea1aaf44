//! What went wrong, in the person's words, and what they can do about it.

use std::fmt::{self, Display};

/// A failure: its kind, a message that names the thing and the place, and next steps.
#[derive(Debug)]
pub struct Error {
    /// What sort of failure it is; the faces choose exit codes and statuses by it.
    pub kind: Kind,
    /// What failed, on what, and why.
    pub message: String,
    /// What to do now, one step each.
    pub hints: Vec<String>,
}

/// The sorts of failure that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name, a filter or an option makes no sense.
    Usage,
    /// A settings file or variable makes no sense.
    Settings,
    /// Nothing is called so.
    NotFound,
    /// More than one thing is called so.
    Ambiguous,
    /// A file or database could not be used.
    Unavailable,
    /// A live process holds the session.
    Held,
}

impl Error {
    /// A failure without next steps yet.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// A failure caused by another one, told in one line with all its causes.
    pub fn caused(kind: Kind, attempt: impl Display, cause: &dyn std::error::Error) -> Self {
        let mut message = format!("{attempt}: {cause}");
        let mut source = cause.source();
        while let Some(deeper) = source {
            message = format!("{message}: {deeper}");
            source = deeper.source();
        }
        Self::new(kind, message)
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
