//! How long the index may be brought up to date before the answer is due, and the progress that a person sees meanwhile.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use app::Context;
use app::search::{IndexProgress, is_first};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nobody has interrupted.
const WORKING: u8 = 0;
/// An interrupt has asked to stop and answer.
const STOPPING: u8 = 1;
/// The work is over.
const OVER: u8 = 2;
/// The exit code of a program that an interrupt ended.
const INTERRUPTED: i32 = 130;

/// How long work may take before it is shown.
const QUIET: Duration = Duration::from_millis(500);

/// The time for bringing the index up to date, with its progress bar.
pub(crate) struct SearchBudget {
    began: Instant,
    budget: Option<Duration>,
    state: Arc<AtomicU8>,
    bar: Option<ProgressBar>,
}

impl SearchBudget {
    /// For a question: a stated budget, or no end where a person watches the first indexing.
    pub(crate) fn for_search(context: &Context, watched: bool) -> Self {
        let settings = &context.config().settings.search;
        let seconds = if is_first(context) { settings.first_budget_seconds } else { settings.budget_seconds };
        let mut unlimited = Self::unlimited();
        unlimited.budget = (!watched).then(|| Duration::from_secs(seconds));
        unlimited
    }

    /// For indexing: until it is done or the person interrupts it; what was read by then is kept.
    pub(crate) fn unlimited() -> Self {
        let state = Arc::new(AtomicU8::new(WORKING));
        let shared = Arc::clone(&state);
        // Where no handler can be set, an interrupt ends the program; the last commit stands.
        let _ = ctrlc::set_handler(move || {
            // Asked a second time, or when the work is over, it means what it always means.
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

    /// Shows a step; false when it is time to answer.
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
