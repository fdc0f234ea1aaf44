//! A transcript of OpenClaw's: reading it whole, and appending to it under its lock.
//!
//! A line is appended with one write, after a line break if one is missing, so that another program's torn line damages
//! nothing else.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use system::{PreparedFile, open_regular};

use super::log_line::{LogHeader, LogLine, context, migrate};
use super::new_line::{JsonLine, NewLine};
use super::store_error::StoreError;
use crate::Problem;
use crate::lock::{Lock, LockError, LockTimes};

/// Longer lines are skipped.
const LONGEST: u64 = 64 << 20;

/// The lines of a transcript, brought to the present version in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationLog {
    /// What its first line says.
    pub header: LogHeader,
    /// Its lines, the first included.
    pub lines: Vec<LogLine>,
    /// How many lines could not be read.
    pub unreadable: usize,
    /// Whether the file is of an older version.
    pub is_older: bool,
}

impl ConversationLog {
    /// Reads a transcript; `None` where there is none, or its first line is no header.
    pub fn load(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = match open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(path, &error)),
        };
        let (mut lines, unread) = read_lines(file).map_err(|error| unreadable(path, &error))?;
        let Some(header) = lines.first().and_then(LogLine::header) else { return Ok(None) };
        let mut ids: HashSet<String> = lines.iter().filter_map(|line| line.id.clone()).collect();
        let is_older = migrate(&mut lines, &mut || new_id(&mut ids)).unwrap_or(false);
        Ok(Some(Self { header, lines, unreadable: unread, is_older }))
    }

    /// The lines that the model sees: from the last back to the first, honouring the last compaction or reset.
    pub fn context(&self) -> Vec<&LogLine> {
        context(&self.lines)
    }
}

/// A transcript that is appended to.
#[derive(Debug, Clone, Copy)]
pub struct LogTarget<'a> {
    /// The file.
    pub path: &'a Path,
    /// The conversation, for a new file.
    pub session: &'a SessionId,
    /// The directory, for a new file.
    pub directory: &'a Path,
    /// The times of its lock.
    pub times: LockTimes,
}

/// Appends a line under the transcript's lock and returns its id. A file of an older version is brought up to date
/// first, and kept as `….bak.<time>`; one without a header is set aside.
pub fn append(
    target: &LogTarget<'_>,
    line: &NewLine,
    clock: &dyn Fn() -> Timestamp,
) -> Result<String, StoreError> {
    let path = target.path;
    let folder = path.parent().unwrap_or(Path::new("."));
    system::create_private_folder(folder).map_err(|error| unwritable(folder, &error))?;
    let lock = Lock::acquire_within(path, target.times, clock).map_err(|refused| match refused {
        LockError::Held(holder) => StoreError::Locked { path: with_suffix(path, "lock"), holder },
        LockError::Io(error) => unwritable(path, &error),
    })?;
    let (mut ids, leaf) = prepare(target, clock())?;
    let id = new_id(&mut ids);
    if let Some(objection) = lock.write_error(clock()) {
        return Err(Problem::new(path, objection, "Try again.").into());
    }
    let text = line.to_json_line(&id, leaf.as_deref(), clock());
    append_text(path, &text).map_err(|error| unwritable(path, &error))?;
    Ok(id)
}

/// Makes sure that the file is of the present version; returns its ids and the last line's.
fn prepare(target: &LogTarget<'_>, now: Timestamp) -> Result<(HashSet<String>, Option<String>), StoreError> {
    let path = target.path;
    let Some(log) = ConversationLog::load(path)? else {
        if path.symlink_metadata().is_ok_and(|found| found.len() > 0) {
            let aside = with_suffix(path, &format!("broken.{}", now.as_millisecond()));
            std::fs::rename(path, aside).map_err(|error| unwritable(path, &error))?;
        }
        let header = JsonLine::header(target.session, target.directory, now);
        append_text(path, &header.line()).map_err(|error| unwritable(path, &error))?;
        return Ok((HashSet::new(), None));
    };
    if log.is_older {
        let backup = with_suffix(path, &format!("bak.{}", now.as_millisecond()));
        std::fs::hard_link(path, backup).map_err(|error| unwritable(path, &error))?;
        let write =
            |out: &mut dyn io::Write| log.lines.iter().try_for_each(|line| writeln!(out, "{}", line.text));
        let new = PreparedFile::write(path, write).and_then(PreparedFile::replace);
        new.map_err(|error| unwritable(path, &error))?;
    }
    let leaf = log.lines.last().filter(|line| line.kind != "session").and_then(|line| line.id.clone());
    Ok((log.lines.into_iter().filter_map(|line| line.id).collect(), leaf))
}

