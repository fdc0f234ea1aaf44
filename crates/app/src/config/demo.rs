//! The made-up sessions of `--demo`: unpacked into a folder of this terminal's or this process's own, with dates that end now.
//!
//! They were written for this project; no person, program or company in them exists.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::fmt::temporal::DateTimePrinter;
use jiff::{SignedDuration, Timestamp};

use crate::config::TerminalSession;
use crate::{Config, Error, Kind};

/// The moment at which the made-up sessions end.
const WRITTEN: &str = "2026-01-15T12:00:00Z";
/// The project most of them belong to.
pub(crate) const PROJECT: &str = "harbor-api";
/// The file in the folder of a terminal that says when all of it was unpacked.
const UNPACKED: &str = "unpacked";
/// For how long the sessions of a terminal's demo look recent.
const LATELY: SignedDuration = SignedDuration::from_hours(12);
/// Times as Claude Code writes them.
const JSON_TIME: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// The folder of one demo, which is removed when this is dropped.
///
/// All demos of a user share a folder around theirs, whose lock is held while one is added or removed. Each holds a lock on
/// its own as long as it runs: what nobody holds was left by a process that was killed, and the next demo removes it. The one
/// of a terminal stays for the next command there, until the first demo after that terminal was closed.
#[derive(Debug)]
pub struct DemoFolder {
    path: PathBuf,
    /// Whether it is a terminal's, which stays.
    is_kept: bool,
    is_removed: Mutex<bool>,
    _lock: File,
}

impl DemoFolder {
    /// Unpacks the made-up sessions into a folder below `scratch`: that of the terminal, where the demo before it left them, unless
    /// another demo is using it.
    pub fn create(scratch: &Path, now: Timestamp, terminal: Option<&TerminalSession>) -> Result<Self, Error> {
        let shared = scratch.join(format!("backstory-demo-{}", rustix::process::geteuid().as_raw()));
        Self::create_in(&shared, now, terminal.and_then(TerminalSession::name).as_deref()).map_err(|error| {
            Error::caused(
                Kind::Unavailable,
                format!("cannot unpack the made-up sessions into {}", shared.display()),
                &error,
            )
            .hint("set TMPDIR to a folder you can write to")
        })
    }

    fn create_in(shared: &Path, now: Timestamp, terminal: Option<&str>) -> io::Result<Self> {
        let turn = lock_shared(shared)?;
        remove_abandoned(shared, now);
        if let Some(name) = terminal
            && let Some(folder) = Self::of_terminal(shared.join(name), now)?
        {
            return Ok(folder);
        }
        let path = (0..u32::MAX)
            .map(|number| shared.join(number.to_string()))
            .find(|path| !path.exists())
            .unwrap_or_else(|| shared.join("0"));
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::open(&path)?;
        lock.lock()?;
        drop(turn);
        let folder = Self { path, is_kept: false, is_removed: Mutex::new(false), _lock: lock };
        unpack(&folder.path, now)?;
        Ok(folder)
    }

    /// The folder of a terminal, made where it is missing; `None` where another demo is using it.
    fn of_terminal(path: PathBuf, now: Timestamp) -> io::Result<Option<Self>> {
        make(&path)?;
        let lock = File::open(&path)?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => {}
        }
        let unpacked = path.join(UNPACKED);
        if !unpacked.exists() {
            unpack(&path, now)?;
            fs::write(unpacked, now.to_string())?;
        }
        Ok(Some(Self { path, is_kept: true, is_removed: Mutex::new(false), _lock: lock }))
    }

    /// Whether the next demo on this terminal has the same.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder, and the one around it with the last demo; that of a terminal stays. What fails is left to the next
    /// demo.
    pub fn remove(&self) {
        if self.is_kept {
            return;
        }
        // Later the name may be another demo's.
        let mut is_removed = self.is_removed.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *is_removed, true) {
            return;
        }
        let Some(shared) = self.path.parent() else { return };
        let Ok(_turn) = lock_shared(shared) else { return };
        remove_all(&self.path);
        // It is not empty while there are others.
        let _ = fs::remove_dir(shared);
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Config {
    /// A configuration that knows only the made-up sessions.
    #[must_use]
    pub fn demo(self, folder: &DemoFolder) -> Self {
        let (folder, folder_is_kept) = (folder.path(), folder.is_kept());
        Self {
            home: folder.join("home"),
            state: folder.join("state"),
            claude_folders: vec![folder.join("claude")],
            openclaw_folders: vec![folder.join("openclaw")],
            is_demo: true,
            is_demo_kept: folder_is_kept,
            api_key: None,
            ..self
        }
    }
}

