//! OpenClaw's lock for a file that it writes: `<file>.lock`, created exclusively and removed when done.
//!
//! Two generations of OpenClaw look at different fields of a lock, so ours has both: `createdAt` and `startedAt`. A
//! lock is broken only when its own time and the file's are both long past, or when its process ran in this pid
//! namespace and is gone.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::file;

/// Larger than any lock's content.
const CAP: u64 = 64 << 10;

/// The times of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockTimes {
    /// How long it is waited for.
    pub timeout: Duration,
    /// How often it is tried meanwhile. There is no notification of a removed lock file; OpenClaw polls too.
    pub poll: Duration,
    /// How old it has to be to count as abandoned.
    pub stale: Duration,
    /// How old it has to be where its process is not seen here. It may still run in another container, so it is given
    /// the time that a change takes.
    pub unseen: Duration,
    /// How long it may be held: who has held it longer writes nothing, because OpenClaw releases such a lock.
    pub max_hold: Duration,
}

impl Default for LockTimes {
    /// Those of a store or registry.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            poll: Duration::from_millis(25),
            stale: Duration::from_secs(30),
            unseen: Duration::from_secs(5),
            max_hold: Duration::from_mins(5),
        }
    }
}

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    inode: (u64, u64),
    since: Timestamp,
    max_hold: Duration,
}

/// Why a lock was not acquired.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Another process holds it, described in words.
    Held(String),
    /// The operating system refused.
    Io(io::Error),
}

impl Lock {
    /// Waits for the lock of a file as long as a store's lock is waited for.
    pub(crate) fn acquire(path: &Path, clock: &dyn Fn() -> Timestamp) -> Result<Self, LockError> {
        Self::acquire_within(path, LockTimes::default(), clock)
    }

