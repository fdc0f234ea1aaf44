//! Keeps a store small: old sessions are removed, the number of sessions is limited, and a large file is set aside.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::agent_store::{AgentStore, Updated};
use super::entry::Entry;
use super::lifecycle::OldTranscript;
use super::session_config::MaintenanceMode;
use super::session_key::SessionKey;
use super::session_store::SessionStore;
use super::store_error::StoreError;
use crate::Problem;

/// How many files that were set aside are kept.
const BACKUPS: usize = 3;

/// What maintenance did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct MaintenanceReport {
    /// Whether it was done.
    pub is_done: bool,
    /// The keys of sessions in which nothing happened for too long.
    pub pruned: Vec<String>,
    /// The keys of the oldest sessions beyond the limit.
    pub capped: Vec<String>,
    /// Whether the file is large enough to be set aside.
    pub is_large: bool,
    /// The copy of the file as it was.
    pub backup: Option<PathBuf>,
}

impl AgentStore {
    /// Removes what the configuration says is too old or too much, where its mode is `enforce` or `mode` says so;
    /// otherwise it only says what that would be. The transcripts are archived.
    pub fn maintain(
        &self,
        mode: Option<MaintenanceMode>,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<MaintenanceReport>, StoreError> {
        let mode = mode.unwrap_or(self.config.maintenance.mode);
        let size = std::fs::metadata(self.path()).map_or(0, |found| found.len());
        let is_large = size > self.config.maintenance.rotate_bytes;
        if mode == MaintenanceMode::Warn {
            let (pruned, capped) = self.too_much(&self.load().store, clock())?;
            let report = MaintenanceReport { pruned, capped, is_large, ..MaintenanceReport::default() };
            return Ok(Updated { value: report, notes: Vec::new() });
        }
        self.ensure_writable()?;
        let backup = if is_large { self.back_up(clock())? } else { None };
        let done = self.update(clock, |store, now| {
            let (pruned, capped) = self.too_much(store, now)?;
            let mut ended: Vec<Entry> = Vec::new();
            for key in pruned.iter().chain(&capped) {
                if let Ok(key) = key.parse::<SessionKey>() {
                    ended.extend(store.remove(&key)?);
                }
            }
            Ok((pruned, capped, ended))
        })?;
        let (pruned, capped, ended) = done.value;
        for entry in &ended {
            self.archive_transcript(entry, OldTranscript::Archive, "deleted", clock())?;
        }
        let report = MaintenanceReport { is_done: true, pruned, capped, is_large, backup };
        Ok(Updated { value: report, notes: done.notes })
    }

    /// The keys that are too old, and those of the oldest beyond the limit.
    fn too_much(
        &self,
        store: &SessionStore,
        now: Timestamp,
    ) -> Result<(Vec<String>, Vec<String>), StoreError> {
        let limits = &self.config.maintenance;
        let oldest = SignedDuration::try_from(limits.prune_after).unwrap_or(SignedDuration::MAX);
        let oldest = now.checked_sub(oldest).unwrap_or(Timestamp::MIN).as_millisecond();
        let (mut pruned, mut kept) = (Vec::new(), Vec::new());
        for key in store.keys() {
            // An entry that is not a session is kept.
            let Ok(parsed) = key.parse::<SessionKey>() else { continue };
            let Some(entry) = store.get(&parsed)? else { continue };
            match entry.updated_at {
                Some(at) if at < oldest => pruned.push(key.to_owned()),
                at => kept.push((at.unwrap_or(0), key.to_owned())),
            }
        }
        kept.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let beyond = kept.into_iter().skip(limits.max_entries);
        Ok((pruned, beyond.map(|(_, key)| key).collect()))
    }

    /// Keeps the file as it is beside itself, and the newest such copies only.
    fn back_up(&self, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
        let failed = |path: &Path, error: &std::io::Error| {
            Problem::new(path, format!("cannot be set aside: {error}"), "Make its folder writable.")
        };
        let mut name = self.path().as_os_str().to_owned();
        name.push(format!(".bak.{}", now.as_millisecond()));
        let backup = PathBuf::from(name);
        std::fs::hard_link(self.path(), &backup).map_err(|error| failed(self.path(), &error))?;
        let mut copies: Vec<(u64, PathBuf)> = self.backups();
        copies.sort();
        let too_many = copies.len().saturating_sub(BACKUPS);
        for (_, copy) in copies.into_iter().take(too_many) {
            std::fs::remove_file(&copy).map_err(|error| failed(&copy, &error))?;
        }
        Ok(Some(backup))
    }

    fn backups(&self) -> Vec<(u64, PathBuf)> {
        let Some(name) = self.path().file_name().map(|name| format!("{}.bak.", name.to_string_lossy()))
        else {
            return Vec::new();
        };
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let copy = |entry: std::fs::DirEntry| {
            let time = entry.file_name().to_str()?.strip_prefix(&name)?.parse().ok()?;
            Some((time, entry.path()))
        };
        entries.filter_map(copy).collect()
    }
}
