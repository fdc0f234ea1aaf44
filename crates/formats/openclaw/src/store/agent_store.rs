//! The session store of one agent: where its files are, reading, and updates under OpenClaw's lock.
//!
//! A store can name files of its own folder only. An update is prepared before the lock is taken where the file is
//! large, and used if nobody has changed the file meanwhile; so the lock is held briefly.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{AgentId, SessionId};
use system::PreparedFile;

use super::entry::Entry;
use super::generation::Generation;
use super::session_config::SessionConfig;
use super::session_key::SessionKey;
use super::session_store::SessionStore;
use super::store_error::StoreError;
use super::store_text::{self, Content, FileSnapshot};
use super::stored_object::StoredObject;
use crate::config::OpenClawConfig;
use crate::lock::{Lock, LockError, LockState, LockTimes};
use crate::sqlite::AgentDatabase;
use crate::{Agents, Problem, left_over};

/// A file from this size on is read and written before the lock is taken, in bytes.
const LARGE: u64 = 1 << 20;

/// Where one agent keeps its sessions, and by which rules.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentStore {
    agent: AgentId,
    state: PathBuf,
    /// Whether sessions without an agent in their key are its own.
    is_default: bool,
    file: PathBuf,
    database: Option<AgentDatabase>,
    /// What the configuration says of sessions.
    pub config: SessionConfig,
    /// The times of the store's lock.
    pub times: LockTimes,
}

/// What an update returned, and what else happened to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Updated<T> {
    /// What the change returned.
    pub value: T,
    /// What the person should know, in sentences.
    pub notes: Vec<String>,
}

/// A store that was read.
#[derive(Debug)]
pub struct LoadedStore {
    /// The entries; none where the file could not be read.
    pub store: SessionStore,
    /// What is wrong with the file.
    pub problem: Option<Problem>,
}

impl AgentStore {
    /// The store of an agent: in the first of the state folders that has the agent, else in the first of them. A file
    /// `configuration` replaces the configuration of the first (`OPENCLAW_CONFIG_PATH`).
    pub fn find(
        states: &[PathBuf],
        configuration: Option<&Path>,
        home: &Path,
        agent: &AgentId,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let usual = [home.join(".clawcode")];
        let states = if states.is_empty() { &usual[..] } else { states };
        let has_it = |state: &&PathBuf| Agents::find(state).agents.iter().any(|known| known.id == *agent);
        let state = states.iter().find(has_it).unwrap_or(&states[0]);
        let config = match configuration {
            Some(file) if *state == states[0] => OpenClawConfig::read(file),
            _ => OpenClawConfig::find(state),
        };
        Self::of_agent(state, &config, home, agent, variable)
    }

    /// The store of an agent in this state folder.
    pub fn of_agent(
        state: &Path,
        config: &OpenClawConfig,
        home: &Path,
        agent: &AgentId,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let known = Agents::find(state).agents.into_iter().find(|known| known.id == *agent);
        let folder = known.map_or_else(|| state.join("agents").join(agent.as_str()), |known| known.folder);
        let file = config.store(agent, home).unwrap_or_else(|| folder.join("sessions/sessions.json"));
        Self {
            is_default: config.default_agent() == *agent,
            agent: agent.clone(),
            state: state.to_owned(),
            database: AgentDatabase::of_agent(&folder),
            file,
            config: SessionConfig::new(config, variable),
            times: LockTimes::default(),
        }
    }

    /// The agent.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The state folder of the installation.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The file of the store.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The folder of its transcripts.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// The database that holds the agent's sessions in place of the file, since 2026.8.
    pub fn database(&self) -> Option<&AgentDatabase> {
        self.database.as_ref()
    }

    /// The transcript of a conversation, or of a topic within it.
    pub fn transcript(&self, session: &SessionId, topic: Option<&str>) -> PathBuf {
        let name = match topic {
            Some(topic) => format!("{session}-topic-{}.jsonl", encoded(topic)),
            None => format!("{session}.jsonl"),
        };
        self.folder().join(name)
    }

