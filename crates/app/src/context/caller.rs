//! Who asks, and what they may see: agents their own sessions, the person all.
//!
//! Everything that finds or names a session, a worker or a conversation asks here, so that every interface keeps agents
//! apart alike. What a caller may not see does not exist for them: it is not found, not refused.

use std::collections::HashSet;

use catalog::{Discovery, SessionFilter};
use model::{AgentId, Session, SessionId};
use openclaw::Memory;
use workers::WorkerId;

use crate::{Context, Error, Kind};

/// Who makes a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Caller {
    /// The person at the machine.
    #[default]
    Person,
    /// One of OpenClaw's agents.
    Agent(AgentId),
    /// The `claude` of a worker, for the person or for the agent it works for.
    Worker {
        /// The worker.
        worker: WorkerId,
        /// The agent it works for.
        agent: Option<AgentId>,
    },
}

impl Caller {
    /// The agent to whose sessions the caller is limited; `None` where nothing limits them.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Person => None,
            Self::Agent(agent) => Some(agent),
            Self::Worker { agent, .. } => agent.as_ref(),
        }
    }
}

/// The sessions and conversations of one agent.
#[derive(Debug, Clone)]
pub(crate) struct Visible {
    pub(crate) sessions: HashSet<SessionId>,
    pub(crate) conversations: HashSet<SessionId>,
}

impl Context {
    /// Whether the caller may see a session.
    pub(crate) fn may_see(&self, session: &Session) -> bool {
        self.is_of(session.origin.agent())
    }

    /// Whether the caller may see what belongs to `owner`; `None` is the person.
    pub(crate) fn is_of(&self, owner: Option<&AgentId>) -> bool {
        self.caller.agent().is_none_or(|agent| owner == Some(agent))
    }

    /// The agent for whom a request is made: the one it names, else the caller. An agent may name itself alone.
    pub(crate) fn agent(&self, named: Option<&AgentId>) -> Result<Option<AgentId>, Error> {
        match (self.caller.agent(), named) {
            (Some(agent), Some(named)) if agent != named => {
                Err(Error::new(Kind::Forbidden, format!("agent {agent} may not act for agent {named}")))
            }
            (Some(agent), _) => Ok(Some(agent.clone())),
            (None, named) => Ok(named.cloned()),
        }
    }

    /// Refuses what only the person may do; `what` is the subject of the error message.
    pub(crate) fn require_person(&self, what: &str) -> Result<(), Error> {
        let who = match &self.caller {
            Caller::Person => return Ok(()),
            Caller::Agent(agent) | Caller::Worker { agent: Some(agent), .. } => format!("agent {agent}"),
            Caller::Worker { worker, agent: None } => format!("worker {worker}"),
        };
        Err(Error::new(Kind::Forbidden, format!("{what} is not available to {who}")))
    }

    /// The sessions and conversations that the caller may find; `None` for all.
    pub(crate) fn visible(&self, found: &Discovery, memory: &Memory) -> Option<Visible> {
        let agent = self.caller.agent()?;
        let filter = SessionFilter { agent: Some(agent.clone()), ..SessionFilter::default() };
        let of_agent = memory.agents.iter().filter(|known| known.agent == *agent);
        Some(Visible {
            sessions: catalog::select(&self.config().places(), found, &filter),
            conversations: of_agent.flat_map(search::session_names).collect(),
        })
    }
}
