//! Small files of a test's own making, read whole; and files that another process makes, waited for.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher as _};
use serde_json::Value;

use crate::PATIENCE;

/// A folder that is new may be watched too late for its first file, so one looks now and then.
const GLANCE: Duration = Duration::from_millis(50);

/// Waits until something is so of the files below a folder.
#[track_caller]
pub fn wait_until(folder: &Path, what: &str, is_so: impl Fn() -> bool) {
    let (sender, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |_| {
        let _ = sender.send(());
    })
    .expect("the system tells of files");
    // One that a program removes meanwhile cannot be watched; a glance sees the others.
    let _ = watcher.watch(folder, RecursiveMode::Recursive);
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        // To look may itself write files, and many changes are one look.
        while changes.try_recv().is_ok() {}
        let _ = changes.recv_timeout(GLANCE);
    }
}

/// Reads a whole file, and fails the test where that is not possible.
pub fn bytes(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
}

/// Reads a whole file that a program may remove meanwhile.
pub fn bytes_if_there(file: &Path) -> Option<Vec<u8>> {
    fs::read(file).ok()
}

/// A transcript's records, each of which must be JSON.
pub fn records(file: &Path) -> Vec<Value> {
    let text = String::from_utf8(bytes(file)).expect("a transcript in UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a record in JSON")).collect()
}