    /// The transcript of an entry. A path that leads out of the agent's folder, such as one from before the folder was
    /// moved, is replaced by the file of that name within it.
    pub fn transcript_of(&self, entry: &Entry) -> Result<PathBuf, StoreError> {
        let session = entry.session().ok_or_else(|| {
            StoreError::Outside("the session has no valid id, so it has no transcript".to_owned())
        })?;
        let named = entry.session_file.as_deref().map(str::trim).filter(|path| !path.is_empty());
        let name = named.and_then(|path| path.rsplit(['/', '\\']).next());
        let is_transcript =
            |name: &&str| crate::conversation_file::conversation(name).as_ref() == Some(&session);
        Ok(name
            .filter(is_transcript)
            .map_or_else(|| self.transcript(&session, None), |name| self.folder().join(name)))
    }

    /// Reads the store. A file that cannot be read is reported, and its entries are missing.
    pub fn load(&self) -> LoadedStore {
        let empty = || self.with(StoredObject::empty());
        match store_text::read(&self.file) {
            Ok((Content::Absent, _)) => LoadedStore { store: empty(), problem: None },
            Ok((Content::Json(object) | Content::Json5(object), _)) => {
                LoadedStore { store: self.with(object), problem: None }
            }
            Ok((Content::Broken(why), _)) => {
                let next = "Repair it; the next change sets it aside.";
                LoadedStore { store: empty(), problem: Some(Problem::new(&self.file, why, next)) }
            }
            Err(problem) => LoadedStore { store: empty(), problem: Some(problem) },
        }
    }

    /// Changes the store under its lock; what others wrote before is seen, and what is not changed keeps every byte.
    /// The change may be made twice, of which the last time counts.
    ///
    /// Refused where a database holds the sessions. A file that is no store is set aside first.
    pub fn update<T>(
        &self,
        clock: &dyn Fn() -> Timestamp,
        mut change: impl FnMut(&mut SessionStore, Timestamp) -> Result<T, StoreError>,
    ) -> Result<Updated<T>, StoreError> {
        self.ensure_writable()?;
        let file = self.real_file()?;
        let is_large = std::fs::metadata(&file).is_ok_and(|found| found.len() >= LARGE);
        let ahead = if is_large { self.prepare_ahead(&file, clock(), &mut change)? } else { None };
        let lock = self.lock(&file, clock)?;
        let prepared = match ahead {
            Some(prepared) if prepared.seen.is_current(&file) => prepared,
            _ => self.prepare(&file, clock(), &mut change)?,
        };
        lock.touch(clock());
        if let Some(new) = prepared.new {
            if let Some(objection) = lock.write_error(clock()) {
                return Err(Problem::new(&file, objection, "Try again.").into());
            }
            if let Some(aside) = &prepared.aside {
                // A copy, so that no reader ever finds no file.
                std::fs::hard_link(&file, aside).map_err(|error| unwritable(&file, error))?;
            }
            new.replace().map_err(|error| unwritable(&file, error))?;
            left_over::remove(&file, clock());
        }
        Ok(Updated { value: prepared.value, notes: prepared.notes })
    }

    /// Whether the store's lock is held, and by whom.
    pub fn lock_state(&self, now: Timestamp) -> Option<LockState> {
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        LockState::read(&file, self.times, now)
    }

    /// The generation of OpenClaw that keeps the sessions.
    pub fn generation(&self) -> Generation {
        let holds = |database: &AgentDatabase| database.may_hold_sessions();
        if self.database.as_ref().is_some_and(holds) { Generation::Database } else { Generation::File }
    }

