//! Which live process holds which session, kept up by looking at the registry's files.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::{Evidence, SessionId};
use transcript::{FileStamp, Live, Standing, live_records};

use crate::process::{Held, Process};

/// For so long a record that was taken away may come back for a moment.
const ECHO: SignedDuration = SignedDuration::from_secs(2);

/// The registry folders, as they were when they were last looked at.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    folders: Vec<PathBuf>,
    records: HashMap<PathBuf, Known>,
    /// Records that were taken away, and when.
    gone: HashMap<PathBuf, Timestamp>,
}

#[derive(Debug)]
struct Known {
    stamp: FileStamp,
    standing: Standing,
}

/// Something to be told of a session.
pub(crate) type Told = (SessionId, Process);

impl Registry {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// The folders that are to be watched.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether a live process holds the session.
    pub(crate) fn holds(&self, session: &SessionId) -> bool {
        self.alive().any(|live| live.session == *session)
    }

    /// Whether a record of the session stands there that says nothing of its process.
    pub(crate) fn is_foreign(&self, session: &SessionId) -> bool {
        self.records.values().any(|known| known.standing == Standing::Foreign(session.clone()))
    }

    /// Looks at every record whose stamp has changed, and at every process.
    pub(crate) fn look(&mut self, at: Timestamp) -> Vec<Told> {
        let mut told = Vec::new();
        let paths: Vec<PathBuf> = self.folders.iter().flat_map(|folder| live_records(folder)).collect();
        let gone: Vec<PathBuf> = self.records.keys().filter(|path| !paths.contains(path)).cloned().collect();
        for path in gone {
            self.forget(&path, at, &mut told);
        }
        for path in paths {
            let changed = |known: &Known| {
                fs::symlink_metadata(&path).is_ok_and(|now| FileStamp::of(&now) != known.stamp)
            };
            if self.records.get(&path).is_none_or(changed) {
                self.look_again(&path, at, &mut told);
            }
        }
        self.bury(at, &mut told);
        told
    }

    /// Looks at one record that the system says has changed.
    pub(crate) fn look_at(&mut self, path: &Path, at: Timestamp) -> Vec<Told> {
        let mut told = Vec::new();
        if path.extension().is_some_and(|extension| extension == "json") {
            self.look_again(path, at, &mut told);
        }
        told
    }

    fn alive(&self) -> impl Iterator<Item = &Live> {
        self.records.values().filter_map(|known| match &known.standing {
            Standing::Alive(live) => Some(live),
            Standing::Dead(_) | Standing::Foreign(_) | Standing::Unreadable => None,
        })
    }

    fn look_again(&mut self, path: &Path, at: Timestamp, told: &mut Vec<Told>) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return self.forget(path, at, told) };
        let standing = Live::standing(path);
        if standing == Standing::Unreadable && self.records.contains_key(path) {
            // Caught while it is rewritten: the end of that is told, or seen at the next look.
            return;
        }
        if self.is_echo(path, &standing, at) {
            // Looked at again at the next look.
            let standing = Standing::Unreadable;
            self.records.insert(path.to_owned(), Known { stamp: FileStamp::of(&metadata), standing });
            return;
        }
        let before = self.records.remove(path).map(|known| known.standing);
        match &standing {
            Standing::Alive(live) => {
                told.extend(left(before.as_ref(), live, at));
                told.push((live.session.clone(), Process::Alive(Held::of(live, at))));
            }
            Standing::Dead(session) if !self.holds(session) => {
                told.push((session.clone(), Process::Lost { at }));
            }
            Standing::Foreign(session) => told.push((session.clone(), Process::Unknown)),
            Standing::Dead(_) | Standing::Unreadable => {}
        }
        self.records.insert(path.to_owned(), Known { stamp: FileStamp::of(&metadata), standing });
    }

    fn forget(&mut self, path: &Path, at: Timestamp, told: &mut Vec<Told>) {
        let Some(Known { standing: Standing::Alive(live), .. }) = self.records.remove(path) else { return };
        self.gone.retain(|_, gone| at.duration_since(*gone) < ECHO);
        self.gone.insert(path.to_owned(), at);
        if !self.holds(&live.session) {
            told.push((live.session, Process::Ended { at, evidence: Evidence::Registry }));
        }
    }

    /// A process that ends may take its record away and then write once more what it was doing before.
    fn is_echo(&self, path: &Path, standing: &Standing, at: Timestamp) -> bool {
        let Standing::Alive(live) = standing else { return false };
        let gone = self.gone.get(path).filter(|gone| at.duration_since(**gone) < ECHO);
        gone.is_some_and(|gone| live.status_since.is_none_or(|since| since <= *gone))
    }

    /// Finds the processes that are gone and left their records.
    fn bury(&mut self, at: Timestamp, told: &mut Vec<Told>) {
        for known in self.records.values_mut() {
            if let Standing::Alive(live) = &known.standing
                && !live.is_alive()
            {
                told.push((live.session.clone(), Process::Lost { at }));
                known.standing = Standing::Dead(live.session.clone());
            }
        }
    }
}

/// A process that goes over to another session has left the one before.
fn left(before: Option<&Standing>, now: &Live, at: Timestamp) -> Option<Told> {
    match before {
        Some(Standing::Alive(before)) if before.session != now.session => {
            Some((before.session.clone(), Process::Ended { at, evidence: Evidence::Registry }))
        }
        _ => None,
    }
}
