//! Claude Code's own registry of live processes: `sessions/<pid>.json`.
//!
//! A record outlives its process after a kill, so every record is checked against the process: same pid,
//! same start time, same pid namespace.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;

use crate::json::{Raw, raw_fields};

/// The largest registry file that is read, in bytes.
const CAP: u64 = 1 << 20;
/// How often a file that is being rewritten is read again.
const ATTEMPTS: usize = 5;

/// A live process that holds a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredProcess {
    /// The process id.
    pub pid: u32,
    /// The session it holds now; a process may change it.
    pub session: SessionId,
    /// The directory it runs in.
    pub cwd: Option<PathBuf>,
    /// The status it reports (2.1.197 and later).
    pub status: Option<LiveStatus>,
    /// The word for it, where that is one that no release wrote so far.
    pub unknown_status: Option<String>,
    /// `permission prompt`, `input needed`, `dialog open`, …
    pub waiting_for: Option<String>,
    /// When the status began.
    pub status_since: Option<Timestamp>,
    /// The kind of session: `interactive` or `bg`.
    pub kind: Option<String>,
    /// The program that started it: `cli`, `sdk-cli`, …
    pub entrypoint: Option<String>,
    /// The name of the session.
    pub name: Option<String>,
    /// The background job that it runs.
    pub job: Option<String>,
    /// The process's start time, as the system counts it (clock ticks since boot, on Linux).
    pub process_start: Option<String>,
}

/// The state of the process that a registry record describes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "they are made one by one, and soon taken apart")]
pub enum RegistryStatus {
    /// The process is alive.
    Alive(RegisteredProcess),
    /// A process that is gone: it was killed, or another one has its number by now.
    Dead(SessionId),
    /// The process belongs to another container, so its state is unknown.
    Foreign(SessionId),
    /// The record cannot be read.
    Unreadable,
}

/// The status that a live process reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveStatus {
    /// A turn is running.
    Busy,
    /// The turn is over.
    Idle,
    /// It is waiting for a person.
    Waiting,
}

impl LiveStatus {
    /// The status of each word that Claude Code is known to write: at its prompt with a command in the background it
    /// writes `shell` (2.1.278).
    const WORDS: [(&str, Self); 4] =
        [("busy", Self::Busy), ("idle", Self::Idle), ("shell", Self::Idle), ("waiting", Self::Waiting)];

    /// Parts of words by which one that is not known is taken for the nearest.
    const PARTS: [(&str, Self); 18] = [
        ("wait", Self::Waiting),
        ("permission", Self::Waiting),
        ("approv", Self::Waiting),
        ("input", Self::Waiting),
        ("question", Self::Waiting),
        ("block", Self::Waiting),
        ("idle", Self::Idle),
        ("ready", Self::Idle),
        ("prompt", Self::Idle),
        ("background", Self::Idle),
        ("sleep", Self::Idle),
        ("paus", Self::Idle),
        ("busy", Self::Busy),
        ("work", Self::Busy),
        ("run", Self::Busy),
        ("think", Self::Busy),
        ("respond", Self::Busy),
        ("compact", Self::Busy),
    ];

    /// The status a word means, and whether the word is known; none for a word that says nothing.
    fn from_word(word: &str, waits_for_something: bool) -> (Option<Self>, bool) {
        if let Some((_, status)) = Self::WORDS.iter().find(|(known, _)| *known == word) {
            return (Some(*status), true);
        }
        let small = word.to_ascii_lowercase();
        let near = Self::PARTS.iter().find(|(part, _)| small.contains(part)).map(|(_, status)| *status);
        (if waits_for_something { Some(Self::Waiting) } else { near }, false)
    }
}

raw_fields! {
    struct Fields {
        pid = "pid",
        session = "sessionId",
        cwd = "cwd",
        started = "procStart",
        domain = "pidDomain",
        status = "status",
        waiting_for = "waitingFor",
        since = "statusUpdatedAt",
        kind = "kind",
        entrypoint = "entrypoint",
        name = "name",
        job = "jobId",
    }
}

impl RegisteredProcess {
    /// The live processes of a registry folder; dead records and torn files are left out.
    pub fn find(folder: &Path) -> Vec<Self> {
        let mut found: Vec<_> = records(folder).filter_map(|path| Self::read(&path)).collect();
        found.sort_unstable_by_key(|live| live.pid);
        found
    }

