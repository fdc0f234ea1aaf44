//! Events that Claude Code reports to its hooks, and the file through which they reach the monitor.
//!
//! A hook is a process that must be fast and must never fail: it appends one line to `events.jsonl` and
//! exits. Every Backstory that watches reads new lines; one that starts later reads those of the last hour.
//! At most two files of bounded size are kept.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use serde::{Deserialize, Serialize};
use transcript::{Checkpoint, FileChange, Raw, Tail, ToolCall};

/// The events that `hooks install` subscribes to, without those that are frequent or add nothing.
pub const EVENTS: [&str; 9] = [
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "Notification",
    "PostToolUse",
    "SubagentStop",
    "PreCompact",
    "Stop",
    "SessionEnd",
];

/// Maximum size of a payload in bytes; a tool's input can be a whole file.
const MAX_PAYLOAD: u64 = 4 << 20;
/// The file is rotated when it exceeds this size in bytes.
const MAX_FILE: u64 = 1 << 20;

/// An event reported to a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEvent {
    /// When it was reported.
    pub at: Timestamp,
    /// Id of the session.
    pub session: SessionId,
    /// Name of the event.
    pub name: String,
    /// The sub-agent it occurred in, if any.
    pub agent: Option<String>,
    /// What it says about the session.
    pub signal: HookSignal,
}

/// What a hook's event says about the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookSignal {
    /// A process opened the session.
    SessionOpened,
    /// A turn begins.
    PromptSubmitted,
    /// The user is asked for a permission or an answer.
    Asked {
        /// Name of the tool.
        tool: Option<String>,
        /// Description of the call, safe to display.
        detail: Option<String>,
        /// Whether it is a question rather than a permission request.
        question: bool,
    },
    /// The last request is still open.
    StillAsking,
    /// A tool returned a result.
    Answered {
        /// Name of the tool.
        tool: Option<String>,
        /// Id of the tool call.
        tool_use: Option<String>,
    },
    /// The turn is over.
    TurnEnded {
        /// Number of tasks still running in the background.
        in_background: u64,
    },
    /// The process has been waiting for a prompt for a while.
    WaitingForPrompt,
    /// A sub-agent ended.
    SubagentEnded,
    /// The process left the session.
    SessionLeft {
        /// Whether the same process went on with another session (`/clear`).
        cleared: bool,
    },
    /// Anything that does not change the session's activity.
    Other,
}

/// A line of the file: the needed parts of a payload, without conversation text.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct HookLine {
    at: i64,
    event: String,
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    running: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reads a hook's payload and appends a line about it to the file in `folder`.
///
/// `kept` redacts the description of a tool call, which a model may have worded. A payload that cannot be
/// parsed is ignored.
pub fn record(
    folder: &Path,
    mut payload: impl Read,
    at: Timestamp,
    kept: impl Fn(&str) -> String,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    payload.by_ref().take(MAX_PAYLOAD).read_to_end(&mut bytes)?;
    // Read to the end, so that the writer does not find its pipe closed.
    io::copy(&mut payload, &mut io::sink())?;
    let text = String::from_utf8_lossy(&bytes);
    let Some(mut line) = HookLine::from_payload(&text, at) else { return Ok(()) };
    line.detail = line.detail.as_deref().map(kept);
    let mut line = serde_json::to_vec(&line)?;
    line.push(b'\n');
    append(folder, &line)
}

impl HookLine {
    fn from_payload(payload: &str, at: Timestamp) -> Option<Self> {
        let payload = Raw::new(payload);
        let text = |field: &str| payload.get(field).text().map(|text| bounded(&text));
        let session: SessionId = text("session_id")?.parse().ok()?;
        let tool = text("tool_name");
        let call = tool.as_deref().map(|name| ToolCall { id: "", name, input: payload.get("tool_input") });
        let running = payload.get("background_tasks").elements();
        Some(Self {
            at: at.as_millisecond(),
            event: text("hook_event_name")?,
            session: session.to_string(),
            agent: text("agent_id"),
            detail: call.and_then(|call| call.detail()),
            tool_use: text("tool_use_id"),
            kind: text("notification_type").or_else(|| text("source")).or_else(|| text("reason")),
            running: running.filter(|task| task.get("status").is("running")).count() as u64,
            tool,
        })
    }

