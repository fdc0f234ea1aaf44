//! Writes files safely in a folder that others may write to: links are not followed, other users' files are
//! not opened, and every name is resolved relative to the opened folder.

use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, mkdirat, openat, renameat, unlinkat};
use rustix::process::geteuid;

/// Prefix of temporary files.
pub(crate) const ASIDE: &str = ".backstory-";

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder the user names, which may be a link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let fd = openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let folder = Self { fd, path: path.to_owned() };
        if folder.is_writable_by_others()? {
            return Err(denied("it belongs to somebody else, and others may write there"));
        }
        Ok(folder)
    }

    /// Opens a subfolder, creating it if needed; links and other users' folders are refused.
    pub(crate) fn inside(&self, name: &Path) -> io::Result<Self> {
        match mkdirat(&self.fd, name, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.existing(name)
    }

    /// Opens an existing subfolder; links and other users' folders are refused.
    pub(crate) fn existing(&self, name: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(&self.fd, name, flags, Mode::empty())?;
        let folder = Self { fd, path: self.path.join(name) };
        let owner = fstat(&folder.fd)?.st_uid;
        if owner != geteuid().as_raw() && owner != fstat(&self.fd)?.st_uid {
            return Err(denied("it belongs to somebody else"));
        }
        Ok(folder)
    }

    /// Opens the lock file that writers hold.
    pub(crate) fn lock_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// Writes a file atomically: under a random temporary name, then renamed.
    pub(crate) fn write<E: From<io::Error>>(
        &self,
        name: &Path,
        fill: impl FnOnce(&File) -> Result<(), E>,
    ) -> Result<(), E> {
        let aside = format!("{ASIDE}{:016x}", RandomState::new().build_hasher().finish());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(&self.fd, &aside, flags, Mode::RUSR | Mode::WUSR).map_err(io::Error::from)?;
        let named = || renameat(&self.fd, &aside, &self.fd, name).map_err(|error| E::from(error.into()));
        let done = fill(&File::from(made)).and_then(|()| named());
        if done.is_err() {
            // What could not be finished is of no use to anybody.
            let _ = self.remove(Path::new(&aside));
        }
        done
    }

    /// Opens a regular file for reading; links are refused.
    pub(crate) fn read(&self, name: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.fd, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        Ok(file)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &Path) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the entries.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten();
        entries.filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name()))).collect()
    }

    /// Whether the folder belongs to another user and others may write to it.
    fn is_writable_by_others(&self) -> io::Result<bool> {
        let found = fstat(&self.fd)?;
        let others = Mode::WGRP | Mode::WOTH;
        Ok(found.st_uid != geteuid().as_raw() && Mode::from_raw_mode(found.st_mode).intersects(others))
    }
}

fn denied(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    #[test]
    fn no_link_is_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (md, victim) = (scratch.path().join("md"), scratch.path().join("victim"));
        fs::create_dir_all(&md).unwrap();
        fs::create_dir_all(&victim).unwrap();
        let folder = Folder::open(&md).unwrap();
        symlink(&victim, md.join("shop")).unwrap();
        assert!(folder.inside(Path::new("shop")).is_err());
        symlink(victim.join("made"), md.join("lock")).unwrap();
        assert!(folder.lock_file("lock").is_err());
        let precious = victim.join("precious");
        fs::write(&precious, "mine").unwrap();
        symlink(&precious, md.join("a.md")).unwrap();
        assert!(folder.read(Path::new("a.md")).is_err());
        let written =
            folder.write::<io::Error>(Path::new("a.md"), |mut file| io::Write::write_all(&mut file, b"new"));
        written.unwrap();
        assert_eq!(io::read_to_string(File::open(&precious).unwrap()).unwrap(), "mine");
        assert_eq!(io::read_to_string(File::open(md.join("a.md")).unwrap()).unwrap(), "new");
        assert!(!md.join("a.md").is_symlink());
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
    }

    #[test]
    fn a_name_that_is_there_already_is_never_opened() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::open(scratch.path()).unwrap();
        let mut names = Vec::new();
        for _ in 0..2 {
            let _ = folder.write::<io::Error>(Path::new("a.md"), |_| {
                names.extend(folder.names());
                Err(io::Error::other("stopped"))
            });
        }
        assert_eq!(names.len(), 2);
        assert_ne!(names[0], names[1], "nobody can know the name before");
        assert!(folder.names().is_empty());
    }

    #[test]
    fn folders_of_others_where_anybody_may_write_are_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let md = scratch.path().join("md");
        fs::create_dir(&md).unwrap();
        // Only root can give a folder away; for others there is nothing to see here.
        if chown(&md, Some(12345), None).is_err() {
            return;
        }
        let check = |mode: u32, expected: bool| {
            fs::set_permissions(&md, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(Folder::open(&md).is_ok(), expected, "{mode:o}");
        };
        check(0o777, false);
        check(0o1777, false);
        check(0o775, false);
        check(0o755, true);
        chown(&md, Some(geteuid().as_raw()), None).unwrap();
        check(0o777, true);
        fs::create_dir(md.join("shop")).unwrap();
        let folder = Folder::open(&md).unwrap();
        assert!(folder.inside(Path::new("shop")).is_ok());
        chown(md.join("shop"), Some(12345), None).unwrap();
        assert!(folder.inside(Path::new("shop")).is_err());
    }
}
