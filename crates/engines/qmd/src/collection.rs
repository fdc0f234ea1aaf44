//! A folder of Markdown documents, one per session, that rewrites only what has changed.
//!
//! A document's head says what it was made from; if it still matches, the document is left alone. Documents
//! are written to a temporary file and renamed, and a lock keeps out other writers.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::{ProjectSlug, Session, SessionId};

use crate::document::{DocumentHead, FILE_TYPE};
use crate::folder::{ASIDE, Folder};

/// Maximum number of bytes read of a document's head.
const HEAD: u64 = 16 << 10;
/// Maximum length of a folder name in bytes.
const NAME: usize = 150;
const LOCK: &str = ".backstory.lock";
/// Folder for sessions without a project.
const NO_PROJECT: &str = "no-project";

/// A collection locked for writing by this process.
#[derive(Debug)]
pub struct Collection {
    folder: PathBuf,
    root: Folder,
    _lock: File,
}

/// Where a session's document goes and the head it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentTarget {
    /// Path of the document.
    pub path: PathBuf,
    head: String,
}

/// The state of a document on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentState {
    /// The document is up to date.
    Unchanged,
    /// The document is missing or made from an earlier state of the session.
    Stale,
    /// Another program's file has the document's name.
    NotOurs,
}

impl Collection {
    /// Opens a collection, creating the folder if needed; `None` while another process writes to it.
    pub fn open(folder: &Path) -> io::Result<Option<Self>> {
        system::create_private_folder(folder)?;
        let root = Folder::open(folder)?;
        let lock = root.lock_file(LOCK)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let collection = Self { folder: folder.to_owned(), root, _lock: lock };
        collection.tidy();
        Ok(Some(collection))
    }

    /// The document of a session; `source` identifies the state of its transcript.
    pub fn target(&self, session: &Session, source: &str) -> DocumentTarget {
        let folder = session.file.as_deref().and_then(Path::parent).and_then(Path::file_name);
        let path = self.folder.join(folder_name(folder)).join(document_name(&session.id));
        DocumentTarget { path, head: DocumentHead::head(session, Some(source)) }
    }

    /// Writes a document atomically; `body` writes what follows the head.
    pub fn write<E: From<io::Error>>(
        &self,
        target: &DocumentTarget,
        body: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let (folder, name) = target.place();
        self.root.inside(folder)?.write(name, |file| {
            let mut out = io::BufWriter::new(file);
            out.write_all(target.head.as_bytes())?;
            body(&mut out)?;
            Ok(out.flush()?)
        })
    }