/// The lock on the folder around all demos of this user, which is made where it is missing.
fn lock_shared(shared: &Path) -> io::Result<File> {
    loop {
        make_own(shared)?;
        let folder = match File::open(shared) {
            // The last demo has just removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened?,
        };
        folder.lock()?;
        // It may have been removed while this waited, and made again.
        let (locked, found) = (folder.metadata()?, fs::symlink_metadata(shared));
        if found.is_ok_and(|found| (found.dev(), found.ino()) == (locked.dev(), locked.ino())) {
            return Ok(folder);
        }
    }
}

fn make_own(folder: &Path) -> io::Result<()> {
    make(folder)?;
    // The name can be guessed: in a folder of somebody else's nothing is written.
    let found = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "it belongs to somebody else"));
    }
    if found.mode() & 0o077 != 0 {
        // Others may have put links in it.
        fs::remove_dir_all(folder)?;
        make(folder)?;
    }
    Ok(())
}

fn make(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Removes what no living process holds, and terminals' that were closed, or whose dates are old.
fn remove_abandoned(shared: &Path, now: Timestamp) {
    for entry in fs::read_dir(shared).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_locked = |folder: File| matches!(folder.try_lock(), Err(TryLockError::WouldBlock));
        if is_folder && (File::open(&path).is_ok_and(is_locked) || is_of_open_terminal(&path, now)) {
            continue;
        }
        remove_all(&path);
    }
}

/// Whether a folder is that of a terminal which is still open, and was unpacked lately.
fn is_of_open_terminal(path: &Path, now: Timestamp) -> bool {
    let is_open = path.file_name().and_then(|name| name.to_str()).is_some_and(TerminalSession::is_open);
    let unpacked = system::read_small(&path.join(UNPACKED), 64).unwrap_or_default();
    let unpacked = std::str::from_utf8(&unpacked).ok().and_then(|at| at.parse::<Timestamp>().ok());
    is_open && unpacked.is_some_and(|at| now.duration_since(at).abs() < LATELY)
}

/// Removes a folder in which a thread may still write, or a file.
fn remove_all(path: &Path) {
    const TRIES: usize = 100;
    for _ in 0..TRIES {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                let _ = fs::remove_file(path);
                return;
            }
            _ => return,
        }
    }
}

fn unpack(folder: &Path, now: Timestamp) -> io::Result<()> {
    let later =
        WRITTEN.parse::<Timestamp>().map_or(SignedDuration::ZERO, |written| now.duration_since(written));
    for (path, content) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, moved(content, later))?;
    }
    Ok(())
}

/// The text with every time in it moved.
fn moved(text: &str, later: SignedDuration) -> String {
    let mut out = String::with_capacity(text.len());
    // Between two quotes is a whole JSON string, or what separates two strings.
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            out.push('"');
        }
        match part.parse::<Timestamp>().and_then(|time| time.checked_add(later)) {
            Ok(time) => out.push_str(&JSON_TIME.timestamp_to_string(&time)),
            Err(_) => out.push_str(part),
        }
    }
    out
}

