//! `memory`: asks what OpenClaw's agents remember, and Claude Code's sessions with it.
//!
//! Requests and answers have the names of `openclaw memory … --json`.

mod request;
mod scope;
mod score;
pub mod search;
pub mod status;

use model::AgentId;
use openclaw::{AgentMemory, Memory, MemorySettings};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::{SourceKind, index};
use crate::{Context, Error, Kind};

/// Which agent's memory to index; all agents share one index.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "MemoryIndexRequest")]
pub struct IndexRequest {
    /// An agent that has to be known.
    pub agent: Option<AgentId>,
    /// Whether to rebuild the index from scratch.
    pub force: bool,
}

/// Brings the index up to date.
pub fn index(context: &Context, request: &IndexRequest) -> Result<index::Answer, Error> {
    let agent = context.agent(request.agent.as_ref())?;
    settings(context, &index::memory(context), agent.as_ref())?;
    index::index(context, &index::Request { dry_run: false, rebuild: request.force })
}

/// The settings that count: the named agent's, else those of the first one, who is asked where nobody is named.
fn settings<'a>(
    context: &Context,
    memory: &'a Memory,
    agent: Option<&AgentId>,
) -> Result<Option<&'a MemorySettings>, Error> {
    let wanted = |known: &&AgentMemory| agent.is_none_or(|agent| known.agent == *agent);
    let main = AgentId::main();
    let known = memory.agents.iter().filter(wanted);
    let known = known.min_by_key(|known| known.agent != main);
    if known.is_none()
        && let Some(agent) = agent
    {
        let error = Error::new(Kind::NotFound, format!("OpenClaw has no agent `{agent}`"));
        if context.caller.agent().is_some() {
            return Err(error);
        }
        let mut names: Vec<_> = memory.agents.iter().map(|known| known.agent.as_str()).collect();
        names.dedup();
        return Err(error.hint(if names.is_empty() {
            "set OPENCLAW_STATE_DIR to OpenClaw's state folder".to_owned()
        } else {
            format!("its agents are {}", names.join(", "))
        }));
    }
    match known {
        Some(known) if !known.settings.enabled => {
            let off = format!("memory search is disabled for agent `{}`", known.agent);
            Err(Error::new(Kind::Settings, off)
                .hint("OpenClaw's configuration disables it in `memorySearch.enabled`"))
        }
        known => Ok(known.map(|known| &known.settings)),
    }
}

/// The sources that are searched where nobody names one: those that are listed, else all.
fn sources_of(settings: Option<&MemorySettings>) -> Vec<SourceKind> {
    let listed = settings.and_then(|set| set.sources.as_ref());
    let all = SourceKind::ALL.into_iter();
    let is_listed =
        |kind: &SourceKind| listed.is_none_or(|listed| listed.iter().any(|word| word == kind.as_str()));
    let claude = settings.is_none_or(|set| set.claude.enabled);
    all.filter(is_listed).filter(|kind| claude || *kind != SourceKind::ClaudeSessions).collect()
}
