//! What went wrong, in the person's words, and what they can do about it.

use std::fmt::{self, Display};

use crate::NextStep;

/// A failure: its kind, a message that names the thing and the place, and next steps.
#[derive(Debug)]
pub struct Error {
    /// What sort of failure it is; interfaces choose exit codes and statuses by it.
    pub kind: Kind,
    /// What failed, on what, and why.
    pub message: String,
    /// What to do now.
    pub next_steps: Vec<NextStep>,
}

/// The sorts of failure that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Backstory is wrong.
    Internal,
}

impl Kind {
    /// The stable code of the kind, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Settings => "settings",
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::Unavailable => "unavailable",
            Self::Held => "held",
            Self::Forbidden => "forbidden",
            Self::Cancelled => "cancelled",
            Self::TooLarge => "too_large",
            Self::Internal => "internal",
        }
    }
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

impl Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