fn append_text(path: &Path, text: &str) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut file = system::private_file().create(true).append(true).read(true).open(path)?;
    let mut line = String::new();
    if file.metadata()?.len() > 0 && !ends_with_break(path)? {
        line.push('\n');
    }
    line.push_str(text);
    file.write_all(line.as_bytes())?;
    file.sync_data()
}

fn ends_with_break(path: &Path) -> io::Result<bool> {
    use std::io::{Seek as _, SeekFrom};

    let mut file = open_regular(path)?;
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn read_lines(file: File) -> io::Result<(Vec<LogLine>, usize)> {
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let (mut lines, mut unread, mut bytes) = (Vec::new(), 0, Vec::new());
    loop {
        bytes.clear();
        if (&mut reader).take(LONGEST).read_until(b'\n', &mut bytes)? == 0 {
            return Ok((lines, unread));
        }
        if !bytes.ends_with(b"\n") && bytes.len() as u64 == LONGEST {
            reader.skip_until(b'\n')?;
        }
        let text = String::from_utf8_lossy(&bytes);
        match LogLine::parse(&text) {
            Some(line) => lines.push(line),
            None if text.trim().is_empty() => {}
            None => unread += 1,
        }
    }
}

/// Eight hexadecimal digits that no line has.
fn new_id(ids: &mut HashSet<String>) -> String {
    loop {
        let uuid = uuid::Uuid::new_v4().to_string();
        let id = uuid[..8].to_owned();
        if ids.insert(id.clone()) {
            return id;
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{suffix}"));
    name.into()
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    Problem::new(path, format!("cannot be read: {error}"), "Make it a file that this user can read.").into()
}

fn unwritable(path: &Path, error: &io::Error) -> StoreError {
    Problem::new(path, format!("cannot be written: {error}"), "Make it and its folder writable.").into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-15T12:00:02.000Z".parse().unwrap()
    }

    fn text(path: &Path) -> String {
        String::from_utf8(system::read_small(path, 1 << 20).unwrap()).unwrap()
    }

    fn add(path: &Path, line: &NewLine) -> Result<String, StoreError> {
        let session = "s1".parse().unwrap();
        let target =
            LogTarget { path, session: &session, directory: Path::new("/p"), times: LockTimes::default() };
        append(&target, line, &now)
    }

    fn user(text: &str) -> NewLine {
        NewLine::User { text: text.to_owned() }
    }

    #[test]
    #[expect(clippy::many_single_char_names, reason = "the lines of a transcript, in order")]
    fn lines_are_appended_as_openclaw_writes_them() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sessions/s1.jsonl");
        let a = add(&path, &user("Hello")).unwrap();
        let mirror = NewLine::Mirror { text: "Hi!".into() };
        let b = add(&path, &mirror).unwrap();
        let call = NewLine::ToolResult {
            call: "c".into(),
            tool: "bash".into(),
            text: "out".into(),
            is_error: false,
        };
        let c = add(&path, &call).unwrap();
        let d = add(
            &path,
            &NewLine::Compaction { summary: "all".into(), first_kept: c.clone(), tokens_before: 5 },
        )
        .unwrap();
        let e = add(&path, &NewLine::BranchSummary { from: a.clone(), summary: "left".into() }).unwrap();
        let f = add(&path, &NewLine::Custom { kind: "mine".into(), data: json!({"x": 1}) }).unwrap();
        let time = "\"timestamp\":\"2026-01-15T12:00:02.000Z\"";
        let expected = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s1\",{time},\"cwd\":\"/p\"}}\n\
             {{\"type\":\"message\",\"id\":\"{a}\",\"parentId\":null,{time},\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"Hello\"}}],\"timestamp\":1768478402000}}}}\n\
             {{\"type\":\"message\",\"id\":\"{b}\",\"parentId\":\"{a}\",{time},\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"Hi!\"}}],\
             \"api\":\"openai-responses\",\"provider\":\"openclaw\",\"model\":\"delivery-mirror\",\"usage\":{{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":0,\
             \"cost\":{{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}}},\"stopReason\":\"stop\",\"timestamp\":1768478402000}}}}\n\
             {{\"type\":\"message\",\"id\":\"{c}\",\"parentId\":\"{b}\",{time},\"message\":{{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"toolName\":\"bash\",\"content\":[{{\"type\":\"text\",\"text\":\"out\"}}],\"isError\":false,\"timestamp\":1768478402000}}}}\n\
             {{\"type\":\"compaction\",\"id\":\"{d}\",\"parentId\":\"{c}\",{time},\"summary\":\"all\",\"firstKeptEntryId\":\"{c}\",\"tokensBefore\":5}}\n\
             {{\"type\":\"branch_summary\",\"id\":\"{e}\",\"parentId\":\"{d}\",{time},\"fromId\":\"{a}\",\"summary\":\"left\"}}\n\
             {{\"type\":\"custom\",\"customType\":\"mine\",\"data\":{{\"x\":1}},\"id\":\"{f}\",\"parentId\":\"{e}\",{time}}}\n"
        );
        assert_eq!(text(&path), expected);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let log = ConversationLog::load(&path).unwrap().unwrap();
        let ids: Vec<_> = log.context().iter().map(|line| line.id.clone().unwrap()).collect();
        assert_eq!(ids, [d, c, e, f]);
        assert!(!path.with_extension("jsonl.lock").exists());
    }

    #[test]
    fn an_older_file_is_kept_and_brought_up_to_date_before_it_grows() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("s1.jsonl");
        let old =
            "{\"type\":\"session\",\"id\":\"s1\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n";
        fs::write(&path, old).unwrap();
        assert!(ConversationLog::load(&path).unwrap().unwrap().is_older);
        assert_eq!(text(&path), old, "reading changes nothing");
        add(&path, &user("more")).unwrap();
        let log = ConversationLog::load(&path).unwrap().unwrap();
        assert_eq!((log.is_older, log.header.version, log.context().len()), (false, 3, 2));
        assert_eq!(text(&scratch.path().join("s1.jsonl.bak.1768478402000")), old);
    }

    #[test]
    fn torn_lines_and_broken_files_lose_nothing_else() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("s1.jsonl");
        let a = add(&path, &user("one")).unwrap();
        fs::write(&path, text(&path) + "{\"type\":\"mess").unwrap();
        add(&path, &user("two")).unwrap();
        let log = ConversationLog::load(&path).unwrap().unwrap();
        assert_eq!((log.lines.len(), log.unreadable), (3, 1));
        assert_eq!(log.lines[2].parent, Some(a));
        fs::write(&path, "no header\n").unwrap();
        assert_eq!(ConversationLog::load(&path).unwrap(), None);
        add(&path, &user("three")).unwrap();
        assert_eq!(ConversationLog::load(&path).unwrap().unwrap().lines.len(), 2);
        assert_eq!(text(&scratch.path().join("s1.jsonl.broken.1768478402000")), "no header\n");
    }

    #[test]
    fn a_link_is_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, other) = (scratch.path().join("s1.jsonl"), scratch.path().join("other"));
        fs::write(&other, "theirs").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(add(&path, &user("x")).is_err());
        assert_eq!(text(&other), "theirs");
    }
}
