//! A person's annotations of sessions: names, tags, notes, pins, and what they hid. They cannot be recreated, so the
//! file is precious.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use database::rusqlite::{self, Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use model::{Annotations, Session, SessionId};

use crate::filter::shown;

const STEPS: [&str; 1] = ["CREATE TABLE annotation (
    session TEXT PRIMARY KEY NOT NULL,
    name TEXT,
    -- The title that the person had given the session in Claude Code when they named it here.
    custom_title TEXT,
    tags TEXT NOT NULL,
    note TEXT,
    pinned INTEGER NOT NULL,
    hidden INTEGER NOT NULL
) STRICT, WITHOUT ROWID"];
const COLUMNS: &str = "session, name, custom_title, tags, note, pinned, hidden";

/// The annotations could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the names, tags and notes in {}", path.display())]
pub struct AnnotationError {
    path: PathBuf,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl AnnotationError {
    fn new(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { path: path.to_owned(), source: source.into() }
    }

    /// Whether the file is damaged.
    pub fn is_damage(&self) -> bool {
        let of_sqlite = || self.source.downcast_ref().is_some_and(database::is_corruption);
        self.source.downcast_ref().map_or_else(of_sqlite, database::Error::is_damage)
    }
}

/// The annotations of all sessions.
#[derive(Debug, Default)]
pub struct AnnotationIndex(HashMap<SessionId, AnnotatedRow>);

/// The annotations of a session, and its title of Claude Code when it was named.
#[derive(Debug, Clone, Default)]
struct AnnotatedRow {
    annotations: Annotations,
    custom_title: Option<String>,
}

impl AnnotationIndex {
    /// Reads the annotations; empty if there is no file, or one that is still being made.
    pub fn read(path: &Path) -> Result<Self, AnnotationError> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let failed = |error: rusqlite::Error| AnnotationError::new(path, error);
        let connection = match database::open_read_only(path, &STEPS) {
            Err(database::Error::Older { found: 0, .. }) => return Ok(Self::default()),
            opened => opened.map_err(|error| AnnotationError::new(path, error))?,
        };
        let mut rows = connection.prepare(&format!("SELECT {COLUMNS} FROM annotation")).map_err(failed)?;
        let rows = rows.query_map([], annotated).map_err(failed)?.collect::<rusqlite::Result<Vec<_>>>();
        // This program never writes an invalid id.
        let named = rows
            .map_err(failed)?
            .into_iter()
            .filter_map(|(id, annotated)| Some((id.parse().ok()?, annotated)));
        Ok(Self(named.collect()))
    }

    /// The sessions whose annotations differ from `before`, with their current annotations, which may be empty.
    pub fn changed_since(&self, before: &Self) -> Vec<(SessionId, Annotations)> {
        let of = |index: &Self, id: &SessionId| index.0.get(id).map(|row| row.annotations.clone());
        let ids: HashSet<&SessionId> = self.0.keys().chain(before.0.keys()).collect();
        let changed = ids.into_iter().filter(|id| of(self, id) != of(before, id));
        changed.map(|id| (id.clone(), of(self, id).unwrap_or_default())).collect()
    }

    /// The sessions whose name, tags and note together have all words of a text, secrets left out; none where it has no
    /// words.
    pub fn matching(&self, text: &str) -> HashSet<SessionId> {
        let words = words_of(text);
        let says = |annotated: &AnnotatedRow| {
            let Annotations { name, tags, note, .. } = &annotated.annotations;
            let said: Vec<String> =
                name.iter().chain(tags).chain(note).flat_map(|text| words_of(&shown(text))).collect();
            !words.is_empty() && words.iter().all(|word| said.contains(word))
        };
        self.0.iter().filter(|(_, annotated)| says(annotated)).map(|(id, _)| id.clone()).collect()
    }

    /// The hidden sessions.
    pub fn hidden(&self) -> HashSet<SessionId> {
        self.0
            .iter()
            .filter(|(_, annotated)| annotated.annotations.hidden)
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Adds the annotations to a session. Its name is its title, unless the person gave it another one in Claude Code
    /// since.
    pub(crate) fn apply(&self, session: &mut Session) {
        let Some(AnnotatedRow { annotations, custom_title }) = self.0.get(&session.id) else { return };
        let is_newer =
            session.custom_title.is_some() && session.custom_title.as_deref() != custom_title.as_deref();
        if let Some(name) = annotations.name.as_deref().filter(|_| !is_newer) {
            session.title = Some(name.into());
        }
        session.annotations = Some(Box::new(annotations.clone()));
    }
}

/// The words of a text in lower case, without punctuation.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The open file of annotations.
#[derive(Debug)]
pub struct AnnotationStore {
    connection: Connection,
    path: PathBuf,
}

impl AnnotationStore {
    /// Opens the file and creates it if it is missing.
    pub fn open(path: &Path) -> Result<Self, AnnotationError> {
        let opened =
            database::open_precious(path, &STEPS).map_err(|error| AnnotationError::new(path, error))?;
        Ok(Self { connection: opened.connection, path: path.to_owned() })
    }

    /// Changes the annotations of a session and returns them; without any left, nothing is kept of it.
    pub fn change(
        &mut self,
        session: &Session,
        change: impl FnOnce(&mut Annotations),
    ) -> Result<Annotations, AnnotationError> {
        let changed = change_row(&mut self.connection, session, change);
        changed.map_err(|error| AnnotationError::new(&self.path, error))
    }

