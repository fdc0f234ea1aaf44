//! The bytes that a real Claude Code wrote into its folder, and when they were seen: recorded while it
//! works, kept as lines of JSON, read again where no Claude Code is.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use notify::{RecursiveMode, Watcher as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How often the folder is listed without a system event: a new folder may be watched
/// too late for its first file.
const GLANCE: Duration = Duration::from_millis(50);

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// When the change was seen.
    pub at: Timestamp,
    /// The file, from the config folder on.
    pub file: PathBuf,
    /// The change that was seen.
    #[serde(flatten)]
    pub what: ChangeKind,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// These bytes were added to a transcript.
    Added(String),
    /// This is all that a small file holds now.
    #[serde(rename = "holds")]
    Content(String),
    /// It is not there any more.
    Gone,
    /// The process that it is about was killed, and left it.
    Killed,
}

/// Records what happens in a config folder until it is stopped.
pub struct Recorder {
    asked: Sender<Option<Sender<()>>>,
    thread: Option<JoinHandle<Vec<Seen>>>,
}

impl Recorder {
    /// Begins with what is there as the first thing seen.
    pub fn start(folder: &Path) -> Self {
        let folder = folder.to_owned();
        let (sender, changes) = channel();
        let (asked, questions) = channel();
        let (begun, beginning) = channel();
        let thread = std::thread::spawn(move || {
            let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                // Its own reading is reported too, and would keep it reading.
                if !event.is_ok_and(|event| event.kind.is_access()) {
                    let _ = sender.send(());
                }
            })
            .expect("the system tells of files");
            // One that a program removes meanwhile cannot be watched; a glance sees the others.
            let _ = watcher.watch(&folder, RecursiveMode::Recursive);
            let mut record = Record { folder, known: HashMap::new(), seen: Vec::new() };
            record.look();
            begun.send(()).expect("somebody waits for it");
            record.until(&changes, &questions);
            record.seen
        });
        beginning.recv().expect("a thread that begins");
        Self { asked, thread: Some(thread) }
    }

    /// Waits until all is seen that has happened by now.
    pub fn catch_up(&self) {
        let (reply, answer) = channel();
        self.asked.send(Some(reply)).expect("a recorder that did not fail");
        answer.recv().expect("a recorder that did not fail");
    }

    /// All that was seen.
    pub fn stop(mut self) -> Vec<Seen> {
        let _ = self.asked.send(None);
        self.thread.take().and_then(|thread| thread.join().ok()).expect("a recorder that did not fail")
    }
}

#[derive(PartialEq)]
enum Known {
    /// So many bytes of it have been seen.
    Length(u64),
    /// The whole content, of a file that is rewritten each time.
    Content(Vec<u8>),
}

struct Record {
    folder: PathBuf,
    known: HashMap<PathBuf, Known>,
    seen: Vec<Seen>,
}

impl Record {
    fn until(&mut self, changes: &Receiver<()>, questions: &Receiver<Option<Sender<()>>>) {
        loop {
            match questions.try_recv() {
                Ok(None) => break,
                Ok(Some(reply)) => {
                    self.look();
                    let _ = reply.send(());
                }
                Err(_) => {}
            }
            match changes.recv_timeout(GLANCE) {
                // Many changes are one look.
                Ok(()) => while changes.try_recv().is_ok() {},
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look();
        }
        self.look();
    }

    fn look(&mut self) {
        let mut files = Vec::new();
        for folder in ["sessions", "projects"] {
            walk(&self.folder.join(folder), &mut files);
        }
        let gone: Vec<PathBuf> = self.known.keys().filter(|file| !files.contains(file)).cloned().collect();
        for file in gone {
            self.known.remove(&file);
            self.note(&file, ChangeKind::Gone);
        }
        for file in files {
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("jsonl") => self.look_at_transcript(&file),
                Some("json") => self.look_at_small(&file),
                _ => {}
            }
        }
    }

    fn look_at_transcript(&mut self, file: &Path) {
        let from = match self.known.get(file) {
            Some(Known::Length(length)) => *length,
            _ => 0,
        };
        let Ok(open) = fs::File::open(file) else { return };
        let length = open.metadata().map_or(from, |metadata| metadata.len());
        // One that becomes shorter is no recording of a session any more.
        assert!(length >= from, "{} was cut", file.display());
        let mut bytes = vec![0; usize::try_from(length - from).expect("a few bytes")];
        if bytes.is_empty() || open.read_exact_at(&mut bytes, from).is_err() {
            return;
        }
        // Up to the last whole line; the rest is seen when its end is there.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(whole);
        if whole > 0 {
            self.known.insert(file.to_owned(), Known::Length(from + whole as u64));
            self.note(file, ChangeKind::Added(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }

    fn look_at_small(&mut self, file: &Path) {
        let Ok(content) = fs::read(file) else { return };
        // It is rewritten in place: half of it is no JSON.
        if serde_json::from_slice::<Value>(&content).is_err() {
            return;
        }
        let now = Known::Content(content);
        if self.known.get(file) != Some(&now) {
            let Known::Content(content) = &now else { return };
            self.note(file, ChangeKind::Content(String::from_utf8_lossy(content).into_owned()));
            self.known.insert(file.to_owned(), now);
        }
    }

    fn note(&mut self, file: &Path, what: ChangeKind) {
        let file = file.strip_prefix(&self.folder).unwrap_or(file).to_owned();
        self.seen.push(Seen { at: Timestamp::now(), file, what });
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// A recording as lines of JSON.
pub fn written(seen: &[Seen]) -> String {
    let line = |seen: &Seen| serde_json::to_string(seen).expect("what is made of text") + "\n";
    seen.iter().map(line).collect()
}

/// A recording that was kept.
pub fn read(text: &str) -> Vec<Seen> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of a recording")).collect()
}
