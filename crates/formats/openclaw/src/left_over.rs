//! Removes the new files beside a file that a killed writer could not put into place.

use std::fs;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

/// How old such a file has to be: no writer takes so long.
const ABANDONED: SignedDuration = SignedDuration::from_mins(10);
/// The number of letters by which our new files differ.
const LETTERS: usize = 6;

/// Removes what writers of this file, and of its lock, left. What cannot be removed stays.
pub(crate) fn remove(file: &Path, now: Timestamp) {
    let Some((folder, name)) = file.parent().zip(file.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(|found| is_ours(found, name)))
    {
        let modified = entry.metadata().ok().and_then(|found| found.modified().ok());
        let modified = modified.and_then(|time| Timestamp::try_from(time).ok());
        if modified.is_some_and(|at| now.duration_since(at) > ABANDONED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file is a new one for the file of this name or its lock: `<name>.AbC123.tmp`.
fn is_ours(found: &str, name: &str) -> bool {
    let letters = found.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".tmp"));
    let letters = letters.map(|letters| letters.strip_prefix("lock.").unwrap_or(letters));
    letters.is_some_and(|letters| {
        letters.len() == LETTERS && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_files_of_ours_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let check = |name: &str, age: SignedDuration, stays: bool| {
            let path = scratch.path().join(name);
            fs::File::create(&path).unwrap().set_modified((now - age).into()).unwrap();
            remove(&scratch.path().join("sessions.json"), now);
            assert_eq!(path.exists(), stays, "{name}");
        };
        let (old, new) = (SignedDuration::from_hours(1), SignedDuration::from_mins(1));
        check("sessions.json.AbC123.tmp", old, false);
        check("sessions.json.lock.AbC123.tmp", old, false);
        check("sessions.json.AbC123.tmp", new, true);
        check("sessions.json", old, true);
        check("sessions.json.AbC1234.tmp", old, true);
        check("sessions.json.1-2-3.tmp", old, true);
        check("other.json.AbC123.tmp", old, true);
        check("sessions.json.broken.1", old, true);
    }
}