    /// Removes our documents of sessions for which `is_kept` is false, and those superseded by a document in
    /// another folder; returns how many. Only files and folders with names that Backstory gives are touched;
    /// `folders` are those of the documents to keep.
    pub fn remove(
        &self,
        folders: &HashSet<PathBuf>,
        is_kept: impl Fn(&SessionId, &Path) -> bool,
    ) -> io::Result<u64> {
        let mut removed = 0;
        for (folder, name) in self.documents() {
            let path = folder.path().join(&name);
            // A document that cannot be read may not be ours.
            let Some(head) = beginning(&folder, &name).ok().and_then(|text| DocumentHead::parse(&text))
            else {
                continue;
            };
            let Some(session) = head.session.as_ref().filter(|_| head.is_ours) else { continue };
            let is_ours = name == document_name(session)
                && (folders.contains(folder.path()) || self.is_folder_of(&head, folder.path()));
            if is_ours && !is_kept(session, &path) {
                folder.remove(&name)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Whether a folder has the name used for documents of that directory.
    fn is_folder_of(&self, head: &DocumentHead, folder: &Path) -> bool {
        let slug = head.working_directory.as_ref().map(|cwd| ProjectSlug::from_path(&cwd.to_string_lossy()));
        folder == self.folder.join(folder_name(slug.as_ref().map(|slug| OsStr::new(slug.as_str()))))
    }

    /// All Markdown files in our folders, with their folders.
    fn documents(&self) -> Vec<(Rc<Folder>, PathBuf)> {
        let is_document = |name: &PathBuf| name.extension() == Some(OsStr::new(FILE_TYPE));
        self.files().into_iter().filter(|(_, name)| is_document(name)).collect()
    }

    /// All files in our folders, ignoring links and folders of other users.
    fn files(&self) -> Vec<(Rc<Folder>, PathBuf)> {
        let folders = self.root.names().into_iter().filter_map(|name| self.root.existing(&name).ok());
        let inside = |folder: Folder| {
            let folder = Rc::new(folder);
            folder.names().into_iter().map(move |name| (Rc::clone(&folder), name))
        };
        folders.flat_map(inside).collect()
    }

    /// Removes temporary files left by a killed writer.
    fn tidy(&self) {
        let is_left = |name: &Path| name.to_string_lossy().starts_with(ASIDE);
        for (folder, name) in self.files().into_iter().filter(|(_, name)| is_left(name)) {
            // Where it cannot be removed it only uses disk space.
            let _ = folder.remove(&name);
        }
    }

    /// Compares a document on disk with what it should be.
    pub fn state(&self, target: &DocumentTarget) -> io::Result<DocumentState> {
        let (folder, name) = target.place();
        let found = self.root.existing(folder).and_then(|folder| beginning(&folder, name));
        let found = match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DocumentState::Stale),
            other => other?,
        };
        if found.starts_with(&target.head) {
            return Ok(DocumentState::Unchanged);
        }
        // Another exporter's document of the same session gives way, a person's notes do not.
        let wanted = DocumentHead::parse(&target.head).and_then(|head| head.session);
        let theirs = DocumentHead::parse(&found).and_then(|head| head.session);
        Ok(if found.is_empty() || theirs == wanted { DocumentState::Stale } else { DocumentState::NotOurs })
    }
}

impl DocumentTarget {
    /// Name of the document's folder and of the document.
    fn place(&self) -> (&Path, &Path) {
        let folder = self.path.parent().and_then(Path::file_name).unwrap_or(OsStr::new(NO_PROJECT));
        (Path::new(folder), Path::new(self.path.file_name().unwrap_or_default()))
    }
}

/// The beginning of a regular file as text.
fn beginning(folder: &Folder, name: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    folder.read(name)?.take(HEAD).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// File name of a session's document.
fn document_name(session: &SessionId) -> PathBuf {
    PathBuf::from(format!("{session}.{FILE_TYPE}"))
}

/// Folder name for a project's documents: Claude's name without the leading dash, which a shell would take
/// for a flag, and without characters special in paths.
fn folder_name(name: Option<&OsStr>) -> String {
    let name = name.map(|name| name.to_string_lossy()).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(NAME).collect();
    let plain = plain.trim_start_matches(['-', '.']);
    if plain.is_empty() { NO_PROJECT.to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    fn scratch() -> (tempfile::TempDir, Collection) {
        let scratch = tempfile::tempdir().unwrap();
        let collection = Collection::open(&scratch.path().join("md")).unwrap().unwrap();
        (scratch, collection)
    }

    fn listed(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn target(collection: &Collection, id: &str, source: &str) -> DocumentTarget {
        let path = collection.folder.join("shop").join(format!("{id}.md"));
        DocumentTarget {
            path,
            head: format!("---\nSession ID: {id}\nSource: {source}\nExported By: backstory 1\n---\n"),
        }
    }

    fn write(collection: &Collection, target: &DocumentTarget, text: &str) {
        collection.write::<io::Error>(target, |out| out.write_all(text.as_bytes())).unwrap();
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
        let first = target(&collection, "s1", "1");
        assert_eq!(collection.state(&first).unwrap(), DocumentState::Stale);
        write(&collection, &first, "body\n");
        assert_eq!(collection.state(&first).unwrap(), DocumentState::Unchanged);
        let found = fs::metadata(&first.path).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&collection.folder).unwrap().permissions().mode() & 0o777, 0o700);
        let second = target(&collection, "s1", "2");
        assert_eq!(collection.state(&second).unwrap(), DocumentState::Stale);
        let broken = collection.write::<io::Error>(&second, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("gone"))
        });
        assert_eq!(broken.unwrap_err().to_string(), "gone");
        assert_eq!(fs::metadata(&first.path).unwrap().ino(), found.ino(), "the old one is still there");
        assert_eq!(listed(&collection.folder.join("shop")).len(), 1, "nothing is left beside it");
        write(&collection, &second, "body\n");
        assert_eq!(
            (collection.state(&first).unwrap(), collection.state(&second).unwrap()),
            (DocumentState::Stale, DocumentState::Unchanged)
        );
    }

