//! How long the index may be brought up to date before an answer is due, and what a person sees meanwhile.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use app::App;
use app::search::{Progress, is_first};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work may take before it is shown.
const QUIET: Duration = Duration::from_millis(500);

/// Says whether to keep on, and shows how far it is.
pub(crate) struct Patience {
    began: Instant,
    budget: Option<Duration>,
    interrupted: Arc<AtomicBool>,
    bar: Option<ProgressBar>,
}

impl Patience {
    /// For a question: a stated budget, or no end where a person watches the first indexing.
    pub(crate) fn for_search(app: &App, watched: bool) -> Self {
        let settings = &app.config.settings.search;
        let seconds = if is_first(app) { settings.first_budget_seconds } else { settings.budget_seconds };
        let mut patience = Self::endless();
        patience.budget = (!watched).then(|| Duration::from_secs(seconds));
        patience
    }

    /// For indexing: until it is done or the person interrupts it; what was read by then is kept.
    pub(crate) fn endless() -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        // Where no handler can be set, an interrupt ends the program; the last commit stands.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
        Self { began: Instant::now(), budget: None, interrupted, bar: None }
    }

    /// Whether the person has asked to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Shows a step; false when it is time to answer.
    pub(crate) fn keeps_on(&mut self, progress: &Progress) -> bool {
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

impl Drop for Patience {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    let layout =
        "indexing {bar:30} {msg}, {binary_bytes_per_sec}, {eta} left (Ctrl-C: go on with what is there)";
    bar.set_style(ProgressStyle::with_template(layout).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
