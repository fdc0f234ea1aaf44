//! Waits for changes in folders, for callers that only need to know when to look again.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::input::Input;
use crate::source::Source;

/// Changes within this time belong together.
const TOGETHER: Duration = Duration::from_millis(200);
/// Maximum number of [`TOGETHER`] spans to wait for further changes.
const AT_MOST: usize = 5;

/// Watches folders, without their subfolders, using system events.
pub struct FolderWatcher {
    source: Source,
    inputs: Receiver<Input>,
}

impl std::fmt::Debug for FolderWatcher {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Changes").field("works", &self.works()).finish_non_exhaustive()
    }
}

impl FolderWatcher {
    /// A watcher that uses system events if `events` is set and the system supports them.
    pub fn new(events: bool) -> Self {
        let (sender, inputs) = channel();
        Self { source: Source::new(&sender, events), inputs }
    }

    /// Adds folders to watch and forgets those that are gone.
    pub fn watch(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        self.source.prune();
        for folder in folders {
            self.source.watch(&folder);
        }
    }

    /// Whether the system reports changes of every folder; otherwise the caller has to poll.
    pub fn works(&self) -> bool {
        self.source.works() && self.source.trouble().is_none()
    }

    /// Waits up to `patience` for a change; returns whether there was one.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        match self.inputs.recv_timeout(timeout) {
            Ok(input) => self.take(input),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                // There are no events at all, and time passes all the same.
                std::thread::park_timeout(timeout);
                return false;
            }
        }
        for _ in 0..AT_MOST {
            let Ok(input) = self.inputs.recv_timeout(TOGETHER) else { break };
            self.take(input);
            while let Ok(input) = self.inputs.try_recv() {
                self.take(input);
            }
        }
        true
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Broken(why) => self.source.broke(why),
            Input::Left(paths) => {
                for path in paths {
                    self.source.unwatch(&path);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_reported_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let mut changes = FolderWatcher::new(true);
        changes.watch([folder.path().to_owned()]);
        assert!(changes.works());
        assert!(!changes.wait(Duration::from_millis(1)));
        std::fs::write(folder.path().join("a.jsonl"), "{}\n").unwrap();
        assert!(changes.wait(testkit::PATIENCE));
        let mut without = FolderWatcher::new(false);
        without.watch([folder.path().to_owned()]);
        assert!(!without.works());
        assert!(!without.wait(Duration::from_millis(1)));
    }
}
