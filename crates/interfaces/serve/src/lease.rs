//! One server for each state folder: whoever holds the lock on a file is the server, and the file says where it listens.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use app::{Config, Error, Kind};
use rustix::fs::{FlockOperation, flock};

use crate::folder;

/// The longest text of a lease that is read, in bytes.
const LONGEST: u64 = 1000;
/// How long to try: a server that was killed while it started a process leaves the lock to that process, until it runs
/// its own program.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// The interval between attempts: the system can wait for a lock, but not with a timeout.
const TRY: Duration = Duration::from_millis(10);

/// The right to serve a state folder; it ends with the process that holds it, however that ends.
#[derive(Debug)]
pub(crate) struct Lease {
    file: File,
    path: PathBuf,
}

impl Lease {
    /// Takes the lease, unless a living server has it.
    pub(crate) fn acquire(config: &Config) -> Result<Self, Error> {
        let path = folder::create(config)?.join("lock");
        let opened = system::private_file().create(true).read(true).write(true).open(&path);
        let file = opened.map_err(|error| folder::unusable(&path, &error))?;
        if lock(&file, pause) {
            return Ok(Self { file, path });
        }
        let message = match announced(&path).as_str() {
            "" => "another `serve` already serves this state folder".to_owned(),
            place => format!("another `serve` already serves this state folder at {place}"),
        };
        Err(Error::new(Kind::Held, message).hint("use that one, or stop it first"))
    }

    /// Writes the server's address into the file, for `serve link` and the message of a second server.
    pub(crate) fn announce(&mut self, place: &str) -> Result<(), Error> {
        let written = self
            .file
            .set_len(0)
            .and_then(|()| self.file.rewind())
            .and_then(|()| self.file.write_all(place.as_bytes()));
        written.map_err(|error| folder::unusable(&self.path, &error))
    }
}

/// Where the server of this state folder listens.
pub(crate) fn place(config: &Config) -> Result<String, Error> {
    let path = folder::path(config).join("lock");
    let is_free = |file: File| flock(&file, FlockOperation::NonBlockingLockShared).is_ok();
    let place = announced(&path);
    if place.is_empty() || File::open(&path).map_or(true, is_free) {
        return Err(Error::new(Kind::Unavailable, "no `serve` runs for this state folder")
            .hint("start `backstory serve`; where systemd listens for it, open its address once"));
    }
    Ok(place)
}

/// What the last server wrote down about where it listens.
fn announced(path: &Path) -> String {
    String::from_utf8_lossy(&system::read_small(path, LONGEST).unwrap_or_default()).trim().to_owned()
}

/// Locks a file within the time, or returns false.
fn lock(file: &File, mut pause: impl FnMut()) -> bool {
    let began = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return true,
            Err(_) if began.elapsed() < LOCK_TIMEOUT => pause(),
            Err(_) => return false,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing signals that a lock was released")]
fn pause() {
    std::thread::sleep(TRY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_at_a_time_and_the_next_one_learns_where() {
        let scratch = tempfile::tempdir().unwrap();
        let config = Config { state: scratch.path().to_owned(), ..Config::default() };
        let mut lease = Lease::acquire(&config).unwrap();
        lease.announce("http://127.0.0.1:1").unwrap();
        let refused = Lease::acquire(&config).unwrap_err();
        assert_eq!(refused.kind, Kind::Held);
        assert!(refused.message.ends_with("at http://127.0.0.1:1"), "{}", refused.message);
        drop(lease);
        assert!(Lease::acquire(&config).is_ok());
    }

    #[test]
    fn a_lock_that_outlives_its_server_for_a_moment_is_waited_for() {
        let scratch = tempfile::tempdir().unwrap();
        let config = Config { state: scratch.path().to_owned(), ..Config::default() };
        let lease = Lease::acquire(&config).unwrap();
        let next = File::open(&lease.path).unwrap();
        // As a child process has it between its start and its program.
        let mut inherited = Some(lease.file.try_clone().unwrap());
        drop(lease);
        assert!(lock(&next, || drop(inherited.take())));
    }
}
