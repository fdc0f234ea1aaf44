//! What the agents of workers announced to the users of their chats.

use database::rusqlite::{self, Row, params};
use jiff::Timestamp;
use model::SessionId;

use super::{WorkerStore, WorkerStoreError};
use crate::{Announcement, WorkerId};

/// Number of announcements kept for each worker.
const KEPT: u32 = 200;

pub(super) const STEP: &str = "
    CREATE TABLE announcement (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        worker INTEGER NOT NULL REFERENCES worker(id),
        at TEXT NOT NULL,
        message TEXT NOT NULL
    ) STRICT;
    CREATE INDEX announcement_worker ON announcement(worker);
";

/// An announcement with its place among those of all workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnnouncement {
    /// Numbers count up over all workers.
    pub number: i64,
    /// The worker's session.
    pub session: SessionId,
    /// The announcement.
    pub announcement: Announcement,
}

impl WorkerStore {
    /// Stores an announcement; the oldest of a worker that has very many are dropped.
    pub fn announce(&mut self, id: WorkerId, announcement: &Announcement) -> Result<(), WorkerStoreError> {
        let Announcement { message, timestamp } = announcement;
        self.change(|table| {
            let sql = "INSERT INTO announcement (worker, at, message) VALUES (?1, ?2, ?3)";
            table.execute(sql, params![id, timestamp.to_string(), message])?;
            let sql = "DELETE FROM announcement WHERE worker = ?1 AND id NOT IN \
                (SELECT id FROM announcement WHERE worker = ?1 ORDER BY id DESC LIMIT ?2)";
            table.execute(sql, params![id, KEPT]).map(drop)
        })
    }

    /// The announcements of a worker, oldest first.
    pub fn announcements(&self, id: WorkerId) -> Result<Vec<Announcement>, WorkerStoreError> {
        let stored = self.stored_announcements("announcement.worker = ?1", params![id])?;
        Ok(stored.into_iter().map(|stored| stored.announcement).collect())
    }

    /// The announcements of all workers after this one, oldest first.
    pub fn announcements_after(&self, number: i64) -> Result<Vec<StoredAnnouncement>, WorkerStoreError> {
        self.stored_announcements("announcement.id > ?1", params![number])
    }

    /// The number of the newest announcement; 0 if there is none.
    pub fn last_announcement(&self) -> Result<i64, WorkerStoreError> {
        let sql = "SELECT coalesce(max(id), 0) FROM announcement";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))
    }

    fn stored_announcements(
        &self,
        which: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<StoredAnnouncement>, WorkerStoreError> {
        let select = || {
            let mut statement = self.connection.prepare(&format!(
                "SELECT announcement.id, session_id, at, announcement.message FROM announcement \
                 JOIN worker ON worker.id = announcement.worker WHERE {which} ORDER BY announcement.id"
            ))?;
            let rows = statement.query_map(values, |row| Ok(stored(row)))?;
            // A row in the format of a newer Backstory is skipped.
            Ok(rows.filter_map(|row| row.ok()?.ok()).collect())
        };
        select().map_err(|error: rusqlite::Error| self.failed(error))
    }
}

fn stored(row: &Row<'_>) -> Result<StoredAnnouncement, Box<dyn std::error::Error + Send + Sync>> {
    let timestamp: Timestamp = row.get::<_, String>(2)?.parse()?;
    let announcement = Announcement { message: row.get(3)?, timestamp };
    Ok(StoredAnnouncement { number: row.get(0)?, session: row.get::<_, String>(1)?.parse()?, announcement })
}