    /// The records of a registry folder without a live process on this machine, as a killed process leaves them.
    pub fn stale_records(folder: &Path) -> Vec<PathBuf> {
        let mut left: Vec<_> = records(folder).filter(|path| Self::read(path).is_none()).collect();
        left.sort_unstable();
        left
    }

    /// The record of one process in a registry folder, when it lives.
    pub fn of_process(folder: &Path, pid: u32) -> Option<Self> {
        Self::read(&folder.join(format!("{pid}.json"))).filter(|live| live.pid == pid)
    }

    /// One registry file, when its process lives.
    pub fn read(path: &Path) -> Option<Self> {
        match Self::registry_status(path) {
            RegistryStatus::Alive(live) => Some(live),
            RegistryStatus::Dead(_) | RegistryStatus::Foreign(_) | RegistryStatus::Unreadable => None,
        }
    }

    /// The state of the process of one registry record.
    pub fn registry_status(path: &Path) -> RegistryStatus {
        // The CLI rewrites the file in place, so it may be read torn: read again.
        let read = || Self::parse(&system::read_small(path, CAP).ok()?);
        (0..ATTEMPTS).find_map(|_| read()).unwrap_or(RegistryStatus::Unreadable)
    }

    /// Whether the process still lives.
    pub fn is_alive(&self) -> bool {
        is_process(self.pid, self.process_start.as_deref())
    }

    /// `None` for a torn record, which should be read again.
    fn parse(bytes: &[u8]) -> Option<RegistryStatus> {
        let text = String::from_utf8_lossy(bytes);
        let fields = Fields::read(&text)?;
        Some(Self::status_from_fields(&fields).unwrap_or(RegistryStatus::Unreadable))
    }

    fn status_from_fields(fields: &Fields<'_>) -> Option<RegistryStatus> {
        let live = Self::from_fields(fields)?;
        if !is_our_namespace(fields.domain) {
            return Some(RegistryStatus::Foreign(live.session));
        }
        if !live.is_alive() {
            return Some(RegistryStatus::Dead(live.session));
        }
        Some(RegistryStatus::Alive(live))
    }

    /// Parses a record without checking its process, for looking at it after the fact.
    pub fn parse_record(bytes: &[u8]) -> Option<Self> {
        Self::from_fields(&Fields::read(&String::from_utf8_lossy(bytes))?)
    }

    fn from_fields(fields: &Fields<'_>) -> Option<Self> {
        let owned = |field: Raw<'_>| field.text().map(Cow::into_owned);
        let (status, is_known) = match fields.status.plain() {
            Some(word) => LiveStatus::from_word(word, fields.waiting_for.is_present()),
            None => (None, true),
        };
        let since = fields.since.count().and_then(|at| i64::try_from(at).ok());
        Some(Self {
            pid: u32::try_from(fields.pid.count()?).ok().filter(|pid| *pid > 0)?,
            session: fields.session.plain()?.parse().ok()?,
            process_start: owned(fields.started),
            cwd: owned(fields.cwd).map(PathBuf::from),
            status,
            unknown_status: owned(fields.status).filter(|_| !is_known),
            waiting_for: owned(fields.waiting_for),
            status_since: since.and_then(|at| Timestamp::from_millisecond(at).ok()),
            kind: owned(fields.kind),
            entrypoint: owned(fields.entrypoint),
            name: owned(fields.name),
            job: owned(fields.job),
        })
    }
}

/// The paths of all records in a registry folder.
pub fn records(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
}

/// `linux:<hash>:pid:[<inode>]` ends in the namespace's own name.
fn is_our_namespace(domain: Raw<'_>) -> bool {
    let Some(domain) = domain.text() else { return true };
    system::pid_namespace().is_none_or(|ours| domain.ends_with(&*ours.to_string_lossy()))
}