/// Where each file is unpacked to, and what is in it.
const FILES: &[(&str, &str)] = &[
    (
        "claude/projects/-home-sam-code-harbor-api/1ba1de03-4b78-5244-9858-2706428e076f.jsonl",
        include_str!("../../demo/token-refresh.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/80048f3c-7d0f-54dd-996d-d569f78d3a62.jsonl",
        include_str!("../../demo/token-refresh-fork.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/7716132d-3f5d-5688-9ea3-601cc410800c.jsonl",
        include_str!("../../demo/flaky-test.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/991d246a-17fc-5019-a3ac-da05c0f12716.jsonl",
        include_str!("../../demo/migration.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/991d246a-17fc-5019-a3ac-da05c0f12716/subagents/agent-a1f0c3d27be94e518.jsonl",
        include_str!("../../demo/migration-explore.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-tidepool-web/4a8d8dd8-8a0b-5f4e-bc7e-48f75401c04c.jsonl",
        include_str!("../../demo/dark-mode.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-tidepool-web/f8e7ff83-cb6e-5784-9f34-4394d5e1d87f.jsonl",
        include_str!("../../demo/date-display-ja.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-lantern-cli/c02761b4-5111-5f9f-8a8d-dbd246eedfb5.jsonl",
        include_str!("../../demo/release-notes.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-lantern-cli/f09a7119-c1b9-55c4-b751-6e91e70fa2ef.jsonl",
        include_str!("../../demo/config-refactor.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-tidepool-web/0f41c62e-fe5a-5c78-9791-40484ae1a98b.jsonl",
        include_str!("../../demo/dialog-a11y.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/d8275f59-792d-5605-b6d8-63308c2015ad.jsonl",
        include_str!("../../demo/rate-limit.jsonl"),
    ),
    ("openclaw/agents/main/claude-code-sessions.json", include_str!("../../demo/openclaw-registry.json")),
    (
        "claude/projects/-home-sam-code-harbor-api/991d246a-17fc-5019-a3ac-da05c0f12716/subagents/agent-a1f0c3d27be94e518.meta.json",
        include_str!("../../demo/migration-explore.meta.json"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_and_nothing_else() {
        let later = SignedDuration::from_hours(24);
        let text = r#"{"timestamp":"2026-01-15T12:00:00.500Z","said":"at \"noon\" of 2026-01-15T12:00:00Z"}"#;
        let expected =
            r#"{"timestamp":"2026-01-16T12:00:00.500Z","said":"at \"noon\" of 2026-01-15T12:00:00Z"}"#;
        assert_eq!(moved(text, later), expected);
    }

    fn now() -> Timestamp {
        "2030-05-05T05:05:05Z".parse().unwrap()
    }

    fn sessions_of(demo: &DemoFolder) -> String {
        let bytes = system::read_small(&demo.path().join(FILES[0].0), 1 << 20).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn two_demos_at_once_do_not_meet_and_nothing_remains() {
        let scratch = tempfile::tempdir().unwrap();
        let shared = scratch.path().join("demo");
        let [one, two] = [now(), now() + SignedDuration::from_hours(1)]
            .map(|now| DemoFolder::create_in(&shared, now, None).unwrap());
        assert_ne!(one.path(), two.path());
        assert_eq!(fs::metadata(one.path()).unwrap().mode() & 0o777, 0o700);
        assert_ne!(sessions_of(&one), sessions_of(&two), "each ends when it was unpacked");
        drop(one);
        assert!(!sessions_of(&two).is_empty());
        drop(two);
        assert!(!shared.exists());
    }

    #[test]
    fn what_a_killed_demo_left_is_removed_by_the_next() {
        let scratch = tempfile::tempdir().unwrap();
        let shared = scratch.path().join("demo");
        let living = DemoFolder::create_in(&shared, now(), None).unwrap();
        // Of releases that had one folder for all, too.
        fs::create_dir_all(shared.join("claude/projects")).unwrap();
        fs::write(shared.join("unpacked"), "").unwrap();
        fs::create_dir(shared.join("7")).unwrap();
        let next = DemoFolder::create_in(&shared, now(), None).unwrap();
        let mut left: Vec<_> = fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        assert_eq!(left, [living.path(), next.path()]);
    }

    #[test]
    fn a_demo_begins_while_the_last_one_ends() {
        let scratch = tempfile::tempdir().unwrap();
        let shared = &scratch.path().join("demo");
        let begin_and_end = || {
            for _ in 0..20 {
                let demo = DemoFolder::create_in(shared, now(), None).unwrap();
                assert!(!sessions_of(&demo).is_empty());
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(begin_and_end))));
        assert!(!shared.exists());
    }

    #[test]
    fn nothing_is_written_through_links_that_others_could_have_put_there() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let scratch = tempfile::tempdir().unwrap();
        let (folder, precious) = (scratch.path().join("demo"), scratch.path().join("precious"));
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("file"), "mine").unwrap();
        fs::create_dir(&folder).unwrap();
        symlink(&precious, folder.join("0")).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let demo = DemoFolder::create_in(&folder, Timestamp::UNIX_EPOCH, None).unwrap();
        assert_eq!(fs::read_dir(&precious).unwrap().count(), 1);
        assert!(demo.path().join("claude/projects").is_dir());
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        // In a folder of one's own a link is no folder, either.
        symlink(&precious, folder.join("1")).unwrap();
        let next = DemoFolder::create_in(&folder, Timestamp::UNIX_EPOCH, None).unwrap();
        assert!(fs::symlink_metadata(next.path()).unwrap().is_dir() && precious.join("file").exists());
        assert!(symlink(&precious, scratch.path().join("link")).is_ok());
        assert!(DemoFolder::create_in(&scratch.path().join("link"), Timestamp::UNIX_EPOCH, None).is_err());
    }
}
