//! Why a store could not be used.

use std::path::PathBuf;

use model::AgentId;

use crate::Problem;

/// Why a store was not read or changed; it is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A file could not be used.
    #[error("{0}")]
    File(Problem),
    /// Another process holds the lock.
    #[error("timeout acquiring session store lock: {} is held by {holder}", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Who holds it.
        holder: String,
    },
    /// The agent's sessions are in a database, where OpenClaw alone may change them.
    #[error("the sessions of this agent are in {}, which only OpenClaw may change", path.display())]
    InDatabase {
        /// The database.
        path: PathBuf,
    },
    /// The session is another agent's.
    #[error("{key} belongs to agent {owner}, not to agent {agent}")]
    OtherAgent {
        /// The key.
        key: String,
        /// The agent it belongs to.
        owner: AgentId,
        /// The agent that asked.
        agent: AgentId,
    },
    /// There is no such session.
    #[error("there is no session `{key}`")]
    NoSession {
        /// The key.
        key: String,
    },
    /// Two sessions have a key that is this one but for case.
    #[error("`{key}` may be `{one}` or `{other}`, which differ in case only")]
    TwoSpellings {
        /// The key.
        key: String,
        /// The first as the store has it.
        one: String,
        /// The second as the store has it.
        other: String,
    },
    /// A sub-agent tried to start a sub-agent, or an agent acted as another without leave.
    #[error("{0}")]
    MaySpawn(String),
    /// A path or id that would lead out of the agent's folder.
    #[error("{0}")]
    Outside(String),
    /// An entry could not be written as JSON.
    #[error("the entry `{key}` cannot be written: {why}")]
    Unwritable {
        /// Its key.
        key: String,
        /// Why.
        why: String,
    },
}

impl From<Problem> for StoreError {
    fn from(problem: Problem) -> Self {
        Self::File(problem)
    }
}