/// Whether the process lives and is the one that began at `started` (clock ticks since boot).
pub(crate) fn is_process(pid: u32, started: Option<&str>) -> bool {
    if !system::has_process_stats() {
        return system::process_exists(pid);
    }
    system::ProcessStat::read(pid).is_some_and(|stat| started.is_none_or(|started| stat.started == started))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(content: &str) -> (tempfile::TempDir, Vec<RegisteredProcess>) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("1.json"), content).unwrap();
        let found = RegisteredProcess::find(folder.path());
        (folder, found)
    }

    fn own_start() -> String {
        system::ProcessStat::read(std::process::id()).unwrap().started
    }

    #[test]
    fn a_living_process_is_found() {
        let record = format!(
            r#"{{"pid":{},"procStart":"{}","sessionId":"s1","cwd":"/p","status":"waiting","waitingFor":"permission prompt","statusUpdatedAt":1795187760726}}"#,
            std::process::id(),
            own_start()
        );
        let (folder, found) = registry(&record);
        assert_eq!(found.len(), 1);
        assert!(RegisteredProcess::stale_records(folder.path()).is_empty());
        assert_eq!(found[0].session.as_str(), "s1");
        assert_eq!(found[0].status, Some(LiveStatus::Waiting));
        assert_eq!(found[0].waiting_for.as_deref(), Some("permission prompt"));
    }

    #[test]
    fn every_word_for_a_status_means_something() {
        use LiveStatus::{Busy, Idle, Waiting};
        let table = [
            ("busy", "", Some(Busy), true),
            ("shell", "", Some(Idle), true),
            ("idle", "", Some(Idle), true),
            ("waiting", r#","waitingFor":"permission prompt""#, Some(Waiting), true),
            ("compacting", "", Some(Busy), false),
            ("waiting_permission", "", Some(Waiting), false),
            ("in_background", "", Some(Idle), false),
            ("xyzzy", r#","waitingFor":"a dialog""#, Some(Waiting), false),
            ("xyzzy", "", None, false),
        ];
        for (word, more, expected, is_known) in table {
            let record = format!(r#"{{"pid":7,"sessionId":"s1","status":"{word}"{more}}}"#);
            let found = RegisteredProcess::parse_record(record.as_bytes()).unwrap();
            assert_eq!(found.status, expected, "{word}");
            assert_eq!(found.unknown_status.as_deref(), (!is_known).then_some(word), "{word}");
        }
    }

    #[test]
    fn dead_reused_foreign_and_torn_records_are_left_out() {
        let pid = std::process::id();
        let start = own_start();
        for record in [
            r#"{"pid":4194305,"sessionId":"s1"}"#.to_owned(),
            format!(r#"{{"pid":{pid},"procStart":"1","sessionId":"s1"}}"#),
            format!(
                r#"{{"pid":{pid},"procStart":"{start}","sessionId":"s1","pidDomain":"linux:x:pid:[1]"}}"#
            ),
            format!(r#"{{"pid":{pid},"procStart":"{start}","sessionId":"../x"}}"#),
            format!(r#"{{"pid":{pid},"procSt"#),
            r#"{"pid":0,"sessionId":"s1"}"#.to_owned(),
            "[]".to_owned(),
        ] {
            let (folder, found) = registry(&record);
            assert_eq!(found, [], "{record}");
            assert_eq!(RegisteredProcess::stale_records(folder.path()), [folder.path().join("1.json")]);
        }
    }

    #[test]
    fn every_registry_status_is_recognized() {
        let (pid, start) = (std::process::id(), own_start());
        let check = |record: String, expected: fn(&RegistryStatus) -> bool| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("1.json");
            fs::write(&path, &record).unwrap();
            let found = RegisteredProcess::registry_status(&path);
            assert!(expected(&found), "{record}: {found:?}");
        };
        check(
            format!(r#"{{"pid":{pid},"procStart":"{start}","sessionId":"s1"}}"#),
            |found| matches!(found, RegistryStatus::Alive(live) if live.is_alive()),
        );
        check(format!(r#"{{"pid":{pid},"procStart":"1","sessionId":"s1"}}"#), |found| {
            matches!(found, RegistryStatus::Dead(_))
        });
        check(format!(r#"{{"pid":{pid},"sessionId":"s1","pidDomain":"linux:x:pid:[1]"}}"#), |found| {
            matches!(found, RegistryStatus::Foreign(_))
        });
        check("{".to_owned(), |found| *found == RegistryStatus::Unreadable);
    }
}
