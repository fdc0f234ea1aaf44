//! Labels under which sessions of a work tree can be found again.
//!
//! People's labels are stored here. Those of OpenClaw's agents are stored in OpenClaw's registry; for them,
//! this table only prevents two simultaneous requests from starting two sessions with one label.

use std::path::Path;

use database::rusqlite::{self, Connection, OptionalExtension as _, params};
use model::{AgentId, SessionId};

use super::row::{bytes, holder};
use super::{WorkerStore, WorkerStoreError};
use crate::{WorkerId, WorkerSpec};

pub(super) const STEP: &str = "
    CREATE TABLE label (
        slot TEXT NOT NULL,
        agent TEXT NOT NULL,
        label TEXT NOT NULL,
        session_id TEXT NOT NULL,
        PRIMARY KEY (slot, agent, label)
    ) STRICT, WITHOUT ROWID;
";

impl WorkerStore {
    /// The session with a person's label in the work tree with this canonical root.
    pub fn session_by_label(&self, slot: &Path, label: &str) -> Result<Option<SessionId>, WorkerStoreError> {
        session(&self.connection, &bytes(slot), None, label).map_err(|error| self.failed(error))
    }
}

/// The active worker of the session that already has the label of a new session.
pub(super) fn beginner(
    table: &Connection,
    slot: &str,
    spec: &WorkerSpec,
) -> rusqlite::Result<Option<WorkerId>> {
    let Some(label) = &spec.label else { return Ok(None) };
    let found = session(table, slot, spec.agent.as_ref(), label)?;
    found.map_or(Ok(None), |session| holder(table, &session))
}

/// Assigns the worker's label to its session, taking it from any other session.
pub(super) fn give(
    table: &Connection,
    slot: &str,
    spec: &WorkerSpec,
    session: &SessionId,
) -> rusqlite::Result<()> {
    let Some(label) = &spec.label else { return Ok(()) };
    let sql = "INSERT OR REPLACE INTO label (slot, agent, label, session_id) VALUES (?1, ?2, ?3, ?4)";
    table.execute(sql, params![slot, agent_word(spec.agent.as_ref()), label, session.as_str()]).map(drop)
}

fn session(
    table: &Connection,
    slot: &str,
    agent: Option<&AgentId>,
    label: &str,
) -> rusqlite::Result<Option<SessionId>> {
    let sql = "SELECT session_id FROM label WHERE slot = ?1 AND agent = ?2 AND label = ?3";
    let found: Option<String> =
        table.query_row(sql, params![slot, agent_word(agent), label], |row| row.get(0)).optional()?;
    // What is no id was not written by us, and no session can go by it.
    Ok(found.and_then(|id| id.parse().ok()))
}

/// Agent column of a label; empty for people's labels, as no agent id is empty.
fn agent_word(agent: Option<&AgentId>) -> &str {
    agent.map(AgentId::as_str).unwrap_or_default()
}