    fn into_event(self) -> Option<HookEvent> {
        let kind = self.kind.as_deref();
        let signal = match self.event.as_str() {
            "SessionStart" if kind != Some("compact") => HookSignal::SessionOpened,
            "UserPromptSubmit" => HookSignal::PromptSubmitted,
            "PermissionRequest" => HookSignal::Asked {
                question: self.tool.as_deref() == Some("AskUserQuestion"),
                tool: self.tool,
                detail: self.detail,
            },
            "Notification" if kind == Some("permission_prompt") => HookSignal::StillAsking,
            "Notification" if kind == Some("idle_prompt") => HookSignal::WaitingForPrompt,
            "PostToolUse" | "PostToolUseFailure" => {
                HookSignal::Answered { tool: self.tool, tool_use: self.tool_use }
            }
            "Stop" | "StopFailure" => HookSignal::TurnEnded { in_background: self.running },
            "SubagentStop" => HookSignal::SubagentEnded,
            "SessionEnd" => HookSignal::SessionLeft { cleared: kind == Some("clear") },
            _ => HookSignal::Other,
        };
        Some(HookEvent {
            at: Timestamp::from_millisecond(self.at).ok()?,
            session: self.session.parse().ok()?,
            name: self.event,
            agent: self.agent,
            signal,
        })
    }
}

/// Names and ids, limited in length and without control characters.
fn bounded(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The file that hooks append to.
pub fn events_file(folder: &Path) -> PathBuf {
    folder.join("events.jsonl")
}

fn rotated_file(folder: &Path) -> PathBuf {
    folder.join("events.old.jsonl")
}

fn append(folder: &Path, line: &[u8]) -> io::Result<()> {
    let path = events_file(folder);
    // Opening a FIFO would block.
    if fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let open = || system::private_file().create(true).append(true).open(&path);
    let mut out = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            system::create_private_folder(folder)?;
            open()?
        }
        other => other?,
    };
    if out.metadata()?.len() > MAX_FILE {
        // Two hooks may rotate at once; then some lines are lost that nobody was reading.
        fs::rename(&path, rotated_file(folder))?;
        out = open()?;
    }
    // One write of one short line: lines of two hooks never mix.
    out.write_all(line)
}

/// Removes the lines about sessions from the files in `folder`. A hook that runs in that moment may lose its line.
#[expect(clippy::implicit_hasher, reason = "the caller has the usual one")]
pub fn forget(folder: &Path, sessions: &HashSet<SessionId>) -> io::Result<()> {
    for path in [events_file(folder), rotated_file(folder)] {
        let text = match system::read_small(&path, 2 * MAX_FILE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            text => text?,
        };
        let is_about = |line: &[u8]| {
            let line: Option<HookLine> = serde_json::from_slice(line).ok();
            line.is_some_and(|line| sessions.iter().any(|session| session.as_str() == line.session))
        };
        let kept: Vec<&[u8]> =
            text.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_about(line)).collect();
        let kept = kept.concat();
        if kept.len() < text.len() {
            system::replace_private_file(&path, &kept)?;
        }
    }
    Ok(())
}

/// Reads new lines of the file.
#[derive(Debug)]
pub struct HookReader {
    folder: PathBuf,
    mark: Option<Checkpoint>,
}

impl HookReader {
    /// Reads the file in `folder` from its beginning.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, mark: None }
    }

    /// The folder to watch.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the events recorded since the last call.
    pub fn read(&mut self) -> Vec<HookEvent> {
        let mut found = Vec::new();
        let Ok(mut tail) = Tail::open(&events_file(&self.folder), self.mark.as_ref()) else { return found };
        match tail.change() {
            FileChange::None => return found,
            // The rest of the rotated file comes first.
            FileChange::Replaced | FileChange::New => {
                if let Ok(mut rest) = Tail::open(&rotated_file(&self.folder), self.mark.as_ref())
                    && rest.change() != FileChange::Replaced
                {
                    read(&mut rest, &mut found);
                }
            }
            FileChange::Appended => {}
        }
        read(&mut tail, &mut found);
        self.mark = tail.mark().ok();
        found
    }
}

