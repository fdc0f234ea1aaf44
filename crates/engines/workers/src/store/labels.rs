//! Names under which sessions of a work tree are found again.
//!
//! A person's labels live here. Those of OpenClaw's agents live in OpenClaw's own registry; here stands only who
//! begins a session under one at this moment, so that two who ask at once do not begin two.

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
    /// The session that goes by a person's label in the work tree with this root, a real path.
    pub fn session_by_label(&self, slot: &Path, label: &str) -> Result<Option<SessionId>, WorkerStoreError> {
        session(&self.connection, &bytes(slot), None, label).map_err(|error| self.failed(error))
    }
}

/// The living worker of the session that goes by the label a new session is to have.
pub(super) fn beginner(
    table: &Connection,
    slot: &str,
    spec: &WorkerSpec,
) -> rusqlite::Result<Option<WorkerId>> {
    let Some(label) = &spec.label else { return Ok(None) };
    let found = session(table, slot, spec.agent.as_ref(), label)?;
    found.map_or(Ok(None), |session| holder(table, &session))
}

/// From now on the session goes by the label of its worker; one that did before does no more.
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

/// No agent has an empty name.
fn agent_word(agent: Option<&AgentId>) -> &str {
    agent.map(AgentId::as_str).unwrap_or_default()
}
