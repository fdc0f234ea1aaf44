//! A folder of Markdown documents, one for each session, kept up by writing only what has changed.
//!
//! A document's head says what it was made of: where it still says so, the document stays as it is. Each is
//! written aside and renamed, so that whoever reads sees a whole one; two writers do not meet.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use model::{Session, SessionId};

use crate::document::{Document, FILE_TYPE};

/// The largest head that is read, in bytes.
const HEAD: u64 = 16 << 10;
/// The longest name of a folder, in bytes.
const NAME: usize = 150;
/// What documents that are being written are called at first.
const ASIDE: &str = ".backstory-";
const LOCK: &str = ".backstory.lock";

/// A collection that this process alone writes.
#[derive(Debug)]
pub struct Collection {
    folder: PathBuf,
    _lock: File,
}

/// Where a session's document is, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The document.
    pub path: PathBuf,
    head: String,
}

/// What became of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is what it has to be.
    Unchanged,
    /// It is missing, or of another state of the session.
    Stale,
    /// A file of somebody else's has its name.
    NotOurs,
}

impl Collection {
    /// Opens a folder, made where it is missing; `None` while another process writes there.
    pub fn open(folder: &Path) -> io::Result<Option<Self>> {
        make(folder)?;
        let lock =
            File::options().write(true).create(true).truncate(false).mode(0o600).open(folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let collection = Self { folder: folder.to_owned(), _lock: lock };
        collection.tidy();
        Ok(Some(collection))
    }

    /// The document of a session; `source` says of which state of its transcript.
    pub fn page(&self, session: &Session, source: &str) -> Page {
        let folder = session.file.as_deref().and_then(Path::parent).and_then(Path::file_name);
        let name = format!("{}.{FILE_TYPE}", session.id);
        let path = self.folder.join(folder_name(folder)).join(name);
        Page { path, head: Document::head(session, Some(source)) }
    }

    /// Writes a document whole or not at all; `body` writes what follows the head.
    pub fn write<E: From<io::Error>>(
        &self,
        page: &Page,
        body: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let folder = page.path.parent().unwrap_or(&self.folder);
        make(folder)?;
        let aside = folder.join(format!("{ASIDE}{}", std::process::id()));
        let written = write_aside(&aside, &page.head, body);
        let done = written.and_then(|()| Ok(fs::rename(&aside, &page.path)?));
        if done.is_err() {
            // What could not be finished is of no use to anybody.
            let _ = fs::remove_file(&aside);
        }
        done
    }

    /// Removes our documents of sessions that `is_kept` knows nothing of, or that lie where another folder's
    /// now do; how many.
    pub fn remove(&self, is_kept: impl Fn(&SessionId, &Path) -> bool) -> io::Result<u64> {
        let mut removed = 0;
        for path in self.documents() {
            // What cannot be read cannot be told to be ours.
            let Some(head) = beginning(&path).ok().and_then(|text| Document::parse(&text)) else { continue };
            let Some(session) = head.session.filter(|_| head.is_ours) else { continue };
            if !is_kept(&session, &path) {
                fs::remove_file(&path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn documents(&self) -> impl Iterator<Item = PathBuf> {
        let is_document = |path: &PathBuf| {
            path.extension() == Some(OsStr::new(FILE_TYPE))
                && fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
        };
        entries(&self.folder).into_iter().flat_map(|folder| entries(&folder)).filter(is_document)
    }

    /// Takes away what a writer that was killed has left; nobody else writes now.
    fn tidy(&self) {
        let is_left =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(ASIDE));
        for path in entries(&self.folder).into_iter().flat_map(|folder| entries(&folder)).filter(is_left) {
            // Where it cannot be removed it only takes room.
            let _ = fs::remove_file(path);
        }
    }
}

impl Page {
    /// How the document stands on the disk.
    pub fn kept(&self) -> io::Result<Kept> {
        let found = match beginning(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::Stale),
            other => other?,
        };
        if found.starts_with(&self.head) {
            return Ok(Kept::Unchanged);
        }
        // Another exporter's document of the same session gives way, a person's notes do not.
        let wanted = Document::parse(&self.head).and_then(|head| head.session);
        let theirs = Document::parse(&found).and_then(|head| head.session);
        Ok(if found.is_empty() || theirs == wanted { Kept::Stale } else { Kept::NotOurs })
    }
}

fn write_aside<E: From<io::Error>>(
    path: &Path,
    head: &str,
    body: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let mut out = io::BufWriter::new(file);
    out.write_all(head.as_bytes())?;
    body(&mut out)?;
    Ok(out.flush()?)
}

/// The beginning of a regular file as text.
fn beginning(path: &Path) -> io::Result<String> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The folder of a project's documents: Claude's own name of it without the dash in front, which a shell would
/// take for a flag, and without anything that means something in a path.
fn folder_name(name: Option<&OsStr>) -> String {
    let name = name.map(|name| name.to_string_lossy()).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(NAME).collect();
    let plain = plain.trim_start_matches(['-', '.']);
    if plain.is_empty() { "no-project".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    fn scratch() -> (tempfile::TempDir, Collection) {
        let scratch = tempfile::tempdir().unwrap();
        let collection = Collection::open(&scratch.path().join("md")).unwrap().unwrap();
        (scratch, collection)
    }

    fn page(collection: &Collection, id: &str, source: &str) -> Page {
        let path = collection.folder.join("shop").join(format!("{id}.md"));
        Page {
            path,
            head: format!("---\nSession ID: {id}\nSource: {source}\nExported By: backstory 1\n---\n"),
        }
    }

    fn write(collection: &Collection, page: &Page, text: &str) {
        collection.write::<io::Error>(page, |out| out.write_all(text.as_bytes())).unwrap();
    }

    #[test]
    fn names_are_safe() {
        let check = |name: &str, expected: &str| assert_eq!(folder_name(Some(OsStr::new(name))), expected);
        check("-private-tmp", "private-tmp");
        check("-home-ana--openclaw", "home-ana--openclaw");
        check("..", "no-project");
        check("a b\n$(x)\u{1b}é", "a-b--(x)--".replace(['(', ')'], "-").as_str());
        check("-", "no-project");
        check(&"x".repeat(400), &"x".repeat(NAME));
        assert_eq!(folder_name(None), "no-project");
    }

    #[test]
    fn a_document_is_private_whole_and_written_only_when_it_changed() {
        let (_scratch, collection) = scratch();
        let first = page(&collection, "s1", "1");
        assert_eq!(first.kept().unwrap(), Kept::Stale);
        write(&collection, &first, "body\n");
        assert_eq!(first.kept().unwrap(), Kept::Unchanged);
        let found = fs::metadata(&first.path).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&collection.folder).unwrap().permissions().mode() & 0o777, 0o700);
        let second = page(&collection, "s1", "2");
        assert_eq!(second.kept().unwrap(), Kept::Stale);
        let broken = collection.write::<io::Error>(&second, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("gone"))
        });
        assert_eq!(broken.unwrap_err().to_string(), "gone");
        assert_eq!(fs::metadata(&first.path).unwrap().ino(), found.ino(), "the old one still stands");
        assert_eq!(entries(&collection.folder.join("shop")).len(), 1, "nothing is left beside it");
        write(&collection, &second, "body\n");
        assert_eq!((first.kept().unwrap(), second.kept().unwrap()), (Kept::Stale, Kept::Unchanged));
    }

