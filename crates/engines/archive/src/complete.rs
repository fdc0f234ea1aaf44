//! When a pass last copied all there was. A pass that was cut short, or looked at some sessions only, leaves no record.

use std::io;
use std::path::Path;

use jiff::Timestamp;

/// The file that holds the time, in the folder of the archive.
const FILE: &str = "complete";
/// More than a time needs.
const LONGEST: u64 = 64;

/// When a pass last copied all there was; `None` if none ever did.
pub fn last_complete_pass(archive: &Path) -> Option<Timestamp> {
    let text = system::read_small(&archive.join(FILE), LONGEST).ok()?;
    std::str::from_utf8(&text).ok()?.trim().parse().ok()
}

/// Records that a pass copied all there was.
pub(crate) fn record(archive: &Path, now: Timestamp) -> io::Result<()> {
    system::replace_private_file(&archive.join(FILE), format!("{now}\n").as_bytes())
}
