//! The time limit for updating the index before a search, its progress bar, and Ctrl-C.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use app::Context;
use app::search::{IndexProgress, is_first};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The work is running.
const WORKING: u8 = 0;
/// An interrupt has asked to stop and answer.
const STOPPING: u8 = 1;
/// The work is over.
const OVER: u8 = 2;
/// The exit code of a program that an interrupt ended.
const INTERRUPTED: i32 = 130;

/// How long work takes before its progress is shown.
const QUIET: Duration = Duration::from_millis(500);

/// The time limit for updating the index, with its progress bar.
pub(crate) struct SearchBudget {
    began: Instant,
    budget: Option<Duration>,
    state: Arc<AtomicU8>,
    bar: Option<ProgressBar>,
}

impl SearchBudget {
    /// The limit for a search from the settings; none where a person watches the first indexing.
    pub(crate) fn for_search(context: &Context, watched: bool) -> Self {
        let settings = &context.config().settings.search;
        let seconds = if is_first(context) { settings.first_budget_seconds } else { settings.budget_seconds };
        let mut unlimited = Self::unlimited();
        unlimited.budget = (!watched).then(|| Duration::from_secs(seconds));
        unlimited
    }

    /// No limit: until the work is done or the person interrupts it; what was read by then is kept.
    pub(crate) fn unlimited() -> Self {
        let state = Arc::new(AtomicU8::new(WORKING));
        let shared = Arc::clone(&state);
        // Without a handler, an interrupt ends the program; the last commit is kept.
        let _ = ctrlc::set_handler(move || {
            // A second interrupt, or one after the work, ends the program.
            if shared.compare_exchange(WORKING, STOPPING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                std::process::exit(INTERRUPTED);
            }
        });
        Self { began: Instant::now(), budget: None, state, bar: None }
    }

    /// Whether the person has asked to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.state.load(Ordering::Relaxed) != WORKING
    }

    /// Updates the bar; returns false when the time is over.
    pub(crate) fn should_continue(&mut self, progress: &IndexProgress) -> bool {
        if self.bar.is_none() && self.began.elapsed() > QUIET && std::io::stderr().is_terminal() {
            self.bar = Some(bar(progress.bytes));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(progress.bytes_done);
            bar.set_message(format!("{} of {} files", progress.files_done, progress.files));
        }
        !self.is_interrupted() && self.budget.is_none_or(|budget| self.began.elapsed() < budget)
    }
}

impl Drop for SearchBudget {
    fn drop(&mut self) {
        self.state.store(OVER, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    let layout = "indexing {bar:20} {msg}, {binary_bytes_per_sec}, {eta} left (Ctrl-C stops)";
    bar.set_style(ProgressStyle::with_template(layout).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
