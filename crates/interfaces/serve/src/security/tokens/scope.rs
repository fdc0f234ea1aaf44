//! What a token may be used for.

use std::fmt::{self, Display};
use std::str::FromStr;

use app::{Error, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a token may be used for; each scope includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenScope {
    /// Asking questions.
    Read,
    /// Also starting and stopping workers, sending them messages and answers, and changing names, rooms and jobs.
    Act,
    /// Also tokens and connections, and workers that act without asking.
    Admin,
}

impl TokenScope {
    fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::Admin => "admin",
        }
    }
}

impl Display for TokenScope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl FromStr for TokenScope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Self::Read, Self::Act, Self::Admin]
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or_else(|| Error::new(Kind::Usage, format!("`{text}` is no scope: give read, act or admin")))
    }
}