    #[test]
    fn what_others_wrote_stays_unless_it_is_of_the_same_session() {
        let (_scratch, collection) = scratch();
        let ours = target(&collection, "s1", "1");
        fs::create_dir_all(ours.path.parent().unwrap()).unwrap();
        let check = |text: &[u8], expected: DocumentState| {
            fs::write(&ours.path, text).unwrap();
            assert_eq!(collection.state(&ours).unwrap(), expected);
        };
        check(b"# My own notes\n", DocumentState::NotOurs);
        check(b"\xff\xfe\0", DocumentState::NotOurs);
        check(b"- **Session ID:** s1\n", DocumentState::Stale);
        check(b"", DocumentState::Stale);
        fs::remove_file(&ours.path).unwrap();
        fs::create_dir(&ours.path).unwrap();
        assert!(collection.state(&ours).is_err());
    }

    #[test]
    fn what_is_forgotten_goes_and_nothing_else_does() {
        let (_scratch, collection) = scratch();
        for id in ["s1", "s2"] {
            write(&collection, &target(&collection, id, "1"), "");
        }
        let at = |name: &str| collection.folder.join(name);
        let ours = io::read_to_string(File::open(at("shop/s2.md")).unwrap()).unwrap();
        fs::create_dir(at("notes")).unwrap();
        let theirs = [
            ("shop/notes.md", "# Mine\n"),
            ("shop/s3.md", "Session ID: s3\n"),
            ("shop/s2-annotated.md", &format!("{ours}MY NOTES\n")),
            ("notes/mine.md", &ours),
            ("notes/s2.md", &ours),
        ];
        for (name, text) in theirs {
            fs::write(at(name), text).unwrap();
        }
        let folders = HashSet::from([at("shop")]);
        assert_eq!(collection.remove(&folders, |id, _| id.as_str() == "s1").unwrap(), 1);
        let mut left: Vec<_> =
            collection.documents().iter().map(|(folder, name)| folder.path().join(name)).collect();
        left.sort();
        let mut expected: Vec<_> = theirs.iter().map(|(name, _)| at(name)).collect();
        expected.push(at("shop/s1.md"));
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_folder_is_known_by_the_directory_of_its_documents() {
        let (_scratch, collection) = scratch();
        let head =
            |cwd: &str| DocumentHead { working_directory: Some(cwd.into()), ..DocumentHead::default() };
        let is = |cwd: &str, name: &str| collection.is_folder_of(&head(cwd), &collection.folder.join(name));
        assert!(is("/home/ana/shop", "home-ana-shop"));
        assert!(!is("/home/ana/shop", "notes"));
    }

    #[test]
    fn two_writers_do_not_meet_and_a_killed_one_leaves_nothing() {
        let (scratch, collection) = scratch();
        let folder = scratch.path().join("md");
        assert!(Collection::open(&folder).unwrap().is_none());
        fs::create_dir_all(folder.join("shop")).unwrap();
        fs::write(folder.join("shop/.backstory-1"), "half").unwrap();
        drop(collection);
        let next = Collection::open(&folder).unwrap().unwrap();
        assert!(listed(&next.folder.join("shop")).is_empty());
    }
}