    /// Removes the annotations of sessions, also from the pages of the file.
    pub fn forget(&mut self, ids: &HashSet<SessionId>) -> Result<u64, AnnotationError> {
        let forget = |connection: &mut Connection| {
            let turn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut removed = 0;
            for id in ids {
                removed += turn.execute("DELETE FROM annotation WHERE session = ?1", [id.as_str()])?;
            }
            turn.commit()?;
            if removed > 0 {
                connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
            }
            Ok(removed as u64)
        };
        forget(&mut self.connection).map_err(|error: rusqlite::Error| AnnotationError::new(&self.path, error))
    }
}

fn change_row(
    connection: &mut Connection,
    session: &Session,
    change: impl FnOnce(&mut Annotations),
) -> rusqlite::Result<Annotations> {
    let turn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id = session.id.as_str();
    let known = turn
        .query_row(&format!("SELECT {COLUMNS} FROM annotation WHERE session = ?1"), [id], annotated)
        .optional()?
        .map_or_else(AnnotatedRow::default, |(_, annotated)| annotated);
    let mut annotations = known.annotations.clone();
    change(&mut annotations);
    let custom_title = if annotations.name == known.annotations.name {
        known.custom_title
    } else {
        session.custom_title.as_deref().map(str::to_owned)
    };
    if annotations.is_empty() {
        turn.execute("DELETE FROM annotation WHERE session = ?1", [id])?;
    } else {
        let tags = serde_json::to_string(&annotations.tags).unwrap_or_default();
        turn.execute(
            &format!("INSERT OR REPLACE INTO annotation ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
            params![
                id,
                annotations.name,
                custom_title,
                tags,
                annotations.note,
                annotations.pinned,
                annotations.hidden
            ],
        )?;
    }
    turn.commit()?;
    Ok(annotations)
}

/// A row of the table.
fn annotated(row: &Row<'_>) -> rusqlite::Result<(String, AnnotatedRow)> {
    let tags: String = row.get(3)?;
    let annotations = Annotations {
        name: row.get(1)?,
        tags: serde_json::from_str(&tags).unwrap_or_default(),
        note: row.get(4)?,
        pinned: row.get(5)?,
        hidden: row.get(6)?,
    };
    Ok((row.get(0)?, AnnotatedRow { annotations, custom_title: row.get(2)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(custom_title: Option<&str>) -> Session {
        let title = Some(custom_title.unwrap_or("fix it").into());
        Session { title, custom_title: custom_title.map(Into::into), ..Session::new("s".parse().unwrap()) }
    }

    fn title(path: &Path, mut session: Session) -> String {
        AnnotationIndex::read(path).unwrap().apply(&mut session);
        session.title.unwrap().to_string()
    }

    #[test]
    fn the_newer_of_two_names_wins() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("annotations.sqlite");
        assert_eq!(title(&path, session(None)), "fix it");
        let mut store = AnnotationStore::open(&path).unwrap();
        store
            .change(&session(Some("Old")), |annotations| annotations.name = Some("Rotate tokens".into()))
            .unwrap();
        assert_eq!(title(&path, session(Some("Old"))), "Rotate tokens");
        assert_eq!(title(&path, session(Some("Named in Claude Code"))), "Named in Claude Code");
        // Another annotation does not make the name newer.
        store
            .change(&session(Some("Named in Claude Code")), |annotations| annotations.pinned = true)
            .unwrap();
        assert_eq!(title(&path, session(Some("Named in Claude Code"))), "Named in Claude Code");
    }

    #[test]
    fn a_file_that_is_still_being_made_holds_no_annotations() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("annotations.sqlite");
        std::fs::write(&path, "").unwrap();
        assert!(AnnotationIndex::read(&path).unwrap().0.is_empty());
        drop(database::open_precious(&path, &[]).unwrap());
        assert!(AnnotationIndex::read(&path).unwrap().0.is_empty());
        std::fs::write(&path, "this is not a database, but long enough to look at").unwrap();
        assert!(AnnotationIndex::read(&path).unwrap_err().is_damage());
    }

    #[test]
    fn a_session_without_annotations_has_no_row() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("annotations.sqlite");
        let mut store = AnnotationStore::open(&path).unwrap();
        let set = |annotations: &mut Annotations| annotations.tags = vec!["release".into()];
        assert_eq!(store.change(&session(None), set).unwrap().tags, ["release"]);
        assert!(store.change(&session(None), |annotations| annotations.tags.clear()).unwrap().is_empty());
        assert!(AnnotationIndex::read(&path).unwrap().0.is_empty());
    }

    #[test]
    fn changes_are_found_by_session() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("annotations.sqlite");
        let read = || AnnotationIndex::read(&path).unwrap();
        let before = read();
        assert_eq!(before.changed_since(&before), []);
        let mut store = AnnotationStore::open(&path).unwrap();
        let pinned = store.change(&session(None), |annotations| annotations.pinned = true).unwrap();
        let now = read();
        assert_eq!(now.changed_since(&before), [("s".parse().unwrap(), pinned)]);
        store.change(&session(None), |annotations| annotations.pinned = false).unwrap();
        assert_eq!(read().changed_since(&now), [("s".parse().unwrap(), Annotations::default())]);
    }

    #[test]
    fn forgotten_annotations_are_erased_from_the_file() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("annotations.sqlite");
        let mut store = AnnotationStore::open(&path).unwrap();
        store
            .change(&session(None), |annotations| annotations.note = Some("the xylophone plan".into()))
            .unwrap();
        assert_eq!(store.forget(&HashSet::from(["s".parse().unwrap()])).unwrap(), 1);
        drop(store);
        for file in std::fs::read_dir(scratch.path()).unwrap() {
            let bytes = testkit::files::bytes(&file.unwrap().path());
            assert!(!bytes.windows(9).any(|window| window == b"xylophone"));
        }
    }
}
