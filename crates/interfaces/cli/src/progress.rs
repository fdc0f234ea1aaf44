//! Progress bars on standard error for work that takes more than half a second, and Ctrl-C during it.

use std::io::IsTerminal as _;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use app::{Cancellation, Context, Progress, ProgressSink, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The exit code of a program that an interrupt ended.
const INTERRUPTED: i32 = 130;
/// How long work takes before its progress is shown.
const DELAY: Duration = Duration::from_millis(500);

/// A request whose progress is shown; the bar is cleared on drop.
pub(crate) struct Followed {
    context: Context,
    bar: Arc<Bar>,
    /// The work is over: an interrupt ends the program.
    is_over: Arc<AtomicBool>,
}

impl Followed {
    /// Shows the progress of a request on a terminal.
    pub(crate) fn new(context: &Context) -> Self {
        let bar = Arc::new(Bar { began: Instant::now(), shown: Mutex::default() });
        let shown = Arc::clone(&bar);
        let progress = ProgressSink::new(move |progress| shown.show(progress));
        let context = Context { progress, cancellation: Cancellation::default(), ..Context::clone(context) };
        Self { context, bar, is_over: Arc::default() }
    }

    /// The same with an interrupt that asks for the answer at once; what was read by then is kept. A second one, or
    /// one after the work, ends the program.
    pub(crate) fn interruptible(context: &Context) -> Self {
        let followed = Self::new(context);
        let (cancellation, is_over) = (followed.context.cancellation.clone(), Arc::clone(&followed.is_over));
        // Without a handler, an interrupt ends the program; the last commit is kept.
        let _ = ctrlc::set_handler(move || {
            if cancellation.is_hurried() || is_over.load(Ordering::Relaxed) {
                std::process::exit(INTERRUPTED);
            }
            cancellation.answer_now();
        });
        followed
    }

    /// The same for a search: where its progress is seen, the first indexing has no time limit.
    pub(crate) fn search(context: &Context) -> Self {
        let mut followed = Self::interruptible(context);
        if std::io::stderr().is_terminal() {
            followed.context.progress = followed.context.progress.clone().watched();
        }
        followed
    }
}

impl Deref for Followed {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.clear();
    }
}

impl Followed {
    /// Removes the bar until the next progress, before something is printed.
    pub(crate) fn clear(&self) {
        if let Some((_, bar)) = self.bar.shown.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

/// A progress bar that appears late, and is another one for each stage.
struct Bar {
    began: Instant,
    shown: Mutex<Option<(Stage, ProgressBar)>>,
}

impl Bar {
    fn show(&self, progress: Progress) {
        if self.began.elapsed() < DELAY || !std::io::stderr().is_terminal() {
            return;
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = match &mut *shown {
            Some((stage, bar)) if *stage == progress.stage => bar,
            shown => {
                if let Some((_, old)) = shown.take() {
                    old.finish_and_clear();
                }
                let Some(bar) = bar(progress) else { return };
                &mut shown.insert((progress.stage, bar)).1
            }
        };
        bar.set_position(if progress.bytes > 0 { progress.bytes_done } else { progress.done });
        bar.set_message(format!("{} of {} files", progress.done, progress.total));
    }
}

/// The bar of a stage; none where another program prints its own.
fn bar(progress: Progress) -> Option<ProgressBar> {
    let (length, layout) = match progress.stage {
        Stage::Reading => {
            (progress.bytes, "reading sessions {bar:30} {msg}, {binary_bytes_per_sec}, {eta} left")
        }
        Stage::Indexing => {
            (progress.bytes, "indexing {bar:20} {msg}, {binary_bytes_per_sec}, {eta} left (Ctrl-C stops)")
        }
        Stage::Embedding => {
            (progress.total, "embedding {bar:30} {pos} of {len} pieces, {per_sec}, {eta} left (Ctrl-C stops)")
        }
        Stage::Exporting => (progress.total, "exporting sessions {bar:30} {pos} of {len}, {eta} left"),
        Stage::IndexingDocuments | Stage::Waiting => return None,
    };
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(layout).unwrap_or_else(|_| ProgressStyle::default_bar()));
    // An embedding continues where it was interrupted, which is no measure of its speed.
    if progress.stage == Stage::Embedding {
        bar.set_position(progress.done);
        bar.reset_eta();
    }
    Some(bar)
}
