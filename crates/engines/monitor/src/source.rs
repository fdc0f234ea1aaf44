//! File system events. They are only hints: the files themselves show what has changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use notify::event::ModifyKind;
use notify::{Error, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::input::Input;

/// Shown when events were lost.
const LOST: &str = "the system did not tell of every change";
/// Number of full checks after which lost events are no longer shown.
const SHOWN_FOR: u32 = 10;

/// System events for a set of folders, without their subfolders.
pub(crate) struct Source {
    watcher: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    /// Number of folders that could not be watched; all of them are polled.
    refused: usize,
    trouble: Option<String>,
    /// For how many more checks lost events are shown.
    lost: u32,
}

impl Source {
    /// Sends events to `inputs`, unless `wanted` is false.
    pub(crate) fn new(inputs: &Sender<Input>, wanted: bool) -> Self {
        let mut source = Self { watcher: None, watched: HashSet::new(), refused: 0, trouble: None, lost: 0 };
        if !wanted {
            source.trouble = Some("events are turned off".to_owned());
            return source;
        }
        let inputs = inputs.clone();
        match notify::recommended_watcher(move |event| forward(&inputs, event)) {
            Ok(watcher) => source.watcher = Some(watcher),
            Err(error) => source.trouble = Some(describe(error)),
        }
        source
    }

    /// Why the system does not report every change, if so.
    pub(crate) fn trouble(&self) -> Option<String> {
        match (&self.trouble, self.refused) {
            (None, _) => (self.lost > 0).then(|| LOST.to_owned()),
            (Some(why), 0) => Some(why.clone()),
            (Some(why), count) => Some(format!("{count} folders are not watched: {why}")),
        }
    }

    /// Whether there are events at all.
    pub(crate) fn works(&self) -> bool {
        self.watcher.is_some()
    }

    /// For how many more checks lost events are shown.
    pub(crate) fn lost(&mut self) {
        self.lost = SHOWN_FOR;
    }

    /// Records that everything was checked.
    pub(crate) fn looked(&mut self) {
        self.lost = self.lost.saturating_sub(1);
    }

    /// Records that events have failed.
    pub(crate) fn broke(&mut self, why: String) {
        self.trouble = Some(why);
    }

    /// Watches a folder if it exists; returns whether it is newly watched.
    pub(crate) fn watch(&mut self, folder: &Path) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        if self.watched.contains(folder) || !folder.is_dir() {
            return false;
        }
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {}
            Err(error) => {
                self.refused += 1;
                self.trouble = Some(describe(error));
            }
        }
        // A refused folder is not tried again every second.
        self.watched.insert(folder.to_owned())
    }

    /// Whether a folder is watched.
    pub(crate) fn watches(&self, folder: &Path) -> bool {
        self.watched.contains(folder)
    }

    /// Forgets folders that are gone; one that reappears has to be watched again.
    ///
    /// A folder that was replaced between two calls is handled by [`Input::Left`].
    pub(crate) fn prune(&mut self) {
        self.watched.retain(|folder| folder.is_dir());
    }

    /// Stops watching a folder.
    pub(crate) fn unwatch(&mut self, folder: &Path) {
        if self.watched.remove(folder)
            && let Some(watcher) = &mut self.watcher
        {
            // A removed folder is not watched any more.
            let _ = watcher.unwatch(folder);
        }
    }
}

/// Describes an error without its paths, which may be many.
fn describe(error: Error) -> String {
    match error.kind {
        ErrorKind::MaxFilesWatch => {
            "the system watches no more of them for you (on Linux: fs.inotify.max_user_watches)".to_owned()
        }
        kind => Error { kind, paths: Vec::new() }.to_string(),
    }
}

fn forward(inputs: &Sender<Input>, event: notify::Result<Event>) {
    let input = match event {
        Ok(event) if event.need_rescan() => Input::Overflow,
        // Our own reads cause these events.
        Ok(Event { kind: EventKind::Access(_), .. }) => return,
        Ok(Event { kind: EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)), paths, .. }) => {
            Input::Left(paths)
        }
        Ok(event) => Input::Changed(event.paths),
        Err(error) => Input::Broken(describe(error)),
    };
    // If the receiver is gone, the program is ending.
    let _ = inputs.send(input);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_of_events_is_reported_until_everything_was_polled() {
        let (inputs, _outputs) = std::sync::mpsc::channel();
        let mut source = Source::new(&inputs, true);
        assert_eq!(source.trouble(), None);
        source.lost();
        for _ in 0..SHOWN_FOR {
            assert_eq!(source.trouble().as_deref(), Some(LOST));
            source.looked();
        }
        assert_eq!(source.trouble(), None);
        // A permanent failure is shown permanently.
        source.broke("no".to_owned());
        source.lost();
        assert_eq!(source.trouble().as_deref(), Some("no"));
    }
}