fn read(tail: &mut Tail, found: &mut Vec<HookEvent>) {
    while let Ok(Some(line)) = tail.next_line() {
        let line: Option<HookLine> = serde_json::from_slice(line.bytes).ok();
        found.extend(line.and_then(HookLine::into_event));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn signal(payload: &str) -> Option<HookSignal> {
        HookLine::from_payload(payload, Timestamp::UNIX_EPOCH)
            .and_then(HookLine::into_event)
            .map(|hook| hook.signal)
    }

    fn check(fields: &str, expected: HookSignal) {
        assert_eq!(signal(&format!(r#"{{"session_id":"s1",{fields}}}"#)), Some(expected), "{fields}");
    }

    #[test]
    fn every_kind_of_payload_is_reduced_to_a_signal() {
        check(r#""hook_event_name":"SessionStart","source":"startup""#, HookSignal::SessionOpened);
        check(r#""hook_event_name":"SessionStart","source":"compact""#, HookSignal::Other);
        check(r#""hook_event_name":"UserPromptSubmit","prompt":"secret""#, HookSignal::PromptSubmitted);
        check(
            r#""hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm -rf x","description":"Delete build"}"#,
            HookSignal::Asked {
                tool: Some("Bash".into()),
                detail: Some("Delete build".into()),
                question: false,
            },
        );
        check(
            r#""hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{}"#,
            HookSignal::Asked { tool: Some("AskUserQuestion".into()), detail: None, question: true },
        );
        check(
            r#""hook_event_name":"Notification","notification_type":"permission_prompt""#,
            HookSignal::StillAsking,
        );
        check(
            r#""hook_event_name":"Notification","notification_type":"idle_prompt""#,
            HookSignal::WaitingForPrompt,
        );
        check(
            r#""hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t1""#,
            HookSignal::Answered { tool: Some("Bash".into()), tool_use: Some("t1".into()) },
        );
        check(
            r#""hook_event_name":"Stop","background_tasks":[{"id":"a","status":"running"},{"id":"b","status":"done"}]"#,
            HookSignal::TurnEnded { in_background: 1 },
        );
        check(
            r#""hook_event_name":"SessionEnd","reason":"clear""#,
            HookSignal::SessionLeft { cleared: true },
        );
        check(
            r#""hook_event_name":"SessionEnd","reason":"other""#,
            HookSignal::SessionLeft { cleared: false },
        );
        check(r#""hook_event_name":"SomethingNew""#, HookSignal::Other);
        for bad in [
            "",
            "null",
            "{",
            r#"{"hook_event_name":"Stop"}"#,
            r#"{"session_id":"../x","hook_event_name":"Stop"}"#,
        ] {
            assert_eq!(signal(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_hook_reads_all_its_input_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(events_file(folder.path())).status().unwrap();
        assert!(made.success());
        let start = r#"{"session_id":"s1","hook_event_name":"Stop","tool_response":""#;
        let mut payload = start.as_bytes().chain(io::repeat(b'x').take(MAX_PAYLOAD + 10));
        assert!(record(folder.path(), &mut payload, Timestamp::UNIX_EPOCH, str::to_owned).is_err());
        assert_eq!(io::copy(&mut payload, &mut io::sink()).unwrap(), 0, "all of it was read");
        // Of a payload that is too large its beginning is understood.
        fs::remove_file(events_file(folder.path())).unwrap();
        let payload = start.as_bytes().chain(io::repeat(b'x').take(MAX_PAYLOAD));
        record(folder.path(), payload, Timestamp::UNIX_EPOCH, str::to_owned).unwrap();
        assert_eq!(HookReader::new(folder.path().to_owned()).read().len(), 1);
    }

    #[test]
    fn what_was_reported_of_a_forgotten_session_is_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("hooks");
        let ids = HashSet::from(["s1".parse().unwrap()]);
        forget(&folder, &ids).unwrap();
        for session in ["s1", "s2", "s1"] {
            let payload = format!(r#"{{"session_id":"{session}","hook_event_name":"Stop"}}"#);
            record(&folder, payload.as_bytes(), Timestamp::UNIX_EPOCH, str::to_owned).unwrap();
        }
        forget(&folder, &ids).unwrap();
        let left = HookReader::new(folder).read();
        assert_eq!(left.iter().map(|hook| hook.session.as_str()).collect::<Vec<_>>(), ["s2"]);
    }

    #[test]
    fn conversation_texts_are_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let payload =
            r#"{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"my secret","cwd":"/p"}"#;
        record(folder.path(), payload.as_bytes(), Timestamp::UNIX_EPOCH, str::to_owned).unwrap();
        let kept = system::read_small(&events_file(folder.path()), 1000).unwrap();
        assert!(!String::from_utf8_lossy(&kept).contains("secret"));
    }

    #[test]
    fn every_reader_gets_each_line_once_and_files_stay_small() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("hooks");
        let mut inbox = HookReader::new(folder.clone());
        assert_eq!(inbox.read(), []);
        let payload = |number: usize| {
            format!(r#"{{"session_id":"s{number}","hook_event_name":"Stop","cwd":"{}"}}"#, "x".repeat(100))
        };
        let mut read = 0;
        for number in 0..40_000 {
            record(&folder, payload(number).as_bytes(), Timestamp::UNIX_EPOCH, str::to_owned).unwrap();
            if number % 997 == 0 {
                for hook in inbox.read() {
                    assert_eq!(hook.session.as_str(), format!("s{read}"));
                    read += 1;
                }
            }
        }
        read += inbox.read().len();
        assert_eq!(read, 40_000);
        let sizes =
            [events_file(&folder), rotated_file(&folder)].map(|path| fs::metadata(path).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= MAX_FILE + 200), "{sizes:?}");
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(events_file(&folder)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
