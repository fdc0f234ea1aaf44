//! [`App`] lives as long as the program; a [`Context`] describes one request to it.
//!
//! An interface opens one [`App`] and creates a [`Context`] for each request. Nothing in this crate asks the process
//! for its working directory or the time, so one process can answer for many callers.

mod asking_session;
mod caller;
mod cancellation;
mod claude_code;
mod progress;
mod recent_files;
mod secrets;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::Config;
pub use caller::Caller;
pub(crate) use caller::Visible;
pub use cancellation::Cancellation;
pub use progress::{Progress, ProgressSink, Stage};
pub(crate) use recent_files::{FoundFiles, IndexedFiles};
pub use recent_files::{RecentFiles, RequestFiles};
pub use secrets::Secrets;

/// State that lives as long as the program.
#[derive(Debug, Clone)]
pub struct App {
    /// Where everything is, and the settings.
    pub config: Config,
    /// Reads the clock.
    pub clock: fn() -> Timestamp,
    /// Finds the time zone in which days are counted; it takes longer than many an answer needs.
    pub zone: fn() -> TimeZone,
    /// This program's own file: what it starts must find it, whatever `PATH` says.
    pub program: PathBuf,
    /// What callers that ask at every key found last.
    pub recent_files: RecentFiles,
}

/// The context of one request: its time, directory and caller, and what its answer may contain.
#[derive(Debug, Clone)]
pub struct Context {
    /// State that lives as long as the program.
    pub app: Arc<App>,
    /// The time of the request.
    pub now: Timestamp,
    /// The directory against which relative paths are resolved, and whose repository is meant where none is named.
    pub directory: PathBuf,
    /// Who asks: it limits what is found.
    pub caller: Caller,
    /// Whether answers hold secrets.
    pub secrets: Secrets,
    /// How the caller ends it.
    pub cancellation: Cancellation,
    /// Where its progress goes.
    pub progress: ProgressSink,
    /// How old the list of files may be, for callers that ask at every key.
    pub max_age: SignedDuration,
    /// The files that it found, if it looks for them only once.
    pub files: RequestFiles,
}

impl Context {
    /// A request that the person makes now; its answers are redacted.
    pub fn new(app: Arc<App>, directory: PathBuf) -> Self {
        let now = (app.clock)();
        Self {
            app,
            now,
            directory,
            caller: Caller::Person,
            secrets: Secrets::Redacted,
            cancellation: Cancellation::default(),
            progress: ProgressSink::default(),
            max_age: SignedDuration::ZERO,
            files: RequestFiles::default(),
        }
    }

    /// The same request with the current time and the current files.
    #[must_use]
    pub fn refreshed(&self) -> Self {
        Self { now: self.read_clock(), files: RequestFiles::default(), ..self.clone() }
    }

    /// The same request, answered from a list of files that may be so many seconds old: what was written since may be
    /// missing.
    #[must_use]
    pub fn with_max_age(&self, seconds: u32) -> Self {
        Self { max_age: SignedDuration::from_secs(seconds.into()), ..self.clone() }
    }

    /// Whether the caller asks at every key.
    pub(crate) fn asks_at_every_key(&self) -> bool {
        self.max_age.is_positive()
    }

    /// The same request with another configuration.
    #[must_use]
    pub(crate) fn with_config(&self, config: Config) -> Self {
        Self { app: Arc::new(App { config, ..App::clone(&self.app) }), ..self.clone() }
    }

    /// Where everything is, and the settings.
    pub fn config(&self) -> &Config {
        &self.app.config
    }

    /// The time zone in which days are counted.
    pub fn zone(&self) -> TimeZone {
        (self.app.zone)()
    }

    /// The current time, for long operations; [`now`](Self::now) is the time of the request.
    pub fn read_clock(&self) -> Timestamp {
        (self.app.clock)()
    }

    /// This program's own file.
    pub fn program(&self) -> &Path {
        &self.app.program
    }

    /// Resolves a path against the request's directory.
    pub fn path(&self, typed: impl AsRef<Path>) -> PathBuf {
        self.directory.join(typed)
    }
}
