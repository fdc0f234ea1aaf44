//! Progress bars on standard error, for work that takes more than half a second on a terminal.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use app::search::embed::EmbedReport;
use app::sessions::list::ReadProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work takes before its progress is shown.
const DELAY: Duration = Duration::from_millis(500);

/// The progress bar of reading sessions; cleared on drop.
pub(crate) struct Reading {
    began: Instant,
    bar: Option<ProgressBar>,
}

impl Reading {
    /// Starts counting; the bar appears later.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), bar: None }
    }

    /// Updates the bar with the number of exported documents.
    pub(crate) fn exported(&mut self, progress: app::search::export::Progress) {
        if self.is_due() {
            self.bar =
                Some(bar(progress.all as u64, "exporting sessions {bar:30} {pos} of {len}, {eta} left"));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(progress.done as u64);
        }
    }

    fn is_due(&self) -> bool {
        self.bar.is_none() && self.began.elapsed() > DELAY && std::io::stderr().is_terminal()
    }

    /// Updates the bar, and shows it once the work has taken long enough.
    pub(crate) fn step(&mut self, progress: ReadProgress) {
        if self.is_due() {
            let layout = "reading sessions {bar:30} {msg}, {binary_bytes_per_sec}, {eta} left";
            self.bar = Some(bar(progress.of_bytes, layout));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(progress.bytes);
            bar.set_message(format!("{} of {} files", progress.files, progress.of_files));
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(whole: u64, layout: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(whole), ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(layout).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// The progress bar of embedding with a chosen model; cleared on drop.
pub(crate) struct Embedding {
    began: Instant,
    bar: Option<ProgressBar>,
}

impl Embedding {
    /// Starts counting; the bar appears later.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), bar: None }
    }

    /// Updates the bar, and shows it once the work has taken long enough.
    pub(crate) fn step(&mut self, progress: &EmbedReport) {
        if self.bar.is_none() && self.began.elapsed() > DELAY && std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(progress.of), ProgressDrawTarget::stderr());
            let layout = "embedding {bar:30} {pos} of {len} pieces, {per_sec}, {eta} left (Ctrl-C stops)";
            let style = ProgressStyle::with_template(layout).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style);
            bar.set_position(progress.done);
            bar.reset_eta();
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(progress.done);
        }
    }
}

impl Drop for Embedding {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
