//! Protects Backstory's own folder from other users.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::{Config, Error, Kind};

/// The prefixes of the names of Backstory's own files.
const OWN: [&str; 18] = [
    "archive",
    "backups",
    "catalog.sqlite",
    "decisions.sqlite",
    "deletion-notice",
    "exports.json",
    "hooks",
    "index",
    "last-search",
    "looked-at",
    "annotations.sqlite",
    "mcp-token",
    "overview",
    "repositories.json",
    "schedule.sqlite",
    "serve",
    "welcomed",
    "workers",
];

impl Config {
    /// The database of what `pick` decided.
    pub(crate) fn decisions_file(&self) -> PathBuf {
        self.state.join("decisions.sqlite")
    }

    /// Closes Backstory's own folder to others where they can enter it; refuses one that somebody else can change.
    ///
    /// Returns a warning for the person, if there is one.
    pub fn guard_state(&self) -> Result<Option<String>, Error> {
        guard(&self.state, rustix::process::geteuid().as_raw())
    }
}

fn guard(folder: &Path, us: u32) -> Result<Option<String>, Error> {
    let Ok(found) = folder.metadata() else { return Ok(None) };
    let path = folder.display();
    if !found.is_dir() {
        let error = Error::new(Kind::Settings, format!("{path} is not a folder"));
        return Err(error.hint("set BACKSTORY_HOME to a folder"));
    }
    if found.uid() != us && found.uid() != 0 {
        let message = format!("{path} belongs to another user, who could read and change what is kept there");
        if us == 0 {
            // A container's root often works in a person's folder.
            return Ok(Some(message));
        }
        let hint = "set BACKSTORY_HOME to a folder of your own";
        return Err(Error::new(Kind::Settings, message).hint(hint));
    }
    let mode = found.mode() & 0o7777;
    if found.uid() != us {
        let writable = mode & 0o022 != 0;
        return Ok(writable.then(|| format!("other users on this machine can write to {path}")));
    }
    let is_open = mode & 0o077 != 0;
    if !is_open {
        return Ok(None);
    }
    // A folder that holds more may be meant for others: a home, or `/tmp`.
    let is_own = |name: OsString| OWN.iter().any(|own| name.to_string_lossy().starts_with(own));
    let all = fs::read_dir(folder).map(|all| all.flatten().all(|entry| is_own(entry.file_name())));
    let closed = Permissions::from_mode(0o700);
    if all.unwrap_or(false) && fs::set_permissions(folder, closed).is_ok() {
        return Ok(None);
    }
    let next = workers::quoted(folder).map_or_else(String::new, |path| format!(": chmod 700 {path}"));
    Ok(Some(format!("other users on this machine can enter {path}, which holds your conversations{next}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: u32 = 65_533;

    fn guarded(folder: &Path, mode: u32) -> (Result<Option<String>, Error>, u32) {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
        let said = guard(folder, folder.metadata().unwrap().uid());
        (said, fs::metadata(folder).unwrap().mode() & 0o7777)
    }

    #[test]
    fn an_own_state_folder_is_closed_to_others() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        assert!(matches!(guarded(folder, 0o777), (Ok(None), 0o700)));
        fs::write(folder.join("catalog.sqlite-wal"), "").unwrap();
        fs::create_dir(folder.join("index")).unwrap();
        assert!(matches!(guarded(folder, 0o755), (Ok(None), 0o700)));
        assert!(matches!(guarded(folder, 0o500), (Ok(None), 0o500)));
        // It may be a person's home.
        fs::write(folder.join("notes.txt"), "").unwrap();
        let (said, mode) = guarded(folder, 0o755);
        assert!(said.unwrap().unwrap().contains("chmod 700 /") && mode == 0o755);
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        assert!(guard(&file, 0).unwrap_err().message.ends_with("file is not a folder"));
        assert!(guard(&folder.join("missing"), 0).unwrap().is_none());
    }

    #[test]
    fn a_state_folder_of_another_user_is_refused_or_warned_about() {
        let scratch = tempfile::tempdir().unwrap();
        // Only root can give a folder away, and what is root's is read.
        let is_root = std::os::unix::fs::chown(scratch.path(), Some(OTHERS + 1), None).is_ok();
        assert_eq!(is_root, rustix::process::geteuid().is_root());
        let refused = guard(scratch.path(), OTHERS).unwrap_err();
        assert!(refused.message.contains("belongs to another user"), "{}", refused.message);
        let warned = guard(scratch.path(), 0).unwrap().unwrap();
        assert!(warned.contains("belongs to another user"), "{warned}");
        assert!(guard(Path::new("/usr"), OTHERS).unwrap().is_none());
        assert!(guard(Path::new("/tmp"), OTHERS).unwrap().unwrap().contains("can write to"));
    }
}
