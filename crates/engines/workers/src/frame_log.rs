//! Logs every frame exchanged with a worker's process, in files of bounded size.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

/// A log file that reaches this size in bytes is rotated; one old file is kept.
const MAX_FILE: u64 = 16 << 20;

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Direction {
    /// From `claude`.
    Out,
    /// To `claude`.
    In,
    /// From `claude`'s standard error.
    Err,
}

/// The log of one worker.
#[derive(Debug)]
pub(crate) struct FrameLog {
    path: PathBuf,
    file: File,
    size: u64,
    max_size: u64,
}

#[derive(Serialize)]
struct Entry<'a> {
    #[serde(rename = "way")]
    direction: Direction,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl FrameLog {
    /// Opens the log for appending.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::with_max_size(path, MAX_FILE)
    }

    fn with_max_size(path: &Path, max_size: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            system::create_private_folder(folder)?;
        }
        let file = open_private(path)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, size, max_size })
    }

    /// Appends a line; lines that are not JSON are logged as text.
    pub(crate) fn append(&mut self, direction: Direction, at: Timestamp, line: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        let frame: Option<&RawValue> = serde_json::from_str(text.trim()).ok();
        let text = frame.is_none().then(|| text.trim_end().to_owned());
        let mut bytes = serde_json::to_vec(&Entry { direction, at, frame, text })?;
        bytes.push(b'\n');
        if self.size > 0 && self.size + bytes.len() as u64 > self.max_size {
            fs::rename(&self.path, self.path.with_extension("old.jsonl"))?;
            self.file = open_private(&self.path)?;
            self.size = 0;
        }
        self.file.write_all(&bytes)?;
        self.size += bytes.len() as u64;
        Ok(())
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    system::private_file().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn frames_are_logged_and_old_files_rotated() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("7/frames.jsonl");
        let mut log = FrameLog::with_max_size(&path, 300).unwrap();
        let at = Timestamp::UNIX_EPOCH;
        log.append(Direction::In, at, b"{\"a\":1}\n").unwrap();
        log.append(Direction::Out, at, b"not JSON \xff").unwrap();
        let text = testkit::files::bytes(&path);
        let expected = "{\"way\":\"in\",\"at\":\"1970-01-01T00:00:00Z\",\"frame\":{\"a\":1}}\n\
             {\"way\":\"out\",\"at\":\"1970-01-01T00:00:00Z\",\"text\":\"not JSON \u{fffd}\"}\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        drop(log);
        let mut log = FrameLog::with_max_size(&path, 300).unwrap();
        for _ in 0..20 {
            log.append(Direction::Out, at, b"{\"b\":2}").unwrap();
        }
        let files: Vec<_> =
            path.parent().unwrap().read_dir().unwrap().flatten().map(|entry| entry.path()).collect();
        assert_eq!(files.len(), 2, "{files:?}");
        assert!(files.iter().all(|file| file.metadata().unwrap().len() <= 300 && mode(file) == 0o600));
    }
}
