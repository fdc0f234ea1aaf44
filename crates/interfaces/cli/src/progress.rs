//! Progress bars on standard error for work that takes more than half a second, and Ctrl-C during it.

use std::io::IsTerminal as _;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use app::{Cancellation, Context, Progress, ProgressSink, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::error_width;

/// The exit code of a program that an interrupt ended.
const INTERRUPTED: i32 = 130;
/// How long work takes before its progress is shown.
const DELAY: Duration = Duration::from_millis(500);

/// The width from which the bar is as long as it gets, in cells, and how long that is.
const ROOMY: usize = 80;
const BAR: usize = 20;

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
                let width = error_width().unwrap_or(ROOMY);
                let Some(bar) = bar(progress, ProgressDrawTarget::stderr(), width) else { return };
                &mut shown.insert((progress.stage, bar)).1
            }
        };
        bar.set_position(if progress.bytes > 0 { progress.bytes_done } else { progress.done });
        bar.set_message(files(progress));
    }
}

fn files(progress: Progress) -> String {
    format!("{} of {} files", progress.done, progress.total)
}

/// The bar of a stage; none where another program prints its own.
fn bar(progress: Progress, to: ProgressDrawTarget, width: usize) -> Option<ProgressBar> {
    let (length, what, layout) = match progress.stage {
        Stage::Reading => (progress.bytes, "reading sessions", "{msg}, {eta} left"),
        Stage::Indexing => (progress.bytes, "indexing", "{msg}, {eta} left (Ctrl-C stops)"),
        Stage::Embedding => (progress.total, "embedding", "{pos} of {len}, {eta} left (Ctrl-C stops)"),
        Stage::Exporting => (progress.total, "exporting sessions", "{pos} of {len}, {eta} left"),
        Stage::IndexingDocuments | Stage::Waiting => return None,
    };
    // On a narrow terminal the bar gives way to the words, which would be broken.
    let layout = match BAR.saturating_sub(ROOMY.saturating_sub(width)) {
        0 => format!("{what} {layout}"),
        cells => format!("{what} {{bar:{cells}}} {layout}"),
    };
    let bar = ProgressBar::with_draw_target(Some(length), to);
    bar.set_style(ProgressStyle::with_template(&layout).unwrap_or_else(|_| ProgressStyle::default_bar()));
    // An embedding continues where it was interrupted, which is no measure of its speed.
    if progress.stage == Stage::Embedding {
        bar.set_position(progress.done);
        bar.reset_eta();
    }
    Some(bar)
}

#[cfg(test)]
mod tests {
    use std::io;

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps the longest line.
    #[derive(Debug, Clone, Default)]
    struct Longest(Arc<Mutex<usize>>);

    impl Longest {
        fn keep(&self, text: &str) {
            let cells = anstream::adapter::strip_str(text).to_string().trim_end().chars().count();
            let mut longest = self.0.lock().unwrap();
            *longest = cells.max(*longest);
        }
    }

    impl TermLike for Longest {
        fn width(&self) -> u16 {
            400
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.keep(text);
            Ok(())
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.keep(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_fits_its_terminal() {
        let stages = [Stage::Reading, Stage::Indexing, Stage::Embedding, Stage::Exporting];
        for (stage, width) in stages.into_iter().flat_map(|stage| [60, 70, 80].map(|width| (stage, width))) {
            let longest = Longest::default();
            let to = ProgressDrawTarget::term_like(Box::new(longest.clone()));
            let progress = Progress {
                stage,
                done: 5_000,
                total: 10_000,
                bytes: 1 << 40,
                bytes_done: 1 << 30,
                is_share: false,
            };
            let shown = bar(progress, to, width).unwrap();
            shown.set_message(files(progress));
            shown.tick();
            let cells = *longest.0.lock().unwrap();
            assert!((20..width).contains(&cells), "{stage:?} in {width}: {cells}");
        }
    }
}