    /// Waits for the lock of a file.
    pub(crate) fn acquire_within(
        path: &Path,
        times: LockTimes,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Self, LockError> {
        let lock = lock_path(path);
        let poll = times.poll.max(Duration::from_millis(1));
        let tries = times.timeout.as_millis() / poll.as_millis();
        let mut holder = String::new();
        for attempt in 0..=tries {
            if let Some(held) = Self::try_create(&lock, clock(), times.max_hold)? {
                return Ok(held);
            }
            match evict_stale(&lock, clock(), times).map_err(LockError::Io)? {
                Some(other) => holder = other,
                // It is free now, perhaps for us.
                None => {
                    if let Some(held) = Self::try_create(&lock, clock(), times.max_hold)? {
                        return Ok(held);
                    }
                }
            }
            if attempt < tries {
                wait(poll);
            }
        }
        Err(LockError::Held(holder))
    }

    /// The lock, unless another process has it.
    fn try_create(lock: &Path, now: Timestamp, max_hold: Duration) -> Result<Option<Self>, LockError> {
        match Self::create(lock, now, max_hold) {
            Ok(held) => Ok(Some(held)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(LockError::Io(error)),
        }
    }

    /// Makes the lock with its content at once: one that a killed process left empty would be nobody's for a long time,
    /// and newer versions of OpenClaw take an empty one away.
    fn create(lock: &Path, now: Timestamp, max_hold: Duration) -> io::Result<Self> {
        let content = json!({
            "pid": std::process::id(),
            "createdAt": now.to_string(),
            "startedAt": now.as_millisecond(),
            "namespace": namespace(),
        });
        let folder = lock.parent().unwrap_or(Path::new("."));
        let name = lock.file_name().unwrap_or_default().to_string_lossy();
        let mut new =
            tempfile::Builder::new().prefix(&format!("{name}.")).suffix(".tmp").tempfile_in(folder)?;
        new.write_all(content.to_string().as_bytes())?;
        let found = new.as_file().metadata()?;
        fs::hard_link(new.path(), lock)?;
        Ok(Self { path: lock.to_owned(), inode: (found.dev(), found.ino()), since: now, max_hold })
    }

    /// Why nothing may be written under this lock any more, if so.
    pub(crate) fn write_error(&self, now: Timestamp) -> Option<&'static str> {
        let longest = SignedDuration::try_from(self.max_hold).unwrap_or(SignedDuration::MAX);
        if !self.is_held() {
            return Some("was not written: its lock was lost meanwhile");
        }
        let is_over = now.duration_since(self.since) > longest;
        is_over.then_some(
            "was not written: its lock was held for longer than `session.writeLock.maxHoldMs` allows",
        )
    }

    /// Says that it is still needed: older versions of OpenClaw take one that was not touched for 30 seconds away.
    pub(crate) fn touch(&self, now: Timestamp) {
        if self.is_held()
            && let Ok(file) = fs::File::options().write(true).open(&self.path)
        {
            // Nothing is lost where it cannot be touched but the lock, which is checked before each write.
            let _ = file.set_modified(now.into());
        }
    }

    /// Whether the lock file is still ours: a suspended process may have lost it.
    pub(crate) fn is_held(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == self.inode)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_held() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes an abandoned lock; otherwise describes its holder. `None` where there is no lock any more.
fn evict_stale(lock: &Path, now: Timestamp, times: LockTimes) -> io::Result<Option<String>> {
    let before = match fs::symlink_metadata(lock) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let content = file::read(lock, CAP).ok().flatten().unwrap_or_default();
    let says: Value = serde_json::from_slice(&content).unwrap_or_default();
    let touched = before.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(now);
    if !is_stale(&says, touched, now, times, &namespace(), system::process_exists) {
        return Ok(Some(format!("process {}", says["pid"])));
    }
    // Moved aside first: of two processes that find it stale only one can move it, and a new lock made meanwhile stays.
    let aside = lock.with_extension(format!("stale-{}", std::process::id()));
    if fs::rename(lock, &aside).is_ok() {
        let moved = fs::symlink_metadata(&aside)?;
        let is_it = (moved.dev(), moved.ino()) == (before.dev(), before.ino());
        if is_it || fs::hard_link(&aside, lock).is_ok() {
            fs::remove_file(&aside)?;
        }
    }
    Ok(None)
}

/// What a lock file says, for `store lock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockState {
    /// The lock file.
    pub path: PathBuf,
    /// The process that created it, if recorded.
    pub pid: Option<u32>,
    /// When it was made, as it says, else by its time.
    pub since: Timestamp,
    /// Whether the next one who needs it takes it away.
    pub is_stale: bool,
}

impl LockState {
    /// The lock of a file; `None` where it has none.
    pub fn read(path: &Path, times: LockTimes, now: Timestamp) -> Option<Self> {
        let lock = lock_path(path);
        let found = fs::symlink_metadata(&lock).ok()?;
        let content = file::read(&lock, CAP).ok().flatten().unwrap_or_default();
        let says: Value = serde_json::from_slice(&content).unwrap_or_default();
        let touched = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(now);
        Some(Self {
            pid: pid(&says),
            since: recorded_time(&says).unwrap_or(touched),
            is_stale: is_stale(&says, touched, now, times, &namespace(), system::process_exists),
            path: lock,
        })
    }
}

fn pid(says: &Value) -> Option<u32> {
    says["pid"].as_i64().and_then(|pid| u32::try_from(pid).ok())
}

fn recorded_time(says: &Value) -> Option<Timestamp> {
    let created = says["createdAt"].as_str().and_then(|text| text.parse().ok());
    created.or_else(|| says["startedAt"].as_i64().and_then(|at| Timestamp::from_millisecond(at).ok()))
}

fn is_stale(
    says: &Value,
    touched: Timestamp,
    now: Timestamp,
    times: LockTimes,
    here: &str,
    is_alive: fn(u32) -> bool,
) -> bool {
    let is_gone = pid(says).is_some_and(|pid| !is_alive(pid));
    // Only a lock of ours says where its process runs; a bare number may be of another container.
    let limit = match says["namespace"].as_str() {
        Some(namespace) if is_gone && !here.is_empty() && namespace == here => return true,
        None if is_gone => times.unseen,
        _ => times.stale,
    };
    let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
    let is_old = |time: Timestamp| now.duration_since(time) > limit;
    is_old(touched) && is_old(recorded_time(says).unwrap_or(touched))
}

/// Identifies the set of processes a pid belongs to: the boot and the pid namespace.
fn namespace() -> String {
    match (system::boot_id(), system::pid_namespace()) {
        (Some(boot), Some(space)) => format!("{boot} {}", space.display()),
        _ => String::new(),
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

#[expect(clippy::disallowed_methods, reason = "nothing reports that a lock file is gone; OpenClaw polls too")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_a_lock_is_stale() {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        let old = "2026-01-01T00:00:00Z".parse().unwrap();
        let check = |says: Value, touched, expected: bool| {
            assert_eq!(
                is_stale(&says, touched, now, LockTimes::default(), "here", |pid| pid == 1),
                expected,
                "{says}"
            );
        };
        check(json!({"pid": 1, "createdAt": old}), old, true);
        check(json!({"pid": 1, "createdAt": old}), now, false);
        check(json!({"pid": 1, "createdAt": now}), old, false);
        check(json!({"pid": 1, "startedAt": now.as_millisecond()}), old, false);
        check(json!({"pid": 1, "startedAt": 0}), old, true);
        check(json!({"pid": 2, "createdAt": now}), now, false);
        // One of an OpenClaw that is gone, and of one that runs.
        let recent: Timestamp = "2026-01-01T00:09:50Z".parse().unwrap();
        check(json!({"pid": 2, "startedAt": recent.as_millisecond()}), recent, true);
        check(json!({"pid": 2, "startedAt": recent.as_millisecond()}), now, false);
        check(json!({"pid": 1, "startedAt": recent.as_millisecond()}), recent, false);
        check(json!({"pid": 2, "createdAt": recent, "namespace": "there"}), recent, false);
        check(json!({"pid": 2, "createdAt": now, "namespace": "there"}), now, false);
        check(json!({"pid": 2, "createdAt": now, "namespace": "here"}), now, true);
        check(json!({"pid": 1, "createdAt": now, "namespace": "here"}), now, false);
        check(json!(null), now, false);
        check(json!(null), old, true);
    }
}
