//! Releases of Claude Code and the features each was verified to have.

use std::fmt;
use std::str::FromStr;

/// A release, such as `2.1.329`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(u32, u32, u32);

impl Release {
    /// First release that can fork a session.
    pub const FORK: Self = Self(1, 0, 128);
    /// First release known to find a session from any working directory.
    pub const RESUMES_FROM_ANYWHERE: Self = Self(2, 1, 329);
    /// Oldest release verified to support `--no-session-persistence`.
    pub const NO_PERSISTENCE: Self = Self(2, 1, 100);
    /// First release that registers its live processes.
    pub const REGISTRY: Self = Self(2, 1, 100);
    /// Oldest release verified to support control through its pipes.
    pub const CONTROL: Self = Self(2, 1, 100);
    /// First release known to keep a session's system prompt (`--system-prompt-snapshot`).
    pub const KEEPS_SYSTEM_PROMPT: Self = Self(2, 1, 329);
    /// First release that runs the JavaScript of plugins (mods).
    pub const MODS: Self = Self(2, 1, 287);

    /// Whether it supports `--fork-session`.
    pub fn can_fork(self) -> bool {
        self >= Self::FORK
    }

    /// Whether it can answer a prompt without storing a session.
    pub fn supports_no_persistence(self) -> bool {
        self >= Self::NO_PERSISTENCE
    }

    /// Whether it finds a session from any working directory; other releases only look in the project folder
    /// of the working directory.
    pub fn resumes_from_anywhere(self) -> bool {
        self >= Self::RESUMES_FROM_ANYWHERE
    }

    /// Whether it can be run as a worker: prompted, answered and interrupted through its pipes.
    pub fn supports_control(self) -> bool {
        self >= Self::CONTROL
    }

    /// Whether a resumed session keeps its original system prompt.
    pub fn keeps_system_prompt(self) -> bool {
        self >= Self::KEEPS_SYSTEM_PROMPT
    }

    /// Whether it runs the JavaScript of plugins.
    pub fn runs_mods(self) -> bool {
        self >= Self::MODS
    }

    /// Whether it records in Claude Code's registry which session it has open.
    pub fn has_registry(self) -> bool {
        self >= Self::REGISTRY
    }
}

/// A text that does not begin with a release number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRelease;

impl FromStr for Release {
    type Err = InvalidRelease;

    /// Parses `2.1.329` or the output of `claude --version`: `2.1.329 (Claude Code)`.
    fn from_str(text: &str) -> Result<Self, InvalidRelease> {
        let word = text.split_whitespace().next().ok_or(InvalidRelease)?;
        let plain = word.split(['-', '+']).next().ok_or(InvalidRelease)?;
        let mut numbers = plain.split('.').map(|part| part.parse().map_err(|_| InvalidRelease));
        let mut next = || numbers.next().ok_or(InvalidRelease)?;
        Ok(Self(next()?, next()?, next()?))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let found = text.parse::<Release>().ok().map(|release| release.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn releases_are_read() {
        check("2.1.329 (Claude Code)\n", Some("2.1.329"));
        check("1.0.128", Some("1.0.128"));
        check("2.2.0-beta.1 (Claude Code)", Some("2.2.0"));
        check("2.1", None);
        check("claude 2.1.329", None);
        check("", None);
    }

    #[test]
    fn features_by_release() {
        let can = |text: &str| {
            let release: Release = text.parse().unwrap();
            (release.can_fork(), release.has_registry(), release.resumes_from_anywhere())
        };
        assert_eq!(can("1.0.60"), (false, false, false));
        assert_eq!(can("1.0.128"), (true, false, false));
        assert_eq!(can("2.1.100"), (true, true, false));
        assert_eq!(can("2.1.329"), (true, true, true));
        assert_eq!(can("3.0.0"), (true, true, true));
    }
}
