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

/// A lock that is older than this is abandoned.
const STALE: SignedDuration = SignedDuration::from_secs(30);
/// How often a held lock is tried, and how many times: ten seconds in all.
const POLL: Duration = Duration::from_millis(25);
const TRIES: usize = 400;
/// Larger than any lock's content.
const CAP: u64 = 64 << 10;

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    inode: (u64, u64),
}

/// Why a lock was not had.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Another process holds it, described in words.
    Held(String),
    /// The operating system refused.
    Io(io::Error),
}

impl Lock {
    /// Waits for the lock of a file for up to ten seconds.
    pub(crate) fn acquire(path: &Path, clock: &dyn Fn() -> Timestamp) -> Result<Self, LockError> {
        let lock = lock_path(path);
        let mut holder = String::new();
        for _ in 0..TRIES {
            match Self::make(&lock, clock()) {
                Ok(held) => return Ok(held),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    holder = evict_stale(&lock, clock()).map_err(LockError::Io)?;
                }
                Err(error) => return Err(LockError::Io(error)),
            }
            // There is no notification of a removed lock file; OpenClaw polls as often.
            wait(POLL);
        }
        Err(LockError::Held(holder))
    }

    fn make(lock: &Path, now: Timestamp) -> io::Result<Self> {
        let mut file = system::private_file().write(true).create_new(true).open(lock)?;
        let found = file.metadata()?;
        let held = Self { path: lock.to_owned(), inode: (found.dev(), found.ino()) };
        let content = json!({
            "pid": std::process::id(),
            "createdAt": now.to_string(),
            "startedAt": now.as_millisecond(),
            "namespace": namespace(),
        });
        // Where it cannot be written, dropping it takes it away again.
        file.write_all(content.to_string().as_bytes())?;
        Ok(held)
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

/// Removes an abandoned lock; otherwise describes its holder.
fn evict_stale(lock: &Path, now: Timestamp) -> io::Result<String> {
    let before = match fs::symlink_metadata(lock) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    };
    let content = file::read(lock, CAP).ok().flatten().unwrap_or_default();
    let says: Value = serde_json::from_slice(&content).unwrap_or_default();
    let touched = before.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(now);
    if !is_stale(&says, touched, now, &namespace(), system::process_exists) {
        return Ok(format!("process {}", says["pid"]));
    }
    // Moved aside first: of two who find it stale, one moves it, and whoever has made a new one meanwhile keeps that.
    let aside = lock.with_extension(format!("stale-{}", std::process::id()));
    if fs::rename(lock, &aside).is_ok() {
        let moved = fs::symlink_metadata(&aside)?;
        let is_it = (moved.dev(), moved.ino()) == (before.dev(), before.ino());
        if is_it || fs::hard_link(&aside, lock).is_ok() {
            fs::remove_file(&aside)?;
        }
    }
    Ok(String::new())
}

fn is_stale(says: &Value, touched: Timestamp, now: Timestamp, here: &str, is_alive: fn(u32) -> bool) -> bool {
    let pid = says["pid"].as_i64().and_then(|pid| u32::try_from(pid).ok());
    // Only a lock of ours says where its process runs; a bare number may be of another container.
    if let (Some(pid), Some(namespace)) = (pid, says["namespace"].as_str())
        && !here.is_empty()
        && namespace == here
        && !is_alive(pid)
    {
        return true;
    }
    let created = says["createdAt"].as_str().and_then(|text| text.parse().ok());
    let started = says["startedAt"].as_i64().and_then(|at| Timestamp::from_millisecond(at).ok());
    let told = created.or(started).unwrap_or(touched);
    let is_old = |time: Timestamp| now.duration_since(time) > STALE;
    is_old(touched) && is_old(told)
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

#[expect(clippy::disallowed_methods, reason = "a lock file that goes is told by nothing; OpenClaw polls too")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_a_lock_is_nobodys() {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        let old = "2026-01-01T00:00:00Z".parse().unwrap();
        let check = |says: Value, touched, expected: bool| {
            assert_eq!(is_stale(&says, touched, now, "here", |pid| pid == 1), expected, "{says}");
        };
        check(json!({"pid": 1, "createdAt": old}), old, true);
        check(json!({"pid": 1, "createdAt": old}), now, false);
        check(json!({"pid": 1, "createdAt": now}), old, false);
        check(json!({"pid": 1, "startedAt": now.as_millisecond()}), old, false);
        check(json!({"pid": 1, "startedAt": 0}), old, true);
        check(json!({"pid": 2, "createdAt": now}), now, false);
        check(json!({"pid": 2, "createdAt": now, "namespace": "there"}), now, false);
        check(json!({"pid": 2, "createdAt": now, "namespace": "here"}), now, true);
        check(json!({"pid": 1, "createdAt": now, "namespace": "here"}), now, false);
        check(json!(null), now, false);
        check(json!(null), old, true);
    }
}