    #[test]
    fn what_others_wrote_stays_unless_it_is_of_the_same_session() {
        let (_scratch, collection) = scratch();
        let ours = page(&collection, "s1", "1");
        make(ours.path.parent().unwrap()).unwrap();
        let check = |text: &[u8], expected: Kept| {
            fs::write(&ours.path, text).unwrap();
            assert_eq!(ours.kept().unwrap(), expected);
        };
        check(b"# My own notes\n", Kept::NotOurs);
        check(b"\xff\xfe\0", Kept::NotOurs);
        check(b"- **Session ID:** s1\n", Kept::Stale);
        check(b"", Kept::Stale);
        fs::remove_file(&ours.path).unwrap();
        fs::create_dir(&ours.path).unwrap();
        assert!(ours.kept().is_err());
    }

    #[test]
    fn what_is_forgotten_goes_and_nothing_else_does() {
        let (_scratch, collection) = scratch();
        for id in ["s1", "s2"] {
            write(&collection, &page(&collection, id, "1"), "");
        }
        let notes = collection.folder.join("shop/notes.md");
        fs::write(&notes, "# Mine\n").unwrap();
        let theirs = collection.folder.join("shop/s3.md");
        fs::write(&theirs, "Session ID: s3\n").unwrap();
        assert_eq!(collection.remove(|id, _| id.as_str() == "s1").unwrap(), 1);
        let mut left: Vec<_> = collection.documents().collect();
        left.sort();
        assert_eq!(left, [notes, collection.folder.join("shop/s1.md"), theirs]);
    }

    #[test]
    fn two_writers_do_not_meet_and_a_killed_one_leaves_nothing() {
        let (scratch, collection) = scratch();
        let folder = scratch.path().join("md");
        assert!(Collection::open(&folder).unwrap().is_none());
        make(&folder.join("shop")).unwrap();
        fs::write(folder.join("shop/.backstory-1"), "half").unwrap();
        drop(collection);
        let next = Collection::open(&folder).unwrap().unwrap();
        assert!(entries(&next.folder.join("shop")).is_empty());
    }
}
