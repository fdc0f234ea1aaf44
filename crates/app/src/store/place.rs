//! Which installation and agent a store is of, and which agents there are.

use std::path::PathBuf;

use model::AgentId;
use openclaw::{AgentStore, Agents, OpenClawConfig};
use serde::Serialize;

use crate::repository::other_names::other_names;
use crate::{Context, Error, Kind};

/// The installation and the agent whose store was shown or changed.
#[derive(Debug, Clone, Serialize)]
pub struct StorePlace {
    /// The state folder of the installation.
    #[serde(serialize_with = "model::path")]
    pub installation: PathBuf,
    /// The agent.
    pub agent: AgentId,
}

impl StorePlace {
    pub(super) fn of(store: &AgentStore) -> Self {
        Self { installation: store.state().to_owned(), agent: store.agent().clone() }
    }
}

/// The agents that the caller may see of the installation: those that have a folder, and those that are configured.
pub(super) fn agents(context: &Context) -> Vec<AgentId> {
    let folders = context.config().store_folders();
    let with_folder = folders.iter().flat_map(|state| Agents::find(state).agents).map(|agent| agent.id);
    let named = context.config().openclaw_configuration.iter().map(|file| OpenClawConfig::read(file));
    let configurations = folders.iter().map(|state| OpenClawConfig::find(state)).chain(named);
    let configured = configurations.flat_map(|config| config.agents());
    let mut agents: Vec<AgentId> = with_folder.chain(configured).collect();
    agents.sort();
    agents.dedup();
    agents.retain(|agent| context.is_of(Some(agent)));
    agents
}

/// Refuses the name of an agent that there is not, with those that there are.
pub(super) fn require_agent(context: &Context, named: Option<&AgentId>) -> Result<(), Error> {
    let Some(named) = named else { return Ok(()) };
    let agents = agents(context);
    if agents.is_empty() || agents.contains(named) {
        return Ok(());
    }
    let others = other_names("agents", named.as_str(), agents.iter().map(AgentId::as_str));
    Err(Error::new(Kind::NotFound, format!("there is no agent `{named}`{others}")))
}