    /// Refuses to write where a database holds the sessions.
    pub fn ensure_writable(&self) -> Result<(), StoreError> {
        match (&self.database, self.generation()) {
            (Some(database), Generation::Database) => {
                Err(StoreError::InDatabase { path: database.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The file, links resolved, so that a link is kept when the file is replaced. Its folder is made.
    fn real_file(&self) -> Result<PathBuf, StoreError> {
        system::create_private_folder(self.folder()).map_err(|error| {
            let next = "Make it, or its parent writable.";
            Problem::new(self.folder(), format!("cannot be made: {error}"), next)
        })?;
        Ok(self.file.canonicalize().unwrap_or_else(|_| self.file.clone()))
    }

    fn lock(&self, file: &Path, clock: &dyn Fn() -> Timestamp) -> Result<Lock, StoreError> {
        Lock::acquire_within(file, self.times, clock).map_err(|refused| match refused {
            LockError::Held(holder) => {
                let mut path = file.as_os_str().to_owned();
                path.push(".lock");
                StoreError::Locked { path: path.into(), holder }
            }
            LockError::Io(error) => {
                Problem::new(file, format!("cannot be locked: {error}"), "Make its folder writable.").into()
            }
        })
    }

    /// Prepares an update without the lock; `None` where the file cannot be read now, as while another one writes it.
    fn prepare_ahead<T>(
        &self,
        file: &Path,
        now: Timestamp,
        change: &mut impl FnMut(&mut SessionStore, Timestamp) -> Result<T, StoreError>,
    ) -> Result<Option<Prepared<T>>, StoreError> {
        match self.prepare(file, now, change) {
            Err(StoreError::File(_)) => Ok(None),
            prepared => prepared.map(Some),
        }
    }

    fn prepare<T>(
        &self,
        file: &Path,
        now: Timestamp,
        change: &mut impl FnMut(&mut SessionStore, Timestamp) -> Result<T, StoreError>,
    ) -> Result<Prepared<T>, StoreError> {
        let (content, seen) = store_text::read(file)?;
        let mut notes = Vec::new();
        let (object, aside) = match content {
            Content::Absent => (StoredObject::empty(), None),
            Content::Json(object) => (object, None),
            Content::Json5(object) => {
                let aside = set_aside(file, "json5", now);
                notes.push(format!(
                    "{} was JSON5, whose comments are lost when it is written; it was kept as {}",
                    file.display(),
                    aside.display()
                ));
                (object, Some(aside))
            }
            Content::Broken(why) => {
                let aside = set_aside(file, "broken", now);
                notes.push(format!("{} {why}; it was set aside as {}", file.display(), aside.display()));
                (StoredObject::empty(), Some(aside))
            }
        };
        let mut store = self.with(object);
        let value = change(&mut store, now)?;
        let new = if store.is_changed() {
            let write = |out: &mut dyn std::io::Write| store.write_to(out);
            Some(PreparedFile::write(file, write).map_err(|error| unwritable(file, error))?)
        } else {
            notes.clear();
            None
        };
        Ok(Prepared { seen, new, value, notes, aside })
    }

    fn with(&self, object: StoredObject) -> SessionStore {
        SessionStore::new(object, self.agent.clone(), self.is_default)
    }

    /// Changes one entry; `None` from `change` leaves it.
    pub fn update_entry(
        &self,
        key: &SessionKey,
        clock: &dyn Fn() -> Timestamp,
        mut change: impl FnMut(&Entry, Timestamp) -> Option<Entry>,
    ) -> Result<Updated<Entry>, StoreError> {
        self.update(clock, |store, now| {
            let no_session = || StoreError::NoSession { key: key.to_string() };
            store.check(key)?;
            let known = store.get(key)?.ok_or_else(no_session)?;
            let Some(patch) = change(&known, now) else { return Ok(known) };
            let merged = Entry::merged(Some(&known), &patch, now, String::new);
            store.put(key, &merged)?;
            Ok(merged)
        })
    }
}

/// An update that is ready to be put into place.
struct Prepared<T> {
    seen: FileSnapshot,
    new: Option<PreparedFile>,
    value: T,
    notes: Vec<String>,
    aside: Option<PathBuf>,
}

/// Why a file was not written: another one that could not be read, or itself.
fn unwritable(file: &Path, error: std::io::Error) -> Problem {
    error.downcast().unwrap_or_else(|error| {
        Problem::new(file, format!("cannot be written: {error}"), "Make it and its folder writable.")
    })
}

fn set_aside(file: &Path, why: &str, now: Timestamp) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{why}.{}", now.as_millisecond()));
    name.into()
}

/// As `encodeURIComponent` of JavaScript writes a text.
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;

    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
